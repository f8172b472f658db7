"""Folders of data, found by the files that they must hold."""

import pathlib
from collections.abc import Sequence

from keras_corefmem.utils.files import Path


def find_folder(
    data_dir: Path | None, inside: Sequence[str], patterns: Sequence[str], remedy: str
) -> pathlib.Path:
    """Finds the first folder of `inside` with a file of each pattern; `remedy` is for errors."""
    if data_dir is None:
        raise ValueError(f"Give the folder of the files: {remedy}.")
    folders = [pathlib.Path(data_dir, name) for name in inside]
    for folder in folders:
        if all(any(folder.glob(pattern)) for pattern in patterns):
            return folder
    raise FileNotFoundError(
        f"No files {' and '.join(patterns)} in {' or '.join(map(str, folders))}; {remedy}."
    )
