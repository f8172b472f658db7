"""Names of arguments that changed: files and command lines of version 0.1 have the old ones."""

from typing import Any

RENAMED = {
    "asked": "question_overlap",
    "head": "answer_head",
    "local": "local_answers",
}


def rename(arguments: dict[str, Any]) -> dict[str, Any]:
    """Gives arguments of a model the names of today."""
    return {RENAMED.get(name, name): value for name, value in arguments.items()}
