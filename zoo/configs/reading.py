"""Reads TOML as typed records, with errors that name file and key."""

import pathlib
import tomllib
from typing import Any, TypeVar

import pydantic

FOLDER = pathlib.Path(__file__).parent
Record = TypeVar("Record")


def read_toml(path: str | pathlib.Path) -> dict[str, Any]:
    """Reads a TOML file.

    Raises:
        ValueError: if it is not TOML; it names the file.
    """
    path = pathlib.Path(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not valid TOML: {error}.") from None


def validate(path: str | pathlib.Path, content: object, kind: type[Record]) -> Record:
    """Checks what a file holds against a type; `path` is for errors."""
    try:
        return pydantic.TypeAdapter(kind).validate_python(content)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        key, message = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        if not key:
            raise ValueError(f"{path}: {message}") from None
        raise ValueError(f"{path}: {key}: {message} (got {first['input']!r}).") from None
