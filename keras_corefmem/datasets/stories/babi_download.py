"""Download of bAbI, verified by the SHA-256 of its files."""

import gzip
import http.client
import importlib.resources
import os
import pathlib
import shutil
import sys
import tarfile
import urllib.request
import zlib

import rich.progress

from keras_corefmem.utils.files import Path, digest_of
from keras_corefmem.utils.locks import FULL, naming_full, partial_folder

# The official home, ParlAI's mirror, and the copy of the examples of Keras.
HOMES = (
    "http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz",
    "http://parl.ai/downloads/babi/babi.tar.gz",
    "https://s3.amazonaws.com/text-datasets/babi_tasks_1-20_v1-2.tar.gz",
)
FOLDER = "tasks_1-20_v1-2"
# Seconds without an answer.
TIMEOUT = 30


def cache_folder(cache_dir: Path | None = None) -> pathlib.Path:
    """Returns the folder that `download` puts the tasks into."""
    home = cache_dir or os.environ.get("KERAS_HOME") or "~/.keras"
    return pathlib.Path(home).expanduser() / "datasets"


def checksums() -> dict[str, str]:
    """Returns the SHA-256 of each file of `en` and `en-valid`, version 1.2, by its name."""
    lines = importlib.resources.files(__package__).joinpath("babi.sha256").read_text("utf-8")
    return {name: digest for digest, name in map(str.split, lines.splitlines())}


def download(cache_dir: Path | None = None, origin: str | None = None) -> str:
    """Downloads the tasks into Keras' cache, unless they are there, and returns their folder.

    The homes are tried in order until one has an archive whose files of `en` and `en-valid` are
    those of version 1.2; nothing of another archive is kept. A folder in the cache is verified too.

    Args:
        cache_dir: the cache, by default `$KERAS_HOME` or `~/.keras`.
        origin: address of a copy, which is tried before the homes.

    Returns:
        The folder of the tasks, for `load`.

    Raises:
        FileNotFoundError: if no home has them, with the reason for each.
        ValueError: if the folder in the cache lacks a file, or a file is not that of version 1.2.
        OSError: if nothing can be written to the cache, or its disk is full.
    """
    cache = cache_folder(cache_dir)
    folder = cache / FOLDER
    if not folder.is_dir():
        _download(cache, filter(None, (origin, *HOMES)))
    if wrong := _difference(cache):
        raise ValueError(
            f"{folder} {wrong}: remove that folder, and bAbI is downloaded again; or, to read it "
            "as it is, pass it as --data-dir."
        )
    return str(folder)


def _download(cache, homes):
    tried = []
    for home in homes:
        with naming_full(cache / FOLDER), partial_folder(cache / FOLDER) as temporary:
            try:
                unpacked = _unpack(_fetch(home, temporary), temporary)
            except (OSError, ValueError, http.client.HTTPException) as error:
                if isinstance(error, OSError) and error.errno in FULL:
                    raise
                tried.append(f"{home}: {error}")
                continue
            try:
                os.replace(unpacked, cache / FOLDER)
            except OSError:
                # Another process may have been faster.
                if not (cache / FOLDER).is_dir():
                    raise
            return
    raise FileNotFoundError(
        "bAbI could not be downloaded. "
        + ". ".join(tried)
        + ". Give the address of another copy, --origin (in Python: `origin`), or unpack one "
        "yourself and pass its folder, --data-dir."
    )


def _fetch(home, folder):
    path = pathlib.Path(folder, "babi.tar.gz")
    with urllib.request.urlopen(home, timeout=TIMEOUT) as response, path.open("wb") as file:
        size = int(response.headers["Content-Length"] or 0)
        silent = not sys.stdout.isatty()
        with rich.progress.wrap_file(response, size, description=home, disable=silent) as stream:
            shutil.copyfileobj(stream, file)
    if size > path.stat().st_size:
        raise ValueError(f"only {path.stat().st_size:,} of {size:,} bytes came")
    return path


def _unpack(archive, folder):
    """Unpacks the tasks alone, and verifies them."""
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                if member.name.startswith(f"{FOLDER}/"):
                    tar.extract(member, folder, filter="data")
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"the archive is truncated or broken ({error})") from error
    if wrong := _difference(folder):
        raise ValueError(f"the archive {wrong}")
    return pathlib.Path(folder, FOLDER)


def _difference(folder):
    """Returns how the first file differs from version 1.2, or `None` if all are the same."""
    for name, digest in checksums().items():
        path = pathlib.Path(folder, name)
        if not path.is_file():
            return f"has no {name.removeprefix(FOLDER + '/')}"
        if digest_of(path) != digest:
            return f"has another {name.removeprefix(FOLDER + '/')} than version 1.2"
    return None
