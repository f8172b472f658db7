"""Text files read with clear errors, and files that appear whole or not at all."""

import contextlib
import json
import os
import pathlib
import re
import tempfile


def read_text(path, form):
    """Text of a UTF-8 file, without its byte order mark.

    Args:
        path: the file.
        form: what the file should be, for the errors: "CoNLL-U", say.

    Returns:
        A string; `"\\n"` alone separates its lines, for `str.splitlines` knows too many others.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is no UTF-8 text.
    """
    try:
        return pathlib.Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file, pass the path of a {form} file.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: no UTF-8 text, pass a {form} file.") from None


def load_json(path, form="JSON", remedy="is the file truncated?"):
    """Content of a JSON file.

    Args:
        path: the file.
        form: what the file should be, for the errors: "CoreNLP JSON", say.
        remedy: what to do where it is no JSON.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no JSON; it names the line.
    """
    try:
        return json.loads(read_text(path, form))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}:{error.lineno}: no JSON ({error.msg}); {remedy}") from error


@contextlib.contextmanager
def replacing(path):
    """Gives a path to write to, and moves what is there to `path` once the block succeeds.

    The name stays the same, so that writers which go by the suffix work; the folder is a hidden one
    beside `path`, made where it is missing. If the block fails, nothing is left behind and an older
    file at `path` stays.

    Args:
        path: the file to write or replace.
    """
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        partial = pathlib.Path(folder, path.name)
        yield partial
        os.replace(partial, path)


def write_json(path, content):
    """Writes a JSON file, see `replacing`."""
    with replacing(path) as partial:
        partial.write_text(json.dumps(content, indent=1) + "\n")


def different_fields(path, content, view=lambda content: content):
    """Names of the fields in which a dictionary differs from a JSON file, none without a file.

    Args:
        path: the file.
        content: dictionary of what JSON can hold.
        view: function from either dictionary to what of it is compared.

    Raises:
        ValueError: if the file is no JSON.
    """
    path = pathlib.Path(path)
    if not path.exists():
        return []
    old, new = view(load_json(path)), view(json.loads(json.dumps(content)))
    return [name for name in new if old.get(name) != new[name]]


def as_name(text):
    """A text as part of the name of a file: its letters, digits, `.`, `_` and `-`."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-")
