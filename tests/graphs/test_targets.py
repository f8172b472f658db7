import dataclasses

import pytest

from keras_corefmem.graphs import Annotation, Structure, attention_pairs
from tests.support.conformance.graphs import spaced_annotation

TEXT = "Mary saw Bob and he saw her and she left"
HEADS = (1, 1, 1, 5, 5, 1, 5, 9, 9, 1)
MARY = [(0, 1, 0), (6, 7, 6), (8, 9, 8)]
BOB = [(2, 3, 2), (4, 5, 4)]


@pytest.fixture
def annotation():
    return spaced_annotation(TEXT, governors=HEADS, labels=["dep"] * len(HEADS), chains=[MARY, BOB])


def test_dependency(annotation):
    pairs = attention_pairs(annotation, "dependency").tolist()
    # The root has none.
    assert pairs == [[n + 1, head + 1] for n, head in enumerate(HEADS) if head != n]
    assert len(pairs) == 9


def test_coreference(annotation):
    mary, bob = (1, 7, 9), (3, 5)
    every = [[a, b] for chain in (mary, bob) for a in chain for b in chain if a != b]
    assert attention_pairs(annotation, "coref_all").tolist() == sorted(every)
    assert attention_pairs(annotation, "coref_previous").tolist() == [[5, 3], [7, 1], [9, 7]]
    assert attention_pairs(annotation, "coref_next").tolist() == [[1, 7], [3, 5], [7, 9]]


def test_mentions_with_one_head_are_one():
    nested = Annotation("big Bob", ("big", "Bob"), (0, 4), chains=[[(0, 2, 1), (1, 2, 1)]])
    for signal in ("coref_all", "coref_previous", "coref_next", "dependency"):
        pairs = attention_pairs(nested, signal)
        assert pairs.shape == (0, 2) and pairs.dtype == "int32"


def test_refuses_other_signals(annotation):
    with pytest.raises(ValueError, match="no signal 'coref'; choose one of dependency"):
        attention_pairs(annotation, "coref")


def test_structure_of_the_first_tokens_alone(annotation):
    # Token 2 depends on what is not there, and Bob's second mention is not there.
    heads = (1, 1, 5, *HEADS[3:])
    structure = Structure.of(dataclasses.replace(annotation, governors=heads)).before(3)
    assert attention_pairs(structure, "dependency").tolist() == [[1, 2]]
    assert structure.chains == [[0], [2]]
    assert not len(attention_pairs(structure, "coref_all"))
    whole = attention_pairs(Structure.of(annotation), "coref_next")
    assert whole.tolist() == [[1, 7], [3, 5], [7, 9]]


def test_structure_without_tokens_between(annotation):
    whole = Structure.of(dataclasses.replace(annotation, typed_edges=[(1, 9, "a"), (1, 4, "a")]))
    left = whole.without(2, 7)
    # "Mary saw and she left", of which "she" still depends on "left".
    assert attention_pairs(left, "dependency").tolist() == [[1, 2], [3, 5], [4, 5], [5, 2]]
    assert left.chains == [[0, 3]] and {n: e.tolist() for n, e in left.edges.items()} == {
        "a": [[0, 3]]
    }
    assert whole.without(3, 3).chains == whole.chains


# The example of the paper's figure: word, its head and label as spaCy has them, tag, chain.
STORY = """if 3 mark IN
I 3 nsubj PRP
'd 3 aux VBD
seen 7 ccomp VBN
you 3 dobj PRP 2
, 7 punct ,
Tony 7 nsubj NNP 1
lied 7 ROOT VBD
. 7 punct .
He 10 nsubj PRP 1
wanted 10 ROOT VBD
Jon 13 nsubj NNP 2
to 13 aux TO
leave 10 ccomp VB
so 17 mark IN
he 17 nsubj PRP 1
could 17 aux MD
talk 10 advcl VB"""


@pytest.fixture
def story():
    rows = [(*line.split(), "")[:5] for line in STORY.splitlines()]
    tokens, heads, labels, tags, numbers = zip(*rows, strict=True)
    chains = [[(n, n + 1, n) for n, own in enumerate(numbers) if own == chain] for chain in "12"]
    parse = {"governors": map(int, heads), "labels": labels, "tags": tags, "chains": chains}
    return spaced_annotation(" ".join(tokens), **parse)


def words(annotation, signal):
    tokens = annotation.tokens
    return {(tokens[a - 1], tokens[b - 1]) for a, b in attention_pairs(annotation, signal).tolist()}


def test_narrative(story):
    tony = {(a, p) for a in ("Tony", "He", "he") for p in ("lied", "wanted", "talk")}
    jon = {(a, p) for a in ("you", "Jon") for p in ("seen", "leave")}
    expected = {*tony, *jon, ("I", "seen")}
    assert words(story, "narrative_arguments") == expected
    assert words(story, "narrative") == expected | {(p, a) for a, p in expected}


def test_roles(story):
    expected = {("seen", "I"), ("seen", "you"), ("lied", "Tony"), ("wanted", "He")}
    expected |= {("leave", "Jon"), ("talk", "he")}
    assert words(story, "roles") == expected | {(a, p) for p, a in expected}


def test_roles_of_a_labeller_come_first(story):
    labelled = dataclasses.replace(
        story, typed_edges=[(11, 14, "ARG1"), (8, 7, "arg0"), (1, 2, "x")]
    )
    expected = {("wanted", "leave"), ("lied", "Tony")}
    assert words(labelled, "roles") == expected | {(a, p) for p, a in expected}
