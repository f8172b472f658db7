"""Pictures of what supervised heads attend to, beside what they should, as PNG."""

import io

import numpy as np

from keras_corefmem.visualization.pictures import INK

# Inches of a cell and of the text at its side; with more tokens, cells are smaller.
CELL, SIDE, HEAD = 0.16, 1.1, 0.5
LARGEST = 12.0


def draw_heads(words, heads):
    """Heat maps of heads, a row each: attention on the left, its targets on the right.

    Rows of a map attend to columns; white is 0.

    Args:
        words: list of T tokens.
        heads: list of `(name, attention, targets)`: string, `(T, T)` from 0 to 1, and bool
            `(T, T)`.

    Returns:
        The bytes of a PNG file.
    """
    # Without pyplot: no global state, no display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    side = min(CELL * len(words), LARGEST)
    width, height = 2 * (side + SIDE) + HEAD, len(heads) * (side + SIDE + HEAD)
    figure = Figure((width, height), dpi=100)
    canvas = FigureCanvasAgg(figure)
    size = 72 * min(0.7 * side / len(words), 0.12)
    for row, (name, attention, targets) in enumerate(heads):
        for column, (title, values) in enumerate(((name, attention), ("targets", targets))):
            left = SIDE + column * (side + SIDE)
            top = height - row * (side + SIDE + HEAD) - HEAD
            place = left / width, (top - side) / height, side / width, side / height
            axes = figure.add_axes(place)
            axes.imshow(np.asarray(values, float), cmap="Blues", vmin=0, vmax=1, aspect="auto")
            axes.set_title(title, size=10, color=INK, family="monospace")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_ticks(range(len(words)), words, size=size, family="monospace")
                axis.set_tick_params(length=0)
            axes.xaxis.set_tick_params(rotation=90)
            for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
                label.set_parse_math(False)
    file = io.BytesIO()
    canvas.print_png(file)
    return file.getvalue()
