"""Views of a model as text in a terminal."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import IO, Any

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from keras_corefmem.graphs.chains import chain_ids
from keras_corefmem.visualization.pictures import MANY, chain_colour, edge_colours, highest_columns
from keras_corefmem.visualization.views import GOOD, INK, PALE, HeadView, TableView, TokenView

# Where there is no terminal, lines are as long as they need to be.
PLAIN_WIDTH = 2000
# Least and greatest shade of a cell and of a token.
BLUES = (0xDE, 0xEB, 0xF7), (0x08, 0x30, 0x6B)
ORANGES = (0xFE, 0xE6, 0xCE), (0xE6, 0x55, 0x0D)
VISIBLE = 0.005
# Maximum number of tokens that are shown of a supervised head.
HEAD_ROWS = 12
# Maximum number of edges of a type that are listed.
EDGES = 12
# Control characters, which a terminal obeys, and how they are shown; Rich drops those left out.
CONTROLS = {n: f"\\x{n:02x}" for n in (*range(7), *range(14, 32), *range(127, 160))}


def make_console(file: IO[str] | None = None) -> Console:
    """Makes a console as wide as the terminal or, without one, for plain text of any width.

    Args:
        file: file to write to instead of the standard output.

    Example:
        >>> keras_corefmem.visualization.make_console().print("Mary left.")
        Mary left.
    """
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


def print_view(console: Console, view: TokenView | TableView | HeadView) -> None:
    """Prints a view.

    - `TokenView`: every token is shaded by its attention and coloured by its chain. It is followed
      by the number of its chain if that has several mentions, `mary#1`, and by its attention if
      that is at least 1%, `kitchen[83%]`. Further edges are listed below by type.
    - `TableView`: values in percent. If there are many columns, or the terminal is too narrow for
      their names, columns are numbered in the table and named below it. If it is too narrow for all
      columns, the highest are shown.
    - `HeadView`: for each head, the tokens that attend most to one other. If there are targets,
      tokens without any are left out, and ✓ marks a token that attends to one.

    Control characters of texts are escaped.

    Args:
        console: from `make_console`.
        view: the view.

    Example:
        >>> view = keras_corefmem.visualization.TableView(
        ...     ["Mary left.", "John slept."], np.array([[0.9], [0.1]]), ["pass 1"], "Who left?")
        >>> keras_corefmem.visualization.print_view(
        ...     keras_corefmem.visualization.make_console(), view)
        Who left?
        <BLANKLINE>
                        pass 1
         1 Mary left.      90%
         2 John slept.     10%
    """
    printers: Any = {TokenView: _print_tokens, TableView: _print_table, HeadView: _print_heads}
    printer = printers[type(view)]
    fields = {field.name: _visible(getattr(view, field.name)) for field in dataclasses.fields(view)}
    printer(console, dataclasses.replace(view, **fields))


def print_heading(console: Console, question: str | Text, heading: Iterable) -> None:
    console.print(_visible(question), style="bold")
    # `INK` is for white pages; a terminal has a text colour of its own.
    pieces = (Text(_visible(text), "bold" if c == INK else f"bold {c}") for text, c in heading)
    console.print(Text("  ").join(pieces))


def print_annotation(console: Console, annotation: Any) -> None:
    """Prints an `Annotation`, one sentence per line, with `Mary#1` for chains of two or more."""
    chains = chain_ids(annotation.chain_ids())
    pieces = [
        (f"{token}#{chain}", chain_colour(chain)) if chain else (token, "")
        for token, chain in zip(_visible([*annotation.tokens]), chains, strict=True)
    ]
    for start, end in pairwise([*annotation.sentences, len(annotation)]):
        console.print(_line(pieces[start:end]))


def _visible(value: Any) -> Any:
    """Escapes the control characters in a text, or in all texts of a list or dictionary."""
    if isinstance(value, str):
        return value.translate(CONTROLS)
    if isinstance(value, Mapping):
        return {_visible(key): each for key, each in value.items()}
    return [*map(_visible, value)] if isinstance(value, list | tuple) else value


def _print_table(console: Console, view: TableView) -> None:
    print_heading(console, view.question, view.heading)
    names = view.columns
    text_width = min(max(map(cell_len, view.rows)), max(20, console.width // 2))
    room = console.width - text_width - len(str(len(view.rows))) - 3
    width = max([4, *map(cell_len, names)])
    numbered = len(names) > MANY or (width + 1) * len(names) > room
    if numbered:
        width = max(4, len(str(len(names))))
    columns = highest_columns(view, max(1, room // (width + 1)))
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True, overflow="ellipsis", width=text_width)
    for n in columns:
        name = str(n + 1) if numbered else names[n]
        table.add_column(name, no_wrap=True, justify="right", width=width)
    for number, (text, row) in enumerate(zip(view.rows, view.values, strict=True), 1):
        cells = (_percent(console, value, width) for value in row[columns])
        table.add_row(_row_label(number, view.supporting_facts), Text(text), *cells)
    console.print(table)
    if len(columns) < len(names):
        console.print(f"The highest {len(columns)} of {len(names)} columns.", style=PALE)
    if numbered:
        shown = [names[n] for n in columns]
        plain = all(name.endswith(f" {n + 1}") for name, n in zip(shown, columns, strict=True))
        console.print(f"{shown[0]} … {shown[-1]}" if plain else "; ".join(shown), style=PALE)


def _print_tokens(console: Console, view: TokenView) -> None:
    mentions = np.bincount(np.concatenate([view.chains, view.question_chains]).astype(int))

    def piece(text: str, weight: float, chain: int) -> tuple[str, str]:
        if mentions[chain] > 1 and chain:
            text += f"#{chain}"
        if weight >= 0.01:
            text += f"[{weight:.0%}]"
        if weight >= VISIBLE:
            return text, _shade(console, weight, ORANGES)
        return text, chain_colour(chain) if chain else ""

    question = zip(view.question, view.question_chains, strict=True)
    line = _line(piece(word, 0.0, chain) for word, chain in question)
    print_heading(console, line, view.heading)
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    values = iter(zip(view.attention, view.chains, strict=True))
    for number, words in enumerate(view.sentences, 1):
        line = _line(piece(word, *next(values)) for word in words)
        table.add_row(_row_label(number, view.supporting_facts), line)
    console.print(table)
    words = [word for sentence in (*view.sentences, view.question) for word in sentence]
    for edge_type, colour in edge_colours(view).items():
        pairs = [edge[:2] for edge in view.edges if edge[2] == edge_type]
        joined = [" → ".join(words[end - 1] for end in pair) for pair in pairs[:EDGES]]
        more = [f"{len(pairs) - EDGES} more"] if len(pairs) > EDGES else []
        console.print(Text.assemble((edge_type, colour), "  ", ", ".join([*joined, *more])))
    if view.edge_shares:
        shares = (f"{name} {share:.0%}" for name, share in view.edge_shares.items())
        console.print(f"Attention to edges: {', '.join(shares)}")


def _print_heads(console: Console, view: HeadView) -> None:
    for name, attention, targets in view.heads:
        aimed = targets.any(axis=-1)
        mass = float(np.sum(attention * targets) / max(1, aimed.sum()))
        note = f"{mass:.0%} of its attention on targets" if aimed.any() else "no targets here"
        console.print(Text.assemble((name, "bold"), f"  {note}"))
        highest = np.max(attention, axis=-1) * (aimed if aimed.any() else 1)
        order = np.argsort(-highest, kind="stable")[:HEAD_ROWS]
        table = Table.grid(padding=(0, 1, 0, 0))
        for token in sorted(n for n in order if highest[n] >= VISIBLE):
            best = int(np.argmax(attention[token]))
            weight = Text(f"{attention[token, best]:.0%}", _shade(console, highest[token], BLUES))
            right = Text("✓", GOOD) if targets[token, best] else Text(" ")
            table.add_row(f"  {view.words[token]}", "→", view.words[best], weight, right)
        console.print(table)


def _shade(console: Console, value: float, ends: tuple) -> str:
    """Returns the style of a value from 0 to 1; without enough colours, bold from 0.5 on."""
    if console.color_system not in ("256", "truecolor"):
        return "bold" if value >= 0.5 else ""
    # NaN, as after a training that diverged, is drawn as 0.
    value = min(max(0.0, float(value)), 1.0)
    colour = [round(low + value * (high - low)) for low, high in zip(*ends, strict=True)]
    ink = "white" if np.dot(colour, (0.299, 0.587, 0.114)) < 140 else "black"
    return f"{ink} on rgb({','.join(map(str, colour))})"


def _percent(console: Console, value: float, width: int) -> Text:
    style = _shade(console, value, BLUES)
    return Text(f"{value:.0%}".rjust(width), style) if value >= VISIBLE else Text()


def _row_label(number: int, supporting_facts: Sequence[int]) -> Text:
    fact = number in supporting_facts
    return Text(f"{'▸' if fact else ' '}{number}", style=GOOD if fact else PALE, justify="right")


def _line(pieces: Iterable[tuple[str, str]]) -> Text:
    return Text(" ").join(Text(*piece) for piece in pieces)
