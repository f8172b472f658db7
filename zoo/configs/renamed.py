"""Renamed and removed arguments, which older files and command lines still have."""

from typing import Any

RENAMED = {
    "asked": "question_overlap",
    "head": "answer_head",
    "local": "local_answers",
}


# Removed arguments, and the value with which they had no effect.
GONE = {"recurrent_dropout": 0.0}


def rename(arguments: dict[str, Any]) -> dict[str, Any]:
    """Gives arguments of a model their current names, and drops removed ones without effect."""
    kept = {name: value for name, value in arguments.items() if GONE.get(name, ...) != value}
    return {RENAMED.get(name, name): value for name, value in kept.items()}
