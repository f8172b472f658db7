"""The index of a folder of annotated texts, and the plan that it is written by.

Shard k holds texts k·size to (k+1)·size − 1. While shards are written, `plan.json` has `format`,
`inputs` (name, bytes and SHA-256 of each file) and the settings of the annotation. In the end,
`index.json` has all of these, the numbers of `texts` and `tokens`, and `shards`: name, bytes,
SHA-256, texts and tokens of each.
"""

import contextlib
import glob
import pathlib
import shutil
from typing import Annotated, Literal, NotRequired

import pydantic
from typing_extensions import TypedDict

from keras_corefmem.corpora.texts import STANDARD_INPUT
from keras_corefmem.utils.files import (
    BadFileError,
    Path,
    different_fields,
    digest_of,
    load_json,
    write_json,
)
from keras_corefmem.utils.names import in_natural_order, natural_key

FORMAT = 1
INDEX, PLAN = "index.json", "plan.json"
REMEDY = "give the `corefmem annotate` command that wrote it again."
OTHER = "choose another folder, or remove that one."

_PATTERN = "shard-*.tfrecord"
_MORE = pydantic.with_config(pydantic.ConfigDict(extra="allow"))


class Shard(TypedDict):
    name: Annotated[str, pydantic.Field(pattern=r"^shard-\d+\.tfrecord$")]
    bytes: int
    sha256: str
    texts: int
    tokens: int


@_MORE
class Input(TypedDict):
    name: str
    bytes: NotRequired[int]
    sha256: NotRequired[str]


@_MORE
class Tool(TypedDict):
    name: str


@_MORE
class Plan(TypedDict):
    format: Literal[1]
    inputs: NotRequired[list[Input]]
    annotator: NotRequired[Tool | None]
    truecaser: NotRequired[Tool | None]


@_MORE
class Index(Plan):
    texts: int
    tokens: int
    shards: list[Shard]


def shard_name(number: int) -> str:
    """Names a shard, numbered from 0."""
    return f"shard-{number:05}.tfrecord"


def part_name(number: int, part: int) -> str:
    """Names a part of an incomplete shard, which `remove_partial` removes."""
    return f".{shard_name(number)}-parts/{part:05}.tfrecord"


def prepare_folder(folder: Path, plan: dict) -> dict | None:
    """Prepares a folder for the shards that it lacks; returns its index if it is complete."""
    folder, plan = pathlib.Path(folder), {"format": FORMAT, **plan}
    known = next((name for name in (INDEX, PLAN) if (folder / name).exists()), None)
    if any(folder.glob(_PATTERN)):
        if known is None:
            raise ValueError(f"{folder} holds shards, but no {PLAN}: choose another folder.")
        different = different_fields(folder / known, plan, _without_standard_input, OTHER, Plan)
        if different:
            raise ValueError(f"{folder} holds records with other {', '.join(different)}: {OTHER}")
    remove_partial(folder)
    if known == INDEX and _without_standard_input(plan) == plan:
        with contextlib.suppress(FileNotFoundError, ValueError):
            complete = verify_folder(folder)
            (folder / PLAN).unlink(missing_ok=True)
            return complete
    # Shards that are missing or broken are written again.
    write_json(folder / PLAN, plan)
    return None


def remove_partial(folder: Path) -> None:
    """Removes files that a killed process left half-written."""
    for partial in pathlib.Path(folder).glob(f".{_PATTERN}-*"):
        shutil.rmtree(partial, ignore_errors=True)


def _without_standard_input(plan):
    """Returns a plan without size and hash of standard input, known only once it is read."""
    standard = {"name": STANDARD_INPUT}
    inputs = plan.get("inputs", ())
    return {**plan, "inputs": [standard if standard.items() <= f.items() else f for f in inputs]}


def write_index(folder: Path, plan: dict, shards: list[dict]) -> dict:
    """Writes the index of a folder, given its shards' entries in any order, and returns it."""
    folder, shards = pathlib.Path(folder), sorted(shards, key=lambda s: natural_key(s["name"]))
    if not shards:
        raise ValueError("There is no text in the input: give a file with texts.")
    others = {path.name for path in folder.glob(_PATTERN)} - {shard["name"] for shard in shards}
    if others:
        raise ValueError(
            f"{folder / min(others)} is of more texts than the input has: give the input that it "
            "was written from, or choose another folder."
        )
    totals = {name: sum(shard[name] for shard in shards) for name in ("texts", "tokens")}
    index = {"format": FORMAT, **plan, **totals, "shards": shards}
    write_json(folder / INDEX, index)
    (folder / PLAN).unlink(missing_ok=True)
    return index


def read_index(folder: Path) -> dict:
    """Reads the index of a folder."""
    path = pathlib.Path(folder, INDEX)
    if not path.exists() and path.with_name(PLAN).exists():
        raise FileNotFoundError(
            f"{folder} is not complete: give the `corefmem annotate` command that began it again."
        )
    return load_json(path, "index of records", REMEDY, kind=Index)


def verify_folder(folder: Path, hashes: bool = True) -> dict:
    """Compares the shards of a folder with its index, and returns the index.

    Args:
        folder: the folder.
        hashes: whether to compare the content of the shards, or their sizes alone.

    Raises:
        FileNotFoundError: if there is no index, or a shard is missing.
        ValueError: if a shard is not what the index says.

    Example:
        >>> with open("a.txt", "w") as file:
        ...     _ = file.write("Mary left.")
        >>> _ = keras_corefmem.corpora.annotate_files(["a.txt"], "annotated", processes=0)
        >>> keras_corefmem.corpora.verify_folder("annotated")["tokens"]
        3
    """
    index = read_index(folder)
    for shard in index["shards"]:
        path = pathlib.Path(folder, shard["name"])
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no such shard, though the {INDEX} beside it has one.")
        size = path.stat().st_size
        if size != shard["bytes"]:
            what = f"{size} bytes of {shard['bytes']}, is it truncated?"
            raise BadFileError(f"{path}: {what} {REMEDY}")
        if hashes and digest_of(path) != shard["sha256"]:
            raise BadFileError(f"{path}: the content has changed; {REMEDY}")
    return index


def shard_paths(source: Path) -> list[pathlib.Path]:
    """Lists the shards in a folder's index, or the files of a pattern in natural order."""
    if pathlib.Path(source).is_dir():
        index = verify_folder(source, hashes=False)
        return [pathlib.Path(source, shard["name"]) for shard in index["shards"]]
    paths = in_natural_order(glob.glob(str(source)))
    if not paths:
        raise FileNotFoundError(f"{source}: no such file, pass a folder or a pattern of files.")
    return list(map(pathlib.Path, paths))
