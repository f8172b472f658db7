"""Results of runs as `corefmem reproduce` records them."""

import pathlib

from zoo.experiments.results import append_result
from zoo.experiments.runs import Run

ROOT = pathlib.Path(__file__).parents[2]
RESULTS = ROOT / "results"


def result_of(run, wrong=(), total=1000, valid=0.9, loss=0.5, **fields):
    """The result of a run that answers these questions wrong, or so many of them."""
    return {
        **{name: getattr(run, name) for name in ("study", "model", "task", "seed", "tag")},
        "command": run.command,
        "valid_accuracy": valid,
        "valid_loss": loss,
        "test_wrong": sorted(range(wrong) if isinstance(wrong, int) else wrong),
        "questions": {"train": 900, "valid": 100, "test": total},
        "settings": {"learning_rate": 0.01, "optimizer": "adam", "arguments": {}},
        "backend": "jax",
        **fields,
    }


def trial_of(trial, accuracy=0.5, search="qdren-small", **fields):
    """The outcome of a trial of a search."""
    content = {"study": f"searches/{search}", "model": "qdren", "task": 1, "seed": 0}
    content |= {"trial": trial, "chosen": {"slots": 2}, "valid_accuracy": accuracy}
    content |= {"valid_loss": 0.25, "epochs": 7, "seconds": 61.4, "command": "corefmem search"}
    return content | fields


def record_trial(folder, number, accuracy, slots, search="qdren-small", **fields):
    """Records a trial of a search."""
    fields = {"chosen": {"slots": slots}} | fields
    append_result(trial_of(f"{number:02}", accuracy, search, **fields), folder)


def record(folder, model="ga-mage-gru", task=1, seed=0, tag="", study="babi-1k", **fields):
    """Records the result of one run and returns it; with a tag, its dropout is 0.3."""
    settings = {"arguments": {"dropout": 0.3}} if tag else {}
    result = result_of(Run(study, model, task, seed, settings=settings, tag=tag), **fields)
    append_result(result, folder)
    return result


def rows(table):
    """The cells of a table by those of its first column."""
    cells = [line[2:-2].split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in cells}
