"""Reads TOML tables as typed records, with errors that name file and key."""

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


def read_tables(path: str | pathlib.Path, kind: type[Record]) -> dict[str, Record]:
    """Reads the top-level tables of a TOML file.

    Args:
        path: the file.
        kind: pydantic dataclass of a table.

    Returns:
        The records by the name of their table, in the order of the file.

    Raises:
        ValueError: if the file is not TOML, or a key is unknown, missing or of another type;
            it names the file, the key and what is expected.
    """
    tables = validate(path, read_toml(path), dict[str, Any])
    return {name: validate(f"{path}: {name}", table, kind) for name, table in tables.items()}


def validate(path: str | pathlib.Path, content: object, kind: type[Record]) -> Record:
    """Checks what a file holds against a type; `path` is for errors."""
    try:
        return pydantic.TypeAdapter(kind).validate_python(content)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise ValueError(f"{path}: {key}: {first['msg']} (got {first['input']!r}).") from None
