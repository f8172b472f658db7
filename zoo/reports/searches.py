"""Tables of searches, as Markdown."""

import json
import os
import statistics

from keras_corefmem.utils.markdown import markdown_table
from zoo.experiments.results import (
    SEARCHES,
    SEED,
    Result,
    best_trial,
    group_seeds,
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
    """Makes the columns of a table of trials, best first: hyper-parameters and results."""
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


def seed_columns(groups: list[list[Result]]) -> list[list[str]]:
    """Makes the columns of a table of settings, best first: means over their seeds."""
    chosen = sorted({name for trials in groups for name in trials[0]["chosen"]} - {SEED})
    firsts = [trials[0]["chosen"] for trials in groups]
    scores = [[100 * trial["valid_accuracy"] for trial in trials] for trials in groups]
    losses = [[trial["valid_loss"] for trial in trials] for trials in groups]
    return [
        *([name, *(json.dumps(first.get(name)) for first in firsts)] for name in chosen),
        ["seeds", *(str(len(trials)) for trials in groups)],
        ["valid accuracy", *map(_mean_and_spread, scores)],
        ["valid loss", *(f"{statistics.mean(each):.4f}" for each in losses)],
    ]


def _mean_and_spread(scores: list[float]) -> str:
    spread = f" ± {statistics.stdev(scores):.1f}" if len(scores) > 1 else ""
    return f"{statistics.mean(scores):.1f}%{spread}"


def search_columns(trials: list[Result]) -> list[list[list[str]]]:
    """Makes the columns of each table: of settings, if any have several seeds, and of trials."""
    groups = group_seeds(trials)
    of_seeds = [seed_columns(groups)] if len(groups) < len(trials) else []
    return [*of_seeds, trial_columns(trials)]


def search_table(name: str, folder: str | os.PathLike = "results") -> str:
    """Makes tables of the trials of a search, with the test accuracy of the best."""
    trials = read_search(name, folder)
    winner, tables = best_trial(trials), search_columns(trials)
    table = "\n\n".join(markdown_table(zip(*columns, strict=True)) for columns in tables)
    tested = f"{winner['test_accuracy']:.1%}" if "test_accuracy" in winner else "not recorded"
    return (
        f"{table}\n\nTrial {winner['trial']} is the best by validation; its test accuracy is "
        f"{tested}.\n\n{made_by(winner['command'])}"
    )
