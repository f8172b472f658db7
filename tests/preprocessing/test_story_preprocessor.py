import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.example import UNKNOWN_ANSWER
from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.preprocessing.story_preprocessor import StoryPreprocessor
from keras_corefmem.visualization.views import sentence_views

STORY = ("Mary went to the kitchen.", "She slept.", "Did John leave?", "The milk!")
EXAMPLES = [
    Example(STORY, "Where is Mary?", "kitchen", (1,)),
    Example(STORY[:2], "Who slept?", "Mary", (2, 1)),
]


@pytest.fixture(scope="module")
def preprocessor():
    return StoryPreprocessor.fit(EXAMPLES, max_sentences=3)


def words(preprocessor, sentences):
    return [" ".join(preprocessor.vocabulary.decode(row[row > 0])) for row in sentences]


def test_ends_of_sentences_need_not_be_read():
    preprocessor = StoryPreprocessor.fit(EXAMPLES, read_ends=False)
    assert preprocessor.sentence_length == 5
    encoded = preprocessor.encode(EXAMPLES[0])
    read = ["mary went to the kitchen", "she slept", "did john leave", "the milk"]
    assert words(preprocessor, encoded.sentences) == read
    assert words(preprocessor, [encoded.question]) == ["where is mary"]
    assert encoded.supporting_facts == (1,)
    features = preprocessor.encode_text(" ".join(STORY), "Where is Mary?")
    np.testing.assert_array_equal(features.sentences, encoded.sentences)
    np.testing.assert_array_equal(features.question, [*encoded.question[:3], 0, 0])


@pytest.mark.parametrize(
    "cut", [lambda text: text, lambda text: text.rstrip(".?!"), lambda text: text.rstrip(".")]
)
def test_raw_text_is_cut_at_ends_that_training_lacks(cut):
    story = [cut(text) for text in ("Mary went to the kitchen.", "She slept.")]
    preprocessor = StoryPreprocessor.fit([Example(story, cut("Where is Mary?"), "kitchen")])
    end = " ." if preprocessor.read_ends else ""
    expected = [f"she slept{end}", f"mary went to the kitchen{end}", f"she slept{end}"]
    texts = "She slept! Mary went to the kitchen. She slept!", "Where is Mary?"
    encoded = preprocessor.encode_text(*texts)
    assert words(preprocessor, encoded.sentences) == expected
    assert preprocessor.unknown_words(*texts) == ()
    tokens = [preprocessor.tokenizer.graph(tf.constant([text])) for text in texts]
    features = preprocessor.graph_features(
        tokens, preprocessor.graph_tables(), preprocessor.feature_names
    )
    np.testing.assert_array_equal(features["sentences"][0], encoded.sentences)


def test_ends_within_sentences_cost_no_word():
    story = Example(["Mr. Smith went to the garden."], "Where is Mr. Smith?", "garden")
    preprocessor = StoryPreprocessor.fit([story], read_ends=False)
    encoded = preprocessor.encode(story)
    assert words(preprocessor, encoded.sentences) == ["mr smith went to the garden"]
    assert words(preprocessor, [encoded.question]) == ["where is mr smith"]


def test_a_passage_is_cut_into_its_last_sentences(preprocessor):
    encoded = preprocessor.encode(EXAMPLES[0])
    assert preprocessor.sentence_length == 6
    assert encoded.sentences.shape == (3, 6)
    last = ["she slept .", "did john leave ?", "the milk !"]
    assert words(preprocessor, encoded.sentences) == last
    assert encoded.supporting_facts == ()
    assert preprocessor.answers[encoded.answer] == "kitchen"
    encoded = preprocessor.encode(EXAMPLES[1])
    assert words(preprocessor, encoded.sentences) == ["mary went to the kitchen .", "she slept ."]
    assert encoded.supporting_facts == (2, 1)
    facts = preprocessor.collate([encoded, preprocessor.encode_text("Mary", "Who?")], 3, 3)
    assert facts["supporting_facts"].tolist() == [[2, 1], [0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        ("Mary slept", ["mary slept"]),
        ("She slept. Mary", ["she slept .", "mary"]),
        ("Did she leave?! No.", ["did she leave ?", "!", "[unknown] ."]),
        ("She went to the the the kitchen. She slept.", ["she went to the the the", "she slept ."]),
    ],
)
def test_text_without_clean_sentences(preprocessor, passage, expected):
    encoded = preprocessor.encode_text(passage, "Where is Mary?")
    assert words(preprocessor, encoded.sentences) == expected


def test_sentences_of_an_example_are_rows_whatever_ends_them():
    sentences = ("Mr. Smith went to the kitchen.", "Mary left", "and John slept.", "She left.")
    example = Example(sentences, "Where is Mr. Smith?", "kitchen", (1, 2, 3, 4))
    preprocessor = StoryPreprocessor.fit([example])
    encoded = preprocessor.encode(example)
    read = ["mr . smith went to the kitchen .", "mary left", "and john slept .", "she left ."]
    assert words(preprocessor, encoded.sentences) == read
    assert encoded.supporting_facts == (1, 2, 3, 4)
    assert preprocessor.row_texts(example, encoded) == list(sentences)
    short = StoryPreprocessor.fit([example], max_sentences=2)
    encoded = short.encode(example)
    assert encoded.supporting_facts == (1, 2)
    assert short.row_texts(example, encoded) == list(sentences[2:])


def test_sentences_do_not_depend_on_whether_the_answer_is_known():
    sentences = ("Mr. Smith went to the kitchen.", "Mary left", "and John slept.")
    known = Example(sentences, "Where is Mary?", "kitchen")
    preprocessor, unknown = StoryPreprocessor.fit([known]), dataclasses.replace(known, answer="?")
    for example in (known, unknown, dataclasses.replace(known, answer=UNKNOWN_ANSWER)):
        (view,) = sentence_views([example], preprocessor, look_at_nothing, ["pass 1"])
        assert view.rows == list(sentences)
    raw = Example.from_text("Mr. Smith went.\nMary left", "Where is Mary?")
    text = preprocessor.encode_text(raw.passage, raw.question)
    encoded = preprocessor.encode(raw)
    assert words(preprocessor, encoded.sentences) == ["mr .", "smith went .", "mary left"]
    np.testing.assert_array_equal(encoded.sentences, text.sentences)
    assert preprocessor.row_texts(raw, encoded) == ["mr .", "smith went .", "mary left"]
    answered = preprocessor.encode(dataclasses.replace(raw, answer="kitchen"))
    assert (encoded.answer, preprocessor.answers[answered.answer]) == (0, "kitchen")


@pytest.mark.parametrize("name", ["sentences", "question"])
def test_stories_of_another_preprocessor_are_refused(preprocessor, name):
    size = len(preprocessor.vocabulary)
    rows = [preprocessor.encode(EXAMPLES[0])] * 2
    preprocessor.collate(rows, 2, 3)
    wrong = np.full_like(getattr(rows[1], name), size)
    rows[1] = dataclasses.replace(rows[1], **{name: wrong})
    with pytest.raises(ValueError, match=f"{name} of row 1 holds {size}, .* from 0 to {size - 1}"):
        preprocessor.collate(rows, 2, 3)


def look_at_nothing(features):
    rows, count = features["sentences"].shape[:2]
    return np.zeros((rows, 2)), np.zeros((rows, count, 1))


def test_real_and_simulated_stories_keep_their_sentences():
    for task in (1, 3, 8):
        examples = simulator.simulate(task, 50)
        preprocessor = StoryPreprocessor.fit(examples, max_sentences=500)
        for example in examples:
            encoded = preprocessor.encode(example)
            assert len(encoded.sentences) == len(example.sentences)
            assert encoded.supporting_facts == example.supporting_facts


@pytest.mark.thorough
def test_real_stories_keep_their_sentences(babi_dir):
    for task in range(1, 21):
        examples = babi.load(babi_dir, task).valid
        preprocessor = StoryPreprocessor.fit(examples, max_sentences=500)
        for example in examples:
            assert len(preprocessor.encode(example).sentences) == len(example.sentences)


def test_answers_may_be_sequences_of_words():
    lists = [Example(STORY, "Who?", answer) for answer in ("milk,Mary", "John", "milk,John")]
    preprocessor = StoryPreprocessor.fit(lists, answer_words=True)
    assert preprocessor.answers == ["[unknown]", "John", "Mary", "milk", "[end]"]
    assert preprocessor.answer_length == 3
    numbers = [preprocessor.encode(e).answer.tolist() for e in lists]
    assert numbers == [[3, 2, 4], [1, 4, 4], [3, 1, 4]]
    assert preprocessor.encode_text("Mary", "Who?").answer.tolist() == [0, 0, 0]
    assert StoryPreprocessor.fit(lists).answers == ["[unknown]", "John", "milk,John", "milk,Mary"]
