"""Typed arguments of models: each class lists its own in a `Config`."""

import inspect
import numbers
from typing import Annotated, Any

import pydantic
from pydantic import BeforeValidator, Field

# Marks arguments that `from_examples` learns from the data.
LEARNED = "learned"


def _integer(value):
    is_number = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return int(value) if is_number else value


Size = Annotated[int, BeforeValidator(_integer), Field(ge=1)]
Count = Annotated[int, BeforeValidator(_integer), Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Factor = Annotated[float, Field(ge=0)]
Learned = Annotated[Size, LEARNED]


class Config(pydantic.BaseModel):
    """Arguments of a model with their types and defaults, in the order of its constructor."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)

    vocabulary_size: Learned
    num_answers: Learned

    def to_dict(self):
        """The arguments by name, ready for JSON."""
        return dict(self)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Default of each argument that has one, by name."""
        fields = cls.model_fields.items()
        return {name: field.default for name, field in fields if not field.is_required()}

    @classmethod
    def chosen(cls) -> set[str]:
        """Names of the arguments that a user chooses; the others are learned from the data."""
        return {name for name, field in cls.model_fields.items() if LEARNED not in field.metadata}

    @classmethod
    def signature(cls) -> inspect.Signature:
        """The signature of the model's constructor."""
        kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        names = dict.fromkeys(cls.model_fields, empty) | cls.defaults()
        names |= {"preprocessor": None, "name": None, "trainable": True}
        return inspect.Signature(
            [inspect.Parameter(name, kind, default=value) for name, value in names.items()]
        )
