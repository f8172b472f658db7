import dataclasses
import itertools

import numpy as np
import pytest

from keras_corefmem.datasets import CandidateExample, Example, annotate_examples
from keras_corefmem.datasets.passages.candidates import find_mentions
from keras_corefmem.preprocessing import (
    LengthenStories,
    RenameEntities,
    ShuffleSentences,
    StoryPreprocessor,
    UnseenEntities,
)
from keras_corefmem.text import get_tokenizer


def random(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("name", "count"), [("prose", 2), ("penn_lower", 6)])
def test_edges_stay_at_their_words_where_tokens_depend_on_what_follows(name, count):
    # With prose, the full stop of "B." is a token of its own only at the end of a text.
    sentences = (
        "It was Zoe\u2019s plan B.",
        "Mary (not Bob) \u2014 saw Ann\u00ad a.",
        "Oh \u201cI\u201d?",
    )
    plain = Example(sentences, "Who left us?", "Mary")
    tokenizer, names = get_tokenizer(name), ["mary", "bob", "ann"]

    def read(example):
        words = tokenizer(f"{example.passage} {example.question}")
        return words, sorted((words[a - 1], words[b - 1], kind) for a, b, kind in example.edges)

    words = read(plain)[0]
    ends = [words.index(word) + 1 for word in (*names, "us")]
    edges = [(a, b, "x") for a, b in itertools.permutations(ends, 2)]
    story, orders = dataclasses.replace(plain, edges=edges), set()
    lengthen = LengthenStories([("A plan C.",)], share=1.0, tokenizer=name)
    rename = RenameEntities([[word.capitalize() for word in names]], name)
    for seed in range(20):
        moved, longer, renamed = (
            f(story, random(seed)) for f in (ShuffleSentences(name), lengthen, rename)
        )
        orders.add(moved.sentences)
        assert read(moved)[1] == read(longer)[1] == read(story)[1] == read(renamed)[1]
        assert longer.sentences != story.sentences
        changed = set(zip(words, read(renamed)[0], strict=True))
        assert {old for old, new in changed if old != new} <= set(names)
    assert len(orders) == count


def test_a_comma_of_a_candidate_stays_part_of_it():
    # A soft hyphen hides the words of the second from the passage.
    options = {"candidates": ("Rome, (Italy)", "Rome, U\u00adlm")}
    for answer, name in itertools.product(options["candidates"], ("prose", "words")):
        example = CandidateExample(("Mary is in Rome, (Italy).",), "Where?", answer, **options)
        found = {RenameEntities([["Rome", "Bonn"]], name)(example, random(n)) for n in range(9)}
        assert {renamed.answer[:4] for renamed in found} == {"Rome", "Bonn"}
        assert all(renamed.answer in renamed.candidates for renamed in found)


def test_names_that_stay_are_spelled_as_before():
    example = Example(("MARY met mary and McMary.",), "Who? MARY?", "MARY")
    alone, none = RenameEntities([["Mary"], ["mcmary"]]), [["Mary", "mcmary"]]
    for rename in (alone, UnseenEntities(none, share=0.0)):
        assert rename(example, random()) == example


@pytest.mark.parametrize("name", ["words", "penn_lower", "prose"])
def test_candidates_of_annotated_text_are_renamed_with_it(name):
    text = "Mary is in Rome, Italy, by St. Mary's."
    options = {"candidates": ("Rome, Italy", "St. Mary's", "Mary")}
    plain, cut = CandidateExample((text,), "Where?", "Rome, Italy", **options), get_tokenizer(name)
    (example,) = annotate_examples([plain], tokenizer=cut.cased)

    def mentions(example):
        words = [cut(candidate) for candidate in example.candidates]
        return find_mentions(words, example.tokens(example.passage, cut))

    assert {number for *_, number in mentions(example)} >= {1, 2}
    rename, renamed = RenameEntities([["Mary", "Ann"], ["Rome", "Bonn"]], name), set()
    for seed in range(9):
        other = rename(example, random(seed))
        renamed.add(other.answer)
        assert mentions(other) == mentions(example) and other.answer == other.candidates[0]
    assert renamed == {"Rome, Italy", "Bonn, Italy"}


def test_edges_stay_at_their_words_where_new_names_are_cut_differently():
    # A clitic is cut off behind letters, but not behind digits.
    plain = Example(("Mary's dog saw R2.",), "Who left?", "dog")
    rename = RenameEntities([["Mary", "R2"]], "penn_lower")
    linked = dataclasses.replace(plain, edges=[(3, 5, "near")])
    assert all(rename(linked, random(seed)) == linked for seed in range(9))
    assert len({rename(plain, random(seed)) for seed in range(9)}) == 2


def test_punctuation_is_not_renamed():
    ends = (".", "!", "?")
    examples = [
        Example((f"{one} saw {other}{end}",), f"Who saw {other}?", one)
        for one, other in itertools.permutations(("Mary", "John"), 2)
        for end in ends
    ]
    preprocessor = StoryPreprocessor.fit(examples)
    with pytest.MonkeyPatch.context() as patch:
        learned = "keras_corefmem.preprocessing.augmentation.renaming.learn_entity_words_by_kind"
        patch.setattr(learned, lambda *_: frozenset(("mary", "john", *ends)))
        rename = RenameEntities.fit(examples, preprocessor)
    assert set(rename.place) == {"mary", "john"}
