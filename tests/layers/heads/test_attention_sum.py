"""The pointer sum against its equation."""

import warnings

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import AttentionSum
from tests.support.conformance.evaluation import compiled, value_and_gradients
from tests.support.conformance.graphs import random_features
from tests.support.oracles import recurrence as oracles

BATCH, TIME, CANDIDATES = 3, 6, 5


@pytest.fixture
def inputs():
    rng = np.random.default_rng(0)
    return random_features(rng, BATCH, TIME), random_features(rng, BATCH, 1)[:, 0]


def test_attention_sum_follows_the_equation(inputs):
    numbers = np.array([[0, 1, 2, 1, 3, 4], [4, 4, 3, 2, 1, 1], [1, 2, 3, 4, 0, 0]], "int32")
    single = (numbers[..., None] == np.arange(CANDIDATES)) & (numbers[..., None] > 0)
    several = np.random.default_rng(1).random((BATCH, TIME, CANDIDATES)) < 0.5
    several[:, 0] = True
    for layer, candidates, mentions in (
        (AttentionSum(CANDIDATES), numbers, single),
        (AttentionSum(CANDIDATES), numbers.astype("uint8"), single),
        (AttentionSum(), single, single),
        (AttentionSum(), several, several),
    ):
        logits = compiled(layer)(*inputs, candidates)
        rows = zip(*inputs, mentions, strict=True)
        expected = [oracles.attention_sum(*map(np.float64, row)) for row in rows]
        assert logits.dtype == "float32"
        probabilities = ops.convert_to_numpy(ops.softmax(logits))
        np.testing.assert_allclose(probabilities, expected, atol=1e-6)


def test_candidates_without_a_mention_stay_far_below_and_gradients_finite(inputs):
    document, query = 50 * inputs[0], inputs[1]
    numbers = np.array([[0, 1, 2, 1, 2, 0], [3, 0, 0, 0, 0, 0], [0] * 6], "int32")
    layer = AttentionSum(CANDIDATES)
    logits, gradients = value_and_gradients(
        lambda d, q: ops.log_softmax(layer(d, q, numbers))[:, 1], [document, query]
    )
    assert np.all(np.isfinite(logits)) and all(np.all(np.isfinite(g)) for g in gradients)
    logits = compiled(layer)(document, query, numbers)
    np.testing.assert_array_equal(np.max(logits, axis=-1), [0, 0, -100])
    np.testing.assert_array_equal(logits[0, [0, 3, 4]], -100)
    np.testing.assert_array_equal(logits[1, [0, 1, 2, 4]], -100)


def test_attention_sum_takes_a_masked_document_silently(inputs):
    document, query = inputs
    numbers, layer = np.ones((BATCH, TIME), "int32"), AttentionSum(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        logits = layer(keras.layers.Masking()(document), query, numbers)
    np.testing.assert_array_equal(*map(ops.convert_to_numpy, (logits, layer(*inputs, numbers))))
