"""bAbI from any of its homes: what was got is told by its content."""

import gzip
import hashlib
import http.client
import importlib.resources
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile
import urllib.request
import zlib

import rich.progress

from keras_corefmem.utils.files import Path

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
    """Downloads the tasks, once, from the first of their homes that has them unchanged.

    The cache is Keras' own, by default `$KERAS_HOME` or `~/.keras`; nothing stays there of an
    archive that is broken, or in which a file of `en` or `en-valid` is not that of version 1.2.

    Args:
        cache_dir: another folder for the cache.
        origin: address of a copy, which is tried before the homes.

    Returns:
        The folder of the tasks, for `load`.

    Raises:
        FileNotFoundError: if no home has them; it says of each why.
    """
    cache, tried = cache_folder(cache_dir), []
    for home in () if (cache / FOLDER).is_dir() else filter(None, (origin, *HOMES)):
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".babi-", dir=cache) as temporary:
            try:
                folder = _unpack(_fetch(home, temporary), temporary)
            except (OSError, ValueError, http.client.HTTPException) as error:
                tried.append(f"{home}: {error}")
            else:
                os.replace(folder, cache / FOLDER)
                break
    if not (cache / FOLDER).is_dir():
        raise FileNotFoundError(
            "bAbI could not be downloaded. "
            + ". ".join(tried)
            + ". Give the address of another copy, --origin (in Python: `origin`), or unpack one "
            "yourself and pass its folder, --data-dir."
        )
    return str(cache / FOLDER)


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
    """Unpacks the tasks, and nothing else, and compares them with `checksums`."""
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                if member.name.startswith(f"{FOLDER}/"):
                    tar.extract(member, folder, filter="data")
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"the archive is truncated or broken ({error})") from error
    for name, digest in checksums().items():
        try:
            content = pathlib.Path(folder, name).read_bytes()
        except FileNotFoundError:
            raise ValueError(f"the archive has no {name}") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError(f"{name} is not that of version 1.2")
    return pathlib.Path(folder, FOLDER)
