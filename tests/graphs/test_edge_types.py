import dataclasses

import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.graphs import Structure, edges_of, lexical_edges
from tests.support.conformance.graphs import spaced_annotation

# Mary asked Bob , she left
TEXT = "Mary asked Bob , she left"
MARY = [(0, 1, 0), (4, 5, 4)]


@pytest.fixture
def annotation():
    return spaced_annotation(
        TEXT,
        governors=(1, 1, 1, 1, 5, 1),
        labels=("nsubj", "root", "obj", "punct", "nsubj", "conj"),
        tags=("PROPN", "VERB", "PROPN", "PUNCT", "PRON", "VERB"),
        chains=[MARY],
        typed_edges=[(3, 1, "married_to"), (1, 3, "near"), (1, 3, "near")],
    )


@pytest.mark.parametrize(
    ("edge_type", "expected"),
    [
        ("dependency", [[2, 1], [2, 3], [2, 4], [2, 6], [6, 5]]),
        ("role", [[2, 1], [2, 3], [6, 5]]),
        # Mary left, and she asked.
        ("narrative", [[2, 5], [6, 1]]),
        ("married_to", [[3, 1]]),
        ("near", [[1, 3]]),
        ("hypernym", []),
    ],
)
def test_edges_of_a_structure(annotation, edge_type, expected):
    edges = edges_of(Structure.of(annotation), edge_type)
    assert edges.tolist() == expected and edges.shape == (len(expected), 2)


def test_roles_of_an_annotator_come_first(annotation):
    annotated = dataclasses.replace(annotation, typed_edges=[(2, 3, "ARG1")])
    assert edges_of(Structure.of(annotated), "role").tolist() == [[2, 3]]
    assert edges_of(Structure.of(annotated), "ARG1").tolist() == [[2, 3]]


def test_edges_before_a_token(annotation):
    structure = Structure.of(annotation).before(4)
    assert edges_of(structure, "dependency").tolist() == [[2, 1], [2, 3], [2, 4]]
    assert edges_of(structure, "narrative").tolist() == []
    assert edges_of(structure.before(2), "near").tolist() == []


def test_one_structure_behind_another(annotation):
    structure = Structure.of(annotation)
    both = structure.followed_by(structure, len(annotation))
    for kind in ("dependency", "role", "narrative", "married_to", "near"):
        edges = edges_of(structure, kind)
        assert edges_of(both, kind).tolist() == [*edges.tolist(), *(edges + 6).tolist()]
    assert both.chains == [[0, 4], [6, 10]]


def test_words_are_related_to_the_nearest_on_both_sides():
    words = "robin bird robin robin bird".split()
    found = lexical_edges(words, {("robin", "bird"): "hypernym"})
    assert found == ((1, 2, "hypernym"), (3, 2, "hypernym"), (4, 5, "hypernym"))

    def relation(first, second):
        return ["same_start", "alike"] if first[0] == second[0] else None

    both = lexical_edges(["bird", "bat"], relation)
    assert sorted({(a, b) for a, b, _ in both}) == [(1, 2), (2, 1)] and len(both) == 4
    assert lexical_edges(["bird"], relation) == ()
    with pytest.raises(ValueError, match="`tokens` is one string, pass a list of tokens: 'a robin"):
        lexical_edges("a robin", relation)
    with pytest.raises(ValueError, match="must have pairs of words as keys, got 'robin'"):
        lexical_edges(words, {"robin": "bird"})


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(1, 1, "x")], r"a:3: edge 1, \(1, 1, 'x'\), is a loop"),
        ([(1, 2, "x"), (0, 2, "x")], r"a:3: edge 2, \(0, 2, 'x'\), leaves the text: .*from 1"),
        ([(1, 2)], r"a:3: edge 1 must be \(source, target, type\), .* got \(1, 2\)"),
        ([(1, 2.5, "x")], r"edge 1 must be .* got \(1, 2.5, 'x'\)"),
        ([(1, float("inf"), "x")], r"edge 1 must be .* got \(1, inf, 'x'\)"),
        ([(1, 2, 3)], r"edge 1 must be .* got \(1, 2, 3\)"),
        ([[1, "b", "x"]], "edge 1 must be"),
        ("ab", "edges must be a list of"),
        (3, "edges must be a list of"),
    ],
)
def test_bad_edges_of_an_example_are_refused(edges, message):
    with pytest.raises(ValueError, match=message):
        Example(("Mary left.",), "Who?", "Mary", source="a:3", edges=edges)


def test_edges_of_an_example_are_tuples():
    example = Example(("Mary left.",), "Who?", "Mary", edges=[[1, 2.0, "x"]])
    assert example.edges == ((1, 2, "x"),) and hash(example)
