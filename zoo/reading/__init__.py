"""Answers to questions on raw text."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "answers": [
            *("annotate_for", "number_of_answers", "preprocessor_of", "read"),
            "read_examples",
            *("warn_of_missing_structure", "warn_of_unknown_words"),
        ],
        "readings": ["Reading", "Tagging"],
    },
)
