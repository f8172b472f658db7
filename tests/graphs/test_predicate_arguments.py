import pytest

from keras_corefmem.graphs import Annotation
from keras_corefmem.graphs.predicate_arguments import predicate_arguments
from tests.support.conformance.graphs import spaced_annotation


def annotation(text, heads, labels, tags):
    return spaced_annotation(text, governors=heads, labels=labels.split(), tags=tags.split())


@pytest.mark.parametrize(
    ("labels", "tags"),
    [
        ("nsubj ROOT dobj prep pobj", "NNP VBD NN IN NNP"),
        ("nsubj ROOT dobj dative pobj", "PROPN VERB NOUN ADP PROPN"),
        ("nsubj ROOT dobj dative pobj", "NNP VBD NN TO NNP"),
        ("nsubj:pass root obj case obl:agent", "PROPN VERB NOUN ADP PROPN"),
    ],
)
def test_labels_of_spacy_and_universal_ones(labels, tags):
    # spaCy's prepositions stand between a verb and its argument.
    heads = (1, 1, 1, 1, 3) if "pobj" in labels else (1, 1, 1, 4, 1)
    found = predicate_arguments(annotation("Mary gave milk to John", heads, labels, tags))
    assert found == [(1, 0), (1, 2), (1, 4)]


def test_arguments_of_spacy_without_and_with_several_prepositions():
    labels, tags = "nsubj ROOT dative dobj", "NNP VBD NNP NN"
    parsed = annotation("Mary gave John milk", (1, 1, 1, 1), labels, tags)
    assert predicate_arguments(parsed) == [(1, 0), (1, 2), (1, 3)]
    labels, tags = "nsubj ROOT prep prep pobj", "NNP VBD IN IN NNS"
    parsed = annotation("Mary ran out of rooms", (1, 1, 1, 2, 3), labels, tags)
    assert predicate_arguments(parsed) == [(1, 0), (1, 4)]


@pytest.mark.parametrize(
    ("text", "labels", "shared"),
    [
        ("they wanted Jon to leave", "nsubj root obj mark xcomp", 2),
        ("they hoped all along leave", "nsubj root det advmod xcomp", 0),
    ],
)
def test_shared_arguments(text, labels, shared):
    tags = "PRON VERB PROPN PART VERB"
    found = predicate_arguments(annotation(text, (1, 1, 1, 4, 1), labels, tags))
    assert (4, shared) in found and (1, 0) in found


def test_only_verbs_are_predicates():
    parsed = annotation("she is late", (2, 2, 2), "nsubj cop root", "PRON AUX ADJ")
    assert predicate_arguments(parsed) == []
    assert predicate_arguments(Annotation("she", ("she",), (0,))) == []
