"""Scores of recorded runs, and the order in which tables and pictures show them."""

import collections
import itertools
import os
import statistics
from collections.abc import Iterable

from keras_corefmem.utils.files import BadFileError
from zoo.configs.configurations import models
from zoo.experiments.results import Result, as_ranges, best_result, read_results, result_name
from zoo.experiments.studies import ERROR, STUDIES, study_named

Groups = dict[tuple[str, int | str], list[Result]]


def recorded_runs(study: str, folder: str | os.PathLike) -> list[Result]:
    """Reads the runs of a study, and checks that the study and their tasks and models exist."""
    tasks, names, runs = study_named(study).tasks, models(), read_results(study, folder)
    for run in runs:
        for name, known, place in (("task", tasks, f"of {study}"), ("model", names, "of the zoo")):
            if run[name] not in known:
                where = f"{folder}: {result_name(run):.80} of {study}"
                raise BadFileError(f"{where} is of no {name} {place}; remove its line.")
    return runs


def group_runs(runs: Iterable[Result]) -> Groups:
    groups = collections.defaultdict(list)
    for run in runs:
        groups[run["model"], run["task"]].append(run)
    return groups


def at_best_settings(runs: Iterable[Result]) -> list[Result]:
    """Returns the runs of one model and task at the settings of the best one by validation."""
    runs = list(runs)
    tag = best_result(runs)["tag"]
    return [run for run in runs if run["tag"] == tag]


def pool_folds(folds: Iterable[Iterable[Result]]) -> list[Result]:
    """Joins the runs of a model over all folds, one for each tag and seed that every fold has."""
    named = [{(run["tag"], run["seed"]): run for run in runs} for runs in folds]
    keys = (key for key in named[0] if all(key in runs for runs in named))
    return [join_folds([runs[key] for runs in named]) for key in keys]


def join_folds(runs: list[Result]) -> Result:
    """Joins one run per fold: test questions are pooled, and validation scores are averaged."""
    counts = [run["questions"] for run in runs]
    parts = [part for part in counts[0] if all(part in each for each in counts)]
    joined = {**runs[0], "questions": {p: sum(each[p] for each in counts) for p in parts}}
    for name in ("valid_accuracy", "valid_loss"):
        joined[name] = statistics.mean(run[name] for run in runs)
    starts = itertools.accumulate((run["questions"]["test"] for run in runs), initial=0)
    pairs = zip(starts, runs, strict=False)
    joined["test_wrong"] = [start + n for start, run in pairs for n in run["test_wrong"]]
    joined.pop("test_predicted", None)
    if all("test_predicted" in run for run in runs):
        joined["test_predicted"] = [answer for run in runs for answer in run["test_predicted"]]
    guesses = [run.get("baselines", {}) for run in runs]
    joined["baselines"] = {
        name: {"wrong": sum(each[name]["wrong"] for each in guesses), "kinds": {}}
        for name in guesses[0]
        if all(name in each for each in guesses)
    }
    return joined


def score(run: Result) -> float:
    """Returns the error or accuracy on all questions of the test part, in percent."""
    error = 100 * len(run["test_wrong"]) / run["questions"]["test"]
    return error if STUDIES[run["study"]].measure == ERROR else 100 - error


def kind_score(kind: str, counts: dict[str, list[int]]) -> float | None:
    """Returns the percentage of the questions of a kind that are right; `None` without any."""
    right, count = counts.get(kind, (0, 0))
    return 100 * right / count if count else None


def run_kind_score(kind: str, run: Result) -> float | None:
    """Returns the error or accuracy of a run on the test questions of a kind, in percent."""
    accuracy = kind_score(kind, run.get("test_kinds", {}))
    if accuracy is None or STUDIES[run["study"]].measure != ERROR:
        return accuracy
    return 100 - accuracy


def kind_size(kind: str, runs: Iterable[Result]) -> int:
    """Returns the number of test questions of a kind, by the first run that counted them."""
    counted = (run.get("test_kinds", {}).get(kind, (0, 0))[1] for run in runs)
    return next(filter(None, counted), 0)


def recorded_kinds(study: str, runs: Iterable[Result]) -> dict[str, str]:
    """Returns the labels of a study's kinds of questions, except those that no run has counted."""
    counted = {kind for run in runs for kind in run.get("test_kinds", ())}
    return {kind: label for kind, label in STUDIES[study].kinds.items() if kind in counted}


def guess_score(run: Result, name: str) -> float | None:
    """Returns the percentage of a run's test questions that a baseline guesses right, if known."""
    guess = run.get("baselines", {}).get(name)
    return guess and 100 - 100 * guess["wrong"] / run["questions"]["test"]


def sort_models(study: str, models: Iterable[str]) -> list[str]:
    """Sorts the names of models in the order of a study, others last, without duplicates."""
    order = {name: n for n, name in enumerate(STUDIES[study].models)}
    return sorted(set(models), key=lambda name: (order.get(name, len(order)), name))


def sort_edge_types(types: Iterable[str]) -> list[str]:
    """Sorts the names of edge types, the sequence and coreference first."""
    first = "sequence", "coreference"
    return sorted(types, key=lambda name: (name not in first, name != first[0], name))


def task_label(study: str, key: int | str) -> str:
    """Returns the label of a task, followed by bAbI's name of it if it is one of bAbI's."""
    from keras_corefmem.datasets.stories.babi import TASKS as NAMES

    label = STUDIES[study].tasks[key].label
    return f"{label} {NAMES[key].replace('-', ' ')}" if key in NAMES else label


def list_numbers(numbers: Iterable[int]) -> str:
    """Formats numbers as a short list: 0–2, 5."""
    return as_ranges(numbers).replace("-", "–").replace(",", ", ")


def made_by(*commands: str) -> str:
    return "Made by\n```\n" + "\n".join(commands) + "\n```"
