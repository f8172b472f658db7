"""The state of a run between two epochs, as saved in its folder."""

import pathlib
from typing import Annotated, Any, NotRequired

import pydantic
from typing_extensions import TypedDict

from keras_corefmem.utils.files import load_json

REMEDY = "start the run again with --fresh, or remove its folder."


class State(TypedDict):
    """The content of `state.json`: weights, random number states, and the logs of each epoch."""

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
        ValueError: if the file is damaged; the error names it.
    """
    return load_json(path, remedy=REMEDY, kind=State)
