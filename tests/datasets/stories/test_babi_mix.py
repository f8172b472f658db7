import collections
import re

import pytest

from keras_corefmem.datasets import Example, group_by_story
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.datasets.stories.babi_mix import mix_stories
from keras_corefmem.datasets.stories.world import OBJECTS, PLACES, PRONOUNS

ENTITIES = {*OBJECTS, *PLACES, *(name.lower() for name in PRONOUNS)}


def plain(text):
    """Takes the suffix off again."""
    return re.sub(r"(\w)2\b", r"\1", text)


def suffixed(text):
    """Puts the suffix on every entity of simulated stories, in words of its own."""
    return re.sub("|".join(rf"\b{entity}\b" for entity in ENTITIES), r"\g<0>2", text, flags=re.I)


def worlds(example):
    """The two stories, taken apart by their suffix."""
    renamed = [bool(re.search(r"[a-z]2\b", sentence)) for sentence in example.sentences]
    return [
        tuple(s for s, other in zip(example.sentences, renamed, strict=True) if other == wanted)
        for wanted in (False, True)
    ]


@pytest.mark.parametrize("task", [1, 2, 3, 5, 8])
def test_filtering_gives_the_stories_back_in_order(task):
    examples = simulator.simulate(task, 60)
    passages = {example.sentences for example in examples}
    mixed = mix_stories(examples, ENTITIES)
    assert len(mixed) == len(examples)
    for own, example in zip(examples, mixed, strict=True):
        first, second = worlds(example)
        second = tuple(map(plain, second))
        assert own.sentences in (first, second)
        assert first != second and {first, second} <= passages


@pytest.mark.parametrize("task", [1, 2, 3, 5, 7, 8])
def test_mixed_questions_have_the_answer_of_their_world(task):
    examples = simulator.simulate(task, 60)
    known = {
        (e.sentences, e.question, e.answer, tuple(e.sentences[n - 1] for n in e.supporting_facts))
        for e in examples
    }
    for example in mix_stories(examples, ENTITIES):
        renamed = "2" in example.question
        story = worlds(example)[renamed]
        facts = [example.sentences[fact - 1] for fact in example.supporting_facts]
        assert set(facts) <= set(story)
        if renamed:
            story = tuple(map(plain, story))
            assert suffixed(plain(example.question)) == example.question
            assert suffixed(plain(example.answer)) == example.answer
        told = tuple(map(plain, facts))
        assert (story, plain(example.question), plain(example.answer), told) in known


def test_sentences_are_interleaved_at_random():
    stories_of_four = [e for e in simulator.simulate(1, 500) if len(e.sentences) == 4]
    orders = collections.Counter(
        "".join("01"["2" in sentence] for sentence in example.sentences)
        for example in mix_stories(stories_of_four * 10, ENTITIES)
    )
    assert len(orders) == 70 and max(orders.values()) < 40


def test_every_story_meets_every_role():
    examples = simulator.simulate(1, 400)
    roles = collections.Counter()
    for own, example in zip(examples, mix_stories(examples, ENTITIES), strict=True):
        own_renamed = own.sentences != worlds(example)[0]
        about_own = plain(example.question) == own.question and example.answer == own.answer
        roles[own_renamed, "2" in example.question] += 1
        roles[about_own] += 1
    assert min(roles.values()) > 40


def test_forms_keep_their_case_and_lists_are_renamed_item_by_item():
    examples = [
        Example(("Wolves fear MARY's apple.",), "What do wolves fear?", "apple,Mary", (1,), "a:2"),
        Example(("Nobody came.",), "Who came?", "nobody", (1,), "a:4"),
    ]
    seen = {
        example
        for seed in range(20)
        for example in mix_stories(examples, {"wolves", "apple"}, seed)
    }
    words = {(example.question, example.answer) for example in seen}
    assert words == {
        ("What do wolves fear?", "apple,Mary"),
        ("What do wolves2 fear?", "apple2,Mary"),
        ("Who came?", "nobody"),
    }
    sentences = {sentence for example in seen for sentence in example.sentences}
    assert sentences == {"Wolves fear MARY's apple.", "Wolves2 fear MARY's apple2.", "Nobody came."}
    assert {example.source for example in seen} <= {"a:2 + a:4", "a:4 + a:2"}


def test_the_other_story_is_another_story():
    examples = simulator.simulate(1, 10)
    assert mix_stories(examples, ENTITIES, 5) == mix_stories(examples, ENTITIES, 5)
    assert mix_stories(examples, ENTITIES, 5) != mix_stories(examples, ENTITIES, 6)
    first = {example.sentences for example in group_by_story(examples)[0]}
    for example in mix_stories(examples, ENTITIES):
        told = [tuple(map(plain, story)) in first for story in worlds(example)]
        assert sorted(told) == [False, True]


@pytest.mark.parametrize("entities", [{"."}, {"Mary"}, {"two words"}, ENTITIES])
def test_new_names_have_to_be_words_and_new(entities):
    examples = simulator.simulate(1, 30)
    if entities is ENTITIES:
        examples = mix_stories(examples, ENTITIES)
    with pytest.raises(ValueError, match="cannot be renamed"):
        mix_stories(examples, entities)
    with pytest.raises(ValueError, match="fewer than two stories"):
        mix_stories(examples[:1], entities)
