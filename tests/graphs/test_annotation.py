import dataclasses
import json

import numpy as np
import pytest

from keras_corefmem.graphs import Annotation, Mention, antecedents
from keras_corefmem.graphs.annotation import head_of
from tests.support.conformance.graphs import spaced_annotation

# "Mary told his wife that he slept. She left."
TEXT = "Mary told his wife that he slept. She left."
TOKENS = ("Mary", "told", "his", "wife", "that", "he", "slept", ".", "She", "left", ".")
STARTS = (0, 5, 10, 14, 19, 24, 27, 32, 34, 38, 42)
HEADS = (1, 1, 3, 1, 6, 6, 1, 1, 9, 9, 9)
LABELS = (*"nsubj root nmod obj mark nsubj ccomp punct".split(), "nsubj", "root", "punct")
# The wife and she; he: "his wife" holds "his".
CHAINS = (((2, 4, 3), (8, 9, 8)), ((5, 6, 5), (2, 3, 2)))
SENTENCES = (0, 8)
STRUCTURE = {"sentences": SENTENCES, "governors": HEADS, "labels": LABELS, "chains": CHAINS}


@pytest.fixture
def annotation():
    return Annotation(TEXT, TOKENS, STARTS, **STRUCTURE)


def test_chains_are_sorted_mentions(annotation):
    assert annotation.chains == ((CHAINS[1][1], CHAINS[1][0]), CHAINS[0])
    assert all(isinstance(mention, Mention) for chain in annotation.chains for mention in chain)


def test_sentences(annotation):
    assert annotation.sentence_numbers.tolist() == [0] * 8 + [1] * 3
    assert annotation.sentence_ends.tolist() == [8, 11]
    assert annotation.ends[:3] == (4, 9, 13) and len(annotation) == 11


def test_chains_of_heads(annotation):
    numbers = annotation.chain_ids()
    assert numbers.tolist() == [0, 0, 1, 2, 0, 1, 0, 0, 2, 0, 0]
    assert antecedents(numbers).tolist() == [0, 0, 0, 0, 0, 3, 0, 0, 4, 0, 0]


def test_the_shortest_mention_has_its_tokens():
    text = "the man who lost his cap laughed at him"
    chains = [[(0, 6, 1), (8, 9, 8)], [(4, 6, 5)], [(4, 5, 4)]]
    numbers = spaced_annotation(text, chains=chains).chain_ids("spans")
    assert numbers.tolist() == [1, 1, 1, 1, 2, 3, 0, 0, 1]


def test_heads_of_spans():
    assert head_of((1, 1, 3, 1), 2, 4) == 3
    # Where all tokens depend on each other, the last.
    assert head_of((1, 0), 0, 2) == 1


def test_edges(annotation):
    edges = annotation.edges().edges
    assert {e[:2] for e in edges if e[2] == "coreference"} == {(3, 6), (4, 9)}
    assert {e for e in edges if e[2] == "dependency"} == {
        (head + 1, token + 1, "dependency") for token, head in enumerate(HEADS) if head != token
    }
    assert len(edges) == 2 + 9


def test_edges_by_label_and_relation(annotation):
    related = dataclasses.replace(annotation, typed_edges=[(9, 4, "hypernym"), (1, 4, "spouse")])
    relations = related.edges(mentions=None, dependencies=None)
    assert relations.edges == ((1, 4, "spouse"), (9, 4, "hypernym"))
    assert (2, 1, "nsubj") in related.edges(dependencies="labels").edges
    assert relations.forward_dag().edges == ((1, 4, "spouse"), (4, 9, "hypernym^-1"))


def test_json_round_trip(annotation):
    related = dataclasses.replace(annotation, typed_edges=[(9, 4, "hypernym")])
    content = json.loads(json.dumps(related.to_dict()))
    assert Annotation.from_dict(content) == related
    # Files number tokens from 0.
    assert content["relations"] == [[8, 3, "hypernym"]] and content["heads"] == list(HEADS)


def test_integers_of_numpy_become_those_of_json(annotation):
    numbers = {name: np.array(getattr(annotation, name)) for name in ("starts", *STRUCTURE)[:3]}
    chains = [np.array(chain) for chain in CHAINS]
    same = Annotation(TEXT, TOKENS, **numbers, labels=LABELS, chains=chains)
    related = dataclasses.replace(same, typed_edges=[(np.int64(9), np.int32(4), "hypernym")])
    assert same == annotation
    assert json.loads(json.dumps(related.to_dict()))["relations"] == [[8, 3, "hypernym"]]


def test_structure_is_optional():
    bare = spaced_annotation("a b")
    assert bare.chain_ids().tolist() == [0, 0]
    assert bare.edges().edges == () and bare.chain_ids().dtype == np.int32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokens": (), "starts": ()}, "needs a token"),
        ({"starts": STARTS[1:]}, "11 tokens, but 10 starts"),
        ({"tags": ("NN",)}, "11 tokens, but 1 tags"),
        ({"labels": ()}, "go together"),
        ({"starts": (0, 4, *STARTS[2:])}, "Token 1, 'told', is not at character 4"),
        ({"starts": (0, 5, 5, *STARTS[3:])}, "Token 2, 'his', is not at character 5"),
        ({"sentences": (1, 8)}, "from 0 and below 11"),
        ({"sentences": (0, 8, 8)}, "ascending"),
        ({"sentences": (0, 11)}, "below 11"),
        ({"sentences": ()}, "from 0"),
        ({"governors": (11, *HEADS[1:])}, "from 0 to 10"),
        ({"chains": [[(2, 4, 4)]]}, "its head lies inside"),
        ({"chains": [[(10, 12, 10)]]}, "no mention in 11 tokens"),
        ({"typed_edges": [(1, 1, "loop")]}, "two different tokens"),
        ({"typed_edges": [(1, 12, "far")]}, "count from 1 to 11"),
        ({"typed_edges": [(1, 2.5, "half")]}, "edge 1 must be"),
        ({"starts": (0.0, *STARTS[1:])}, "must be integers: 'float' object"),
        ({"chains": [[(2, 4)]]}, "three numbers of a mention must be integers"),
    ],
)
def test_refuses_what_does_not_fit(annotation, change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(annotation, **change)


def test_refuses_arguments(annotation):
    with pytest.raises(ValueError, match="mentions must be one of heads, spans; got 'words'"):
        annotation.chain_ids("words")
    with pytest.raises(ValueError, match="dependencies must be one, labels or None; got True"):
        annotation.edges(dependencies=True)
    with pytest.raises(ValueError, match="no annotation: .*words"):
        Annotation.from_dict({"text": "a", "words": ["a"]})


def test_old_names_warn():
    with pytest.warns(DeprecationWarning, match="heads is now called governors"):
        old = Annotation("a b", ("a", "b"), (0, 2), heads=(1, 1), labels=("x", "root"))
    assert old == spaced_annotation("a b", governors=(1, 1), labels=("x", "root"))
    with pytest.warns(DeprecationWarning, match="heads is now called governors"):
        assert old.heads == old.governors == (1, 1)
    with pytest.warns(DeprecationWarning, match="entities is now called chain_ids"):
        assert old.entities().tolist() == [0, 0]
    with pytest.warns(DeprecationWarning, match="relations is now called typed_edges"):
        old = dataclasses.replace(old, relations=[(0, 1, "x")])
    assert old.typed_edges == ((1, 2, "x"),)
    with pytest.warns(DeprecationWarning, match="relations is now called typed_edges, and counts"):
        assert old.relations == ((0, 1, "x"),)
