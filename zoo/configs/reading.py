"""Reads TOML as typed records, with errors that name file and key."""

import pathlib
import tomllib
from typing import Any

FOLDER = pathlib.Path(__file__).parent


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
