"""Names of arguments that changed: older files and command lines have the old ones."""

from typing import Any

RENAMED = {
    "asked": "question_overlap",
    "head": "answer_head",
    "local": "local_answers",
}


# Arguments that are gone, and the value of those who never used them.
GONE = {"recurrent_dropout": 0.0}


def rename(arguments: dict[str, Any]) -> dict[str, Any]:
    """Gives arguments of a model the names of today, and drops those that are gone and unused."""
    kept = {name: value for name, value in arguments.items() if GONE.get(name, ...) != value}
    return {RENAMED.get(name, name): value for name, value in kept.items()}
