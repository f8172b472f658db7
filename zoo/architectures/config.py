"""Types that annotate and check the arguments of models' constructors."""

import functools
import inspect
import numbers
import sys
import types
import typing
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field

from keras_corefmem.datasets import as_examples
from keras_corefmem.graphs.edge_types import check_edge_types
from keras_corefmem.utils.names import did_you_mean

# Marks arguments that `from_examples` learns from the data.
LEARNED = "learned"
# Arguments that all constructors have, which do not describe the architecture.
COMMON = ("preprocessor", "name", "trainable", "dtype")
# Features that each named encoder reads besides the tokens.
STRUCTURE = {
    "gru": None,
    "one_hot": "chains",
    "dag_rnn": "sources",
    "mage_gru": "sources",
    "mage_gru_shared": "sources",
    "coref_gru": "antecedents",
}


def _integer(value):
    is_number = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return int(value) if is_number else value


def _list(value):
    return list(value) if isinstance(value, tuple) else value


def _is_layer(value):
    # Arguments may be checked before Keras is imported; without it there are no layers.
    return "keras" in sys.modules and isinstance(value, sys.modules["keras"].Layer)


def _layer(value):
    if value is None or isinstance(value, dict) or _is_layer(value):
        return value
    raise ValueError("Input should be a Keras layer")


def _encoder(value):
    value = underscored(value)
    if _is_layer(value):
        return sys.modules["keras"].saving.serialize_keras_object(value)
    if isinstance(value, dict) or isinstance(value, str) and value in STRUCTURE:
        return value
    hint = did_you_mean(value, STRUCTURE) if isinstance(value, str) else ""
    names, end = ", ".join(map(repr, STRUCTURE)), hint and f".{hint}"
    raise ValueError(f"Input should be {names} or a Keras layer{end}")


def _initializer(value):
    keras = sys.modules.get("keras")
    is_made = keras is not None and isinstance(value, keras.Initializer)
    return keras.saving.serialize_keras_object(value) if is_made else value


Size = Annotated[int, BeforeValidator(_integer), Field(ge=1)]
Count = Annotated[int, BeforeValidator(_integer), Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Factor = Annotated[float, Field(ge=0)]
Learned = Annotated[Size, LEARNED]
LearnedCount = Annotated[Count, LEARNED]
Tokens = Annotated[list[int | None] | None, LEARNED]
Layer = Annotated[Any, AfterValidator(_layer)]
# A layer is kept as its configuration: each use makes a copy with its own weights.
Encoder = Annotated[Any, AfterValidator(_encoder)]
# Kept as its configuration too: each weight starts with its own random numbers.
Initializer = Annotated[Any, AfterValidator(_initializer)]
EdgeTypes = Annotated[Any, AfterValidator(check_edge_types)]
# One width, or one for each edge type.
Sizes = Annotated[Size | list[Size], BeforeValidator(_list)]
Carry = Literal["gathered", "previous", "mixed"]
AnswerHead = Literal["pointer_sum", "span_sum", "classification", "pointer_or_class"]
Order = Literal["question_first", "passage_first", "random"]


class Arguments(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True)

    @pydantic.field_validator("*", mode="before")
    @classmethod
    def _take_hyphens(cls, value, info):
        if typing.get_origin(cls.model_fields[info.field_name].annotation) is typing.Literal:
            return underscored(value)
        return value


def underscored(name):
    """Returns the name of a choice with underscores for hyphens."""
    return name.replace("-", "_") if isinstance(name, str) else name


class Recorded(types.SimpleNamespace):
    """Arguments of a model as attributes; `_read` contains the names of those accessed."""

    def __init__(self, **values):
        super().__init__(**values, _read=set())

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        if not name.startswith("_"):
            self._read.add(name)
        return value


def constructor(model_class):
    """Returns the `__init__` that a class was written with."""
    return getattr(model_class.__init__, "initializer", model_class.__init__)


@functools.cache
def specification(model_class):
    """Returns the arguments of a model as a pydantic class, from its constructor's annotations.

    The constructor is the first in the class hierarchy without `*args` or `**kwargs`, so that a
    user's subclass may pass these on.
    """
    variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    for each in model_class.__mro__:
        if "__init__" in vars(each):
            parameters = list(inspect.signature(constructor(each)).parameters.values())[1:]
            if not any(parameter.kind in variable for parameter in parameters):
                break
    hints = typing.get_type_hints(constructor(each), include_extras=True)
    fields = {
        parameter.name: (
            hints.get(parameter.name, Any),
            ... if parameter.default is parameter.empty else parameter.default,
        )
        for parameter in parameters
        if parameter.name not in COMMON
    }
    return pydantic.create_model(each.__name__, __base__=Arguments, **fields)


def check_names(model_class, names, others=()):
    """Checks that a model's constructor takes arguments, unless they are among `others`.

    A constructor with `**kwargs` must check them itself.

    Raises:
        TypeError: if there is an unknown argument.
    """
    parameters = inspect.signature(constructor(model_class)).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = {*others, *(parameter.name for parameter in parameters)} - {"self", "arguments"}
    for name in names:
        if name not in known:
            raise TypeError(
                f"{model_class.__name__} has no argument {name!r}.{did_you_mean(name, known)} Its "
                f"arguments are {', '.join(sorted(known))}."
            )


def chosen(model_class):
    """Returns the fields of arguments that a user chooses; others are learned from the data."""
    fields = specification(model_class).model_fields.items()
    return {name: field for name, field in fields if LEARNED not in field.metadata}


if typing.TYPE_CHECKING:
    ExamplesMethod = classmethod
else:

    class ExamplesMethod(classmethod):
        """A `from_examples` method that takes anything that `as_examples` takes.

        Its signature also lists the arguments of the constructor.
        """

        def __get__(self, instance, owner=None):
            function, owner = self.__func__, owner or type(instance)
            _, *parameters = inspect.signature(function).parameters.values()
            own_names = [parameter.name for parameter in parameters[1:]]

            @functools.wraps(function)
            def from_examples(examples, *args, **kwargs):
                from keras_corefmem.preprocessing.encoding.answers import check_kind

                check_names(owner, kwargs, own_names)
                examples = as_examples(examples)
                check_kind(examples, tuple(owner.TEXTS))
                return function(owner, examples, *args, **kwargs)

            own = {p.name: p for p in parameters if p.kind is not p.VAR_KEYWORD}
            if not owner.HAS_WORD_VECTORS:
                own.pop("word_vectors", None)
            for name, field in chosen(owner).items():
                own.setdefault(name, _keyword(name, field.default))
            for name, default in {"name": None, "trainable": True, "dtype": None}.items():
                own[name] = _keyword(name, default)
            from_examples.__signature__ = inspect.Signature(list(own.values()))
            return from_examples


def _keyword(name, default):
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
