import dataclasses

import pytest

from keras_corefmem.datasets.example import count_kinds
from keras_corefmem.datasets.passages.lambada_kinds import from_record
from tests.support.conformance.graphs import spaced_annotation

PASSAGE = "Tom saw Ann . he ran ; the dog ran to Tom . Ann barked"
TEXT = f"{PASSAGE} and so did the"
TAGS = "NNP VBD NNP . PRP VBD : DT NN VBD IN NNP . NNP VBD CC RB VBD DT".split()
# Tom is he, and the dog is it; Ann is nobody else.
CHAINS = [
    [(0, 1, 0), (4, 5, 4), (11, 12, 11)],
    [(2, 3, 2), (13, 14, 13)],
    [(7, 9, 8), (18, 19, 18)],
]


def make(answer, text=TEXT, **changes):
    annotation = spaced_annotation(text, **{"tags": TAGS, "chains": CHAINS, **changes})
    return from_record(annotation, {"question_start": len(PASSAGE) + 1, "answer": answer})


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        ("tom", ("answerable", "name", "pronoun", "person")),
        ("ann", ("answerable", "name")),
        ("dog", ("answerable", "noun")),
        ("ran", ("answerable", "verb")),
        ("to", ("answerable", "other")),
        ("bob", ()),
        # It is in the question alone.
        ("did", ()),
    ],
)
def test_kinds(answer, kinds):
    assert make(answer).kinds == kinds


@pytest.mark.parametrize(("tag", "kinds"), [("NNP", ("pronoun", "person")), ("NN", ())])
def test_a_name_is_in_the_chain_of_its_mention(tag, kinds):
    text = "Tom Hart ran . he did so did"
    tags = [tag, "NNP", "VBD", ".", "PRP", "VBD", "RB", "VBD"]
    annotation = spaced_annotation(text, tags=tags, chains=[[(0, 2, 0), (4, 5, 4)]])
    fields = {"question_start": text.index("so"), "answer": "Hart"}
    example = from_record(annotation, fields)
    assert example.kinds == ("answerable", "name", *kinds)
    # The head of the name alone.
    assert example.chain_ids == (1, 0, 0, 0, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("answer", "label", "kinds"),
    [
        ("tom", "PERSON", ("name", "pronoun", "named_entity", "named_person")),
        ("tom", "PER", ("name", "pronoun", "named_entity", "named_person")),
        # A pronoun makes no person of what is recognized as something else, or not at all.
        ("tom", "ORG", ("name", "pronoun", "named_entity")),
        ("tom", "", ("name", "pronoun")),
        ("dog", "PERSON", ("noun",)),
    ],
)
def test_kinds_where_named_entities_are_recognized(answer, label, kinds):
    named = [label if token == "Tom" else "" for token in TEXT.split(" ")]
    assert make(answer, named_entities=named).kinds == ("answerable", *kinds)
    assert make("bob", named_entities=named).kinds == ()


def test_kinds_without_tags():
    assert make("tom", tags=()).kinds == ("answerable", "pronoun")
    assert make("tom", tags=(), chains=()).kinds == ("answerable",)


def test_a_thing_with_a_pronoun_is_no_person():
    assert make("Tom", TEXT.replace(" he ", " it ")).kinds == ("answerable", "name", "pronoun")


def test_baselines_take_names():
    example = make("tom")
    assert example.name_words == ("tom", "ann", "tom", "ann")
    assert example.guesses == {"most frequent name": "ann", "last name": "ann"}
    names = ("ann", "tom", "tom", "ann", "bob", "tom", "ann", "bob")
    example = dataclasses.replace(example, name_words=names)
    assert example.guesses == {"most frequent name": "ann", "last name": "bob"}
    assert make("tom", tags=()).guesses == {}


def test_counts_of_kinds():
    examples = [make(answer) for answer in ("tom", "ann", "dog", "bob")]
    assert count_kinds(examples, [1, 3]) == {
        "answerable": [2, 3],
        "name": [1, 2],
        "pronoun": [1, 1],
        "person": [1, 1],
        "noun": [1, 1],
    }
