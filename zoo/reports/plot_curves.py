"""Pictures of scores against one argument: passes, slots, questions, mentions."""

import statistics
import textwrap
import typing

from zoo.configs import configuration
from zoo.experiments.studies import STUDIES
from zoo.reports.plot_style import (
    COLOURS,
    LINE,
    MARKERS,
    PALE,
    add_heading,
    describe_seeds,
    new_figure,
)
from zoo.reports.published import PUBLISHED
from zoo.reports.scores import at_best_settings, group_runs, score, sort_models, task_label

# Panels side by side.
COLUMNS = 4
# Numbers below an axis, at most, and points of a line, of more points a cloud.
TICKS, CLOUD = 6, 8
# Percents that an axis has at least.
RANGE = 10
MEASURED, BASELINE, PUBLISHED_ROW = "measured", "baseline", "published"


class Curve(typing.NamedTuple):
    """Scores against one argument.

    Args:
        name: what is written beside it.
        points: list of scores, one a seed, by value of the argument; of a baseline, which has no
            value, by `None`.
        kind: `MEASURED`, `BASELINE` or `PUBLISHED_ROW`.
    """

    name: str
    points: dict
    kind: str = MEASURED


def curves_of(study, runs):
    """The curves of a study that varies one argument, lists of `Curve` by group of tasks.

    A task without a number there is a baseline.
    """
    groups, (by, _) = group_runs(runs), STUDIES[study].by
    models, panels = sort_models(study, (run["model"] for run in runs)), {}
    for model in models:
        published = PUBLISHED.get((study, model), {})
        for key, task in STUDIES[study].tasks.items():
            value = {**task.settings, **task.arguments}.get(by)
            panel = panels.setdefault(task.group, {})
            if (model, key) in groups:
                scores = list(map(score, at_best_settings(groups[model, key])))
                if is_number(value):
                    panel.setdefault(model, Curve(model, {})).points[value] = scores
                else:
                    panel[model, key] = Curve(f"{model}, {task.label}", {None: scores}, BASELINE)
            if key in published.get("scores", {}):
                row = Curve(published["paper"], {}, PUBLISHED_ROW)
                row = panel.setdefault((model, PUBLISHED_ROW), row)
                row.points[value] = [published["scores"][key]]
    return {name: list(panel.values()) for name, panel in panels.items() if panel}


def curves_by(runs, by):
    """The curves of any runs against an argument or setting, lists of `Curve` by task.

    Only runs of a model and task that have several numbers of it; what else they differ in does not
    count.
    """
    tasks = list(STUDIES[runs[0]["study"]].tasks)
    panels = {}
    for run in sorted(runs, key=lambda run: tasks.index(run["task"])):
        value = numbers_of(run).get(by)
        if value is not None:
            panel = panels.setdefault(task_label(run["study"], run["task"]), {})
            curve = panel.setdefault(run["model"], Curve(run["model"], {}))
            curve.points.setdefault(value, []).append(score(run))
    panels = {
        name: [curve for curve in panel.values() if len(curve.points) > 1]
        for name, panel in panels.items()
    }
    return {name: curves for name, curves in panels.items() if curves}


def curves_of_search(runs):
    """Validation accuracy of the trials of a search, lists of `Curve` by hyper-parameter.

    Only hyper-parameters that have several numbers; what else trials differ in does not count.
    """
    panels = {}
    for run in runs:
        for name, value in run["chosen"].items():
            if is_number(value):
                curve = panels.setdefault(name, Curve(run["model"], {}))
                curve.points.setdefault(value, []).append(100 * run["valid_accuracy"])
    return {name: [curve] for name, curve in sorted(panels.items()) if len(curve.points) > 1}


def numbers_of(run):
    """The settings and arguments of a run that are numbers, by name, also those by default."""
    from zoo import architectures

    model = configuration(run["model"])
    defaults = getattr(architectures, model.class_name).defaults()
    recorded = {**defaults, **model.arguments, **run["settings"], **run["settings"]["arguments"]}
    del recorded["arguments"]
    return {name: n for name, n in recorded.items() if is_number(n) and name != "seed"}


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def draw_curves(heading, panels, label, measure, unit="seed"):
    """Curves of means with their range and every seed, side by side, named at their ends.

    Args:
        heading: what is measured.
        panels: lists of `Curve` by name.
        label: what they are drawn against.
        measure: what is counted.
        unit: what the scores of a point differ in.
    """
    names = [[curve.name for curve in curves] for curves in panels.values()]
    same = all(set(each) == set(names[0]) for each in names)
    measured = [c for curves in panels.values() for c in curves if c.kind != PUBLISHED_ROW]
    order = list(dict.fromkeys(curve.name for curve in measured))
    columns = min(len(panels), COLUMNS)
    rows = -(-len(panels) // columns)
    width = 2.3 * max(columns, 1.5) + 1.3 * (1 if same else columns) + 0.7
    figure, every = new_figure(width, 0.6 + 2.8 * rows, rows, columns, sharey=same)
    for axes in every[len(panels) :]:
        axes.set_axis_off()
    every = every[: len(panels)]
    for axes, (name, curves) in zip(every, panels.items(), strict=True):
        values = sorted({x for curve in curves for x in curve.points if x is not None})
        for curve in curves:
            draw_curve(axes, curve, order, values)
        axes.set_title(name.replace("-", " "), loc="left")
        axes.set_xlabel(label)
        every_nth = max(1, -(-len(values) // TICKS))
        ticks = {n: as_text(values[n]) for n in range(0, len(values), every_nth)}
        axes.set_xticks(list(ticks), list(ticks.values()))
        axes.set_xlim(-0.3, max(1, len(values)) - 0.7)
        axes.grid(axis="y", color=LINE, linewidth=0.6)
        axes.set_axisbelow(True)
    for n, (axes, curves) in enumerate(zip(every, panels.values(), strict=True)):
        show_enough(axes)
        if n % columns == 0:
            axes.set_ylabel(measure)
        if not same or n == min(columns, len(panels)) - 1:
            name_ends(axes, curves, order)
    counts = [len(scores) for curve in measured for scores in curve.points.values()]
    note = describe_seeds(counts, unit)
    note += "; shaded: from the lowest to the highest" if max(counts) > 1 else ""
    add_heading(figure, heading, note)
    return figure


def look_of(curve, order):
    """Colour and marker of a curve, the same in all panels.

    Args:
        curve: a `Curve`.
        order: names of all that are measured.
    """
    if curve.kind == PUBLISHED_ROW:
        return PALE, "x"
    n = order.index(curve.name)
    return COLOURS[n % len(COLOURS)], MARKERS[n % len(MARKERS)]


def draw_curve(axes, curve, order, values):
    """Draws a curve over the places that its values have among all."""
    colour, marker = look_of(curve, order)
    style = {"color": colour}
    if curve.kind == BASELINE:
        mean = statistics.mean(curve.points[None])
        axes.axhline(mean, linestyle=":", linewidth=1.6, **style)
        return
    found = sorted(curve.points)
    places, scores = [values.index(x) for x in found], [curve.points[x] for x in found]
    means, low, high = (list(map(f, scores)) for f in (statistics.mean, min, max))
    line = "--" if curve.kind == PUBLISHED_ROW else "-" if len(found) <= CLOUD else "none"
    look = {"linestyle": line, "linewidth": 1.8, "marker": marker, "markersize": 5}
    axes.plot(places, means, **style, **look)
    style["linewidth"] = 0
    axes.fill_between(places, low, high, alpha=0.15, **style)
    for x, seeds in zip(places, scores, strict=True):
        if len(seeds) > 1:
            axes.scatter([x] * len(seeds), seeds, s=8, alpha=0.6, **style)


def as_text(value):
    """A number below an axis."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.2g}"


def show_enough(axes):
    """Widens an axis of percents, so that chance does not look large."""
    low, high = axes.get_ylim()
    room = max(0, RANGE - (high - low)) / 2
    axes.set_ylim(low - room, high + room)


def name_ends(axes, curves, order):
    """Writes the names of curves at their ends, one below the other where they would overlap."""
    low, high = axes.get_ylim()
    line, above, ends = 0.066 * (high - low), None, []
    for curve in curves:
        last = max(curve.points, key=lambda x: (x is not None, x))
        name = textwrap.fill(curve.name, 24)
        ends.append((statistics.mean(curve.points[last]), name, look_of(curve, order)[0]))
    for y, name, shade in sorted(ends, reverse=True):
        half = line * (1 + name.count("\n")) / 2
        y = y if above is None else min(y, above - half)
        above = y - half
        axes.annotate(
            name,
            (1, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            size=7.5,
            color=shade,
        )
