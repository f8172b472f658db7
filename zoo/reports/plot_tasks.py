"""Pictures of scores by task and model, and by kind of question and model."""

import statistics

from zoo.experiments.studies import ERROR, STUDIES
from zoo.reports.plot_style import (
    COLOURS,
    INK,
    LINE,
    MARKERS,
    PALE,
    add_heading,
    count_seeds,
    describe_seeds,
    new_figure,
    spread,
)
from zoo.reports.scores import (
    at_best_settings,
    group_runs,
    guess_score,
    kind_score,
    score,
    sort_models,
    task_label,
)

# More models than these are a table of shades, rather than dots.
DOTS = 6
# Points beside the first column at which a cell is darkest.
SPAN = 8
# Inches of a cell.
WIDTH, HEIGHT = 0.52, 0.33


def draw_tasks(study, runs):
    """A table of shades: mean error or accuracy over seeds, by task and model."""
    measure = STUDIES[study].measure
    scores = {
        key: list(map(score, at_best_settings(found))) for key, found in group_runs(runs).items()
    }
    models = sort_models(study, (run["model"] for run in runs))
    tasks = list(STUDIES[study].tasks)
    rows = [[scores.get((model, task), ()) for model in models] for task in tasks]
    labels = [task_label(study, task) for task in tasks]
    if len(tasks) > 1:
        columns = zip(*rows, strict=True)
        complete = ([statistics.mean(map(statistics.mean, c))] if all(c) else () for c in columns)
        rows.append(list(complete))
        labels.append("mean of all tasks")
    counts = count_seeds(runs)
    return draw_shades(f"{study}: {measure}", counts, labels, models, rows, measure != ERROR)


def shade_of(mean, first, high_is_good):
    """Colour of a cell, and of what is written on it.

    Args:
        mean: score in percent.
        first: score that it is compared with, or `None`.
        high_is_good: whether a high score is.
    """
    from matplotlib import colormaps

    if first is not None:
        depth = max(-1, min(1, (mean - first) / SPAN))
        return colormaps["RdBu"](0.5 + 0.4 * depth), "white" if abs(depth) > 0.8 else INK
    # Small errors differ more than large ones.
    depth = ((100 - mean if high_is_good else mean) / 100) ** 0.6
    return colormaps["Blues"](0.9 * depth), "white" if depth > 0.62 else INK


def draw_shades(heading, counts, labels, columns, rows, high_is_good, beside_first=False):
    """A table of means whose cells are the darker the worse they are.

    Args:
        heading: what is measured.
        counts: numbers of seeds that cells stand for.
        labels: names of the rows.
        columns: names of the columns.
        rows: for each row and column a list of scores in percent, one a seed.
        high_is_good: whether a high score is.
        beside_first: whether colours say how far a cell is above or below the first one of its row.
    """
    from matplotlib.patches import Rectangle

    size = 2.3 + WIDTH * len(columns), 1.6 + HEIGHT * len(labels)
    figure, (axes,) = new_figure(max(5, size[0]), size[1])
    for y, row in enumerate(rows):
        means = [f"{statistics.mean(scores):.1f}" if scores else "–" for scores in row]
        known = [float(mean) for mean in means if mean != "–"]
        best = (max if high_is_good else min)(known, default=None)
        for x, (mean, scores) in enumerate(zip(means, row, strict=True)):
            if mean == "–":
                axes.text(x + 0.5, y + 0.5, mean, ha="center", va="center", color=PALE)
                continue
            first = known[0] if beside_first else None
            shade, colour = shade_of(float(mean), first, high_is_good)
            axes.add_patch(Rectangle((x + 0.03, y + 0.04), 0.94, 0.92, facecolor=shade))
            style = {"color": colour, "ha": "center", "va": "center"}
            bold = "bold" if float(mean) == best and len(known) > 1 else "normal"
            deviation = spread(scores)
            up = 0.13 if deviation else 0
            axes.text(x + 0.5, y + 0.5 - up, mean, size=8.5, weight=bold, **style)
            axes.text(x + 0.5, y + 0.77, deviation, size=5.5, **style)
    axes.set(xlim=(0, len(columns)), ylim=(len(labels), 0))
    axes.set_yticks([n + 0.5 for n in range(len(labels))], labels)
    axes.set_xticks([n + 0.5 for n in range(len(columns))], columns, rotation=45, ha="left")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    note = describe_seeds(counts)
    note += "; ± standard deviation" if max(counts) > 1 else ""
    note += "; bold: the best of a row" if len(columns) > 1 else ""
    note += f"; blue: above {columns[0]}, red: below" if beside_first else ""
    add_heading(figure, heading, note)
    return figure


def draw_kinds(study, runs, models):
    """Accuracy by kind of question, of few models as dots, of more as a table of shades."""
    groups, kinds, measure = group_runs(runs), STUDIES[study].kinds, STUDIES[study].measure
    ((task, named),) = STUDIES[study].tasks.items()
    first = groups[models[0], task][0]
    total = first["questions"]["test"]
    counts = [total, *(first["test_kinds"].get(kind, (0, 0))[1] for kind in kinds)]
    names = [named.label, *kinds.values()]
    labels = [f"{name} ({count:,})" for name, count in zip(names, counts, strict=True)]
    measured = {}
    for model in models:
        found = at_best_settings(groups[model, task])
        by_kind = ([kind_score(kind, run["test_kinds"]) for run in found] for kind in kinds)
        measured[model] = [list(map(score, found)), *by_kind]
    heading = f"{study}: {measure} by kind of question (their number)"
    counts = count_seeds(run for run in runs if run["model"] in models)
    if len(models) > DOTS:
        rows = list(zip(*measured.values(), strict=True))
        return draw_shades(heading, counts, labels, models, rows, True, beside_first=True)
    guesses = {
        name: [
            guess_score(first, name),
            *(kind_score(kind, found["kinds"]) for kind in kinds),
        ]
        for name, found in first.get("baselines", {}).items()
    }
    figure = draw_dots(measured, guesses, labels, measure)
    note = "; bars: from the lowest to the highest" if max(counts) > 1 else ""
    add_heading(figure, heading, describe_seeds(counts) + note)
    return figure


def draw_dots(measured, guesses, labels, measure):
    """A row of dots a label.

    Args:
        measured: for each label a list of scores, one a seed, by model.
        guesses: a score for each label, by name of what guesses without reading.
        labels: names of the rows.
        measure: what is measured.
    """
    figure, (axes,) = new_figure(8, 1.7 + 0.42 * len(labels))
    places = range(len(labels))
    for y in places:
        axes.axhline(y, color=LINE, linewidth=0.8, zorder=0)
    for (name, values), marker in zip(guesses.items(), "|x+", strict=False):
        axes.scatter(values, places, color=PALE, marker=marker, s=45, label=name, zorder=2)
    for n, (model, rows) in enumerate(measured.items()):
        style = {"color": COLOURS[n], "zorder": 3}
        up = 0.13 * (n - (len(measured) - 1) / 2)
        for y, scores in zip(places, rows, strict=True):
            axes.plot([min(scores), max(scores)], [y + up] * 2, linewidth=2.5, alpha=0.5, **style)
        means = list(map(statistics.mean, rows))
        heights = [y + up for y in places]
        axes.scatter(means, heights, marker=MARKERS[n], s=36, label=model, **style)
    axes.set(ylim=(len(labels) - 0.5, -0.5), xlabel=measure)
    axes.set_xlim(left=-1)
    axes.set_yticks(places, labels)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    figure.legend(loc="outside lower left", frameon=False, ncols=4)
    return figure
