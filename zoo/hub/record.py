"""The content of a preset, wherever it is stored."""

import collections
import dataclasses
import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pydantic

if TYPE_CHECKING:
    import keras

Weights = dict[str, np.ndarray]
# Shape of each weight.
Shapes = dict[str, tuple[pydantic.NonNegativeInt, ...]]


class Content(pydantic.BaseModel):
    """The content of the JSON file of any preset."""

    class_name: str = pydantic.Field(alias="class")
    arguments: dict[str, Any]
    card: dict[str, Any]
    weights: Shapes


@dataclasses.dataclass(frozen=True)
class Preset:
    """A preset as read.

    Args:
        handle: the name or address by which it was requested.
        class_name: registered name of its class, without the package `keras_corefmem`.
        arguments: arguments of the class by name, without the preprocessor.
        preprocessor: configuration of the preprocessor, or `None`.
        card: its data, measured numbers and licence.
        read_weights: function that reads its weights by name, or by number from version 0.1.
        misfit: error message for weights that do not fit the class and its arguments.
        shapes: the shapes of the weights by name; empty for presets of version 0.1.
        is_bundled: whether it is part of the package, and so as safe as the package.
    """

    handle: str
    class_name: str
    arguments: dict[str, Any]
    preprocessor: dict[str, Any] | None
    card: dict[str, Any]
    read_weights: Callable[[], Weights]
    misfit: str
    shapes: Shapes
    is_bundled: bool = False

    @property
    def short_class_name(self) -> str:
        """Name of the class without its package."""
        return self.class_name.rpartition(">")[2]


def describe_class(cls: type) -> str:
    """Returns the name under which Keras has registered a class, as in `Preset.class_name`."""
    import keras

    return keras.saving.get_registered_name(cls).removeprefix("keras_corefmem>")


def weights_of(model: "keras.Model") -> Weights:
    """Returns copies of the weights of a model by name.

    Raises:
        ValueError: if two have the same name.
    """
    counts = collections.Counter(weight.path for weight in model.weights)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise ValueError(f"{model.name} has several weights named {twice[0]}: name its layers.")
    return dict(zip(counts, model.get_weights(), strict=True))


def set_weights(model: "keras.Model", weights: Weights, complaint: str) -> None:
    """Sets the weights of a model by name.

    Names that Keras numbered, such as `dense_3`, may have other numbers if their order is the same.

    Raises:
        ValueError: if they do not fit; the message starts with `complaint`.
    """
    shapes = {weight.path: tuple(weight.shape) for weight in model.weights}
    if weights.keys() != shapes.keys():
        numbered = all(map(str.isdigit, weights)) and len(weights) == len(shapes)
        pairs = itertools.zip_longest(shapes, weights, fillvalue="")
        if not numbered and any(_uncounted(own) != _uncounted(other) for own, other in pairs):
            differing = sorted(weights.keys() ^ shapes.keys())[0]
            where = "the model lacks" if differing in weights else "the weights lack"
            raise ValueError(f"{complaint} ({where} {differing:.80}).")
        weights = dict(zip(shapes, weights.values(), strict=True))
    for name, shape in shapes.items():
        if weights[name].shape != shape:
            wrong = f"{name} is {weights[name].shape}, in the model {shape}"
            raise ValueError(f"{complaint} ({wrong}).")
    model.set_weights([weights[name] for name in shapes])


def _uncounted(path: str) -> str:
    """Drops the numbers that Keras appends to names of layers."""
    return re.sub(r"_\d+(?=/|$)", "", path)
