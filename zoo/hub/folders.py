"""Presets as folders: readable JSON, weights by name in HDF5, and a model card."""

import functools
import io
import json
import operator
import os
import pathlib
import re
from collections.abc import Callable
from typing import Any

import h5py
import keras
import numpy as np

import keras_corefmem
from keras_corefmem.utils.files import (
    BadFileError,
    check_content,
    digest_of,
    load_json,
    naming_damage,
    replacing_folder,
)
from zoo.hub.model_card import write_card
from zoo.hub.record import Content, Preset, Weights, describe_class, set_weights, weights_of

CONFIG, PREPROCESSOR, WEIGHTS, CARD = FILES = (
    "config.json",
    "preprocessor.json",
    "model.weights.h5",
    "README.md",
)
# Incremented whenever an older version would misread a folder.
FORMAT = 1
DAMAGED = "it is damaged or was edited: save or download the preset again."


class FolderContent(Content):
    """The content of `config.json`."""

    # SHA-256 of each file.
    files: dict[str, str]


def write_folder(model: keras.Model, folder: str | os.PathLike, card: dict[str, Any]) -> None:
    """Writes a model as a preset, completely or not at all, and does not change the model.

    Args:
        model: a model of the zoo.
        folder: folder to write; another preset in it is replaced.
        card: facts by name, see `write_card`.

    Raises:
        ValueError: if the folder contains anything but a preset, a layer is quantized or has LoRA,
            or two weights have the same name.
    """
    if "://" in str(folder):
        raise ValueError(
            f"{folder} is not a folder: save to one, then "
            f"zoo.upload_preset({str(folder)!r}, folder)."
        )
    for layer in model._flatten_layers():
        if getattr(layer, "quantization_mode", None) or getattr(layer, "lora_enabled", False):
            raise ValueError(
                f"{layer.name} of {model.name} is quantized or has LoRA, unlike what its arguments "
                "make: save a preset before, or all of the model by `model.save`."
            )
    place = pathlib.Path(folder).expanduser()
    _check_replaceable(place)
    weights, arguments = weights_of(model), model.get_config()
    preprocessor = arguments.pop("preprocessor")
    # Converts NumPy numbers to Python's.
    card = json.loads(json.dumps(card, default=operator.methodcaller("item")))
    with replacing_folder(place) as partial:
        write_weights(partial / WEIGHTS, weights)
        _write(partial / PREPROCESSOR, preprocessor)
        content = {
            "format": FORMAT,
            "keras_corefmem": keras_corefmem.__version__,
            "keras": keras.__version__,
            "class": describe_class(type(model)),
            "arguments": arguments,
            "card": card,
            "files": {name: digest_of(partial / name) for name in (PREPROCESSOR, WEIGHTS)},
            "weights": {name: weight.shape for name, weight in weights.items()},
        }
        _write(partial / CONFIG, content)
        write_card(partial / CARD, model, card, os.fspath(folder))


def _write(path: pathlib.Path, content: Any) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False)
    # Put lists of numbers on one line.
    text = re.sub(r"\[\n[\s\d,]+\]", lambda match: re.sub(r"\s+", "", match[0]), text)
    path.write_text(text + "\n", encoding="utf-8")


def _check_replaceable(folder: pathlib.Path) -> None:
    """Raises `ValueError` if a path contains anything but a preset."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: give the folder of a preset another name.")
    others = sorted({path.name for path in folder.iterdir()} - {*FILES}) if folder.exists() else []
    if others:
        raise ValueError(
            f"{folder} holds {others[0]}, which is not part of a preset: give a new folder."
        )


Find = Callable[[str], pathlib.Path]


def read_folder(handle: str, find: Find, find_again: Find | None = None) -> Preset:
    """Reads a preset without its weights, which are read when needed.

    Args:
        handle: name or address by which the preset was requested.
        find: function from the name of a file to its path.
        find_again: function that obtains a new copy of a damaged file and returns its path;
            `None` if there is no other copy.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if one is damaged, or a newer version of this package wrote it.
    """
    path = find(CONFIG)
    try:
        content = load_json(path, remedy=DAMAGED)
    except ValueError:
        if find_again is None:
            raise
        content = load_json(find_again(CONFIG), remedy=DAMAGED)
    number = content.get("format") if isinstance(content, dict) else None
    if not isinstance(number, int):
        raise BadFileError(
            f"{path} is not the config.json of a preset, as it has no format: give another folder."
        )
    if number > FORMAT:
        version = content.get("keras_corefmem", "a newer version")
        raise ValueError(
            f"{path} has format {number}, of keras_corefmem {version}; this one reads format "
            f"{FORMAT}: pip install --upgrade keras_corefmem."
        )
    record = check_content(path, content, FolderContent, DAMAGED)

    def checked(name: str) -> pathlib.Path:
        if name not in record.files:
            raise BadFileError(f"{path}: files: the SHA-256 of {name} is missing; {DAMAGED}")
        for search in filter(None, (find, find_again)):
            file = search(name)
            if digest_of(file) == record.files[name]:
                return file
        raise BadFileError(f"{file} does not have the SHA-256 in {CONFIG}; {DAMAGED}")

    return Preset(
        handle,
        record.class_name,
        record.arguments,
        load_json(checked(PREPROCESSOR), remedy=DAMAGED, kind=dict[str, Any] | None),
        record.card,
        lambda: read_weights(checked(WEIGHTS), record.weights),
        f"{handle}: the weights are not those of a {record.class_name} of this version; install "
        f"keras_corefmem {content.get('keras_corefmem')}, which wrote them.",
        record.weights,
    )


def verify_folder(folder: str | os.PathLike) -> None:
    """Checks that a folder contains a complete preset.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if one is damaged, or a newer version of this package wrote it.
    """
    find = functools.partial(find_file, folder)
    read_folder(str(folder), find).read_weights()
    find(CARD)


def find_file(folder: str | os.PathLike, name: str) -> pathlib.Path:
    """Returns the path of a file of a preset.

    Raises:
        FileNotFoundError: if it is missing.
    """
    path = pathlib.Path(folder, name).expanduser()
    if not path.is_file():
        raise FileNotFoundError(
            f"{path}: no such file, so the preset is incomplete: copy all of its folder, or "
            "write it by `model.save_to_preset(folder)`."
        )
    return path


def write_weights(path: str | os.PathLike, weights: Weights) -> None:
    """Writes weights to an HDF5 file, each under its name."""
    # Written by way of memory, since HDF5 crashes on a full disk.
    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        file.attrs["keras_corefmem"] = FORMAT
        for number, (name, weight) in enumerate(weights.items()):
            # HDF5 has no bfloat16.
            narrow = weight.dtype.name == "bfloat16"
            dataset = file.create_dataset(name, data=weight.astype("float32") if narrow else weight)
            dataset.attrs["number"] = number
    # An error would keep a buffer of memory, and crash CPython 3.12.1 (python/cpython#111049).
    pathlib.Path(path).write_bytes(memory.getvalue())


def load_named_weights(model: keras.Model, path: str | os.PathLike) -> bool:
    """Loads the `model.weights.h5` of a preset into a model; does nothing for other files.

    Returns:
        Whether the file is one of a preset.

    Raises:
        ValueError: if the weights do not fit the model.
    """
    if not (os.path.isfile(path) and h5py.is_hdf5(path)):
        return False
    with h5py.File(path) as file:
        if "keras_corefmem" not in file.attrs:
            return False
        names: list[str] = []
        file.visit(names.append)
        names = [name for name in names if hasattr(file[name], "shape")]
        # HDF5 sorts names alphabetically, `dense_10` before `dense_9`.
        names.sort(key=lambda name: file[name].attrs.get("number", 0))
        weights = {name: _array(file, name) for name in names}
    set_weights(model, weights, f"{path}: the weights do not fit {model.name}.")
    return True


def read_weights(path: str | os.PathLike, shapes: dict[str, tuple[int, ...]]) -> Weights:
    """Reads weights written by `write_weights`, in the order of `shapes`.

    Raises:
        ValueError: if one is missing or has another shape.
    """
    with naming_damage(path, DAMAGED), h5py.File(path) as file:
        for name, shape in shapes.items():
            if getattr(file.get(name), "shape", None) != shape:
                raise BadFileError(
                    f"{path} lacks {name:.80} {shape}, which {CONFIG} lists; {DAMAGED}"
                )
        return {name: _array(file, name) for name in shapes}


def _array(file: h5py.File, name: str) -> np.ndarray:
    """Reads a dataset, unless it links to another file of this machine."""
    dataset = file[name]
    if dataset.file.filename != file.filename or dataset.external or dataset.is_virtual:
        raise BadFileError(f"{file.filename}: {name} lies in another file: do not trust this one.")
    # Weights are written in full, so a dataset with less data than its shape is forged or damaged.
    if dataset.id.get_storage_size() < dataset.nbytes:
        raise BadFileError(f"{file.filename}: {name} is larger than what the file has; {DAMAGED}")
    return dataset[()]
