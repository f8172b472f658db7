"""Structure that is moved to the tokens of another tokenizer."""

import numpy as np
import pytest

from keras_corefmem.graphs import Structure, edges_of
from keras_corefmem.graphs.recutting import Recutting
from keras_corefmem.text import get_tokenizer

TEXT = "\u201cAnn\u2019s well-known (old) dog,\u201d she said\u2014once."
TOKENS = "\u201c Ann \u2019s well - known ( old ) dog , \u201d she said \u2014 once .".split()
NEW = "`` Ann 's well-known -LRB- old -RRB- dog , '' she said -- once .".split()
# "well" and "-" depend on "known", which depends on "dog".
GOVERNORS = [1, 9, 1, 5, 5, 9, 9, 9, 9, 13, 9, 9, 13, 13, 13, 13, 13]


def structure_of(governors=(), mentions=(), arguments=(), **edges):
    pairs = [np.reshape(each, (-1, 2)).astype("int32") for each in (mentions, arguments)]
    edges = {name: np.array(each, "int32") for name, each in edges.items()}
    return Structure(np.array(governors, "int32"), *pairs, edges)


def test_structure_moves_to_the_tokens_of_prose():
    assert get_tokenizer("prose").cased(TEXT) == NEW
    moved = Recutting([TOKENS], [NEW], GOVERNORS)
    old = structure_of(
        GOVERNORS,
        [(0, 1), (0, 12), (1, 6), (1, 9), (2, 3), (2, 5)],
        [(13, 12), (5, 4)],
        near=[(3, 9), (3, 5)],
        far=[(16, 1)],
    )
    found = moved.structure(old)
    assert [NEW[n] for n in found.governors] == (
        "Ann dog Ann dog dog dog dog said dog dog said said said said said".split()
    )
    heads = [[NEW[head] for head in chain] for chain in found.chains]
    assert heads == [["Ann", "she"], ["-LRB-", "dog"], ["well-known"]]
    assert [[NEW[n] for n in pair] for pair in found.arguments] == [["said", "she"]]
    pairs = {n: [[NEW[t - 1] for t in p] for p in edges_of(found, n)] for n in ("near", "far")}
    assert pairs == {"near": [["well-known", "dog"]], "far": [[".", "Ann"]]}
    assert moved.labels([f"{token}!" for token in TOKENS])[3:6] == ("known!", "(!", "old!")
    assert moved.labels(()) == moved.chains(()) == ()
    chains = moved.chains([0, 1, 2, 3, 0, 4, *[0] * 6, 1, *[0] * 4])
    assert dict(zip(NEW, chains, strict=True)) == {
        **dict.fromkeys(NEW, 0),
        **{"Ann": 1, "'s": 2, "well-known": 4, "she": 1},
    }
    assert moved.edges([(4, 10, "a"), (4, 6, "b"), (17, 2, "c")]) == ((4, 8, "a"), (15, 2, "c"))


def test_a_token_may_become_several():
    moved = Recutting(
        [["Ann", "cannot", "go"]], [["Ann", "can", "not", "--", "go", "!"]], [2, 2, 2]
    )
    found = moved.structure(structure_of([2, 2, 2], [(0, 0), (1, 1)]))
    assert found.governors.tolist() == [4, 4, 1, 2, 4, 4]
    assert found.mentions.tolist() == [[0, 0], [1, 1]]
    assert moved.labels("abc") == ("a", "b", "b", "", "c", "")
    assert not len(moved.structure(structure_of()).governors)


def test_texts_are_matched_apart():
    # The marks at the end of a passage are none of its question.
    old, new = [["Ann", "!"], ["!", "Who"]], [["Ann"], ["!", "Who", "?"]]
    moved = Recutting(old, new, [0, 0])
    assert moved.places == [[0], [], [1], [2]] and moved.stands == [0, 2, 3, None]
    assert moved.structure(structure_of([0, 0])).governors.tolist() == [0]
    moved = Recutting(old, new, [0, 0, 3, 3])
    assert moved.structure(structure_of([0, 0, 3, 3])).governors.tolist() == [0, 2, 2, 2]


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        # The underscore is left out, not the quotation mark.
        (", _ \u201c Hi \u201d _", ", `` Hi ''", {0: 0, 2: 1, 3: 2, 4: 3}),
        ("\u201c \u2018 Hi \u2019 \u201d", "`` ` Hi ' ''", {n: n for n in range(5)}),
        ("Hi . . . \u201d", "Hi ... ''", {0: 0, 1: 1, 2: 1, 3: 1, 4: 2}),
        ("Hi \u2014 ( x", "Hi -- -LRB- x", {n: n for n in range(4)}),
        # The full stop of an initial is part of it.
        ("J . \u201d Hi", "J. '' Hi", {0: 0, 2: 1, 3: 2}),
        ("\" ' Hi", '" ` Hi', {n: n for n in range(3)}),
    ],
)
def test_marks_are_matched_by_what_they_are(old, new, pairs):
    moved = Recutting([old.split()], [new.split()])
    assert {n: place[0] for n, place in enumerate(moved.places) if place} == pairs


def test_governors_have_no_circle_where_tokens_merge():
    # "a" depends on "b", and "b" on "c", which is one token with "a" now.
    moved = Recutting([["a", "c", "b"]], [["ac", "b"]], [2, 1, 1])
    assert moved.structure(structure_of([2, 1, 1])).governors.tolist() == [0, 0]


def test_tokens_of_another_text_are_refused():
    with pytest.raises(ValueError, match=r"\['Bob'\] are no tokens of \['Ann'\]"):
        Recutting([["Ann"]], [["Bob"]])
