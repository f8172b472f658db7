"""Bundled models with trained weights: a JSON file and an `.npz` each, in the folder `presets`."""

import json
import math
import os
import pathlib
import re
import zipfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_corefmem.utils.files import (
    BadFileError,
    check_content,
    load_json,
    naming_damage,
    replacing,
)
from keras_corefmem.utils.names import close_names, in_natural_order
from zoo.hub.record import Content, Preset, Shapes, Weights, weights_of

if TYPE_CHECKING:
    import keras

FOLDER = pathlib.Path(__file__).parents[1] / "presets"
AGAIN = "install the package again."
# Largest size of the headers of an `.npz`, and compression factor of trained weights.
HEADERS, EXPANSION = 2**20, 100
# The wheel leaves some presets out; a checkout of the repository has them in another folder.
_ROOT = FOLDER.parents[1]
_OTHERS = [_ROOT / "presets"] if (_ROOT / "setup.cfg").exists() else []


class BundledContent(Content):
    """The content of a JSON file; those of version 0.1 have no shapes."""

    preprocessor: dict[str, Any] | None
    weights: Shapes = {}


def _paths(folder: str | os.PathLike | None) -> dict[str, pathlib.Path]:
    """Returns the JSON files of presets by name; those of the package take precedence."""
    folders = [pathlib.Path(folder).expanduser()] if folder else [*_OTHERS, FOLDER]
    return {path.stem: path for each in folders for path in each.glob("*.json")}


def presets(folder: str | os.PathLike | None = None) -> list[str]:
    """Lists the names of the presets, with task numbers in numerical order.

    Args:
        folder: folder of the presets. The default is that of the package and, in a checkout of
            the repository, the folder `presets` at its root.

    Example:
        >>> "ga_mage_gru_babi_2" in zoo.presets()
        True
    """
    return in_natural_order(_paths(folder))


def read_preset(name: str, folder: str | os.PathLike | None = None) -> dict[str, Any]:
    """Reads the JSON file of a preset: `class`, `arguments`, `preprocessor` and `card`.

    The card contains the data set, task and seed, validation and test accuracy, the command that
    trained the model, and the licence.

    Args:
        name: name of the preset, with `_` or `-`.
        folder: folder of presets that take precedence over those of the package.

    Raises:
        ValueError: if there is no such preset.
    """
    return _read(_find(name, folder))


def read_presets() -> dict[str, dict[str, Any]]:
    """Reads the JSON files of all presets of the package by name, see `read_preset`."""
    paths = _paths(None)
    return {name: _read(paths[name]) for name in in_natural_order(paths)}


def _read(path: pathlib.Path) -> dict[str, Any]:
    content = load_json(path, remedy=AGAIN)
    check_content(path, content, BundledContent, AGAIN)
    return content


def _known(folder: str | os.PathLike | None) -> dict[str, pathlib.Path]:
    """Returns the JSON files of presets by name; those of `folder` take precedence."""
    if folder and not pathlib.Path(folder).expanduser().is_dir():
        raise ValueError(f"There is no folder {os.fspath(folder)!r}: give another folder=.")
    return _paths(None) | (_paths(folder) if folder else {})


def find_bundled(name: str, folder: str | os.PathLike | None = None) -> pathlib.Path | None:
    """Returns the JSON file of a preset, or `None`.

    Args:
        name: name of the preset, with `_` or `-`.
        folder: folder of presets that take precedence over those of the package.

    Raises:
        ValueError: if there is no such folder.
    """
    paths = _known(folder)
    return paths.get(name, paths.get(name.replace("-", "_")))


def _find(name: str, folder: str | os.PathLike | None) -> pathlib.Path:
    path = find_bundled(name, folder)
    if path is not None:
        return path
    if "://" in name:
        raise ValueError(f"{name!r} is not the handle of a preset: addresses are hf://user/name.")
    if re.search(r"[/\\]|^[.~]", name):
        raise ValueError(
            f"There is no folder {name!r}: `model.save_to_preset(folder)` makes one; a preset of "
            "the Hugging Face Hub is hf://user/name."
        )
    near = ", ".join(close_names(name, _known(folder), 5))
    advice = f"did you mean {near}? zoo.presets() lists all" if near else "zoo.presets() lists all"
    raise ValueError(
        f"There is no preset {name!r}; {advice}. Those that the wheel leaves out are in the folder "
        "presets/ of the repository: install that, or give from_preset the folder, folder=."
    )


def read_bundled(name: str, folder: str | os.PathLike | None = None) -> Preset:
    """Reads a bundled preset without its weights, which are read when needed.

    Args:
        name: name of the preset, with `_` or `-`.
        folder: folder of presets that take precedence over those of the package.

    Raises:
        ValueError: if there is no such preset.
    """
    path = _find(name, folder)
    content = load_json(path, remedy=AGAIN, kind=BundledContent)
    arrays = path.with_suffix(".npz")
    misfit = f"{arrays}: the weights do not fit {path.name}; {AGAIN}"
    return Preset(
        path.stem,
        content.class_name,
        {"name": path.stem, **content.arguments},
        content.preprocessor,
        content.card,
        lambda: _read_arrays(arrays, content.weights, misfit),
        misfit,
        content.weights,
        path.parent in (FOLDER, *_OTHERS),
    )


def _read_arrays(path: pathlib.Path, shapes: Shapes, misfit: str) -> Weights:
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file; {AGAIN}")
    sizes = [math.prod(shape) for shape in shapes.values()]
    with naming_damage(path, AGAIN):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist()) - HEADERS
        if unpacked > EXPANSION * path.stat().st_size or shapes and unpacked > 2 * sum(sizes):
            raise BadFileError(misfit)
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in sorted(file.files)}
        if not shapes:  # Version 0.1 stored one numbered array per weight.
            return arrays
        values = _unpack(**arrays)
        if sum(sizes) != len(values):
            raise BadFileError(misfit)
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return {n: part.reshape(shapes[n]) for n, part in zip(shapes, parts, strict=True)}


def half_weights(model: "keras.Model") -> Weights:
    """Returns the weights of a model by name, rounded to half precision.

    Raises:
        ValueError: if a weight overflows in half precision, or two have the same name.
    """
    with np.errstate(over="ignore"):
        weights = {name: weight.astype("float16") for name, weight in weights_of(model).items()}
    if not all(np.isfinite(weight).all() for weight in weights.values()):
        raise ValueError(f"{model.name} has weights that half precision cannot hold.")
    return weights


def save_preset(
    model: "keras.Model", name: str, card: dict[str, Any], folder: str | os.PathLike = FOLDER
) -> None:
    """Writes a model as a preset with weights in half precision.

    Args:
        model: a model with a preprocessor, whose own weights do not change.
        name: name of the preset.
        card: facts about it by name.
        folder: folder of the presets.

    Raises:
        ValueError: if a weight overflows in half precision, or two have the same name.
    """
    folder = pathlib.Path(folder)
    weights = half_weights(model)
    arguments = model.get_config()
    content = {
        "class": type(model).__name__,
        "card": card,
        "preprocessor": arguments.pop("preprocessor"),
        "arguments": {
            k: v for k, v in arguments.items() if k not in ("name", "trainable", "dtype")
        },
        "weights": {key: weight.shape for key, weight in weights.items()},
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    with replacing(folder / f"{name}.npz") as partial:
        np.savez_compressed(partial, allow_pickle=False, **_pack(weights.values()))
    with replacing(folder / f"{name}.json") as partial:
        partial.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _pack(weights: Iterable[np.ndarray]) -> dict[str, np.ndarray]:
    """Splits all weights into low and high bytes, which compress better separately."""
    pairs = np.concatenate([weight.ravel() for weight in weights]).astype("<f2").view("uint8")
    return {"low": pairs[::2], "high": pairs[1::2]}


def _unpack(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Returns all weights, concatenated."""
    return np.stack([low, high], axis=-1).view("<f2").ravel()
