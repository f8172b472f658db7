"""Agreement of runs, question by question: between seeds of a model, and between models."""

import itertools
import os
import statistics
from collections.abc import Iterable

from keras_corefmem.utils.markdown import markdown_table
from zoo.experiments.results import Result, best_result
from zoo.experiments.studies import study_named
from zoo.reports.scores import at_best_settings, group_runs, made_by, recorded_runs, sort_models
from zoo.reports.significance import count_answers

MEASURES = (
    "right or wrong together",
    "the same answer",
    "the same wrong answer, where both are wrong",
)
Shares = tuple[float | None, float | None, float | None]


def shares(first: Result, second: Result) -> Shares:
    """Returns the percentages of questions on which two runs agree, one for each of `MEASURES`.

    The last two are `None` if a run has no predictions, like those of version 0.1; the last one
    also if no question is answered wrong by both.
    """
    counts, total = count_answers(first, second), first["questions"]["test"]
    together = 100 * (counts.both + counts.none) / total
    answers = [
        dict(zip(run["test_wrong"], run["test_predicted"], strict=True))
        for run in (first, second)
        if "test_predicted" in run
    ]
    if len(answers) < 2:
        return together, None, None
    same = len(answers[0].items() & answers[1].items())
    wrong_alike = 100 * same / counts.none if counts.none else None
    return together, 100 * (counts.both + same) / total, wrong_alike


def agreement(study: str, folder: str | os.PathLike = "results") -> str:
    """Makes tables of the agreement between seeds of each model, and between the models' best runs.

    Cells are percentages of test questions, averaged over pairs of runs and over tasks. Only runs
    at the best settings by validation are compared.

    Args:
        study: name of the study.
        folder: folder of results.

    Returns:
        Markdown.

    Raises:
        ValueError: if there is no such study, or nothing to compare.

    Example:
        >>> tables = zoo.reports.agreement("babi-1k")  # doctest: +SKIP
    """
    known = study_named(study)
    groups = group_runs(recorded_runs(study, folder))
    models = sort_models(study, (model for model, _ in groups))
    seeds, best = {}, {}
    for model in models:
        tasks = [groups[model, task] for task in known.tasks if (model, task) in groups]
        pairs = (itertools.combinations(at_best_settings(runs), 2) for runs in tasks)
        seeds[model] = [shares(*pair) for pair in itertools.chain.from_iterable(pairs)]
        best[model] = {runs[0]["task"]: best_result(runs) for runs in tasks}
    parts = []
    if any(seeds.values()):
        head = ["seeds of one model", "pairs", *MEASURES]
        rows = ([f"`{m}`", str(len(each)), *_means(each)] for m, each in seeds.items() if each)
        parts.append(markdown_table([head, *rows]))
    if len(models) > 1:
        parts += _between(models, best)
    if not parts:
        raise ValueError(f"{folder} has no two runs of {study} to compare: give more seeds.")
    note = "Predictions are kept by runs of this version; – where a run has none."
    made = made_by(f"corefmem report {study} --agreement")
    return "\n\n".join([*parts, note, made])


def _between(models: list[str], best: dict[str, dict]) -> list[str]:
    """Makes a table of all pairs of models for each measure that is known for any pair."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for first, second in itertools.combinations(models, 2):
        tasks = [task for task in best[first] if task in best[second]]
        cells = _means(shares(best[first][task], best[second][task]) for task in tasks)
        pairs[first, second] = pairs[second, first] = cells
    tables = []
    for n, measure in enumerate(MEASURES):
        if any(cells[n] != "–" for cells in pairs.values()):
            rows = ([f"`{a}`", *(pairs[a, b][n] if a != b else "" for b in models)] for a in models)
            tables.append(markdown_table([[measure, *(f"`{m}`" for m in models)], *rows]))
    return tables


def _means(each: Iterable[Shares]) -> list[str]:
    columns = list(zip(*each, strict=True)) or [()] * len(MEASURES)
    known = ([value for value in column if value is not None] for column in columns)
    return [f"{statistics.mean(values):.1f}" if values else "–" for values in known]
