"""Readers with trained weights: data in the folder `presets`."""

import difflib
import json
import pathlib

import numpy as np

from keras_corefmem.utils.files import load_json, replacing

FOLDER = pathlib.Path(__file__).parents[1] / "presets"


def presets(folder=FOLDER):
    """Names of the presets."""
    return sorted(path.stem for path in pathlib.Path(folder).glob("*.json"))


def read_preset(name, folder=FOLDER):
    """What a preset says of itself: `class`, `arguments`, `preprocessor` and `card`.

    The card holds the data set, task and seed, validation and test accuracy, the command that made
    it, and its licence.

    Raises:
        ValueError: if there is no such preset.
    """
    names = presets(folder)
    if name not in names:
        near = difflib.get_close_matches(name, names, 5, 0.3) or names[:5]
        advice = f"did you mean {', '.join(near)}?" if near else "there are none yet."
        raise ValueError(f"There is no preset {name!r}; {advice} zoo.presets() lists all.")
    return load_json(pathlib.Path(folder, f"{name}.json"))


def from_preset(name, folder=FOLDER):
    """A trained reader: architecture, preprocessing and weights, compiled with its defaults.

    Args:
        name: one of `zoo.presets()`, such as `"ga_mage_gru_babi_2"`.
        folder: folder of the presets.

    Raises:
        ValueError: if there is no such preset, or its weights do not fit.
    """
    from zoo import architectures

    content = read_preset(name, folder)
    model = getattr(architectures, content["class"])(
        **content["arguments"], preprocessor=content["preprocessor"], name=name
    )
    path = pathlib.Path(folder) / f"{name}.npz"
    with np.load(path, allow_pickle=False) as file:
        weights = [file[key].astype("float32") for key in sorted(file.files)]
    shapes = [tuple(weight.shape) for weight in model.weights]
    if [weight.shape for weight in weights] != shapes:
        raise ValueError(f"{path}: the weights do not fit {name}.json; install the package again.")
    model.set_weights(weights)
    model.compile()
    return model


def round_weights(model):
    """Rounds the weights of a model to half precision, as a preset holds them.

    Raises:
        ValueError: if a weight is too large for half precision.
    """
    with np.errstate(over="ignore"):
        weights = [weight.astype("float16") for weight in model.get_weights()]
    if not all(np.isfinite(weight).all() for weight in weights):
        raise ValueError(f"{model.name} has weights that half precision cannot hold.")
    model.set_weights([weight.astype("float32") for weight in weights])
    return weights


def save_preset(model, name, card, folder=FOLDER):
    """Writes a reader as a preset, its weights in half precision.

    Args:
        model: a reader with a preprocessor. Its weights are rounded.
        name: name of the preset.
        card: dictionary of what to know about it.
        folder: folder of the presets.
    """
    folder = pathlib.Path(folder)
    weights = {f"{n:03}": weight for n, weight in enumerate(round_weights(model))}
    arguments = model.get_config()
    content = {
        "class": type(model).__name__,
        "card": card,
        "preprocessor": arguments.pop("preprocessor"),
        "arguments": {
            k: v for k, v in arguments.items() if k not in ("name", "trainable", "dtype")
        },
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    with replacing(folder / f"{name}.npz") as partial:
        np.savez_compressed(partial, **weights)
    with replacing(folder / f"{name}.json") as partial:
        partial.write_text("{\n" + ",\n".join(lines) + "\n}\n")
