"""The n-gram baseline against its equation, on bags counted in Python."""

import collections
import itertools

import numpy as np
import pytest
from keras import ops

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.stories import simulator
from tests.support.model_cases import features_of
from zoo import NGramClassifier
from zoo.architectures.stories.ngram_classifier import hash_ngrams

EXAMPLES = simulator.simulate(6, 20)
STORY = ("Mary went to the kitchen.", "John went to the garden.", "Mary took the milk.")


def make(examples=EXAMPLES, **options):
    model = NGramClassifier.from_examples(examples, **options)
    random = np.random.default_rng(2)
    model.set_weights([random.normal(0, 1, weight.shape) for weight in model.get_weights()])
    return model


def bucket(ngram, buckets):
    value = 0
    for token in ngram:
        value = (value + int(token)) * 2654435769 % 2**32
        value ^= value >> 15
    return 1 + value % buckets


def too_common(examples, tokenize, share):
    sentences = {sentence for example in examples for sentence in example.sentences}
    counts = collections.Counter(word for text in sentences for word in set(tokenize(text)))
    return {word for word, count in counts.items() if count > share * len(sentences)}


def ngrams(example, tokenize, ignored, order):
    """The n-grams, as tuples of words, of the question and the sentences that share its words."""
    question = tokenize(example.question)
    lines = [tokenize(sentence) for sentence in example.sentences]
    lines = [line for line in lines if set(line) & set(question) - ignored]
    for line, n in itertools.product([*lines, question], range(1, order + 1)):
        yield from (tuple(line[start : start + n]) for start in range(len(line) - n + 1))


@pytest.mark.parametrize("common", [0.3, 1])
@pytest.mark.parametrize(
    "order, buckets, binary", [(1, 50, True), (3, 2**14, True), (3, 50, False)]
)
def test_logits_follow_the_equation(common, order, buckets, binary):
    model = make(common=common, order=order, buckets=buckets, binary=binary)
    (weights,) = model.get_weights()
    tokenize, vocabulary = model.preprocessor.tokenizer, model.preprocessor.vocabulary
    ignored = too_common(EXAMPLES, tokenize, common)
    assert bool(ignored) == (common < 1)
    found = model.predict_on_batch(features_of(model, EXAMPLES))
    for example, logits in zip(EXAMPLES, found, strict=True):
        bag = collections.Counter(
            bucket(vocabulary.encode(ngram), buckets)
            for ngram in ngrams(example, tokenize, ignored, order)
        )
        factors = {number: 1 if binary else count for number, count in bag.items()}
        expected = weights[0] + sum(factor * weights[number] for number, factor in factors.items())
        np.testing.assert_allclose(logits[1:], expected[1:], rtol=1e-4, atol=1e-4)


def test_common_words_are_not_shared():
    examples = [Example(STORY, "Is Mary in the kitchen?", "no")]
    for common, expected in ((0.7, [1, 0, 1]), (1, [1, 1, 1])):
        model = make(examples, common=common)
        attention = model.attend(features_of(model, examples, length=4))
        np.testing.assert_array_equal(attention, [[[read] for read in (*expected, 0)]])
    shares = dict(
        zip(model.preprocessor.vocabulary.words, model.config["frequencies"], strict=True)
    )
    assert shares["the"] == shares["."] == 1 and shares["mary"] == pytest.approx(2 / 3)
    assert shares["garden"] == pytest.approx(1 / 3) and shares["is"] == shares["?"] == 0


def test_unknown_words_are_not_shared():
    model = make([Example(STORY, "Where is John?", "garden")], common=1)
    encoded = [model.preprocessor.encode_text("Zoë left. John left.", "Where is Tim or John?")]
    attention = model.attend(model.preprocessor.collate(encoded, 1, 2))
    np.testing.assert_array_equal(attention[0, :, 0], [0, 1])


def test_ngrams_end_within_their_line():
    found = ops.convert_to_numpy(hash_ngrams(np.array([[7, 8, 0], [0, 0, 0]]), 5, 2**20))
    expected = [bucket(ngram, 2**20) for ngram in ((7,), (8,), (7, 8))]
    np.testing.assert_array_equal(found, [[*expected[:2], 0, expected[2], 0, 0], [0] * 6])


def test_hashing_spreads_ngrams():
    tokens = range(1, 21)
    lines = np.array(list(itertools.product(tokens, repeat=3)), "int32")
    every = [*((token,) for token in tokens), *itertools.product(tokens, repeat=2)]
    every += itertools.product(tokens, repeat=3)
    assert np.unique(hash_ngrams(lines, 3, 2**31 - 1)).size == len(every)
    # What chance leaves of 2^14 buckets.
    expected = 2**14 * (1 - np.exp(-len(every) / 2**14))
    assert np.unique(hash_ngrams(lines, 3, 2**14)).size == pytest.approx(expected, rel=0.03)


def test_training_starts_undecided_and_l2_is_about_all_weights():
    model = NGramClassifier.from_examples(EXAMPLES, l2=0.5, buckets=30)
    logits = model.predict_on_batch(features_of(model, EXAMPLES))
    assert not np.any(logits[:, 1:])
    (weights,) = model.get_weights()
    model.set_weights([np.random.default_rng(3).normal(0, 1, weights.shape)])
    squares = np.sum(np.square(model.get_weights()[0]))
    assert float(sum(model.losses)) == pytest.approx(0.5 * squares, rel=1e-5)


def test_a_frequency_for_each_token():
    with pytest.raises(ValueError, match="one fraction for each of the 9 tokens; got 2"):
        NGramClassifier(9, 3, 4, frequencies=[0.5, 0.5])
