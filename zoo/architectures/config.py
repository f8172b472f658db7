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


class ConstructorSignature:
    """The signature of a model class, from its `Config`; models themselves are called otherwise."""

    def __get__(self, model, model_class):
        if model is not None:
            raise AttributeError("__signature__")
        config, new = model_class.Config, inspect.Parameter
        names = dict.fromkeys(config.model_fields, new.empty) | config.defaults()
        names |= {"preprocessor": None, "name": None, "trainable": True}
        kind = new.POSITIONAL_OR_KEYWORD
        return inspect.Signature([new(name, kind, default=names[name]) for name in names])
