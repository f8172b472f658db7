import dataclasses

import numpy as np
import pytest

from keras_corefmem.datasets import AnnotatedExample, Example
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.preprocessing import (
    CandidatePreprocessor,
    LengthenStories,
    ReaderPreprocessor,
    StoryPreprocessor,
    augmentations,
)
from keras_corefmem.text import get_tokenizer

STORIES = simulator.simulate(1, 60)
PASSAGES = [example.sentences for example in STORIES]
TOKENIZE = get_tokenizer("words")


def random(seed=0):
    return np.random.default_rng(seed)


def test_answers_among_the_words_of_a_passage_stay_known():
    places = "attic barn cave den fort gym hut inn".split()
    stories = [
        Example([f"{name} saw the {place}."], "What?", place)
        for name, place in zip("Ann Bob Cid Dan Eve Fay Gus Hal".split(), places, strict=True)
    ]
    preprocessor = CandidatePreprocessor.fit(stories, tokenizer="words")
    encoded, names = preprocessor.encode_all(stories), preprocessor.feature_names
    options = {"shuffle": True, "augment": "longer", "examples": stories}
    batches = preprocessor.batches(encoded, names, **options)
    assert all(row.answer for row in batches.encoded)


def test_other_stories_come_first_and_facts_and_edges_move():
    sentences = "Mary met Bob.", "He left."
    example = Example(sentences, "Who left?", "Bob", (1, 2), edges=[(3, 5, "is"), (9, 3, "asks")])
    lengths = set()
    for seed in range(40):
        longer = LengthenStories(PASSAGES, 3, share=1.0)(example, random(seed))
        count = len(longer.sentences) - 2
        lengths.add(count)
        assert longer.sentences[count:] == sentences and longer.answer == "Bob"
        assert longer.supporting_facts == (1 + count, 2 + count)
        told, other = (TOKENIZE(f"{e.passage} {e.question}") for e in (example, longer))
        pairs = zip(example.edges, longer.edges, strict=True)
        for (first, second, kind), (source, target, other_kind) in pairs:
            assert kind == other_kind
            assert [told[first - 1], told[second - 1]] == [other[source - 1], other[target - 1]]
    assert lengths == {1, 2, 3, 4}
    exact = LengthenStories(PASSAGES, 4, share=1.0, exact=True)(example, random())
    assert len(exact.sentences) == 8


def test_a_share_is_lengthened_and_annotated_examples_are_not():
    lengthen = LengthenStories(PASSAGES, share=0.25)
    changed = [lengthen(e, random(n)) is not e for n, e in enumerate(STORIES)]
    assert 0.1 < np.mean(changed) < 0.45
    example = AnnotatedExample(("he left .",), "who left ?", "he", chain_ids=(1, 0, 0, 0, 1, 0))
    assert LengthenStories(PASSAGES, share=1.0)(example, random()) is example


@pytest.mark.parametrize("cls", [ReaderPreprocessor, StoryPreprocessor])
@pytest.mark.parametrize("table", ["longer+rename", {"*": "longer+rename"}])
def test_batches_of_longer_stories_have_their_lengths_in_every_epoch(cls, table):
    examples = [dataclasses.replace(example, kinds=("1",)) for example in STORIES]
    options = {"entity_words": ("mary", "john")} if cls is ReaderPreprocessor else {}
    preprocessor = cls.fit(examples, **options)
    encoded = list(map(preprocessor.encode, examples))
    name = "passage" if cls is ReaderPreprocessor else "sentences"
    kwargs = {"shuffle": True, "seed": 3, "examples": examples, "buckets": [80]}
    batches, again = (
        preprocessor.batches(encoded, [name], augment=table, **kwargs) for _ in range(2)
    )
    before, after = (list(map(preprocessor.length, rows)) for rows in (encoded, batches.encoded))
    assert sum(after) > 1.5 * sum(before) and min(np.subtract(after, before)) == 0
    assert len(batches.augment) == 2
    for epoch in (0, 1):
        batches.start_epoch(epoch)
        again.start_epoch(epoch)
        for n in range(len(batches)):
            rows = batches[n][0][name]
            np.testing.assert_array_equal(rows, again[n][0][name])
            read = np.count_nonzero(rows.reshape(len(rows), rows.shape[1], -1).any(-1), axis=1)
            assert read[: len(batches.batches[n][0])].tolist() == [
                after[i] for i in batches.batches[n][0]
            ]


def test_stories_are_lengthened_by_those_of_the_examples():
    preprocessor = StoryPreprocessor.fit(STORIES)
    (lengthen,) = augmentations("longer", STORIES, preprocessor)
    assert lengthen.stories == PASSAGES and lengthen.once
    with pytest.raises(ValueError, match="There is no other story"):
        LengthenStories([])
    with pytest.raises(ValueError, match="There is no other story"):
        LengthenStories([()])
    with pytest.raises(ValueError, match="tuple of sentences, got the string 'It fell.'"):
        LengthenStories(["It fell."])
    with pytest.raises(ValueError, match="times must be an integer of at least 2, got 1"):
        LengthenStories(PASSAGES, 1)
