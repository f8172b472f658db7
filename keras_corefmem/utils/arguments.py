"""Checks of configurations against the type hints of a constructor."""

import functools
import inspect
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keras_corefmem.utils.files import BadFileError, validate


@functools.cache
def _fields(cls: type) -> Any:
    """Returns a pydantic model of the arguments of a class, including those of its bases."""
    import pydantic

    fields: dict[str, Any] = {}
    owner = next(each for each in cls.__mro__ if "__init__" in vars(each))
    for each in cls.__mro__:
        if "__init__" not in vars(each) or each is object:
            continue
        hints = typing.get_type_hints(each.__init__)  # type: ignore[misc]
        _, *parameters = inspect.signature(each.__init__).parameters.values()  # type: ignore[misc]
        for one in parameters:
            if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
                kind = hints.get(one.name, Any)
                # Pydantic does not check the items of an iterable, which may be read only once.
                kind = Sequence[str] if kind == Iterable[str] else kind
                # A class may supply what its base requires.
                needed = one.default is one.empty and each is owner
                fields.setdefault(one.name, (kind, ... if needed else None))
        if all(one.kind is not one.VAR_KEYWORD for one in parameters):
            break
    config = pydantic.ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)
    return pydantic.create_model(cls.__name__, __config__=config, **fields)


def check_configuration(cls: type, config: Mapping[str, Any]) -> None:
    """Checks a configuration before an object is made from it.

    Args:
        cls: the class of the object.
        config: arguments of its constructor by name, as read from a file.

    Raises:
        BadFileError: if an argument is missing, unknown, or of another type.

    Example:
        >>> from keras_corefmem.utils.arguments import check_configuration
        >>> check_configuration(keras_corefmem.text.Vocabulary, {"words": ["mary"]})
    """
    try:
        validate(f"configuration of {cls.__name__}", dict(config), _fields(cls))
    except ValueError as error:
        raise BadFileError(f"{error} Give what get_config returned.") from None
