"""Models from presets: bundled ones by name, folders, and repositories of the hub."""

import functools
import os
import pathlib
from collections.abc import Sequence
from typing import Any, TypeVar

import keras

from zoo.configs import rename
from zoo.hub import presets, repositories
from zoo.hub.folders import find_file, read_folder
from zoo.hub.model_card import remember_origin
from zoo.hub.record import Preset, find_class, set_weights
from zoo.hub.transfer import settings_of, transfer

Model = TypeVar("Model", bound=keras.Model)


def open_preset(handle: str | os.PathLike, folder: str | os.PathLike | None = None) -> Preset:
    """Reads a preset, but for its weights.

    Args:
        handle: name of a bundled preset, a folder, or `hf://user/name`.
        folder: folder of the bundled presets, as of `presets`.

    Raises:
        FileNotFoundError: if a file of the preset is missing.
        ValueError: if there is no such preset, or one of its files is damaged.
        ConnectionError: if the hub is out of reach.
    """
    name = os.fspath(handle)
    if name.startswith(repositories.PREFIX):
        return repositories.read_repository(name)
    if folder is None and name not in presets.presets():
        if pathlib.Path(name).is_dir():
            return read_folder(name, functools.partial(find_file, name))
        if pathlib.Path(name).is_file():
            raise ValueError(f"{name} is a file, no preset: zoo.load loads .keras files.")
    return presets.read_bundled(name, folder)


def load_preset(
    base: type[Model],
    handle: str | os.PathLike,
    load_weights: bool = True,
    examples: Sequence | None = None,
    folder: str | os.PathLike | None = None,
    **overrides: Any,
) -> Model:
    """Makes a model of a preset, compiled with its defaults; see `TextModel.from_preset`."""
    preset = open_preset(handle, folder)
    cls: Any = find_class(preset.class_name, base)
    if cls is None:
        raise ValueError(
            f"{preset.handle} is a {preset.short_class_name}, not a {base.__name__}: "
            "zoo.from_preset loads models of all classes, once those of your own are imported."
        )
    if examples is not None:
        return _adapted(cls, preset, load_weights, examples, overrides)
    model = cls.from_config(
        {**rename(preset.arguments), "preprocessor": preset.preprocessor, **rename(overrides)}
    )
    if load_weights:
        misfit = preset.misfit
        if overrides:
            misfit = (
                f"{preset.handle}: its weights do not fit {', '.join(overrides)}: leave that out, "
                "or take load_weights=False."
            )
        set_weights(model, preset.read_weights(), misfit)
        remember_origin(model, preset.handle, preset.card, unchanged=True)
    model.compile()
    return model


def _adapted(
    cls: Any,
    preset: Preset,
    load_weights: bool,
    examples: Sequence,
    overrides: dict[str, Any],
) -> Any:
    settings = settings_of(preset, cls.arguments())
    if "make_word_encoder" in overrides:
        settings.pop("word_encoder", None)
    dtype = preset.arguments.get("dtype", "float32")
    if dtype != "float32":
        settings["dtype"] = dtype
    model = cls.from_examples(examples, **{**settings, **rename(overrides)})
    if load_weights:
        model.coverage = transfer(model, preset)
        remember_origin(model, preset.handle, preset.card, unchanged=False)
    model.compile()
    return model


def presets_of(base: type) -> dict[str, dict[str, Any]]:
    """Returns the cards of the bundled presets of a class and of those derived from it, by name."""
    contents = {name: presets.read_preset(name) for name in presets.presets()}
    return {
        name: content["card"]
        for name, content in contents.items()
        if find_class(content["class"], base) is not None
    }
