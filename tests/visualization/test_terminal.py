"""Views, headings and annotations as text."""

import dataclasses
import io

import numpy as np
import pytest
from rich.console import Console

from keras_corefmem.graphs import Annotation
from keras_corefmem.visualization import (
    HeadView,
    TableView,
    TokenView,
    draw,
    make_console,
    print_view,
)
from keras_corefmem.visualization.terminal import print_annotation
from tests.support.pictures import ATTENTION, TARGETS, WORDS

QUESTION = "Where is [Mary]?"
HEADING = [("✗ kitchen 61%", "#c62a2f"), ("right: garden", "#1f2430")]
SENTENCES = ["Mary went to the garden.", "[bold]John[/bold] left :smile:.", "Zoë moved to 東京."]


def printed(view, width=None, colours=None, function=print_view):
    """The lines that a view is printed as."""
    file = io.StringIO()
    console = make_console(file)
    if width:
        options = {"force_terminal": colours is not None, "color_system": colours}
        options |= dict.fromkeys(("highlight", "markup", "emoji"), False)
        console = Console(file=file, width=width, **options)
    function(console, view)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def table_view(count, rows=3):
    values = np.random.default_rng(count).uniform(0.01, 0.9, (rows, count))
    names = [f"slot {n} word{n}" for n in range(1, count + 1)]
    return TableView((SENTENCES * rows)[:rows], values, names, QUESTION, HEADING, [1])


def token_view():
    return TokenView(
        [["mary", "left", "[red]"], ["zoë", "met", "mary", "."]],
        np.array([0.004, 0, 0.5, 0.2, 0, 0.2875, 0.0085]),
        np.array([1, 0, 0, 2, 0, 1, 0]),
        ["where", "is", "mary"],
        np.array([0, 0, 1]),
        HEADING,
        (2,),
    )


def test_edges_are_listed_by_type():
    edges = [
        (1, 4, "near"),
        *((n, 5, "saw") for n in (1, 2, 3, 4, 6, 7, 8, 9, 10) for _ in range(2)),
    ]
    view = dataclasses.replace(
        token_view(), edges=edges, edge_shares={"sequence": 0.75, "near": 0.25}
    )
    near, saw, shares = printed(view)[-3:]
    assert near == "near  mary → zoë"
    assert saw.startswith("saw  mary → met, mary → met, left → met") and saw.endswith(", 6 more")
    assert shares == "Attention to edges: sequence 75%, near 25%"


def percents(view, shown):
    return [[f"{value:.0%}" for value in row[shown]] for row in view.values]


def test_columns_as_plain_text():
    view = table_view(3)
    lines = printed(view)
    assert lines[:2] == [QUESTION, "✗ kitchen 61%  right: garden"]
    assert lines[2].endswith("slot 3 word3")
    assert [line.split()[-3:] for line in lines[3:]] == percents(view, slice(None))
    for number, (line, sentence) in enumerate(zip(lines[3:], SENTENCES, strict=True), 1):
        assert line.strip().startswith(f"{'▸' if number == 1 else ''}{number} {sentence}")
    assert "\x1b" not in "".join(lines)


def test_many_columns_have_numbers_and_names_below():
    view = table_view(20)
    lines = printed(view)
    assert lines[2].split() == [str(n) for n in range(1, 21)]
    assert [line.split()[-20:] for line in lines[3:6]] == percents(view, slice(None))
    assert lines[6] == "; ".join(f"slot {n} word{n}" for n in range(1, 21))
    plain = dataclasses.replace(view, columns=[f"slot {n}" for n in range(1, 21)])
    assert printed(plain)[6] == "slot 1 … slot 20"


@pytest.mark.parametrize("width", [60, 90])
def test_a_narrow_terminal_shows_the_highest_columns(width):
    view = table_view(20, rows=40)
    lines = printed(view, width)
    assert max(map(len, lines)) <= width
    shown = [int(word) - 1 for word in lines[2].split()]
    assert 2 < len(shown) < 20 and shown == sorted(shown)
    highest = view.values.max(axis=0)
    assert min(highest[shown]) >= max(np.delete(highest, shown))
    assert [line.split()[-len(shown) :] for line in lines[3:43]] == percents(view, shown)
    assert lines[43] == f"The highest {len(shown)} of 20 columns."


@pytest.mark.parametrize("dtype", [int, bool])
def test_values_may_be_zeros_and_ones(dtype):
    values = np.eye(2, dtype=dtype)
    view = TableView(["a", "b"], values, ["p", "q"], "Who?", right="p")
    assert [line.split() for line in printed(view)[3:]] == [["1", "a", "100%"], ["2", "b", "100%"]]
    assert draw(view)[1:4] == b"PNG"


def test_cells_and_tokens_are_shaded_in_a_terminal():
    view = table_view(2)
    view.values[0] = (0.0, 1.0)
    text = "\n".join(printed(view, 100, "truecolor"))
    assert "\x1b[37;48;2;8;48;107m" in text and text.count("48;2;") == 5
    text = "\n".join(printed(token_view(), 100, "truecolor"))
    assert text.count("48;2;") == 4 and "[red][50%]" in text


def test_few_colours_shade_nothing():
    view = table_view(2)
    view.values[:] = [[0.9, 0.1], [0.2, 0.3], [0.4, 0.1]]
    text = "\n".join(printed(view, 100, "standard"))
    assert "48;2" not in text and "\x1b[4" not in text
    assert "\x1b[1m" in text.split("garden.")[-1].split("10%")[0]
    assert "\x1b[1m" not in text.split("left :smile:.")[1]


def test_passages_have_attention_and_chains_in_brackets():
    lines = printed(token_view())
    assert lines == [
        "where is mary#1",
        "✗ kitchen 61%  right: garden",
        " 1 mary#1 left [red][50%]",
        "▸2 zoë[20%] met mary#1[29%] .",
    ]


def test_a_long_sentence_wraps_beside_its_number():
    view = token_view()
    view = dataclasses.replace(view, sentences=[sum(view.sentences, [])])
    lines = printed(view, 30)[2:]
    assert lines == [" 1 mary#1 left [red][50%]", "   zoë[20%] met mary#1[29%] ."]


def test_annotations_are_a_sentence_a_line():
    text = "Mary left [red]. She met Zoë, and Zoë slept."
    tokens = ["Mary", "left", "[red]", ".", "She", "met", "Zoë", ",", "and", "Zoë", "slept", "."]
    starts = [0, 5, 10, 15, 17, 21, 25, 28, 30, 34, 38, 43]
    chains = [[(0, 1, 0), (4, 5, 4)], [(6, 7, 6), (9, 10, 9)], [(2, 3, 2)]]
    annotation = Annotation(text, tokens, starts, (0, 4), chains=chains)
    assert printed(annotation, function=print_annotation) == [
        "Mary#1 left [red] .",
        "She#1 met Zoë#2 , and Zoë#2 slept .",
    ]
    coloured = printed(annotation, 80, "truecolor", print_annotation)
    assert "\x1b[" in coloured[0] and len(coloured) == 2


def test_control_characters_do_not_reach_the_terminal():
    bad = "x\x1b]0;title\x07\x9b2J"
    tokens = TokenView(
        *([[bad, "left"]], np.array([0.5, 0]), np.array([1, 0]), [bad], np.array([1])),
        *([(bad, "#18794e")], (), [(1, 2, bad)], {bad: 0.5}),
    )
    table = TableView([bad], np.array([[0.5]]), [bad], bad, [(bad, "#18794e")])
    heads = HeadView([bad, "b"], [(bad, np.eye(2), np.eye(2) > 0)])
    annotation = Annotation(bad, [bad], [0], (0,))
    for view, function, count in (
        *((tokens, print_view, 6), (table, print_view, 4), (heads, print_view, 3)),
        (annotation, print_annotation, 1),
    ):
        text = "\n".join(printed(view, function=function))
        assert text.count("x\\x1b]0;title\\x9b2J") == count
        assert text.replace("\n", "").isprintable()


def test_what_is_no_number_is_not_shaded():
    view = TableView(["Mary left."], np.array([[np.nan, 0.5]]), ["pass 1", "pass 2"], "Who?")
    assert printed(view, 100, "truecolor")[-1].count("48;2;") == 1


def test_rows_with_targets_are_printed():
    lines = printed(HeadView(WORDS, [("coref_all", ATTENTION, TARGETS)]))
    # (0.9 + 0.7 + 0.25) / 3
    assert lines[0].strip() == "coref_all  62% of its attention on targets"
    rows = [line.split() for line in lines[1:]]
    assert ["mary", "→", "$she$", "90%", "✓"] in rows and ["$she$", "→", "mary", "70%", "✓"] in rows
    assert len(rows) == 3 and rows[1][:2] == ["left", "→"] and "✓" not in rows[1]


def test_without_targets_the_highest_rows_are_printed():
    lines = printed(HeadView(WORDS, [("roles", ATTENTION, np.zeros_like(TARGETS))] * 2))
    assert lines[0].strip() == "roles  no targets here"
    assert lines[4].split() == ["slept", "→", "mary", "100%"] and len(lines) == 10
    (only,) = printed(HeadView(WORDS, [("roles", ATTENTION, ~TARGETS)]))[1:2]
    assert only.split()[0] == "mary"
