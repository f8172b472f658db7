"""The pointer sum against its equation."""

import warnings

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import AttentionSum
from tests.support import oracles
from tests.support.evaluation import compiled, value_and_gradients
from tests.support.graphs import WIDTH, random_features

BATCH, TIME, CANDIDATES = 3, 6, 5


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_attention_sum_follows_the_equation(rng):
    document, query = random_features(rng, BATCH, TIME), random_features(rng, BATCH, 1)[:, 0]
    numbers = np.array([[0, 1, 2, 1, 3, 4], [4, 4, 3, 2, 1, 1], [1, 2, 3, 4, 0, 0]], "int32")
    mentions = (numbers[..., None] == np.arange(CANDIDATES)) & (numbers[..., None] > 0)
    logits = compiled(AttentionSum(CANDIDATES))(document, query, numbers)
    expected = [
        oracles.attention_sum(*map(np.float64, rows))
        for rows in zip(document, query, mentions, strict=True)
    ]
    assert logits.dtype == "float32"
    probabilities = ops.convert_to_numpy(ops.softmax(logits))
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    mask_logits = compiled(AttentionSum())(document, query, mentions)
    np.testing.assert_allclose(mask_logits, logits, atol=1e-6)


def test_a_token_may_belong_to_several_candidates(rng):
    document, query = random_features(rng, BATCH, TIME), random_features(rng, BATCH, 1)[:, 0]
    mentions = rng.random((BATCH, TIME, CANDIDATES)) < 0.5
    mentions[:, 0] = True
    logits = compiled(AttentionSum())(document, query, mentions)
    expected = [
        oracles.attention_sum(*map(np.float64, rows))
        for rows in zip(document, query, mentions, strict=True)
    ]
    np.testing.assert_allclose(ops.convert_to_numpy(ops.softmax(logits)), expected, atol=1e-6)


def test_candidates_without_a_mention_stay_far_below_and_gradients_finite(rng):
    document, query = 50 * random_features(rng, BATCH, TIME), random_features(rng, BATCH, 1)[:, 0]
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


def test_attention_sum_takes_a_masked_document_silently(rng):
    document, query = random_features(rng, BATCH, TIME), np.ones((BATCH, WIDTH), "float32")
    numbers, layer = np.ones((BATCH, TIME), "int32"), AttentionSum(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        logits = layer(keras.layers.Masking()(document), query, numbers)
    np.testing.assert_array_equal(
        ops.convert_to_numpy(logits), ops.convert_to_numpy(layer(document, query, numbers))
    )


def test_attention_sum_needs_the_number_of_candidates():
    with pytest.raises(ValueError, match="num_candidates is needed"):
        AttentionSum()(np.zeros((1, 2, 3)), np.zeros((1, 3)), np.zeros((1, 2), "int32"))
