"""Pictures and terminal views of what a model attends to and answers."""
