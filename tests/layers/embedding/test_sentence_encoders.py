"""Layers from words to sentences against their equations."""

import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import MultiplicativeMask, PositionEncoding
from tests.support.conformance.evaluation import JIT, evaluate, random_weights
from tests.support.conformance.graphs import random_features
from tests.support.oracles.memory import position_factor

BATCH, TIME, WORDS, UNITS = 3, 4, 5, 6


@pytest.fixture
def words():
    features = random_features(np.random.default_rng(0), BATCH * TIME, WORDS, UNITS)
    return features.reshape(BATCH, TIME, WORDS, UNITS)


@pytest.fixture
def mask():
    lengths = np.random.default_rng(1).integers(0, WORDS + 1, (BATCH, TIME, 1))
    return np.arange(WORDS) < lengths


def encoded_by_position(words, mask, length):
    result = np.zeros((*words.shape[:2], UNITS))
    for b, t, j, k in np.ndindex(words.shape):
        if mask[b, t, j]:
            result[b, t, k] += position_factor(j + 1, k + 1, length, UNITS) * words[b, t, j, k]
    return result


@pytest.mark.parametrize("length", [WORDS, WORDS + 3])
@pytest.mark.parametrize("dtype", ["float32"] if JIT else ["float32", "float64"])
def test_position_encoding_follows_the_equation(words, mask, length, dtype):
    words = words.astype(dtype)
    output = evaluate(PositionEncoding(length, dtype=dtype), words, mask=mask)
    expected = encoded_by_position(words, mask, length)
    np.testing.assert_allclose(output, expected, atol=1e-12 if dtype == "float64" else 1e-5)


def test_the_multiplicative_mask_follows_the_equation(words, mask):
    layer = MultiplicativeMask(WORDS + 2)
    plain = ops.convert_to_numpy(layer(words, mask=mask))
    np.testing.assert_allclose(plain, np.sum(words * mask[..., None], axis=2), atol=1e-5)
    (factors,) = random_weights(layer, np.random.default_rng(2))
    layer.set_weights([factors])
    expected = np.einsum("btwd,wd,btw->btd", words, factors[:WORDS], mask)
    np.testing.assert_allclose(evaluate(layer, words, mask=mask), expected, atol=1e-5)
