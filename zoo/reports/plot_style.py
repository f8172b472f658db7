"""What all pictures of results share: colours, page, heading."""

import contextlib
import statistics

from zoo.reports.scores import at_best_settings, group_runs, list_numbers, score

INK, PALE, LINE = "#1f2430", "#6b7280", "#d6d9e0"
# Okabe and Ito's colours, which everybody tells apart, the palest last; and a marker for each.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#f0e442")
MARKERS = "osD^vPX*"
STYLE = {
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": PALE,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # The same names inside an SVG for the same results.
    "svg.hashsalt": "keras_corefmem",
    # Text that can be searched.
    "svg.fonttype": "none",
}


@contextlib.contextmanager
def style():
    """The look of the pictures, whatever this machine is set to."""
    import matplotlib.style

    with matplotlib.style.context(["default", STYLE]):
        yield


def new_figure(width, height, rows=1, columns=1, sharey=False):
    """A figure of `width` × `height` inches without global state, and its axes in reading order."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=120, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, sharey=sharey, squeeze=False).ravel()


def add_heading(figure, text, note):
    """What is measured, and a note, above a figure."""
    figure.suptitle(f"{text}\n{note}", x=0.01, ha="left", size=11)


def describe_seeds(counts, unit="seed"):
    """What a note says of seeds.

    Args:
        counts: numbers of runs that the points of a figure stand for.
        unit: what the runs differ in.
    """
    counts = set(counts)
    return f"1 {unit}" if counts == {1} else f"mean over {list_numbers(counts)} {unit}s"


def count_seeds(runs):
    """Numbers of runs, of a model and task each, at the settings of the best one."""
    return [len(at_best_settings(found)) for found in group_runs(runs).values()]


def mean_score(runs, score=score):
    """Mean over seeds, at the settings of the best run by validation."""
    return statistics.mean(map(score, at_best_settings(runs)))


def spread(scores):
    """Standard deviation over seeds, `""` for a single one."""
    return f"±{statistics.stdev(scores):.1f}" if len(scores) > 1 else ""
