"""Tables of searches, as Markdown."""

import json
import os

from keras_corefmem.utils.markdown import markdown_table
from zoo.experiments.results import (
    SEARCHES,
    Result,
    best_result,
    read_results,
    recorded_searches,
    validation_rank,
)
from zoo.reports.scores import made_by


def read_search(name: str, folder: str | os.PathLike = "results") -> list[Result]:
    trials = read_results(f"{SEARCHES}/{name}", folder)
    if not trials:
        known = ", ".join(recorded_searches(folder)) or "nothing: `corefmem search` makes them"
        raise ValueError(f"{folder}/{SEARCHES} has no trial of {name!r}; it has {known}.")
    return trials


def trial_columns(trials: list[Result]) -> list[list[str]]:
    """Makes the columns of a table of trials, best first: what was chosen, what came of it."""
    trials = sorted(trials, key=validation_rank, reverse=True)
    chosen = sorted({name for trial in trials for name in trial["chosen"]})
    return [
        ["trial", *(trial["trial"] for trial in trials)],
        *([name, *(json.dumps(trial["chosen"].get(name)) for trial in trials)] for name in chosen),
        ["valid accuracy", *(f"{trial['valid_accuracy']:.1%}" for trial in trials)],
        ["valid loss", *(f"{trial['valid_loss']:.4f}" for trial in trials)],
        ["epochs", *(str(trial["epochs"]) for trial in trials)],
        ["seconds", *(f"{trial['seconds']:.0f}" for trial in trials)],
    ]


def search_table(name: str, folder: str | os.PathLike = "results") -> str:
    """Makes a table of the trials of a search, best first, with the test accuracy of the best."""
    trials = read_search(name, folder)
    winner = best_result(trials)
    table = markdown_table(zip(*trial_columns(trials), strict=True))
    tested = f"{winner['test_accuracy']:.1%}" if "test_accuracy" in winner else "not recorded"
    return (
        f"{table}\n\nTrial {winner['trial']} is the best by validation; its test accuracy is "
        f"{tested}.\n\n{made_by(winner['command'])}"
    )
