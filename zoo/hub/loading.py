"""Models from presets: bundled ones by name, folders, and repositories of the hub."""

import contextlib
import dataclasses
import functools
import math
import os
import pathlib
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import keras
import pydantic
from typing_extensions import TypedDict

from keras_corefmem.datasets.registry import JSON_LINES, find
from keras_corefmem.utils.files import BadFileError, check_content, load_json, naming_damage
from zoo.configs import rename
from zoo.hub import presets, repositories
from zoo.hub.folders import find_file, read_folder
from zoo.hub.model_card import remember_origin
from zoo.hub.record import Preset, Shapes, set_weights
from zoo.hub.transfer import settings_of, transfer

# Sizes, and numbers of layers, hops or passes, that are accepted whatever the weights.
LARGE, MANY = 100_000, 100
REMEDY = "is it of another version? Save or download it again."
COUNTED = "layers", "hops", "passes"


def _known(name: str) -> str:
    # A file that a model was trained on may be gone.
    if not name.endswith(JSON_LINES):
        find(name)
    return name


class Known(TypedDict, total=False):
    """Facts about the training data in cards of presets and records of runs."""

    dataset: Annotated[str, pydantic.AfterValidator(_known)] | None
    task: int | str | None
    data_dir: str | None
    language: str | None
    valid: str | None
    content: dict[str, str]


def open_preset(handle: str | os.PathLike, folder: str | os.PathLike | None = None) -> Preset:
    """Reads a preset without its weights, which are read when needed.

    Args:
        handle: name of a bundled preset, a folder, or `hf://user/name`.
        folder: folder of presets that take precedence over those of the package.

    Raises:
        FileNotFoundError: if a file of the preset is missing.
        ValueError: if there is no such preset, or one of its files is damaged.
        ConnectionError: if the hub cannot be reached.
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


def describe_data(name: str) -> Known:
    """Returns what a model was trained on, from its preset's card or the record beside its file."""
    remedy = "remove it, and give --dataset and --task."
    if not name.endswith(".keras"):
        return check_content(f"{name}: card", open_preset(name).card, Known, remedy)
    record = pathlib.Path(name).with_name("run.json")
    return load_json(record, remedy=remedy, kind=Known) if record.exists() else {}


def check_model_size(complaint: str, cls: Any, config: dict[str, Any], shapes: Shapes) -> None:
    """Checks that a configuration needs no more numbers than the weights have.

    The check allocates no memory, so that a damaged or forged file cannot exhaust it.

    Args:
        complaint: start of the error message: whose the weights are, and what to do.
        cls: class of the model.
        config: its configuration.
        shapes: shapes of the weights by name.

    Raises:
        BadFileError: if the model has more numbers, or an argument is far too large for the
            weights.
    """
    most = max((size for shape in shapes.values() for size in shape), default=0)
    for name, value in config.items():
        limit = max(len(shapes), MANY) if name.endswith(COUNTED) else max(most, LARGE)
        if isinstance(value, int) and value > limit:
            raise BadFileError(f"{complaint} ({name} is {value:,})")
    # Variables without values take no memory.
    with keras.StatelessScope(initialize_variables=False):
        numbers = cls.from_config(dict(config)).count_params()
    kept = sum(map(math.prod, shapes.values()))
    # Two int4 numbers share a byte.
    if numbers > (2 * kept if config.get("quantized") else kept):
        raise BadFileError(f"{complaint} ({numbers:,} numbers, not {kept:,})")


def load_preset(
    cls: Any,
    preset: Preset,
    load_weights: bool,
    examples: Sequence | None,
    overrides: dict[str, Any],
) -> Any:
    """Makes a model of a class from a preset; see `PresetModel.from_preset`."""
    if not preset.is_bundled:
        shapes = preset.shapes or {n: w.shape for n, w in preset.read_weights().items()}
        config = {**rename(preset.arguments), "preprocessor": preset.preprocessor}
        with naming_damage(preset.handle, REMEDY):
            check_model_size(preset.misfit, cls, config, shapes)
    frozen = overrides.pop("frozen", None)
    if frozen is not None:
        preset = dataclasses.replace(preset, arguments={**preset.arguments, "frozen": ()})
    if examples is not None:
        model = _adapted(cls, preset, load_weights, examples, overrides)
    else:
        model = _loaded(cls, preset, load_weights, overrides)
    if frozen is not None:
        model.freeze_layers(frozen)
    model.compile()
    return model


def _loaded(cls: Any, preset: Preset, load_weights: bool, overrides: dict[str, Any]) -> Any:
    weights = preset.read_weights() if load_weights else {}
    config = rename(preset.arguments)
    if not load_weights:
        # The temperature was fitted to the preset's weights.
        config.pop("temperature", None)
    config |= {"preprocessor": preset.preprocessor, **rename(overrides)}
    # Without overrides, any error comes from the file.
    with contextlib.nullcontext() if overrides else naming_damage(preset.handle, REMEDY):
        model = cls.from_config(config)
    if load_weights:
        misfit = preset.misfit
        if overrides:
            misfit = (
                f"{preset.handle}: its weights do not fit {', '.join(overrides)}: leave that out, "
                "or take load_weights=False."
            )
        set_weights(model, weights, misfit)
        remember_origin(model, preset.handle, preset.card, unchanged=not overrides)
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
    if frozen := preset.arguments.get("frozen"):
        warnings.warn(
            f"{preset.handle} has frozen layers, {', '.join(frozen)}, which are trained here, as "
            "new words and answers may have weights in them: freeze them again to keep them.",
            stacklevel=3,
        )
    model = cls.from_examples(examples, **{**settings, **rename(overrides)})
    if load_weights:
        model.coverage = transfer(model, preset)
        remember_origin(model, preset.handle, preset.card, unchanged=False)
    return model
