"""Views on a page of HTML."""

import re

import numpy as np
import pytest

from keras_corefmem.visualization import HeadView, TableView, TokenView, views_to_html


def test_chains_are_coloured_and_antecedents_and_edges_are_arcs():
    sentences, chains = [["mary", "<b>"], ["mary", "left"]], np.array([1, 0, 1, 0])
    attention = np.array([0.25, 0, 0.75, 0])
    view = TokenView(
        sentences, attention, chains, ["mary", "?"], np.array([1, 0]), edges=[(2, 4, "near")]
    )
    page = views_to_html([view], "A & B")
    assert re.findall(r'data-type="(\w+)"', page) == ["coreference", "coreference", "near"]
    assert len(set(re.findall(r'data-chain="1".*?fill="(#\w+)"', page))) == 1
    assert "75% of the attention" in page and "&lt;b&gt;" in page and "<b>" not in page
    assert "<title>A &amp; B</title>" in page


def test_tables_mark_supporting_facts_and_heads_show_targets():
    rows = ["Mary left.", "John slept."]
    table = TableView(
        rows, np.array([[0.9], [0.1]]), ["pass 1"], "Who left?", [("Mary", "#18794e")], [1]
    )
    head = HeadView(["mary", "left"], [("coref_all", np.eye(2), np.eye(2) > 0)])
    page = views_to_html([table, head], "Attention")
    assert "▸1 Mary left." in page and ">90%<" in page and ">2 John slept." in page
    assert "<h2>coref_all</h2>" in page and page.count(">100%<") == 2


def test_tokens_are_as_wide_as_their_characters():
    # Letters, wide ones, and letters with marks, which take no room of their own.
    words = ["abc", "\u732b\u732b\u732b", "e\u0301\u0302ab", "\u05e9\u05dc\u05d5"]
    view = TokenView([words], np.zeros(4), np.zeros(4, int), ["?"], np.zeros(1, int))
    drawn = re.findall(
        r'<text x="([\d.]+)" y="54" textLength="([\d.]+)"', views_to_html([view], "")
    )
    places = [(float(x), float(width)) for x, width in drawn]
    assert [width for _, width in places] == [25.5, 51, 25.5, 25.5]
    assert [x for x, _ in places] == [34, 68, 127.5, 161.5]


def test_what_is_no_view_is_refused():
    with pytest.raises(KeyError):
        views_to_html(["Mary"], "Attention")
