"""Tests of whether two models differ by more than chance, question by question."""

import os
import statistics
from typing import NamedTuple

from keras_corefmem.utils.markdown import markdown_table
from zoo.experiments.results import Result, best_result
from zoo.experiments.studies import study_named
from zoo.reports.scores import (
    Groups,
    group_runs,
    made_by,
    recorded_runs,
    score,
    sort_models,
    task_label,
)

# p-value below which a difference counts as significant.
LEVEL = 0.05


class Counts(NamedTuple):
    """Numbers of questions answered right by both models, only one of them, or neither."""

    both: int
    first: int
    second: int
    none: int


def count_answers(first: Result, second: Result) -> Counts:
    """Counts the questions that the runs of two models answer right."""
    total, others = (run["questions"]["test"] for run in (first, second))
    if total != others:
        raise ValueError(
            f"{first['model']} and {second['model']} were not tested on the same questions of "
            f"{first['study']} task {first['task']}, but on {total} and {others}: run both again."
        )
    wrong, also = set(first["test_wrong"]), set(second["test_wrong"])
    none = len(wrong & also)
    return Counts(total - len(wrong | also), len(also - wrong), len(wrong - also), none)


def mcnemar(counts: Counts) -> float:
    """Computes the p-value of McNemar's test, exact and two-sided.

    If the models do not differ, each of the n = b + c questions that only one of them answers right
    is equally likely to be answered by either:
    `p = min(1, 2 · Σ_{k ≤ min(b, c)} C(n, k) / 2^n)`. From McNemar (1947), "Note on the sampling
    error of the difference between correlated proportions or percentages"; Dietterich (1998)
    recommends it for two classifiers that are trained once.

    Args:
        counts: numbers of questions that each model answers right.

    Example:
        >>> from zoo.reports.significance import Counts
        >>> round(zoo.reports.mcnemar(Counts(both=70, first=12, second=3, none=15)), 3)
        0.035
    """
    from scipy.stats import binomtest

    decided = counts.first + counts.second
    return float(binomtest(counts.first, decided).pvalue) if decided else 1.0


def holm(p_values: list[float]) -> list[float]:
    """Corrects p-values for multiple tests by the method of Holm (1979).

    The smallest of m p-values is multiplied by m, the next by m - 1, and so on; none becomes
    smaller than the one before it, or larger than 1.

    Args:
        p_values: the p-values.

    Returns:
        The corrected p-values, in the same order.

    Example:
        >>> zoo.reports.holm([0.5, 0.0, 0.5])
        [1.0, 0.0, 1.0]
    """
    corrected, largest = list(p_values), 0.0
    for rank, n in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[n]))
        corrected[n] = largest
    return corrected


def comparison(study: str, first: str, second: str, folder: str | os.PathLike = "results") -> str:
    """Makes a table that compares two models by their best runs on validation.

    Each task that both have is a row with the errors or accuracies and their difference in points,
    the numbers of questions answered right by both, only one or neither, the p-value of `mcnemar`
    and, if there are several tasks, the p-value after `holm`. The test compares the two trained
    models, not other seeds of them: seeds are not pooled, because they answer the same questions.

    Args:
        study: name of the study.
        first: name of a model.
        second: name of another model.
        folder: folder of results.

    Returns:
        Markdown.

    Raises:
        ValueError: if there is no such study, a model has no runs, or the models are the same, have
            no task in common, or were not tested on the same questions.

    Example:
        >>> table = zoo.reports.comparison("babi-1k", "ga-gru", "qrn")  # doctest: +SKIP
    """
    known = study_named(study)
    if first == second:
        raise ValueError(f"--compare {first} {second}: give two models.")
    models = first, second
    groups = _runs_of(models, study, folder)
    tasks = [task for task in known.tasks if all((model, task) in groups for model in models)]
    if not tasks:
        raise ValueError(f"{first} and {second} have no task of {study} in common.")
    pairs = [[best_result(groups[model, task]) for model in models] for task in tasks]
    differences = [score(a) - score(b) for a, b in pairs]
    counts = [count_answers(*pair) for pair in pairs]
    p_values = list(map(mcnemar, counts))
    names = ["both right", f"only `{first}`", f"only `{second}`", "both wrong"]
    columns = [
        [known.measure, *(task_label(study, task) for task in tasks)],
        [f"`{first}`", *(f"{score(run):.1f}" for run, _ in pairs)],
        [f"`{second}`", *(f"{score(run):.1f}" for _, run in pairs)],
        ["difference", *(f"{points:+.1f}" for points in differences)],
        *([name, *(str(c[n]) for c in counts)] for n, name in enumerate(names)),
        ["p", *map(_describe_p, p_values)],
    ]
    verdict = "p is that of an exact McNemar test."
    if len(tasks) > 1:
        corrected = holm(p_values)
        columns.append(["p, Holm", *map(_describe_p, corrected)])
        clear = [c.first - c.second for c, p in zip(counts, corrected, strict=True) if p < LEVEL]
        verdict = (
            f"Of {len(tasks)} tasks, `{first}` is better on {sum(more > 0 for more in clear)} and "
            f"`{second}` on {sum(more < 0 for more in clear)}, by exact McNemar tests at "
            f"p < {LEVEL} after Holm's correction; the mean difference is "
            f"{statistics.mean(differences):+.1f} points."
        )
    tried = [sum(len(groups[model, task]) for task in tasks) for model in models]
    return (
        f"{markdown_table(zip(*columns, strict=True))}\n\n{verdict} Each is the best by validation "
        f"of its runs, {tried[0]} of `{first}` and {tried[1]} of `{second}`.\n\n"
        + made_by(f"corefmem report {study} --compare {first} {second}")
    )


def _runs_of(models: tuple[str, str], study: str, folder: str | os.PathLike) -> Groups:
    groups = group_runs(recorded_runs(study, folder))
    recorded = sort_models(study, (model for model, _ in groups))
    for model in models:
        if model not in recorded:
            remedy = f": `corefmem reproduce {study}` makes one"
            if recorded:
                remedy = f", but of {', '.join(recorded)}: choose these"
            raise ValueError(f"{folder}/{study} holds no run of {model}{remedy}.")
    return groups


def _describe_p(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
