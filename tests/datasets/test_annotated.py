import dataclasses

import pytest

from keras_corefmem.datasets.annotated import AnnotatedExample, annotate_examples, to_text
from keras_corefmem.datasets.example import CandidateExample, Example
from keras_corefmem.graphs import Annotation, annotate
from keras_corefmem.text import get_tokenizer

TEXT = "Mary slept . She woke . And then"
TOKENS = TEXT.split()
STARTS = [0, 5, 11, 13, 17, 22, 24, 28]
CHAINS = [[(0, 1, 0), (3, 4, 3)]]
FIELDS = {
    "sentences": ("mary slept .",),
    "question": "and then",
    "answer": "mary",
    "chain_ids": (1, 0, 0, 0, 0),
}


@pytest.fixture
def annotation():
    return Annotation(TEXT, TOKENS, STARTS, sentences=(0, 3, 6), chains=CHAINS)


def test_from_annotation(annotation):
    example = AnnotatedExample.from_annotation(annotation, 6, "Mary", source="novel:7")
    assert example.sentences == ("Mary slept .", "She woke .")
    assert (example.question, example.answer, example.source) == ("And then", "Mary", "novel:7")
    assert example.chain_ids == (1, 0, 0, 1, 0, 0, 0, 0) and example.candidates == ()
    # A question may begin inside a sentence.
    example = AnnotatedExample.from_annotation(annotation, 4, "Mary")
    assert example.sentences == ("Mary slept .", "She")
    assert example.question == "woke . And then"


@pytest.mark.parametrize("start", [0, 8, -1])
def test_refuses_an_empty_passage_or_question(annotation, start):
    with pytest.raises(ValueError, match=f"novel:7: the question starts at token {start} of 8"):
        AnnotatedExample.from_annotation(annotation, start, "Mary", source="novel:7")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chain_ids": (1, 0)}, "f:1: 2 chain ids for 5 tokens"),
        ({"chain_ids": 5}, "f:1: `chain_ids` must be a tuple of integers, got 5"),
        ({"chain_ids": (0, -2)}, "f:1: `chain_ids` number chains from 1, 0 is none; got -2"),
        (
            {"chain_ids": (1, 0.5, 0, 0, 0)},
            "`chain_ids` must be a tuple of int",
        ),
        ({"named_entities": 5}, "f:1: `named_entities` must be strings, got 5"),
        ({"candidates": ("john",)}, "f:1: the answer 'mary' is none of the 1 candidates"),
        ({"question": " "}, "f:1: the question is empty"),
    ],
)
def test_refuses_what_does_not_fit(change, message):
    AnnotatedExample(**FIELDS)
    with pytest.raises(ValueError, match=message):
        AnnotatedExample(**{**FIELDS, **change}, source="f:1")


def test_records_bring_questions_back(annotation):
    asked = (("Mary slept .", "She woke ."), "And then", "Mary")
    text, fields = to_text(Example(*asked, source="f:1"))
    assert text == TEXT and fields == {"question_start": 24, "answer": "Mary", "source": "f:1"}
    example = AnnotatedExample.from_record(annotation, fields)
    assert example == AnnotatedExample.from_annotation(annotation, 6, "Mary")
    assert example.source == "f:1"
    _, fields = to_text(CandidateExample(*asked, candidates=["Mary"]))
    assert AnnotatedExample.from_record(annotation, fields).candidates == ("Mary",)
    _, fields = to_text(Example(*asked, edges=[(1, 7, "near")]))
    assert AnnotatedExample.from_record(annotation, fields).edges == ((1, 7, "near"),)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"answer": "Mary"}, "A record has no field question_start"),
        ({"question_start": 24, "source": "f:1"}, "f:1 has no field answer"),
        ({"question_start": 25, "answer": "Mary"}, "no token starts at character 25"),
    ],
)
def test_refuses_records_of_no_question(annotation, fields, message):
    with pytest.raises(ValueError, match=message):
        AnnotatedExample.from_record(annotation, fields)


def test_questions_are_annotated_by_name():
    story = Example(("Then Mary saw Rome.", "So Mary left."), "Where is Rome?", "Rome", (1,), "a:1")
    cased = get_tokenizer("prose").cased
    (example,) = annotate_examples([story], tokenizer=cased)
    assert example.sentences == ("Then Mary saw Rome .", "So Mary left .")
    assert example.question == "Where is Rome ?" and example.source == "a:1"
    assert example.chain_ids == (0, 1, 0, 2, 0, 0, 1, 0, 0, 0, 0, 2, 0)
    assert (example.annotator, example.truecaser) == ("exact", "")

    def nobody(texts):
        return annotate([text.lower() for text in texts], tokenized=True)

    (example,) = annotate_examples([story], nobody, tokenizer=cased)
    assert not any(example.chain_ids) and example.annotator == ""
    with pytest.raises(ValueError, match="The question of a:1 has no tokens"):
        annotate_examples([story], tokenizer=lambda text: text.split() * ("Rome?" not in text))


def test_only_examples_are_annotated():
    with pytest.raises(ValueError, match=r"no Example, convert it by as_examples: \('Mary left"):
        annotate_examples([("Mary left.", "Who left?", "Mary")])


def test_readers_cut_what_was_annotated_by_default():
    sentences = "Then Mr. Hall didn't see Rome (the city).", "So Hall left."
    story = Example(sentences, "Where isn't Hall?", "Rome", source="a:1")
    (example,) = annotate_examples([story])
    assert example.passage.startswith("Then Mr. Hall did n't see Rome -LRB- the city -RRB- .")
    for name in ("words", "penn_lower", "prose"):
        tokenizer = get_tokenizer(name)
        own = example.recut(tokenizer.cased)
        words = [*own.passage.split(), *own.question.split()]
        assert [text.lower() for text in words] == [
            token for text in (story.passage, story.question) for token in tokenizer(text)
        ]
        linked = {word for word, chain in zip(words, own.chain_ids, strict=True) if chain}
        assert linked == {"Hall"} and own.structure.chains[0] == [
            n for n, word in enumerate(words) if word == "Hall"
        ]
    # Tokens that are asked for stay, and so do those that are annotated again.
    (same,) = annotate_examples([story], tokenizer=str.split)
    assert "(the" in same.passage and same.recut(get_tokenizer("words").cased) is same
    (again,) = annotate_examples([same])
    assert again == same and not again.written
    assert annotate_examples([example])[0].written == example.written
    linked = dataclasses.replace(story, edges=[(1, 3, "near")])
    with pytest.raises(ValueError, match="a:1 has edges, whose tokens depend on the tokenizer"):
        annotate_examples([linked])
    assert annotate_examples([linked], tokenizer=str.split)[0].edges == linked.edges
    cut = Example(["Hall saw Rome ."], "And Hall", "Rome", edges=[(1, 3, "near")])
    assert annotate_examples([cut])[0].edges == cut.edges


@pytest.mark.parametrize("name", ["words", "spaces", "prose", "penn"])
def test_records_of_raw_text_are_cut_by_each_reader(name):
    passage, question = "\u201cRome?\u201d Mary didn't  say. She left.", "Who left Rome?"
    text, fields = to_text(Example((passage,), question, "Mary"))
    (annotation,) = annotate([text], "exact")
    example, cut = AnnotatedExample.from_record(annotation, fields), get_tokenizer(name).cased
    recut = example.recut(cut)
    assert [recut.passage.split(), recut.question.split()] == [cut(passage), cut(question)]
    (linked,) = (n for n, token in enumerate(cut(passage)) if "Rome" in token)
    assert [n for n, chain in enumerate(recut.chain_ids) if chain][0] == linked
