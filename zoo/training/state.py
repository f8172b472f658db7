"""The state of a run between two epochs, as its folder keeps it."""

import pathlib
from typing import Annotated, Any, NotRequired

import pydantic
from typing_extensions import TypedDict

from keras_corefmem.utils.files import load_json

REMEDY = "start the run again with --fresh, or remove its folder."


class State(TypedDict):
    """The content of `state.json`: weights, states of random numbers, and logs of each epoch."""

    history: list[dict[str, float]]
    weights: NotRequired[Annotated[str, pydantic.Field(pattern=r"^epoch-\d+$")]]
    random: NotRequired[list[Any]]
    sha256: NotRequired[dict[str, str]]
    seconds: NotRequired[float]
    cpu_seconds: NotRequired[float]
    ended: NotRequired[bool]


def read_state(path: str | pathlib.Path) -> State:
    """Reads a state.

    Raises:
        ValueError: if the file is damaged; it is named.
    """
    return load_json(path, remedy=REMEDY, kind=State)
