"""Files that appear whole or not at all."""

import contextlib
import os
import pathlib
import tempfile


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
