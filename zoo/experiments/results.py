"""Measured results: the files of runs, and what they say."""

import collections
import pathlib

from keras_corefmem.utils.files import load_json
from zoo.experiments.studies import ERROR, STUDIES

# What tables need of every run.
FIELDS = {"study", "model", "task", "seed", "valid_accuracy", "valid_loss"}


def read_results(study, folder="results"):
    """The runs of a study: contents of its JSON files, in the order of their names.

    Raises:
        ValueError: if a file is broken.
    """
    return [read_result(path) for path in sorted(pathlib.Path(folder, study).glob("*.json"))]


def read_result(path):
    """The content of a run's JSON file."""
    content = load_json(path)
    if not isinstance(content, dict) or not FIELDS <= content.keys():
        raise ValueError(
            f"{path}: no result of a run, which has {', '.join(sorted(FIELDS))}; remove it."
        )
    return content


def preference(run):
    """What is greater the better a run is by validation: highest accuracy, then lowest loss."""
    return run["valid_accuracy"], -run["valid_loss"]


def best(runs):
    """The best run by validation."""
    return max(runs, key=preference)


def group(runs):
    """Lists of runs by model and task."""
    groups = collections.defaultdict(list)
    for run in runs:
        groups[run["model"], run["task"]].append(run)
    return groups


def score(run):
    """What its study measures, in percent, exact: every answer counts."""
    error = 100 * len(run["test_wrong"]) / run["questions"]["test"]
    return error if STUDIES[run["study"]].measure == ERROR else 100 - error


def kind_score(kind, counts):
    """The share of questions of a kind that are answered, in percent, by `count_kinds`."""
    right, count = counts.get(kind, (0, 0))
    return 100 * right / max(count, 1)


def guess_score(run, name):
    """The share of a run's test questions that a baseline guesses, in percent."""
    return 100 - 100 * run["baselines"][name]["wrong"] / run["questions"]["test"]


def alike(runs):
    """The runs, of one model and task, at the settings of the best one."""
    tag = best(runs)["tag"]
    return [run for run in runs if run["tag"] == tag]


def check_study(study):
    """Raises where there is no such study."""
    if study not in STUDIES:
        raise ValueError(f"There is no study {study!r}; choose one of {', '.join(STUDIES)}.")


def in_order(study, models):
    """Names of models in the order of a study, others behind."""
    order = list(STUDIES[study].models)
    return sorted(set(models), key=lambda m: (order.index(m) if m in order else len(order), m))


def task_label(study, key):
    """Name of a task, with bAbI's own."""
    from keras_corefmem.datasets.stories.babi import TASKS as NAMES

    label = STUDIES[study].tasks[key].label
    return f"{label} {NAMES[key].replace('-', ' ')}" if key in NAMES else label


def numbers(values):
    """Numbers as a short list: 0–2, 5."""
    values, parts = sorted(set(values)), []
    for value in values:
        if parts and value == parts[-1][-1] + 1:
            parts[-1].append(value)
        else:
            parts.append([value])
    return ", ".join(f"{p[0]}–{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)


def markdown(columns):
    """Columns of cells as a Markdown table."""
    rows = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    rows.insert(1, f"|---|{'---:|' * (len(columns) - 1)}")
    return "\n".join(rows)
