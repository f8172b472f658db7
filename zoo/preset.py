"""Readers with trained weights: data in the folder `presets`."""

import difflib
import json
import pathlib

import numpy as np

from keras_corefmem.files import load_json, replacing
from zoo.studies import STUDIES

FOLDER = pathlib.Path(__file__).parent / "presets"
# Data sets whose words may be part of a preset, and what is said of them.
LICENCES = {
    "babi": "Words and answers come from bAbI v1.2 (Weston et al., 2015), CC BY 3.0.",
    "lambada": "Words come from novels in the public domain.",
}


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
    import zoo

    content = read_preset(name, folder)
    model = getattr(zoo, content["class"])(
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


def preset_name(model, study, task):
    """Name of the preset of a model of a study: `ga_mage_gru_babi_2`, `ga_gru_lambada`."""
    tasks = f"_{task}" if len(STUDIES[study]["tasks"]) > 1 else ""
    return f"{model}_{study.removesuffix('-1k')}{tasks}".replace("-", "_")


def make_preset(result, data_dir=None, runs="runs", folder=FOLDER):
    """Makes a preset of a run, whose validation and test accuracy are measured once more.

    Args:
        result: content of the run's JSON file.
        data_dir: folder of the data set.
        runs: folder of the training states.
        folder: folder of the presets.

    Returns:
        Name of the preset and its card.

    Raises:
        FileNotFoundError: if the run's model is gone.
        ValueError: if there are no presets of the data set.
    """
    import zoo
    from zoo import data, training
    from zoo.outcome import versions
    from zoo.reproduce import Run

    study, task = result["study"], result["task"]
    dataset, asked = STUDIES[study]["dataset"], STUDIES[study]["tasks"][task].data
    if dataset not in LICENCES:
        raise ValueError(
            f"Presets are made of readers of {' and '.join(LICENCES)}, not of {dataset}: leave "
            "--presets."
        )
    run = Run(study, result["model"], task, result["seed"], tag=result["tag"])
    path = run.state_folder(runs) / "model.keras"
    if not path.exists():
        raise FileNotFoundError(f"There is no {path}; run `{result['command']}` again.")
    model = zoo.load(path)
    round_weights(model)
    language = STUDIES[study].get("language")
    splits = data.load(dataset, asked, data_dir, language)
    card = {
        "dataset": dataset,
        "language": language,
        "task": asked,
        "model": result["model"],
        "seed": result["seed"],
        "questions": result["questions"],
    }
    for part in ("valid", "test"):
        batches = training.make_batches(model, getattr(splits, part))
        card[f"{part}_accuracy"] = training.evaluate(model, batches)["accuracy"]
    card |= {
        "selection": "highest validation accuracy, then lowest validation loss",
        "command": result["command"],
        "result": f"results/{study}/{run.name}.json",
        "backend": result["backend"],
        "trained_with": result["versions"],
        "measured_with": versions(),
        "licence": f"Weights: Apache-2.0. {LICENCES[dataset]}",
    }
    name = preset_name(result["model"], study, task)
    save_preset(model, name, card, folder)
    return name, card
