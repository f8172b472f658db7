"""Views as one HTML page that needs no other file, server or script."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from rich.cells import cell_len

from keras_corefmem.graphs.chains import antecedents
from keras_corefmem.visualization.pictures import chain_colour, edge_colours
from keras_corefmem.visualization.views import HeadView, TableView, TokenView

BODY = "body{font:16px/1.5 system-ui,sans-serif;margin:2em auto;max-width:75em}"
STYLE = """.corefmem{margin-bottom:2em;overflow-x:auto;color:#1f2430;background:white}
.corefmem table{border-collapse:collapse}
.corefmem th,.corefmem td{padding:.2em .6em;text-align:left}
.corefmem td:first-child{white-space:nowrap}.corefmem td.value{text-align:right}
.corefmem .fact{color:#18794e}.corefmem .odds{width:24em}.corefmem .odds h2{text-align:center}
.corefmem .odds div{padding:.1em .6em;margin:.2em 0;display:flex;justify-content:space-between}
.corefmem svg text{font:14px ui-monospace,monospace}.corefmem figure{margin:.5em 0}"""
ORANGE, BLUE = "230,85,13", "8,48,107"
# Width of a character and distance of lines in drawn text; arcs bend into the space above a line.
CHARACTER, LINE = 8.5, 54


def views_to_html(
    views: Sequence[TokenView | TableView | HeadView],
    title: str,
    odds: Mapping[str, float] | None = None,
    unknown_words: Iterable[str] = (),
) -> str:
    """Renders views as one page of HTML.

    - `TokenView`: tokens are shaded by attention and coloured by chain; arcs join each mention and
      its antecedent, and the tokens of other edges.
    - `TableView`: a row for each sentence or word, shaded by its values.
    - `HeadView`: the attention of each supervised head beside its targets.

    Args:
        views: the views, from top to bottom.
        title: title of the page.
        odds: answers with their probabilities, best first, to show above the views.
        unknown_words: words that the model does not know, to show above the answers.

    Returns:
        The page, which needs no other file.

    Raises:
        KeyError: if one of them is not a view.

    Example:
        >>> view = keras_corefmem.visualization.TableView(
        ...     ["Mary left.", "John slept."], np.array([[0.9], [0.1]]), ["pass 1"], "Who left?")
        >>> page = keras_corefmem.visualization.views_to_html([view], "Attention")
        >>> "<h2>Who left?</h2>" in page
        True
    """
    note = note_of(unknown_words)
    above = [*([f"<p>{escape(note)}</p>"] if note else []), *([odds_to_html(odds)] if odds else [])]
    sections = "\n".join([*above, *map(view_to_html, views)])
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{BODY}{STYLE}</style></head><body>\n<h1>{escape(title)}</h1>\n"
        f"{sections}\n</body></html>\n"
    )


def note_of(unknown_words: Iterable[str]) -> str:
    """Returns a line about words that a model does not know, empty if there are none."""
    words = dict.fromkeys(unknown_words)
    return f"⚠ Unknown words, which are guessed at: {', '.join(words)}" if words else ""


def view_to_html(view: TokenView | TableView | HeadView) -> str:
    """Renders a view as a section of a page with the style `STYLE`."""
    writers: Any = {TokenView: _tokens, TableView: _table, HeadView: _heads}
    return f'<section class="corefmem">{writers[type(view)](view)}</section>'


def odds_to_html(odds: Mapping[str, float]) -> str:
    """Renders a section with the best answer, and a bar for each answer's probability."""
    bars = (
        f'<div style="background:linear-gradient(to right,rgba({ORANGE},.35) {odd:.1%},#eceef2 0)">'
        f"<span>{escape(answer)}</span><span>{odd:.0%}</span></div>"
        for answer, odd in odds.items()
    )
    best = f"<h2>{escape(next(iter(odds)))}</h2>"
    return f'<section class="corefmem"><div class="odds">{best}{"".join(bars)}</div></section>'


def _heading(question: str, heading: Iterable[tuple[str, str]]) -> str:
    pieces = (f'<b style="color:{colour}">{escape(text)}</b>' for text, colour in heading)
    return f'<h2>{escape(question)}</h2><p class="answer">{" ".join(pieces)}</p>'


def _shade(value: float, colour: str) -> str:
    return f"rgba({colour},{min(max(float(value), 0.0), 1.0) * 0.7:.3f})"


def _tokens(view: TokenView) -> str:
    lines = [*view.sentences, view.question]
    words = [word for line in lines for word in line]
    chains = np.concatenate([view.chains, view.question_chains]).astype(int)
    attention = np.concatenate([view.attention, np.zeros(len(view.question))])
    facts = [number in view.supporting_facts for number in range(1, len(lines) + 1)]
    places, margin = [], CHARACTER * 4
    drawn = []
    for number, (line, fact) in enumerate(zip(lines, facts, strict=True), 1):
        x, y = margin, number * LINE
        mark = f"{'▸' if fact else ''}{number}" if number < len(lines) else "?"
        style = ' class="fact"' * fact
        drawn.append(f'<text x="0" y="{y}"{style}>{mark}</text>')
        for word in line:
            width = CHARACTER * max(cell_len(word), 1)
            places.append((x, y, width))
            x += width + CHARACTER
    for word, place, weight, chain in zip(words, places, attention, chains, strict=True):
        drawn.append(_token(word, place, float(weight), chain))
    links = enumerate(antecedents(chains).tolist(), 1)
    arcs = [(s, t, "coreference", chain_colour(chains[t - 1])) for t, s in links if s]
    colours = edge_colours(view)
    arcs += [(*edge, colours[edge[2]]) for edge in view.edges]
    drawn += [_arc(places[s - 1], places[t - 1], kind, colour) for s, t, kind, colour in arcs]
    right = max((x + width for x, _, width in places), default=0) + CHARACTER
    picture = f'<svg width="{right:.0f}" height="{LINE * len(lines) + 20}">{"".join(drawn)}</svg>'
    shares = ", ".join(f"{escape(name)} {part:.0%}" for name, part in view.edge_shares.items())
    return (
        _heading(" ".join(view.question), view.heading)
        + f"<figure>{picture}</figure>"
        + (f"<p>Attention to edges: {shares}</p>" if shares else "")
    )


def _token(word: str, place: tuple[float, int, float], weight: float, chain: int) -> str:
    x, y, width = place
    title = f"<title>{weight:.0%} of the attention</title>"
    ink = chain_colour(chain) if chain else "#1f2430"
    return (
        f'<g class="token" data-chain="{chain}">{title}'
        f'<rect x="{x}" y="{y - 14}" width="{width}" height="19" fill="{_shade(weight, ORANGE)}"/>'
        f'<text x="{x}" y="{y}" textLength="{width}" fill="{ink}">{escape(word)}</text></g>'
    )


def _arc(source: tuple, target: tuple, kind: str, colour: str) -> str:
    (x, y, width), (to_x, to_y, to_width) = source, target
    x, y, to_x, to_y = x + width / 2, y - 15, to_x + to_width / 2, to_y - 15
    # Between lines an arc bends away from the words, to the left.
    bend_x, bend_y = (x + to_x) / 2 - 40 * (y != to_y), min(y, to_y) - 30 + abs(y - to_y) / 2
    return (
        f'<path class="edge" data-type="{escape(kind)}" fill="none" stroke="{colour}" '
        f'd="M{x:.0f} {y} Q{bend_x:.0f} {bend_y:.0f} {to_x:.0f} {to_y}">'
        f"<title>{escape(kind)}</title></path>"
    )


def _table(view: TableView) -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name in view.columns)
    rows = []
    for number, (text, values) in enumerate(zip(view.rows, view.values, strict=True), 1):
        fact = number in view.supporting_facts
        label = f"<td{' class=fact' * fact}>{'▸' if fact else ''}{number} {escape(text)}</td>"
        rows.append(f"<tr>{label}{''.join(map(_cell, values))}</tr>")
    heading = _heading(view.question, view.heading)
    return f"{heading}<table><tr><th></th>{names}</tr>{''.join(rows)}</table>"


def _cell(value: float) -> str:
    ink = "color:white;" if value >= 0.7 else ""
    return f'<td class="value" style="{ink}background:{_shade(value, BLUE)}">{value:.0%}</td>'


def _heads(view: HeadView) -> str:
    parts = []
    for name, attention, targets in view.heads:
        rows = []
        for token in np.flatnonzero(targets.any(axis=-1)).tolist():
            best = int(np.argmax(attention[token]))
            aims = ", ".join(view.words[n] for n in np.flatnonzero(targets[token]).tolist())
            words = (view.words[token], view.words[best], aims)
            cells = "".join(f"<td>{escape(word)}</td>" for word in words)
            rows.append(f"<tr>{cells}{_cell(attention[token, best])}</tr>")
        names = "<tr><th>token</th><th>attends to</th><th>targets</th><th>attention</th></tr>"
        shown = f"<table>{names}{''.join(rows)}</table>" if rows else "<p>No targets here.</p>"
        parts.append(f"<h2>{escape(name)}</h2>{shown}")
    return "".join(parts)
