"""PNG pictures of what a model attends to and answers."""

import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from rich.cells import cell_len

from keras_corefmem.utils.extras import extra
from keras_corefmem.visualization.views import (
    GOOD,
    INK,
    PALE,
    Heading,
    HeadView,
    TableView,
    TokenView,
)

# Inches. The font is monospaced, so that the width of a text is known before it is drawn.
# TensorBoard's thumbnails are 290 pixels wide: whatever is wide cannot be read there.
CHARACTER, LINE, MARGIN = 0.602 * 10 / 72, 0.27, 0.12
# Maximum characters of a line of tokens and of the text of a row, and lines of a column; and
# characters of a line above them, such as a question.
WRAP, ROW, TALL, LONG = 44, 64, 36, 132
# Width of a cell, and of one among more than `MANY` columns, which has no room for a number.
CELL, MANY, NARROW = 0.3, 10, 0.16
# Heat maps of heads: size of a map and of its text, room for a title, and the maximum number of
# words at its side and of their characters.
MAP, SIZE, TITLE, LABELS, LETTERS = 3.0, 12, 0.35, 14, 12

CHAINS = (
    *("#1f77b4", "#2ca02c", "#9467bd", "#d62728", "#17becf", "#8c564b"),
    *("#e377c2", "#bcbd22", "#3949ab", "#00897b", "#6d4c41", "#7f7f7f"),
)


def draw(view: TokenView | TableView | HeadView) -> bytes:
    """Draws a view as a PNG picture.

    - `TokenView`: every token is shaded by its attention and underlined in the colour of its chain;
      each sentence begins a line, long passages continue in columns. Further edges are arcs in the
      colour of their type, from source to target, and the types stand beside the answer.
    - `TableView`: every row is a line of shaded cells, with percentages in up to ten columns. Names
      of columns are vertical, long tables continue to the right.
    - `HeadView`: a row of two heat maps for each head, attention on the left and targets on the
      right. Rows of a map attend to its columns; white is 0. In long passages only some words are
      named, those of targets first.

    Args:
        view: the view.

    Returns:
        The bytes of a PNG file.

    Raises:
        ImportError: if Matplotlib is not installed.

    Example:
        >>> view = keras_corefmem.visualization.TableView(
        ...     ["Mary left.", "John slept."], np.array([[0.9], [0.1]]), ["pass 1"], "Who left?")
        >>> keras_corefmem.visualization.draw(view)[1:4]
        b'PNG'
    """
    with extra("reports", "Pictures need Matplotlib"):
        import matplotlib.figure  # noqa: F401
    drawers: Any = {TokenView: _draw_tokens, TableView: _draw_table, HeadView: _draw_heads}
    return drawers[type(view)](view)


def _draw_tokens(view: TokenView) -> bytes:
    rows = list(_rows(view))
    count = -(-len(rows) // TALL)
    height = -(-len(rows) // count)
    columns = [rows[start : start + height] for start in range(0, len(rows), height)]
    label = CHARACTER * (len(str(len(view.sentences))) + 2.5)
    longest = [max(_width(t for t, _, _ in row) for _, row in column) for column in columns]
    widths = [label + CHARACTER * width for width in longest]
    colours = edge_colours(view)
    legend = [(_share_of(name, view.edge_shares), colour) for name, colour in colours.items()]
    shown = [*_cut_heading(view.heading), *legend]
    question = zip(view.question, itertools.repeat(0.0), view.question_chains, strict=False)
    above = list(_wrap(question, LONG))
    lines = ([token for token, *_ in row] for row in above)
    width = max(sum(widths) + 2 * MARGIN * len(widths), _head_width(*lines, _texts(shown)))
    x, top = MARGIN, MARGIN + (1.6 + len(above)) * LINE
    page = _Page(width, top + height * LINE + MARGIN)
    rows_above = (page.tokens(MARGIN, MARGIN + n * LINE, row) for n, row in enumerate(above))
    question_places, places = list(itertools.chain.from_iterable(rows_above)), []
    page.heading(shown, len(above))
    for column, width in zip(columns, widths, strict=True):
        for y, (number, row) in zip(top + LINE * np.arange(height), column, strict=False):
            if number:
                page.number(x + label - 2 * CHARACTER, y + LINE / 2, number, view.supporting_facts)
            places += page.tokens(x + label, y, row)
        x += width + 2 * MARGIN
    places += question_places
    for source, target, edge_type in view.edges:
        page.arc(places[source - 1], places[target - 1], colours[edge_type])
    return _png(page.canvas)


def chain_colour(chain: int) -> str:
    """Returns the colour of a chain, by its number from 1."""
    return CHAINS[(chain - 1) % len(CHAINS)]


def edge_colours(view: TokenView) -> dict[str, str]:
    """Returns the colour of each edge type of a view."""
    types = sorted({edge_type for *_, edge_type in view.edges})
    return {name: CHAINS[-2 - n % (len(CHAINS) - 1)] for n, name in enumerate(types)}


def _share_of(name, shares):
    return f"{name} {shares[name]:.0%}" if name in shares else name


def _draw_table(view: TableView) -> bytes:
    columns = highest_columns(view, view.max_columns)
    names = [view.columns[n] for n in columns]
    names_height = CHARACTER * max((_width([name]) for name in names), default=0)
    cell = NARROW if len(columns) > MANY else CELL
    texts = [_cut(text, ROW) for text in view.rows]
    label = CHARACTER * (len(str(len(texts))) + 3)
    left = label + CHARACTER * (max(_width([text]) for text in texts) + 1)
    count = -(-len(texts) // TALL)
    height = -(-len(texts) // count)
    width, top = left + cell * len(columns) + 2 * MARGIN, MARGIN + 2.6 * LINE + names_height
    question, heading = _cut(view.question, LONG), _cut_heading(view.heading)
    page_width = max(count * width, _head_width([question], _texts(heading)))
    page = _Page(page_width, top + LINE * height + MARGIN)
    page.text(MARGIN + CHARACTER / 2, MARGIN + LINE / 2, question, weight="bold")
    page.heading(heading)
    if len(columns) < len(view.columns):
        note = f"{len(columns)} of {len(view.columns)}"
        page.text(MARGIN + label, top - LINE / 2, note, color=PALE)
    for start in range(0, len(texts), height):
        x = MARGIN + width * (start // height)
        for column, name in enumerate(names):
            style = {"color": GOOD, "weight": "bold"} if name == view.right else {}
            style |= {"rotation": "vertical", "ha": "center", "va": "bottom"}
            page.text(x + left + cell * (column + 0.5), top - CHARACTER, name, **style)
        for row in range(start, min(start + height, len(texts))):
            y = top + (row - start) * LINE
            page.number(x + label - 2.5 * CHARACTER, y + LINE / 2, row + 1, view.supporting_facts)
            page.text(x + label, y + LINE / 2, texts[row])
            for column, n in enumerate(columns):
                page.cell(x + left + cell * column, y, cell, view.values[row, n])
    return _png(page.canvas)


def highest_columns(view: TableView, count: int) -> np.ndarray:
    """Returns the numbers of the `count` columns with the highest values, including `right`."""
    highest = np.max(view.values, axis=0).astype(float)
    if view.right in view.columns:
        highest[view.columns.index(view.right)] = np.inf
    return np.sort(np.argsort(-highest, kind="stable")[:count])


def _draw_heads(view: HeadView) -> bytes:
    words = [_cut(word, LETTERS) for word in view.words]
    side = CHARACTER * SIZE / 10 * max(_width([word]) for word in words) + MARGIN
    step = MAP + MARGIN
    width, height = side + 2 * step, len(view.heads) * (TITLE + MAP + side)
    # Each token has a few pixels.
    canvas = _canvas((width, height), dpi=np.clip(8 * len(words) / MAP, 110, 400))
    for row, (name, attention, targets) in enumerate(view.heads):
        named = _named(np.any(targets | targets.T, axis=0))
        for column, (title, values) in enumerate(((name, attention), ("targets", targets))):
            top = height - row * (TITLE + MAP + side) - TITLE
            left = (side + column * step) / width
            place = left, (top - MAP) / height, MAP / width, MAP / height
            axes = canvas.figure.add_axes(place)
            axes.imshow(np.asarray(values, float), cmap="Blues", vmin=0, vmax=1, aspect="auto")
            axes.set_title(title, size=SIZE, color=INK, family="monospace")
            # Both maps have the same rows.
            for axis, places in ((axes.xaxis, named), (axes.yaxis, [] if column else named)):
                axis.set_ticks(places, [words[n] for n in places], size=SIZE, family="monospace")
                axis.set_tick_params(length=0)
            axes.xaxis.set_tick_params(rotation=90)
            for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
                label.set_parse_math(False)
    return _png(canvas)


def _named(wanted: np.ndarray) -> list[int]:
    """Returns the tokens to label on a map: far enough apart, the wanted ones first."""
    gap, named = -(-len(wanted) // LABELS), list[int]()
    for place in (*np.flatnonzero(wanted), *np.flatnonzero(~wanted)):
        if all(abs(place - other) >= gap for other in named):
            named.append(int(place))
    return named


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _cut_heading(heading: Heading) -> Heading:
    """Returns the pieces of a heading that fit into a line."""
    kept: Heading = []
    for text, colour in heading:
        room = LONG - _width(_texts(kept))
        if room < 2:
            break
        kept.append((_cut(text, room), colour))
    return kept


def _texts(heading: Heading) -> list[str]:
    return [text for text, _ in heading]


def _canvas(size: tuple[float, float], **options: Any) -> Any:
    # Without pyplot: no global state, no display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    return FigureCanvasAgg(Figure(size, **options))


def _png(canvas: Any) -> bytes:
    file = io.BytesIO()
    canvas.print_png(file)
    return file.getvalue()


class _Page:
    """A white page of `width` × `height` inches, measured from its upper left corner."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib import colormaps
        from matplotlib.patches import Rectangle

        self.canvas = _canvas((width, height), dpi=110, facecolor="white")
        self.rectangle, self.shades = Rectangle, (colormaps["Oranges"], colormaps["Blues"])
        figure = self.canvas.figure
        self.axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        self.axes.axis("off")

    def text(self, x, y, text, **style):
        style = {"color": INK, "family": "monospace", "size": 10, "va": "center_baseline", **style}
        self.axes.text(x, y, str(text), parse_math=False, **style)

    def heading(self, pieces, lines=1):
        """Writes a heading below the lines of the question."""
        x = MARGIN + CHARACTER / 2
        for text, colour in pieces:
            self.text(x, MARGIN + (0.6 + lines) * LINE, text, color=colour, weight="bold")
            x += CHARACTER * _width([text])

    def box(self, x, y, width, height, colour):
        self.axes.add_patch(self.rectangle((x, y), width, height, facecolor=colour, linewidth=0))

    def number(self, x, y, number, supporting_facts):
        """Writes the number of a sentence, marked if it is a supporting fact."""
        style = {"color": PALE}
        if number in supporting_facts:
            style = {"color": GOOD, "weight": "bold"}
            self.text(x + CHARACTER / 2, y, "▸", ha="left", color=GOOD)
        self.text(x, y, number, ha="right", **style)

    def tokens(self, x, y, tokens):
        """Writes tokens in a line; returns the place above the middle of each."""
        places = []
        for token, weight, chain in tokens:
            width = CHARACTER * _width([token])
            if weight > 0.005:
                self.box(x, y + 0.03, width, LINE - 0.1, self.shades[0](0.08 + 0.5 * weight))
            if chain:
                bar = width - CHARACTER, 0.035, chain_colour(chain)
                self.box(x + CHARACTER / 2, y + LINE - 0.07, *bar)
            self.text(x + width / 2, y + LINE / 2 - 0.02, token, ha="center")
            places.append((x + width / 2, y + 0.05))
            x += width
        return places

    def arc(self, source, target, colour):
        """Draws an arrow over the tokens between two places."""
        (x, y), (end, _) = source, target
        # Long ones are flatter, so that all stay near their line.
        bend = 0.3 if y != target[1] else min(0.5, 0.3 / max(abs(end - x), 0.1))
        style = f"arc3,rad={bend if end < x else -bend}"
        arrow = {"arrowstyle": "->", "color": colour, "alpha": 0.7, "connectionstyle": style}
        self.axes.annotate("", target, source, arrowprops={**arrow, "shrinkA": 0, "shrinkB": 0})

    def cell(self, x, y, width, value):
        """Draws a value as a shade and, if there is room, in percent."""
        self.box(x, y, width - 0.02, LINE - 0.02, self.shades[1](0.03 + 0.8 * value))
        if value >= 0.005 and width >= CELL:
            style = {"color": "white" if value > 0.65 else INK, "size": 9}
            self.text(x + width / 2, y + LINE / 2, f"{100 * value:.0f}", ha="center", **style)


def _rows(view: TokenView) -> Iterator[tuple[int | None, list]]:
    """Yields lines `(number of the sentence that begins, [(token, attention, chain), …])`."""
    values = iter(zip(view.attention, view.chains, strict=True))
    for number, tokens in enumerate(view.sentences, 1):
        label: int | None = number
        words = ((token, *value) for token, value in zip(tokens, values, strict=False))
        for row in _wrap(words, WRAP):
            yield label, row
            label = None


def _wrap(tokens: Iterable[tuple[str, float, int]], length: int) -> Iterator[list]:
    """Yields lines of `(token, attention, chain)`, at least one."""
    row: list = []
    for token in tokens:
        if row and _width([*(text for text, *_ in row), token[0]]) > length:
            yield row
            row = []
        row.append(token)
    yield row


def _head_width(*lines: Sequence[str]) -> float:
    return CHARACTER * max(map(_width, lines)) + 2 * MARGIN


def _width(texts: Iterable[str]) -> int:
    """Counts the columns of a monospaced line of texts, each with half a column on both sides."""
    return sum(1 + cell_len(text) for text in texts)
