"""Pictures of scores by task and model, and by kind of question and model."""

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from zoo.experiments.results import Result, best_result
from zoo.experiments.studies import ERROR, STUDIES
from zoo.reports.plots.style import COLOURS, INK, LINE, MARKERS, PALE, new_figure
from zoo.reports.published import PublishedRow, published_rows
from zoo.reports.scores import (
    at_best_settings,
    group_runs,
    guess_score,
    kind_score,
    kind_size,
    recorded_kinds,
    run_kind_score,
    score,
    sort_models,
    task_label,
)

# Maximum number of models to draw as dots, rather than as a shaded table.
DOTS = 6
# Difference from the first column, in points, at which a cell is darkest.
SPAN = 8
# Size of a cell in inches.
WIDTH, HEIGHT = 0.52, 0.33
Scores = Sequence[float]


def draw_tasks(study: str, runs: list[Result]) -> Any:
    """Draws a shaded table of the mean error or accuracy over seeds, by task and model."""
    measure, tasks = STUDIES[study].measure, list(STUDIES[study].tasks)
    alike = {key: at_best_settings(group) for key, group in group_runs(runs).items()}
    models = sort_models(study, (run["model"] for run in runs))
    rows: list[list[Scores]] = [
        [list(map(score, alike.get((model, task), ()))) for model in models] for task in tasks
    ]
    labels = [task_label(study, task) for task in tasks]
    if len(tasks) > 1 and not STUDIES[study].variants:
        columns = zip(*rows, strict=True)
        rows.append([[statistics.mean(map(statistics.mean, c))] if all(c) else [] for c in columns])
        labels.append("mean of all tasks")
    counts = list(map(len, alike.values()))
    return draw_shades(f"{study}: {measure}", counts, labels, models, rows, measure != ERROR)


def draw_published(study: str, runs: list[Result]) -> Any | None:
    """Draws the errors of the best runs of a study's first model beside those that papers report.

    Returns `None` if the study does not measure errors, if no paper reports the errors of all tasks
    and their mean, or if the model lacks a task.
    """
    measure, tasks, groups = STUDIES[study].measure, list(STUDIES[study].tasks), group_runs(runs)
    model = sort_models(study, (run["model"] for run in runs))[0]
    reported = [row for rows in published_rows(study).values() for row in rows]
    papers = [row for row in reported if row.scores and row.mean is not None]
    known = measure == ERROR and any(row.scores.keys() >= {*tasks} for row in papers)
    if not known or any((model, task) not in groups for task in tasks):
        return None
    own = {task: score(best_result(groups[model, task])) for task in tasks}
    mean = statistics.mean(own.values())
    first = PublishedRow(f"{model}, best by validation", mean=mean, scores=own)
    columns = [first, *sorted(papers, key=attrgetter("mean"))]
    rows: list[list[Scores]] = [
        [[column.scores[task]] if task in column.scores else [] for column in columns]
        for task in tasks
    ]
    rows.append([[column.mean] for column in columns if column.mean is not None])
    labels = [*(task_label(study, task) for task in tasks), "mean of all tasks"]
    heading = f"{study}: {measure}, beside what papers report"
    names = [column.paper for column in columns]
    return draw_shades(heading, [], labels, names, rows, high_is_good=False)


def draw_shades(
    heading: str,
    counts: list[int],
    labels: list[str],
    columns: list[str],
    rows: Sequence[Sequence[Scores]],
    high_is_good: bool,
    beside_first: bool = False,
) -> Any:
    """Draws a table of means, darker if worse, or coloured by the difference from the first."""
    size = max(5, 2.3 + WIDTH * len(columns)), 1.6 + HEIGHT * len(labels)
    best_cell = "bold: the best of a row" if len(columns) > 1 else ""
    colours = f"blue: above {columns[0]}, red: below" if beside_first else ""
    notes = "± standard deviation", best_cell, colours
    figure, (axes,) = new_figure(size, heading, counts, *notes)
    for y, row in enumerate(rows):
        means = [f"{statistics.mean(scores):.1f}" if scores else "–" for scores in row]
        known = [float(mean) for mean in means if mean != "–"]
        best = (max if high_is_good else min)(known, default=None)
        for x, (mean, scores) in enumerate(zip(means, row, strict=True)):
            bold = float(mean) == best and len(known) > 1 if scores else False
            beside = means[0] if beside_first else None
            _draw_cell(axes, x, y, mean, scores, _shade(mean, beside, high_is_good), bold)
    axes.set(xlim=(0, len(columns)), ylim=(len(labels), 0))
    axes.set_yticks([n + 0.5 for n in range(len(labels))], labels)
    axes.set_xticks([n + 0.5 for n in range(len(columns))], columns, rotation=45, ha="left")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


def _shade(mean: str, beside: str | None, high_is_good: bool) -> tuple[Any, str]:
    """Returns the colours of a cell and its text; `beside` is a mean to compare with, or `None`."""
    from matplotlib import colormaps

    if mean == "–":
        return "none", PALE
    if beside == "–":
        return "none", INK
    if beside is not None:
        depth = max(-1, min(1, (float(mean) - float(beside)) / SPAN))
        return colormaps["RdBu"](0.5 + 0.4 * depth), "white" if abs(depth) > 0.8 else INK
    # The exponent makes differences between small errors more visible.
    darkness = ((100 - float(mean) if high_is_good else float(mean)) / 100) ** 0.6
    return colormaps["Blues"](0.9 * darkness), "white" if darkness > 0.62 else INK


def _draw_cell(
    axes: Any, x: int, y: int, mean: str, scores: Scores, colours: tuple[Any, str], bold: bool
) -> None:
    from matplotlib.patches import Rectangle

    style = {"color": colours[1], "ha": "center", "va": "center"}
    if not scores:
        axes.text(x + 0.5, y + 0.5, mean, **style)
        return
    axes.add_patch(Rectangle((x + 0.03, y + 0.04), 0.94, 0.92, facecolor=colours[0]))
    spread = f"±{statistics.stdev(scores):.1f}" if len(scores) > 1 else ""
    weight, up = "bold" if bold else "normal", 0.13 if spread else 0
    axes.text(x + 0.5, y + 0.5 - up, mean, size=8.5, weight=weight, **style)
    axes.text(x + 0.5, y + 0.77, spread, size=5.5, **style)


def draw_kinds(study: str, runs: list[Result], models: list[str]) -> Any:
    """Draws scores by kind of question, as dots for few models and as a shaded table for more."""
    groups, kinds, measure = group_runs(runs), recorded_kinds(study, runs), STUDIES[study].measure
    ((task, named),) = STUDIES[study].tasks.items()
    alike = {model: at_best_settings(groups[model, task]) for model in models}
    first = groups[models[0], task][0]
    sizes = [first["questions"]["test"], *(kind_size(kind, runs) for kind in kinds)]
    names = [named.label, *kinds.values()]
    labels = [f"{name} ({size:,})" for name, size in zip(names, sizes, strict=True)]
    measured: dict[str, list[Scores]] = {
        model: [
            list(map(score, group)),
            *(_known(run_kind_score(kind, run) for run in group) for kind in kinds),
        ]
        for model, group in alike.items()
    }
    heading = f"{study}: {measure} by kind of question (their number)"
    counts = list(map(len, alike.values()))
    if len(models) > DOTS:
        rows = list(zip(*measured.values(), strict=True))
        high_is_good = measure != ERROR
        return draw_shades(heading, counts, labels, models, rows, high_is_good, beside_first=True)
    guesses = {
        name: [guess_score(first, name), *(kind_score(k, guess["kinds"]) for k in kinds)]
        for name, guess in first.get("baselines", {}).items()
    }
    size = 8, 1.7 + 0.42 * len(labels)
    figure, (axes,) = new_figure(size, heading, counts, "bars: from the lowest to the highest")
    _draw_dots(axes, measured, guesses, labels)
    axes.set_xlabel(measure)
    figure.legend(loc="outside lower left", frameon=False, ncols=4)
    return figure


def _known(scores: Iterable[float | None]) -> list[float]:
    return [score for score in scores if score is not None]


def _draw_dots(
    axes: Any,
    measured: dict[str, list[Scores]],
    guesses: dict[str, list[float | None]],
    labels: list[str],
) -> None:
    """Draws a row of dots for each label; `guesses` are scores of baselines that do not read."""
    places = range(len(labels))
    for y in places:
        axes.axhline(y, color=LINE, linewidth=0.8, zorder=0)
    for (name, values), marker in zip(guesses.items(), itertools.cycle("|x+1234"), strict=False):
        shown = [math.nan if value is None else value for value in values]
        axes.scatter(shown, places, color=PALE, marker=marker, s=45, label=name, zorder=2)
    for n, (model, rows) in enumerate(measured.items()):
        style = {"color": COLOURS[n], "zorder": 3}
        heights = [y + 0.13 * (n - (len(measured) - 1) / 2) for y in places]
        for up, scores in zip(heights, rows, strict=True):
            ends = [min(scores), max(scores)] if scores else []
            axes.plot(ends, [up] * len(ends), linewidth=2.5, alpha=0.5, **style)
        means = [statistics.mean(scores) if scores else math.nan for scores in rows]
        axes.scatter(means, heights, marker=MARKERS[n], s=36, label=model, **style)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(left=-1)
    axes.set_yticks(places, labels)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
