"""Models from presets: bundled ones by name, folders, and repositories of the hub."""

import functools
import os
import pathlib
from collections.abc import Sequence
from typing import Any

from zoo.configs import rename
from zoo.hub import presets, repositories
from zoo.hub.folders import find_file, read_folder
from zoo.hub.model_card import remember_origin
from zoo.hub.record import Preset, Weights, set_weights
from zoo.hub.transfer import settings_of, transfer

# Sizes up to here are made without a doubt.
LARGE = 100_000


def open_preset(handle: str | os.PathLike, folder: str | os.PathLike | None = None) -> Preset:
    """Reads a preset, but for its weights.

    Args:
        handle: name of a bundled preset, a folder, or `hf://user/name`.
        folder: folder of presets that come before those of the package.

    Raises:
        FileNotFoundError: if a file of the preset is missing.
        ValueError: if there is no such preset, or one of its files is damaged.
        ConnectionError: if the hub is out of reach.
    """
    name = os.path.expanduser(handle)
    if name.startswith(repositories.PREFIX):
        return repositories.read_repository(name)
    if presets.find_bundled(name, folder) is None:
        if pathlib.Path(name).is_dir():
            return read_folder(name, functools.partial(find_file, name))
        if pathlib.Path(name).is_file():
            raise ValueError(f"{name} is a file, not a preset: zoo.load loads .keras files.")
    return presets.read_bundled(name, folder)


def check_arguments(preset: Preset, weights: Weights) -> None:
    """Checks that no size is far beyond those of the weights, before a model of it is made."""
    most = max((size for weight in weights.values() for size in weight.shape), default=0)
    for name, value in preset.arguments.items():
        if isinstance(value, int) and weights and value > max(most, LARGE):
            raise ValueError(f"{preset.handle}: {name} {value:,} is not that of its weights.")


def load_preset(
    cls: Any,
    preset: Preset,
    load_weights: bool,
    examples: Sequence | None,
    overrides: dict[str, Any],
) -> Any:
    """Makes a model of a class from a preset; see `PresetModel.from_preset`."""
    if examples is not None:
        return _adapted(cls, preset, load_weights, examples, overrides)
    weights = preset.read_weights() if load_weights else {}
    check_arguments(preset, weights)
    config = rename(preset.arguments)
    if not load_weights:
        # It was fitted to these.
        config.pop("temperature", None)
    config |= {"preprocessor": preset.preprocessor, **rename(overrides)}
    try:
        model = cls.from_config(config)
    except Exception as error:
        # What a user did not ask for, the file did; there, anything may be wrong.
        if overrides or isinstance(error, ImportError):
            raise
        cause = str(error).partition("\n")[0]
        raise ValueError(f"{preset.handle}: no preset of this version: {cause}") from error
    if load_weights:
        misfit = preset.misfit
        if overrides:
            misfit = (
                f"{preset.handle}: its weights do not fit {', '.join(overrides)}: leave that out, "
                "or take load_weights=False."
            )
        set_weights(model, weights, misfit)
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
