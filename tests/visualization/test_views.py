"""Views of what models answer and attend to, against the models themselves."""

import dataclasses

import keras
import numpy as np
import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.graphs import annotate, learn_entity_words
from keras_corefmem.preprocessing import UNKNOWN_ANSWER, ReaderPreprocessor, StoryPreprocessor
from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from keras_corefmem.preprocessing.encoding.answers import best_answer
from keras_corefmem.text import WordTokenizer
from keras_corefmem.visualization.views import (
    heading,
    inspect_examples,
    sentence_views,
    token_views,
)
from zoo.architectures.stories.dynamic_memory_network import DynamicMemoryNetwork

EXAMPLES = simulator.simulate(1, 24)


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(0)
    options = {"units": 6, "passes": 2, "end_of_passes": True, "max_sentences": 5}
    return DynamicMemoryNetwork.from_examples(EXAMPLES, **options)


@pytest.mark.thorough
def test_answers_do_not_depend_on_the_company(model):
    _, logits, attention = inspect_examples(EXAMPLES[:20], model.preprocessor, model.inspect)
    assert logits.shape == (20, len(model.preprocessor.answers)) and len(attention) == 20
    for n in (0, 7, 19):
        alone = inspect_examples(EXAMPLES[n : n + 1], model.preprocessor, model.inspect)
        np.testing.assert_allclose(alone[1][0], logits[n], atol=1e-5)
        reading = model.read(EXAMPLES[n].passage, EXAMPLES[n].question)
        answer, probability = best_answer(logits[n], model.preprocessor.answers)
        assert answer == reading.answer
        assert probability == pytest.approx(reading.probability, abs=1e-5)

    def blind(features):
        return model.inspect(features)[0], None

    _, alone, attention = inspect_examples(EXAMPLES[:20], model.preprocessor, blind)
    assert attention is None and np.array_equal(alone, logits)


def test_one_example_is_not_read_in_the_company_of_empty_rows(model):
    counts = []

    def inspect(features):
        counts.append(len(features["sentences"]))
        return model.inspect(features)

    for n in (1, 3, 17):
        inspect_examples(EXAMPLES[:n], model.preprocessor, inspect)
    assert counts == [1, 16, 16, 16]


def test_views_hold_the_sentences_that_are_read(model):
    columns = model.columns()
    views = list(sentence_views(EXAMPLES[:20], model.preprocessor, model.inspect, columns))
    features, _, attention = inspect_examples(EXAMPLES[:20], model.preprocessor, model.inspect)
    length = features["sentences"].shape[1]
    for n, (view, example) in enumerate(zip(views, EXAMPLES, strict=False)):
        count = min(len(example.sentences), 5)
        assert view.rows == [*example.sentences[-count:], "(end of passes)"]
        expected = attention[n][[*range(count), length]]
        np.testing.assert_array_equal(view.values, expected)
        assert view.columns == columns == ["pass 1", "pass 2"]
        dropped = len(example.sentences) - count
        for fact in view.supporting_facts:
            assert fact + dropped in example.supporting_facts and 1 <= fact <= count
    assert any(view.supporting_facts for view in views)
    lengths = {len(example.sentences) for example in EXAMPLES[:20]}
    assert min(lengths) < 5 < max(lengths)


def test_rows_are_viewed_as_examples_are(model):
    rows = [(e.passage, e.question, e.answer) for e in EXAMPLES[:2]]
    for of_row, of_example in zip(model.views(rows), model.views(EXAMPLES[:2]), strict=True):
        (mine,), (view,) = of_row, of_example
        assert mine.rows == view.rows and mine.heading == view.heading
        np.testing.assert_array_equal(mine.values, view.values)
    (unanswered,), _ = model.views([row[:2] for row in rows])
    assert len(unanswered.heading) == 1


def test_headings_judge_only_where_the_answer_is_known():
    example = Example(("Mary left.",), "Where is Mary?", "kitchen")
    logits = np.log([1e-9, 0.2, 0.8])
    preprocessor = StoryPreprocessor.fit([example, dataclasses.replace(example, answer="garden")])
    for answer, expected in (
        ("kitchen", ["✓ kitchen 80%"]),
        ("garden", ["✗ kitchen 80%", "right: garden"]),
        (UNKNOWN_ANSWER, ["kitchen 80%"]),
    ):
        question = dataclasses.replace(example, answer=answer)
        assert [text for text, _ in heading(question, logits, preprocessor)] == expected


def test_answers_that_are_words_of_the_passage_are_right_in_any_case():
    example = Example(("Mary saw the Kitchen.",), "What?", "Kitchen")
    preprocessor = CandidatePreprocessor.fit([example], tokenizer="words")
    logits = np.log([1e-9, 1e-9, 1e-9, 1e-9, 1.0])
    assert [text for text, _ in heading(example, logits, preprocessor)] == ["✓ kitchen 100%"]


def uniform(preprocessor):
    """The `inspect` of a model that knows nothing."""

    def inspect(features):
        batch, time = features["passage"].shape
        return np.zeros((batch, len(preprocessor.answers))), np.ones((batch, time))

    return inspect


@pytest.mark.parametrize("joint", [True, False])
def test_chains_reach_the_question_where_it_is_part_of_the_sequence(joint):
    entities = learn_entity_words(EXAMPLES, WordTokenizer())
    preprocessor = ReaderPreprocessor.fit(EXAMPLES, entity_words=entities, joint=joint)
    for view, example in zip(
        token_views(EXAMPLES[:4], preprocessor, uniform(preprocessor)), EXAMPLES, strict=False
    ):
        words = sum(view.sentences, [])
        assert words == WordTokenizer()(example.passage)
        assert len(words) == len(view.attention) == len(view.chains)
        name = view.question[2]
        assert name in words and np.any(view.question_chains) == joint
        if joint:
            chains = view.chains[[n for n, word in enumerate(words) if word == name]]
            assert set(chains) == {view.question_chains[2]}


def test_tokens_of_annotated_text_are_those_between_spaces():
    (annotation,) = annotate(["Mary walked 3km home ."], tokenized=True)
    example = AnnotatedExample.from_annotation(annotation, 3, "home")
    example = dataclasses.replace(example, sentences=("Mary walked 3\u00a0km",))
    preprocessor = CandidatePreprocessor.fit([example])
    (view,) = token_views([example], preprocessor, uniform(preprocessor))
    words = sum(view.sentences, [])
    assert "3\u00a0km" in words and len(words) == len(view.attention) == 3
