import pytest

from keras_corefmem.graphs import Annotation, attention_pairs

TEXT = "Mary saw Bob and he saw her and she left"
TOKENS = TEXT.split()
HEADS = (1, 1, 1, 5, 5, 1, 5, 9, 9, 1)
MARY = [(0, 1, 0), (6, 7, 6), (8, 9, 8)]
BOB = [(2, 3, 2), (4, 5, 4)]


@pytest.fixture
def annotation():
    starts = [sum(len(t) + 1 for t in TOKENS[:n]) for n in range(len(TOKENS))]
    labels = ["dep"] * len(TOKENS)
    return Annotation(TEXT, TOKENS, starts, heads=HEADS, labels=labels, chains=[MARY, BOB])


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
