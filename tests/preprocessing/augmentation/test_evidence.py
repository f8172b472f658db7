import itertools

import numpy as np
import pytest

from keras_corefmem.datasets import AnnotatedExample, CandidateExample, Example
from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.preprocessing import (
    LengthenStories,
    RemoveEvidence,
    RenameEntities,
    fit_preprocessor,
)
from keras_corefmem.preprocessing.encoding.answers import NO_ANSWER

REMOVE = RemoveEvidence(["fred", "bill", "cake", "milk"])
GIFTS = "Fred got the cake.", "Fred gave the cake to Bill.", "Fred gave Bill the milk."
GIFTS += "Bill left.", "Ann slept."


@pytest.mark.parametrize(
    "question, facts, left",
    [
        ("Who has the cake?", (2,), [2, 3, 4]),
        ("Did Bill leave?", (4,), [0, 4]),
        ("Who gave the milk?", (3,), [0, 1, 3, 4]),
    ],
)
def test_sentences_with_all_that_is_asked_about_are_taken_out(question, facts, left):
    removed = REMOVE(Example(GIFTS, question, "Bill", facts))
    assert removed.sentences == tuple(GIFTS[n] for n in left)
    assert removed.question == question and removed.answer == NO_ANSWER == "unknown"
    assert removed.supporting_facts == ()


@pytest.mark.parametrize(
    "example",
    [
        Example(GIFTS, "Who has the cake?", "Bill"),
        Example(GIFTS, "Who was it?", "Bill", (2,)),
        Example(GIFTS[:2], "Who gave the cake?", "Fred", (2,)),
        Example(GIFTS, "Who has the cake?", "Bill", (2,), edges=[(1, 5, "is")]),
        CandidateExample(
            GIFTS, "Who has the cake?", "Bill", (2,), candidates=("Bill", "Fred", "Ann")
        ),
        AnnotatedExample(("he left .",), "who left ?", "he", (1,), chain_ids=(1, 0, 0, 0, 1, 0)),
    ],
    ids=["no facts", "nothing in common", "nothing left", "edges", "candidates", "annotated"],
)
def test_an_example_stays_where_nothing_can_be_taken_out(example):
    assert REMOVE(example) is example


@pytest.mark.parametrize("task", [1, 6, 11, 13])
def test_nothing_is_told_of_who_is_asked_about(task, babi_dir):
    stories = babi.load(babi_dir, task).train
    remove = RemoveEvidence.fit(stories)
    removed = [new for old in stories[:300] if (new := remove(old)) is not old]
    assert len(removed) > 150
    for example in removed:
        person = example.question.split()[1 if task == 6 else 2].strip("?")
        assert person not in example.passage
        for before, sentence in itertools.pairwise(("", *example.sentences)):
            assert before or not {"she", "he", "they"} & {*sentence.split()}


def test_entities_are_learned_and_no_longer_story_tells_the_answer():
    stories = simulator.simulate(2, 60)
    remove = RemoveEvidence.fit(stories)
    removed = [new for old in stories if (new := remove(old)) is not old]
    assert len(removed) > 40
    for example in removed:
        thing = example.question.removeprefix("Where is the ").removesuffix("?")
        assert thing not in example.passage
    lengthen = LengthenStories([example.sentences for example in stories], share=1.0)
    assert lengthen(removed[0], np.random.default_rng(0)) is removed[0]
    assert lengthen(stories[0], np.random.default_rng(0)) is not stories[0]


def test_where_something_is_that_a_person_has_is_half_told(babi_dir):
    for task, kept in (
        (1, False),
        (2, True),
        (3, True),
        (5, False),
        (6, False),
        (11, False),
        (13, False),
    ):
        stories = babi.load(babi_dir, task).train[:300]
        half = RemoveEvidence.fit(stories, half=True)
        removed = [(old, new) for old in stories if (new := half(old)) is not old]
        assert bool(removed) == kept
        for old, new in removed:
            # "Where is the milk?", and "Where was the milk before the kitchen?"
            asked = {old.question.split()[n].strip("?") for n in (3, -1)}
            told = [text for text in old.sentences if asked & {*text.strip(".").split()}]
            assert told and set(told) <= set(new.sentences) and new.answer == NO_ANSWER
            persons = {text.split()[0] for text in told}
            assert not persons & {text.split()[0] for text in set(new.sentences) - set(told)}


MILK = "Mary took the milk.", "She then ran to the den.", "Mary went to the hall.", "Ann sat."


@pytest.mark.parametrize(
    "story, facts, left",
    [
        (MILK, (1, 3), [0, 3]),
        # It says nothing of Mary, or by a pronoun alone, or where the milk is.
        (MILK, (1,), None),
        (MILK, (1, 2), None),
        ((*MILK, "Mary put the milk in the hall."), (1, 3), None),
    ],
)
def test_half_of_the_evidence_is_left_where_it_does_not_answer(story, facts, left):
    half = RemoveEvidence(["mary", "ann", "milk", "den", "hall"], half=True)
    example = Example(story, "Where is the milk?", "hall", facts)
    removed = half(example)
    assert removed.sentences == (story if left is None else tuple(story[n] for n in left))
    assert removed.answer == ("hall" if left is None else NO_ANSWER)


def test_letters_are_not_taken_for_entities():
    with pytest.raises(ValueError, match=r"entities is one string, pass a list .*\['mary'\]"):
        RemoveEvidence("mary")
    with pytest.raises(ValueError, match="A class is a list of entities, got the string 'Mary'"):
        RenameEntities(["Mary", "John"])


def test_readers_point_at_answers_and_know_one_class_for_none():
    stories = simulator.simulate(1, 60)
    removed = list(map(RemoveEvidence.fit(stories), stories))
    assert fit_preprocessor(stories)[1] == "pointer_sum"
    preprocessor, head = fit_preprocessor([*stories, *removed])
    assert head == "pointer_or_class" and NO_ANSWER in preprocessor.answers
