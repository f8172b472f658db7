"""The style of all pictures of results: colours, page, heading."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from keras_corefmem.utils.extras import extra
from zoo.reports.scores import list_numbers

INK, PALE, LINE = "#1f2430", "#6b7280", "#d6d9e0"
# Okabe and Ito's palette for colour-blind readers too, the palest last, and a marker for each.
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
    # Gives the same identifiers in an SVG for the same results.
    "svg.hashsalt": "keras_corefmem",
    # Keeps text searchable.
    "svg.fonttype": "none",
}


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Applies the style of pictures, whatever the user's Matplotlib settings."""
    with extra("reports", "Pictures need Matplotlib"):
        import matplotlib.style

    with matplotlib.style.context(["default", STYLE]):
        yield


def new_figure(
    size: tuple[float, float],
    heading: str,
    counts: Iterable[int],
    *notes: str,
    unit: str = "seed",
    grid: tuple[int, int] = (1, 1),
    sharey: bool = False,
) -> tuple[Any, Any]:
    """Makes a figure without global state, and returns it and its axes in reading order.

    The line below the heading gives the number of seeds, if `counts` has any, and the notes, of
    which the first is shown only if a point has several seeds.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=120, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    counts = set(counts)
    seeds = f"1 {unit}" if counts == {1} else f"mean over {list_numbers(counts)} {unit}s"
    several = max(counts, default=0) > 1
    note = "; ".join(filter(None, [seeds if counts else "", *notes[0 if several else 1 :]]))
    figure.suptitle(f"{heading}\n{note}", x=0.01, ha="left", size=11)
    return figure, figure.subplots(*grid, sharey=sharey, squeeze=False).ravel()
