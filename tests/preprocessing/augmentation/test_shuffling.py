"""Shuffled sentences and documents, and what moves with them."""

import dataclasses
import itertools

import numpy as np

from keras_corefmem.corpora import annotate_files, read_shards, write_questions
from keras_corefmem.datasets import CandidateExample, Example, Splits, annotate_examples
from keras_corefmem.datasets.passages import wikihop
from keras_corefmem.preprocessing import LengthenStories, ShuffleSentences
from keras_corefmem.text import get_tokenizer
from tests.support.texts.annotated import ANNOTATED

TOKENIZE = get_tokenizer("words")


def random(seed=0):
    return np.random.default_rng(seed)


def test_shuffled_sentences_take_their_facts_and_edges_along():
    story = Example(
        ("He ran.", "It fell down.", "So what."),
        "Who ran?",
        "he",
        (3, 1),
        edges=[(1, 6, "a"), (12, 2, "b")],
    )
    tokens = TOKENIZE(f"{story.passage} {story.question}")
    seen = set()
    for seed in range(9):
        moved = ShuffleSentences()(story, random(seed))
        seen.add(moved.sentences)
        facts = [[each.sentences[n - 1] for n in each.supporting_facts] for each in (story, moved)]
        assert facts[0] == facts[1] and sorted(moved.sentences) == sorted(story.sentences)
        words = TOKENIZE(f"{moved.passage} {moved.question}")
        named = [(words[a - 1], words[b - 1], kind) for a, b, kind in moved.edges]
        assert sorted(named) == sorted((tokens[a - 1], tokens[b - 1], k) for a, b, k in story.edges)
    assert len(seen) > 3


def test_chains_of_examples_move_with_their_sentences():
    story = Example(("He ran.", "Mary sat down.", "She slept."), "Who slept?", "she")
    tokens = TOKENIZE(f"{story.passage} {story.question}")
    chains = [{"mary": 1, "she": 1, "who": 2, "slept": 3}.get(token, 0) for token in tokens]
    story = dataclasses.replace(story, chains=chains)
    orders = set()
    for seed in range(9):
        moved = ShuffleSentences()(story, random(seed))
        orders.add(moved.sentences)
        words = TOKENIZE(f"{moved.passage} {moved.question}")
        pairs = dict(zip(words, moved.chains, strict=True))
        assert pairs == dict(zip(tokens, chains, strict=True))
    assert len(orders) > 3
    lengthen = LengthenStories([("It fell.",)], share=1.0)
    assert lengthen(story, random(0)) is story


def test_shuffled_annotations_keep_their_structure():
    def described(example):
        """Everything by words, those of the same spelling told apart by their sentence."""
        words = [
            f"{word}@{text}"
            for text in (*example.sentences, example.question)
            for word in text.split()
        ]
        structure = example.structure
        chains = [sorted(words[head] for head in chain) for chain in structure.chains]
        pairs = {"arguments": structure.arguments, **structure.edges}
        return (
            sorted(zip(words, example.chain_ids, example.named_entities, strict=True)),
            sorted((words[t], words[g]) for t, g in enumerate(structure.governors)),
            chains,
            {
                k: sorted((words[a], words[b]) for a, b in each.tolist())
                for k, each in pairs.items()
            },
            sorted((words[a - 1], words[b - 1], kind) for a, b, kind in example.edges),
        )

    orders = set()
    for seed in range(9):
        moved = ShuffleSentences()(ANNOTATED, random(seed))
        orders.add(moved.sentences)
        assert described(moved) == described(ANNOTATED)
        heads = [head for chain in moved.structure.chains for head in chain]
        assert heads == [head for chain in moved.structure.chains for head in sorted(chain)]
    assert len(orders) > 3


def test_documents_are_shuffled_with_their_candidates():
    documents = tuple(f"Document {n} . It ends ." for n in range(4))
    example = CandidateExample(documents, "country x", "3", candidates=("1", "3"))
    moved = ShuffleSentences("penn")(example, random(2))
    assert set(moved.sentences) == set(documents) and moved.sentences != documents
    assert moved.candidates == example.candidates and moved.answer == "3"


def test_documents_that_are_annotated_are_shuffled_whole(tmp_path):
    documents = "Paris is in France. It is old", "Rome is in Italy. It is big.", "Bonn is small"
    example = CandidateExample(documents, "country Rome", "Italy", candidates=("Italy", "France"))
    written = write_questions(Splits([], [], [example]), tmp_path)["test"]
    annotate_files([written], tmp_path / "annotated", processes=0)
    (read,) = map(wikihop.from_record, *zip(*read_shards(tmp_path / "annotated"), strict=True))
    (same,) = annotate_examples(
        [example], tokenizer=get_tokenizer("words").cased, make_example=wikihop.from_record
    )
    assert read == same and read.documents == same.documents == (1, 3, 5)
    parts = [read.sentences[:2], read.sentences[2:4], read.sentences[4:]]
    orders = set()
    for seed in range(9):
        moved = ShuffleSentences()(read, random(seed))
        bounds = [n - 1 for n in (*moved.documents, 6)]
        found = [moved.sentences[a:b] for a, b in itertools.pairwise(bounds)]
        assert sorted(found) == sorted(parts) and moved.question == read.question
        orders.add(moved.sentences)
    assert len(orders) > 3
    assert read.beginning(3, TOKENIZE).documents == ()
