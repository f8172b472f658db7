"""Pictures of what a reader attends to and answers, as PNG."""

import io
import itertools
import unicodedata

import numpy as np

# Inches. The font is monospaced, so that the width of a text is known before it is drawn.
CHARACTER, LINE, MARGIN = 0.602 * 10 / 72, 0.34, 0.3
WRAP = 64
TALL = 36
# More columns than this are narrow, their names upright.
WIDE, NARROW = 10, 0.3

INK, PALE, GOOD, BAD = "#1f2430", "#8a90a0", "#18794e", "#c62a2f"
CHAINS = (
    *("#1f77b4", "#2ca02c", "#9467bd", "#d62728", "#17becf", "#8c564b"),
    *("#e377c2", "#bcbd22", "#3949ab", "#00897b", "#6d4c41", "#7f7f7f"),
)


def draw_attention(
    sentences, attention, chains, question, question_chains, heading, supporting_facts=()
):
    """A passage with every token shaded by its attention and underlined by its chain.

    Sentences begin a line of their own, long passages continue in columns.

    Args:
        sentences: list of lists of tokens.
        attention: `(T,)`, the weight of each of their tokens, from 0 to 1.
        chains: `(T,)`, the coreference chain of each of their tokens, 0 = none.
        question: list of tokens.
        question_chains: the chain of each token of the question.
        heading: list of `(text, colour)`, what is said about the answer.
        supporting_facts: 1-based numbers of sentences to mark.

    Returns:
        The bytes of a PNG file.
    """
    rows = list(_rows(sentences, attention, chains))
    count = -(-len(rows) // TALL)
    height = -(-len(rows) // count)
    columns = [rows[start : start + height] for start in range(0, len(rows), height)]
    label = CHARACTER * (len(str(len(sentences))) + 2.5)
    widths = [
        label + CHARACTER * max(_width(t for t, _, _ in row) for _, row in c) for c in columns
    ]
    top = MARGIN + 2.6 * LINE
    page = Page(
        max(sum(widths) + 2 * MARGIN * len(widths), _head_width(question, heading)),
        top + height * LINE + MARGIN,
    )
    page.tokens(MARGIN, MARGIN, zip(question, itertools.repeat(0.0), question_chains))
    page.heading(heading)
    x = MARGIN
    for column, width in zip(columns, widths, strict=True):
        for y, (number, row) in zip(top + LINE * np.arange(height), column, strict=False):
            if number:
                page.number(x + label - 2 * CHARACTER, y + LINE / 2, number, supporting_facts)
            page.tokens(x + label, y, row)
        x += width + 2 * MARGIN
    return page.png()


def draw_columns(
    sentences, values, columns, question, heading, supporting_facts=(), right=None, top=24
):
    """What sentences bring, one row each: the answers after each of them, or gates.

    Many columns are narrow, long passages continue beside.

    Args:
        sentences: list of strings.
        values: `(sentences, columns)`, from 0 to 1.
        columns: list of names.
        question: string.
        heading: list of `(text, colour)`, what is said about the answer.
        supporting_facts: 1-based numbers of sentences to mark.
        right: name of the column to mark.
        top: number of columns to show, those that are highest at some sentence.

    Returns:
        The bytes of a PNG file.
    """
    shown = highest_columns(values, columns, top, right)
    narrow, names = len(shown) > WIDE, [columns[n] for n in shown]
    longest = CHARACTER * max((_width([name]) for name in names), default=0)
    cell, names_height = (NARROW, longest) if narrow else (max(7 * CHARACTER, longest), LINE)
    texts = [text if len(text) <= WRAP else text[: WRAP - 1] + "…" for text in sentences]
    label = CHARACTER * (len(str(len(texts))) + 3)
    left = label + CHARACTER * (max(_width([text]) for text in texts) + 1)
    count = -(-len(texts) // TALL)
    height = -(-len(texts) // count)
    width = left + cell * len(shown) + 2 * MARGIN
    top_of_rows = MARGIN + 2.6 * LINE + names_height
    page = Page(
        max(count * width, _head_width([question], heading)),
        top_of_rows + LINE * height + MARGIN,
    )
    page.text(MARGIN + CHARACTER / 2, MARGIN + LINE / 2, question, weight="bold")
    page.heading(heading)
    if len(shown) < len(columns):
        note = f"{len(shown)} of {len(columns)}"
        page.text(MARGIN + label, top_of_rows - LINE / 2, note, color=PALE)
    for start in range(0, len(texts), height):
        x = MARGIN + width * (start // height)
        for column, name in enumerate(names):
            style = {"color": GOOD, "weight": "bold"} if name == right else {}
            style |= {"rotation": 90, "va": "bottom"} if narrow else {}
            y = top_of_rows - (CHARACTER if narrow else LINE / 2)
            page.text(x + left + cell * (column + 0.5), y, name, ha="center", **style)
        for row in range(start, min(start + height, len(texts))):
            y = top_of_rows + (row - start) * LINE
            page.number(x + label - 2.5 * CHARACTER, y + LINE / 2, row + 1, supporting_facts)
            page.text(x + label, y + LINE / 2, texts[row])
            for column, n in enumerate(shown):
                page.cell(x + left + cell * column, y, cell, values[row, n], narrow)
    return page.png()


def highest_columns(values, columns, top, right=None):
    """Ascending numbers of the `top` columns that are highest in some row, `right` among them."""
    highest = np.max(values, axis=0)
    if right in columns:
        highest[columns.index(right)] = np.inf
    return np.sort(np.argsort(-highest, kind="stable")[:top])


class Page:
    """A white page of `width` × `height` inches, measured from its upper left corner."""

    def __init__(self, width, height):
        # Without pyplot: no global state, no display.
        from matplotlib import colormaps
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle

        figure = Figure(figsize=(width, height), dpi=110, facecolor="white")
        self.canvas, self.rectangle = FigureCanvasAgg(figure), Rectangle
        self.shades = colormaps["Oranges"], colormaps["Blues"]
        self.axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        self.axes.axis("off")

    def text(self, x, y, text, **style):
        style = {"color": INK, "family": "monospace", "size": 10, "va": "center_baseline", **style}
        self.axes.text(x, y, str(text), parse_math=False, **style)

    def heading(self, pieces):
        """A line of `(text, colour)` in the second line of the page."""
        x = MARGIN + CHARACTER / 2
        for text, colour in pieces:
            self.text(x, MARGIN + 1.6 * LINE, text, color=colour, weight="bold")
            x += CHARACTER * _width([text])

    def box(self, x, y, width, height, colour):
        self.axes.add_patch(self.rectangle((x, y), width, height, facecolor=colour, linewidth=0))

    def number(self, x, y, number, supporting_facts):
        """The number of a sentence, marked where it is a supporting fact."""
        style = {"color": PALE}
        if number in supporting_facts:
            style = {"color": GOOD, "weight": "bold"}
            self.text(x + CHARACTER / 2, y, "▸", ha="left", color=GOOD)
        self.text(x, y, number, ha="right", **style)

    def tokens(self, x, y, tokens):
        """A line of `(token, attention, chain)`."""
        for token, weight, chain in tokens:
            width = CHARACTER * _width([token])
            if weight > 0.005:
                self.box(x, y + 0.03, width, LINE - 0.1, self.shades[0](0.08 + 0.5 * weight))
            if chain:
                colour = CHAINS[(chain - 1) % len(CHAINS)]
                self.box(x + CHARACTER / 2, y + LINE - 0.07, width - CHARACTER, 0.035, colour)
            self.text(x + width / 2, y + LINE / 2 - 0.02, token, ha="center")
            x += width

    def cell(self, x, y, width, value, narrow=False):
        """A value as a shade and in percent, without the sign where narrow."""
        self.box(x, y, width - 0.02, LINE - 0.02, self.shades[1](0.03 + 0.8 * value))
        if value >= 0.005:
            style = {"color": "white" if value > 0.65 else INK, "size": 8 if narrow else 9}
            text = f"{100 * value:.0f}" if narrow else f"{value:.0%}"
            self.text(x + width / 2, y + LINE / 2, text, ha="center", **style)

    def png(self):
        file = io.BytesIO()
        self.canvas.print_png(file)
        return file.getvalue()


def _rows(sentences, attention, chains):
    """Lines `(number of the sentence that begins, [(token, attention, chain), …])`."""
    values = iter(zip(attention, chains, strict=True))
    for number, tokens in enumerate(sentences, 1):
        row = []
        for token, (weight, chain) in zip(tokens, values, strict=False):
            if row and _width([*(t for t, _, _ in row), token]) > WRAP:
                yield number, row
                number, row = None, []
            row.append((token, weight, chain))
        yield number, row


def _head_width(question, heading):
    """Inches of the widest of the first two lines, margins included."""
    lines = question, [text for text, _ in heading]
    return CHARACTER * max(map(_width, lines)) + 2 * MARGIN


def _width(texts):
    """Columns of a monospaced line of texts, each with half a column of room on both sides."""
    wide = {"W": 2, "F": 2}
    return sum(
        1 + sum(wide.get(unicodedata.east_asian_width(c), 1) for c in text) for text in texts
    )
