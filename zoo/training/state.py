"""The state of a run as saved in its folder, and the rank of epochs and runs by validation."""

import math
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


def rank(accuracy: float, loss: float) -> tuple[float, float]:
    """Returns a sort key that is greater for better scores: validation accuracy, then loss."""
    # NaN compares with no number: the first of two would always win.
    return accuracy, -math.inf if math.isnan(loss) else -loss
