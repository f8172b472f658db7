"""Pictures of scores against one argument."""

import itertools
import statistics
import textwrap
from typing import Any

from zoo.reports.curves import BASELINE, LEARNING, PUBLISHED, Curve, Panels
from zoo.reports.plots.style import COLOURS, LINE, MARKERS, PALE, new_figure
from zoo.reports.scores import sort_edge_types

# Maximum number of panels side by side.
COLUMNS = 4
# Maximum number of tick labels of an axis, and of points that are joined by a line.
TICKS, CLOUD = 6, 8
# Characters per line of a panel's title.
TITLE_WIDTH = 26
# Minimum range of an axis in percentage points, so that noise does not look large.
RANGE = 10


def draw_curves(heading: str, panels: Panels, label: str, measure: str, unit: str = "seed") -> Any:
    """Draws panels of mean curves with their range and each seed, named at their right ends."""
    names = [{curve.name for curve in curves} for curves in panels.values()]
    same = all(each == names[0] for each in names)
    measured = [c for curves in panels.values() for c in curves if c.kind != PUBLISHED]
    order = list(dict.fromkeys(curve.name for curve in measured))
    columns = min(len(panels), COLUMNS)
    rows = -(-len(panels) // columns)
    size = 2.3 * max(columns, 1.5) + 1.3 * (1 if same else columns) + 0.7, 0.6 + 2.8 * rows
    counts = [len(scores) for curve in measured for scores in curve.points.values()]
    note = "shaded: from the lowest to the highest"
    figure, grid = new_figure(
        size, heading, counts, note, unit=unit, grid=(rows, columns), sharey=same
    )
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes, (name, curves) in zip(grid, panels.items(), strict=False):
        values = sorted({x for curve in curves for x in curve.points if x is not None})
        for curve in curves:
            _draw_curve(axes, curve, order, values)
        axes.set_title(textwrap.fill(name.replace("-", " "), TITLE_WIDTH), loc="left")
        axes.set_xlabel(label)
        are_names = _are_names(values)
        ticks = range(0, len(values), 1 if are_names else max(1, -(-len(values) // TICKS)))
        rotation = 20 if are_names else 0
        axes.set_xticks(ticks, [_label_of(values[n]) for n in ticks], rotation=rotation)
        axes.set_xlim(-0.3, max(1, len(values)) - 0.7)
        axes.grid(axis="y", color=LINE, linewidth=0.6)
        axes.set_axisbelow(True)
    # Shared axes have their final limits only after everything is drawn.
    for n, (axes, curves) in enumerate(zip(grid, panels.values(), strict=False)):
        low, high = axes.get_ylim()
        room = max(0, RANGE - (high - low)) / 2
        # No share is less than 0.
        bottom = max(low - room, min(low, 0))
        axes.set_ylim(bottom, max(high + room, bottom + RANGE))
        if n % columns == 0:
            axes.set_ylabel(measure)
        if not same or n == columns - 1:
            _name_ends(axes, curves, order)
    return figure


def draw_shares(
    heading: str, panels: dict[str, dict[str, dict[str, float]]], label: str, counts: list[int]
) -> Any:
    """Draws shares that sum to 100 as stacked bars, one bar for each label of a panel."""
    from matplotlib.patches import Patch

    bars = [bar for panel in panels.values() for bar in panel.values()]
    names = sort_edge_types({name for bar in bars for name in bar})
    colours = dict(zip(names, itertools.cycle((LINE, *COLOURS)), strict=False))
    figure, grid = new_figure(
        (1 + 1.9 * len(panels), 3.6), heading, counts, grid=(1, len(panels)), sharey=True
    )
    for axes, (title, panel) in zip(grid, panels.items(), strict=True):
        for x, shares in enumerate(panel.values()):
            bottom = 0.0
            for name, share in ((name, shares[name]) for name in names if name in shares):
                axes.bar(x, share, 0.8, bottom, color=colours[name])
                if share >= 6:
                    middle = bottom + share / 2
                    axes.text(x, middle, f"{share:.0f}", size=7.5, ha="center", va="center")
                bottom += share
        axes.set_title(title.replace("-", " "), loc="left")
        axes.set_xticks(range(len(panel)), list(panel), rotation=30)
        axes.set_xlabel(label)
    grid[0].set_ylabel("mean attention in %")
    patches = [Patch(color=colour, label=name) for name, colour in colours.items()]
    figure.legend(handles=patches, loc="outside lower left", frameon=False, ncols=len(names))
    return figure


def _are_names(values: list[Any]) -> bool:
    return any(isinstance(value, str) for value in values)


def _label_of(value: Any) -> str:
    """Returns the label of a tick, with long names on two lines."""
    if isinstance(value, str):
        return value.replace("+", "+\n")
    return f"{value:,}" if isinstance(value, int) else f"{value:.2g}"


def _look(curve: Curve, order: list[str]) -> tuple[str, str]:
    """Returns the colour and marker of a curve, the same in all panels."""
    if curve.kind == PUBLISHED:
        return PALE, "x"
    n = order.index(curve.name)
    return COLOURS[n % len(COLOURS)], MARKERS[n % len(MARKERS)]


def _draw_curve(axes: Any, curve: Curve, order: list[str], values: list[Any]) -> None:
    """Draws a curve, with each point at the index of its value in `values`."""
    colour, marker = _look(curve, order)
    if curve.kind == BASELINE:
        axes.axhline(curve.end, linestyle=":", linewidth=1.6, color=colour)
        return
    known = sorted(curve.points)
    places, scores = [values.index(x) for x in known], [curve.points[x] for x in known]
    means, low, high = (list(map(f, scores)) for f in (statistics.mean, min, max))
    are_names = _are_names(known)
    joined = curve.kind == LEARNING or len(known) <= CLOUD and not are_names
    line = "--" if curve.kind == PUBLISHED else "-" if joined else "none"
    marker = "" if curve.kind == LEARNING else marker
    look = {"linestyle": line, "linewidth": 1.8, "marker": marker, "markersize": 5}
    axes.plot(places, means, color=colour, **look)
    if not are_names:
        axes.fill_between(places, low, high, alpha=0.15, color=colour, linewidth=0)
    for x, seeds in zip(places, scores, strict=True):
        if len(seeds) > 1 and marker:
            axes.scatter([x] * len(seeds), seeds, s=8, alpha=0.6, color=colour, linewidth=0)


def _name_ends(axes: Any, curves: list[Curve], order: list[str]) -> None:
    """Writes the names of curves at their right ends, moved down where they would overlap."""
    low, high = axes.get_ylim()
    line, above = 0.066 * (high - low), float("inf")
    ends = ((c.end, textwrap.fill(c.name, 24), _look(c, order)[0]) for c in curves)
    for y, name, colour in sorted(ends, reverse=True):
        half = line * (1 + name.count("\n")) / 2
        y = min(y, above - half)
        above = y - half
        places = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        axes.annotate(name, (1, y), xytext=(6, 0), va="center", size=7.5, color=colour, **places)
