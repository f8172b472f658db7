"""What a reader attends to and answers, for the terminal: the pictures of `pictures` in text."""

from itertools import pairwise

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from keras_corefmem.graphs.chains import chain_ids
from keras_corefmem.visualization.pictures import CHAINS, GOOD, INK, PALE, WIDE, highest_columns

# Where there is no terminal, lines are as long as they need to be.
PLAIN_WIDTH = 2000
# Least and greatest shade of a cell and of a token.
BLUES = (0xDE, 0xEB, 0xF7), (0x08, 0x30, 0x6B)
ORANGES = (0xFE, 0xE6, 0xCE), (0xE6, 0x55, 0x0D)
VISIBLE = 0.005


def make_console(file=None):
    """A console as wide as the terminal; where there is none, for plain text of any width."""
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


def shade(console, value, ends):
    """The style of a value from 0 to 1 between two colours; with few or none, bold from 0.5 on."""
    if console.color_system not in ("256", "truecolor"):
        return "bold" if value >= 0.5 else ""
    value = min(max(float(value), 0.0), 1.0)
    colour = [round(low + value * (high - low)) for low, high in zip(*ends, strict=True)]
    ink = "white" if np.dot(colour, (0.299, 0.587, 0.114)) < 140 else "black"
    return f"{ink} on rgb({','.join(map(str, colour))})"


def print_head(console, question, heading):
    """Prints a question and what is said about its answer."""
    console.print(question, style="bold")
    # Ink is for paper: a terminal has its own.
    styles = [("bold" if colour == INK else f"bold {colour}") for _, colour in heading]
    pieces = [Text(text, style) for (text, _), style in zip(heading, styles, strict=True)]
    console.print(Text("  ").join(pieces))


def row_label(number, supporting_facts):
    """The number of a sentence, marked where it is a supporting fact."""
    fact = number in supporting_facts
    return Text(f"{'▸' if fact else ' '}{number}", style=GOOD if fact else PALE, justify="right")


def print_columns(console, sentences, values, columns, question, heading, supporting_facts=()):
    """Prints what sentences bring, one row each, in percent.

    Where columns are many or a terminal is too narrow for their names, their numbers stand in the
    table and the names below; where it is too narrow for all columns, the highest are shown.

    Args:
        console: what `make_console` returns.
        sentences: list of strings.
        values: `(sentences, columns)`, from 0 to 1.
        columns: list of names.
        question: string.
        heading: list of `(text, colour)`, what is said about the answer.
        supporting_facts: 1-based numbers of sentences to mark.
    """
    print_head(console, question, heading)
    text_width = min(max(map(cell_len, sentences)), max(20, console.width // 2))
    room = console.width - text_width - len(str(len(sentences))) - 3
    width = max([4, *map(cell_len, columns)])
    numbered = len(columns) > WIDE or (width + 1) * len(columns) > room
    if numbered:
        width = max(4, len(str(len(columns))))
    shown = highest_columns(values, columns, max(1, room // (width + 1)))
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True, overflow="ellipsis", width=text_width)
    for n in shown:
        name = str(n + 1) if numbered else columns[n]
        table.add_column(name, no_wrap=True, justify="right", width=width)
    for number, (sentence, row) in enumerate(zip(sentences, values, strict=True), 1):
        cells = (
            Text(f"{row[n]:.0%}".rjust(width), style=shade(console, row[n], BLUES))
            if row[n] >= VISIBLE
            else Text()
            for n in shown
        )
        table.add_row(row_label(number, supporting_facts), Text(sentence), *cells)
    console.print(table)
    if len(shown) < len(columns):
        console.print(f"The highest {len(shown)} of {len(columns)} columns.", style=PALE)
    if numbered:
        names = [columns[n] for n in shown]
        plain = all(name.endswith(f" {n + 1}") for name, n in zip(names, shown, strict=True))
        console.print(f"{names[0]} … {names[-1]}" if plain else "; ".join(names), style=PALE)


def print_attention(
    console,
    sentences,
    attention,
    chains,
    question,
    question_chains,
    heading,
    supporting_facts=(),
):
    """Prints a passage with every token shaded by its attention and coloured by its chain.

    Behind the token stands an attention of at least 1%, `kitchen[83%]`, and the number of a chain
    that is mentioned twice, `mary#1`.

    Args:
        console: what `make_console` returns.
        sentences: list of lists of tokens.
        attention: `(T,)`, the weight of each of their tokens, from 0 to 1.
        chains: `(T,)`, the coreference chain of each of their tokens, 0 = none.
        question: list of tokens.
        question_chains: the chain of each token of the question.
        heading: list of `(text, colour)`, what is said about the answer.
        supporting_facts: 1-based numbers of sentences to mark.
    """
    mentions = np.bincount(np.concatenate([chains, question_chains]).astype(int))

    def token(text, weight, chain):
        if mentions[chain] > 1 and chain:
            text += f"#{chain}"
        if weight >= 0.01:
            text += f"[{weight:.0%}]"
        if weight >= VISIBLE:
            return text, shade(console, weight, ORANGES)
        return text, CHAINS[(chain - 1) % len(CHAINS)] if chain else ""

    def line(tokens):
        pieces = [token(*values) for values in tokens]
        return Text(" ").join(Text(*piece) for piece in pieces)

    asked = line((word, 0.0, chain) for word, chain in zip(question, question_chains, strict=True))
    print_head(console, asked, heading)
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    values = iter(zip(attention, chains, strict=True))
    for number, words in enumerate(sentences, 1):
        tokens = [(word, *next(values)) for word in words]
        table.add_row(row_label(number, supporting_facts), line(tokens))
    console.print(table)


def print_heads(console, words, heads, rows=12):
    """Prints where supervised heads look: of each the tokens that attend most to one other.

    Args:
        console: what `make_console` returns.
        words: list of T tokens.
        heads: list of `(name, attention, targets)`, as for `draw_heads`; where there are targets,
            tokens without any are left out, and ✓ marks a token that looks at one.
        rows: number of tokens to show.
    """
    for name, attention, targets in heads:
        aimed = targets.any(axis=-1)
        mass = float(np.sum(attention * targets) / max(1, aimed.sum()))
        said = f"{mass:.0%} of its attention on targets" if aimed.any() else "no targets here"
        console.print(Text.assemble((name, "bold"), f"  {said}"))
        highest = np.max(attention, axis=-1) * (aimed if aimed.any() else 1)
        order = np.argsort(-highest, kind="stable")[:rows]
        table = Table.grid(padding=(0, 1, 0, 0))
        for token in sorted(n for n in order if highest[n] >= VISIBLE):
            looked = int(np.argmax(attention[token]))
            weight = Text(f"{attention[token, looked]:.0%}", shade(console, highest[token], BLUES))
            right = Text("✓", GOOD) if targets[token, looked] else Text(" ")
            table.add_row(f"  {words[token]}", "→", words[looked], weight, right)
        console.print(table)


def print_annotation(console, annotation):
    """Prints an `Annotation`, a sentence a line.

    Behind the head of a mention stands the number of its chain, `Mary#1`, where that is mentioned
    twice.

    Args:
        console: what `make_console` returns.
        annotation: an `Annotation`.
    """
    chains = chain_ids(annotation.chain_ids())
    pieces = [
        (f"{token}#{chain}", CHAINS[(chain - 1) % len(CHAINS)]) if chain else (token, "")
        for token, chain in zip(annotation.tokens, chains, strict=True)
    ]
    for start, end in pairwise([*annotation.sentences, len(annotation)]):
        console.print(Text(" ").join(Text(*piece) for piece in pieces[start:end]))
