"""Search spaces, as data: what hyper-parameters may be, by name."""

import fnmatch
import json
from typing import Any, NamedTuple

from keras_corefmem.utils.files import load_json

# Marks the JSON of a value that is no number and no string.
JSON = "json:"


class Space(NamedTuple):
    """A named search space.

    Args:
        line: a line about it.
        models: patterns of the names of the models that it is made for.
        entries: what each field of `zoo.training.Settings` and each argument of the model may be: a
            list of values, or a range, a dictionary with `low` and `high` and, optionally, `log` or
            `step`. A range whose ends are integers has integers alone.
    """

    line: str
    models: tuple[str, ...]
    entries: dict


# What the paper calls dropout is the share that is kept, and its λ multiplies half the squares.
SENTENCES = {
    "learning_rate": [0.1, 0.01, 0.001, 0.0001],
    "slots": [10, 20, 50, 70, 90],
    "l2": [0.0, 5e-4, 5e-5, 5e-6],
    "optimizer": ["adam", "rmsprop"],
    "batch_size": [128, 64, 32],
    "dropout": [0.8, 0.5, 0.3, 0.1],
}
READERS = {
    "learning_rate": {"low": 0.0003, "high": 0.01, "log": True},
    "units": [32, 64, 96, 128],
    "dropout": [0.0, 0.1, 0.2, 0.3],
}
LAYERS = {"layers": [1, 2, 3]}
MAGE = {"edge_units": [8, 16, 24], "carry": ["gathered", "previous", "mixed"]}
SPACES = {
    "qdren-babi": Space(
        "the grid of Madotto and Attardi (2017) for bAbI",
        ("ren", "qdren"),
        {
            "learning_rate": [0.01, 0.001, 0.0001],
            "slots": [20, 30, 40, 50],
            "l2": [0.0, 5e-4, 5e-5],
            "dropout": [0.3, 0.5, 0.7],
        },
    ),
    "qdren-babi-task-5": Space(
        "what that paper reports as the best for bAbI's task 5",
        ("ren", "qdren"),
        {"learning_rate": [0.001], "slots": [50], "l2": [0.0], "dropout": [0.8]},
    ),
    "qdren-cnn": Space(
        "the grid of Madotto and Attardi (2017) for CNN, read as sentences",
        ("ren-sent", "qdren-sent"),
        SENTENCES,
    ),
    "qdren-cnn-windows": Space(
        "the same, read as windows round entities",
        ("ren-wind", "qdren-wind"),
        {**SENTENCES, "half_width": [2, 3, 4, 5]},
    ),
    "ga-mage": Space(
        "Gated-Attention Readers with MAGE-GRUs",
        ("ga-mage-gru*",),
        {**READERS, **LAYERS, **MAGE},
    ),
    "ga": Space(
        "Gated-Attention Readers round the settings of Dhingra et al. (2018)",
        ("ga-*",),
        {**READERS, **LAYERS},
    ),
    "as-mage": Space(
        "Attention-Sum Readers with MAGE-GRUs", ("as-mage-gru*",), {**READERS, **MAGE}
    ),
    "as": Space("Attention-Sum Readers", ("as-*",), READERS),
    "dmn": Space(
        "passes and sizes of dynamic memory networks",
        ("dmn", "dmn-supervised", "dmn-plus"),
        {
            "passes": [1, 2, 3, 5],
            "units": [40, 80, 120],
            "learning_rate": {"low": 0.0005, "high": 0.005, "log": True},
            "dropout": [0.0, 0.1, 0.3],
            "l2": [0.0, 0.001],
        },
    ),
    "dmn-sentences": Space(
        "passes and sizes of dynamic memory networks on single sentences",
        ("dmn-sentiment", "dmn-tagger"),
        {
            "passes": [0, 1, 2, 3],
            "units": [64, 128],
            "learning_rate": {"low": 0.0005, "high": 0.005, "log": True},
        },
    ),
    "bidaf-supervision": Space(
        "weight, layer and head of supervised self-attention",
        ("bidaf-sa-early-coref-all*",),
        {
            "loss_weight": [0.1, 0.3, 1.0],
            "supervision": [
                [["coref_all", "early", layer, head]] for layer in (1, 2, 3, 4) for head in (0, 1)
            ],
            "row_weight": ["count", "mean"],
        },
    ),
    "bidaf": Space(
        "sizes and rates of BiDAF",
        ("bidaf*",),
        {
            "learning_rate": {"low": 0.0003, "high": 0.003, "log": True},
            "units": [32, 64, 100],
            "dropout": [0.1, 0.2, 0.3],
        },
    ),
    "hops": Space(
        "hops and sizes of end-to-end memory networks",
        ("memn2n",),
        {"hops": [1, 2, 3, 4], "units": [20, 40], "learning_rate": [0.01, 0.005, 0.0025]},
    ),
    "reductions": Space(
        "layers and sizes of query-reduction networks",
        ("qrn",),
        {"layers": [1, 2, 3], "units": [50, 100], "l2": [0.0, 0.0005, 0.001]},
    ),
    "baselines": Space(
        "rates of the baselines without memory",
        ("lstm", "gru", "ngram"),
        {"learning_rate": {"low": 0.001, "high": 0.03, "log": True}},
    ),
}


def space_of(model: str, name: str | dict[str, Any] | None = None) -> dict[str, Any]:
    """Looks up the entries of a search space.

    Args:
        model: name of the model.
        name: name of a space of `SPACES`, path of a JSON file of entries, or the entries
            themselves; `None` for the first space that is made for the model.

    Returns:
        Dictionary of entries by name, each checked.

    Raises:
        ValueError: if there is no such space, it is made for other models, or an entry is broken.
        FileNotFoundError: if there is no such file.
    """
    if isinstance(name, dict):
        for key, entry in name.items():
            check_entry(key, entry)
        return name
    if name is None:
        name = first_space(model)
    if name in SPACES:
        if not fits(model, SPACES[name]):
            models = ", ".join(SPACES[name].models)
            raise ValueError(f"--space {name} is for {models}, not for {model}.")
        return SPACES[name].entries
    if not name.endswith(".json"):
        names = ", ".join(known for known, space in SPACES.items() if fits(model, space))
        raise ValueError(
            f"There is no search space {name!r} for {model}; choose one of {names}, or give a "
            ".json file."
        )
    entries = load_json(name)
    if not isinstance(entries, dict) or not entries:
        raise ValueError(f"{name}: give an object of lists and ranges, by hyper-parameter.")
    for key, entry in entries.items():
        check_entry(key, entry, name)
    return entries


def first_space(model: str) -> str:
    """Names the first space that is made for a model."""
    return next(name for name, space in SPACES.items() if fits(model, space))


def fits(model: str, space: Space) -> bool:
    """Says whether a space is made for a model."""
    return any(fnmatch.fnmatchcase(model, pattern) for pattern in space.models)


def check_entry(name: str, entry: Any, where: str = "the search space") -> None:
    """Refuses what is neither a list of values nor a range.

    Raises:
        ValueError: naming the entry.
    """
    if isinstance(entry, list) and entry:
        return
    names = {"low", "high", "log", "step"}
    if isinstance(entry, dict) and {"low", "high"} <= entry.keys() <= names:
        low, high, log, step = entry["low"], entry["high"], entry.get("log"), entry.get("step")
        numbers = (low, high) if step is None else (low, high, step)
        kinds = int if isinstance(low, int) and isinstance(high, int) else int | float
        if (
            all(isinstance(n, kinds) and not isinstance(n, bool) for n in numbers)
            and low < high
            and not (log and low <= 0)
            # On a logarithmic scale a step multiplies.
            and (step is None or step > (1 if log else 0))
        ):
            return
    raise ValueError(
        f"{where}: {name} must be a list of values, or an object with low < high and perhaps a "
        "positive step, or log, where low is positive and a step is greater than 1; got "
        f"{json.dumps(entry)}."
    )


def declare(hyperparameters: Any, entries: dict[str, Any]) -> None:
    """Adds entries to `keras_tuner.HyperParameters`."""
    for name, entry in entries.items():
        if isinstance(entry, list):
            hyperparameters.Choice(name, as_choices(entry))
            continue
        options = {"step": entry.get("step"), "sampling": "log" if entry.get("log") else "linear"}
        ends = entry["low"], entry["high"]
        if all(isinstance(end, int) for end in ends):
            hyperparameters.Int(name, *ends, **options)
        else:
            hyperparameters.Float(name, *map(float, ends), **options)


def as_choices(values: list[Any]) -> list[Any]:
    """Values as keras-tuner takes them, of one type: numbers, strings, or JSON for all else."""
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return [float(value) for value in values]
    if len(kinds) == 1 and kinds <= {int, float, str}:
        return values
    return [JSON + json.dumps(value) for value in values]


def values_of(chosen: dict[str, Any], entries: dict[str, Any]) -> dict[str, Any]:
    """The values of a trial as the entries give them and in their order, by name."""
    values = {name: chosen[name] for name in entries if name in chosen}
    return {
        name: json.loads(value[len(JSON) :]) if str(value).startswith(JSON) else value
        for name, value in values.items()
    }


def list_spaces() -> dict[str, str]:
    """Describes the named spaces and their models, for `corefmem list`."""
    return {name: f"{space.line}: {', '.join(space.models)}" for name, space in SPACES.items()}
