"""Bundled models with trained weights: a JSON file and an `.npz` each, in the folder `presets`."""

import collections
import difflib
import json
import math
import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_corefmem.utils.files import load_json, replacing

if TYPE_CHECKING:
    from zoo.architectures.text_model import TextModel

FOLDER = pathlib.Path(__file__).parents[1] / "presets"
# Those that the wheel leaves out, where the package runs from a checkout of the repository.
_ROOT = FOLDER.parents[1]
_OTHERS = [_ROOT / "presets"] if (_ROOT / "setup.cfg").exists() else []


def _paths(folder: str | os.PathLike | None) -> dict[str, pathlib.Path]:
    """The JSON files of presets by name, those of the package before others."""
    folders = [pathlib.Path(folder)] if folder else [*_OTHERS, FOLDER]
    return {path.stem: path for each in folders for path in each.glob("*.json")}


def presets(folder: str | os.PathLike | None = None) -> list[str]:
    """Lists the names of the presets.

    Args:
        folder: folder of the presets; by default that of the package and, in a checkout of the
            repository, the folder `presets` at its root.

    Example:
        >>> "ga_mage_gru_babi_2" in zoo.presets()
        True
    """
    return sorted(_paths(folder))


def read_preset(name: str, folder: str | os.PathLike | None = None) -> dict[str, Any]:
    """Reads what a preset says of itself: `class`, `arguments`, `preprocessor` and `card`.

    The card holds the data set, task and seed, validation and test accuracy, the command that made
    it, and its licence.

    Args:
        name: name of the preset.
        folder: folder of the presets, as of `presets`.

    Raises:
        ValueError: if there is no such preset.
    """
    return load_json(_find(name, folder))


def _find(name: str, folder: str | os.PathLike | None) -> pathlib.Path:
    paths = _paths(folder)
    if name not in paths:
        near = difflib.get_close_matches(name, paths, 5, 0.3) or sorted(paths)[:5]
        advice = f"did you mean {', '.join(near)}?" if near else "there are none yet."
        raise ValueError(
            f"There is no preset {name!r}; {advice} zoo.presets() lists all. Those that the wheel "
            "leaves out are in the folder presets/ of the repository: give it as folder=."
        )
    return paths[name]


def from_preset(name: str, folder: str | os.PathLike | None = None) -> "TextModel":
    """Loads a trained model: architecture, preprocessing and weights, compiled with its defaults.

    Args:
        name: one of `zoo.presets()`, such as `"ga_mage_gru_babi_2"`.
        folder: folder of the presets, as of `presets`.

    Raises:
        ValueError: if there is no such preset, or its weights do not fit.

    Example:
        >>> model = zoo.from_preset("qrn_babi_1")
        >>> model.read("Mary went to the kitchen.", "Where is Mary?").answer
        'kitchen'
    """
    from zoo import architectures

    path = _find(name, folder)
    content = load_json(path)
    model = getattr(architectures, content["class"])(
        **content["arguments"], preprocessor=content["preprocessor"], name=name
    )
    path = path.with_suffix(".npz")
    with np.load(path, allow_pickle=False) as file:
        arrays = {key: file[key] for key in sorted(file.files)}
    shapes = {weight.path: tuple(weight.shape) for weight in model.weights}
    if "weights" in content:
        stored = {key: tuple(shape) for key, shape in content["weights"].items()}
        values = _unpack(**arrays)
    else:  # Version 0.1 had an array a weight, by number.
        stored = dict(zip(shapes, (array.shape for array in arrays.values()), strict=False))
        values = np.concatenate([array.ravel() for array in arrays.values()])
    sizes = [math.prod(shape) for shape in stored.values()]
    if stored != shapes or sum(sizes) != len(values):
        raise ValueError(f"{path}: the weights do not fit {name}.json; install the package again.")
    parts = dict(zip(stored, np.split(values, np.cumsum(sizes)[:-1]), strict=True))
    model.set_weights([parts[key].reshape(shape) for key, shape in shapes.items()])
    model.compile()
    return model


def round_weights(model: "TextModel") -> dict[str, np.ndarray]:
    """Rounds the weights of a model to half precision in place, and returns them by name."""
    counts = collections.Counter(weight.path for weight in model.weights)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise ValueError(f"{model.name} has several weights named {twice[0]}: name its layers.")
    with np.errstate(over="ignore"):
        weights = [weight.astype("float16") for weight in model.get_weights()]
    if not all(np.isfinite(weight).all() for weight in weights):
        raise ValueError(f"{model.name} has weights that half precision cannot hold.")
    model.set_weights([weight.astype("float32") for weight in weights])
    return dict(zip(counts, weights, strict=True))


def save_preset(
    model: "TextModel", name: str, card: dict[str, Any], folder: str | os.PathLike = FOLDER
) -> None:
    """Writes a model as a preset, its weights in half precision.

    Args:
        model: a model with a preprocessor. Its weights are rounded.
        name: name of the preset.
        card: what to know about it.
        folder: folder of the presets.

    Raises:
        ValueError: if half precision cannot hold a weight, or two have the same name.
    """
    folder = pathlib.Path(folder)
    weights = round_weights(model)
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
    """The low bytes of all weights, and the high ones: they compress better apart."""
    pairs = np.concatenate([weight.ravel() for weight in weights]).astype("<f2").view("uint8")
    return {"low": pairs[::2], "high": pairs[1::2]}


def _unpack(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """All weights, one after the other."""
    return np.stack([low, high], axis=-1).view("<f2").ravel()
