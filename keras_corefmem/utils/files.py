"""Text and JSON files, read with clear errors and written whole or not at all."""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from keras_corefmem.utils.locks import OLD, hold_place, naming_full, partial_folder

Record = TypeVar("Record")
Path = str | os.PathLike[str]

TRUNCATED = "is the file truncated?"
# Size in bytes up to which a file is read at once.
LARGEST = 2**30


class BadFileError(ValueError):
    """Error about the content of a file; names the file, the place in it and what to do."""


def read_text(path: Path, form: str) -> str:
    """Reads a UTF-8 file, without its byte order mark.

    Only `"\\n"` separates the lines of the result; `str.splitlines` would split at other
    characters too.
    """
    try:
        if (size := os.path.getsize(path)) > LARGEST:
            raise BadFileError(f"{path}: {size:,} bytes, a {form} file may have {LARGEST:,}.")
        return pathlib.Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file, pass the path of a {form} file.") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{path} is a folder, pass the path of a {form} file.") from None
    except UnicodeDecodeError:
        raise BadFileError(f"{path}: no UTF-8 text, pass a {form} file in UTF-8.") from None


def load_json(path: Path, form: str = "JSON", remedy: str = TRUNCATED, kind: Any = Any) -> Any:
    """Reads a JSON file and checks its type; `form` and `remedy` are for error messages."""
    content = parse_json(read_text(path, form), path, remedy, form, is_file=True)
    return content if kind is Any else check_content(path, content, kind, remedy)


def parse_json(
    text: str,
    place: Path,
    remedy: str = TRUNCATED,
    form: str = "JSON",
    is_file: bool = False,
) -> Any:
    """Parses JSON; errors name the place and, if the text is that of a file, the line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = f":{error.lineno}" if is_file else ""
        raise BadFileError(f"{place}{line}: no {form} ({error.msg}); {remedy}") from None
    except RecursionError:
        raise BadFileError(f"{place}: no {form} (nested too deeply); {remedy}") from None
    except ValueError:  # Python rejects numbers of thousands of digits.
        raise BadFileError(f"{place}: no {form} (a number of too many digits); {remedy}") from None


@functools.cache
def _adapter(kind: type[Record]) -> Any:
    import pydantic

    return pydantic.TypeAdapter(kind)


def validate(path: Path, content: object, kind: type[Record]) -> Record:
    """Checks the content of a file against a type; `path` is for error messages."""
    import pydantic

    try:
        return _adapter(kind).validate_python(content)  # type: ignore[arg-type]
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        # Pydantic's location also includes members of unions, such as `list[…]`.
        keys = [str(key) for key in first["loc"] if re.fullmatch(r"[\w-]+", str(key))]
        key, message = ".".join(keys)[:80], first["msg"].removeprefix("Value error, ")
        if not key:
            raise ValueError(f"{path}: {message:.300}") from None
        raise ValueError(f"{path}: {key}: {message:.300} (got {first['input']!r:.80}).") from None


def check_content(place: Path, content: object, kind: type[Record], remedy: str) -> Record:
    """Checks the content of a file against a type, like `validate`; errors say what to do."""
    try:
        return validate(place, content, kind)
    except ValueError as error:
        raise BadFileError(f"{str(error).removesuffix('.')}; {remedy}") from None


@contextlib.contextmanager
def naming_damage(path: Path, remedy: str) -> Iterator[None]:
    """Makes errors that libraries raise when they read a damaged file name the file.

    Raises:
        BadFileError: in place of such an error; `remedy` says what to do.
    """
    try:
        yield
    except ImportError:
        raise
    except Exception as error:
        # Some errors name no file, such as that of a configuration.
        if isinstance(error, BadFileError) and str(path) in str(error):
            raise
        cause = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        raise BadFileError(f"{path} is damaged ({cause:.200}); {remedy}") from error


def digest_of(path: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[pathlib.Path]:
    """Yields a path to write to, and moves what is there to `path` once the block succeeds.

    The yielded path is in a hidden folder beside `path` and has the same name, so that writers that
    depend on the suffix work. The parent folder is created if it is missing. If the block fails,
    nothing is left behind and an older file at `path` stays. If the process dies, the next call for
    `path` removes what it left behind.
    """
    path = pathlib.Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the name of a file.")
    with naming_full(path), partial_folder(path) as folder:
        partial = pathlib.Path(folder, path.name)
        yield partial
        os.replace(partial, path)


@contextlib.contextmanager
def replacing_folder(path: Path) -> Iterator[pathlib.Path]:
    """Yields an empty folder to write to, which takes the place of `path` once the block succeeds.

    If the block fails or is interrupted, an older folder stays whole and nothing else is left. Only
    one process at a time may replace a folder, see `hold_place`.
    """
    path = pathlib.Path(path).resolve()
    with hold_place(path), naming_full(path), partial_folder(path) as place:
        new, old = pathlib.Path(place, "new"), pathlib.Path(place, OLD)
        new.mkdir()
        yield new
        try:
            if path.exists():
                os.replace(path, old)
            os.replace(new, path)
        finally:
            if old.exists() and not path.exists():
                os.replace(old, path)


def write_json(path: Path, content: Any) -> None:
    """Writes a JSON file, see `replacing`."""
    with replacing(path) as partial:
        partial.write_text(json.dumps(content, indent=1) + "\n")


def different_fields(
    path: Path,
    content: dict,
    view: Callable[[dict], dict] = lambda content: content,
    remedy: str = TRUNCATED,
    kind: Any = dict[str, Any],
) -> list[str]:
    """Names the fields in which a dictionary differs from a JSON file, none if there is no file."""
    path = pathlib.Path(path)
    if not path.exists():
        return []
    old = view(load_json(path, remedy=remedy, kind=kind))
    new = view(json.loads(json.dumps(content)))
    return [name for name in new if old.get(name) != new[name]]


def as_name(text: str) -> str:
    """Makes a text fit for a file name: `-` replaces all but letters, digits, `.`, `_` and `-`."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-")
