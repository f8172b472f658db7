"""Bidirectional attention against its equations."""

import numpy as np
import pytest

from keras_corefmem.layers import BidirectionalAttention
from tests.support import attention_oracles
from tests.support.evaluation import (
    assert_gradients,
    compiled,
    random_weights,
    stateless,
    value_and_gradients,
)
from tests.support.graphs import WIDTH, random_features

BATCH, TIME, ASKED = 3, 5, 4
CONTEXT_MASK = np.array([[1] * 5, [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]], bool)
QUERY_MASK = np.array([[1, 1, 1, 0], [1] * 4, [1, 0, 0, 0]], bool)
MASKS = {"context_mask": CONTEXT_MASK, "query_mask": QUERY_MASK}


def oracle(context, query, kernel):
    return np.array(
        [
            attention_oracles.bidirectional_attention(*arrays, kernel)
            for arrays in zip(context, query, CONTEXT_MASK, QUERY_MASK, strict=True)
        ]
    )


def test_output_and_gradients_follow_the_equations():
    rng = np.random.default_rng(0)
    layer = BidirectionalAttention()
    layer.build((BATCH, TIME, WIDTH), (BATCH, ASKED, WIDTH))
    context, query = random_features(rng, BATCH, TIME), random_features(rng, BATCH, ASKED)
    arrays = [context, query, *random_weights(layer, rng, scale=1)]
    upstream = rng.normal(size=(BATCH, TIME, 4 * WIDTH)).astype("float32")
    output, gradients = value_and_gradients(
        lambda context, query, *weights: stateless(layer, weights, context, query, **MASKS),
        arrays,
        upstream,
    )
    arrays = [array.astype("float64") for array in arrays]
    np.testing.assert_allclose(output, oracle(*arrays), atol=1e-5)
    assert_gradients(lambda *arrays: np.sum(oracle(*arrays) * upstream), arrays, gradients)
    assert not np.any(gradients[1][~QUERY_MASK])


def test_padding_changes_nothing():
    rng = np.random.default_rng(1)
    layer = BidirectionalAttention()
    layer.build((BATCH, TIME, WIDTH), (BATCH, ASKED, WIDTH))
    context, query = random_features(rng, BATCH, TIME), random_features(rng, BATCH, ASKED)
    expected = compiled(layer)(context, query)
    longer = [9 * random_features(rng, BATCH, 2 * length) for length in (TIME, ASKED)]
    longer[0][:, :TIME], longer[1][:, :ASKED] = context, query
    masks = [
        np.broadcast_to(np.arange(2 * length) < length, (BATCH, 2 * length))
        for length in (TIME, ASKED)
    ]
    run = compiled(lambda c, q: layer(c, q, context_mask=masks[0], query_mask=masks[1]))
    np.testing.assert_allclose(run(*longer)[:, :TIME], expected, atol=1e-5)


def test_a_query_without_tokens_gives_finite_numbers():
    rng = np.random.default_rng(2)
    layer = BidirectionalAttention()
    arrays = [random_features(rng, 1, TIME), random_features(rng, 1, ASKED)]
    masks = {"context_mask": np.zeros((1, TIME), bool), "query_mask": np.zeros((1, ASKED), bool)}
    layer.build(*(array.shape for array in arrays))
    output, gradients = value_and_gradients(lambda c, q: layer(c, q, **masks), arrays)
    assert all(np.all(np.isfinite(array)) for array in (output, *gradients))


def test_context_and_query_must_be_equally_wide():
    with pytest.raises(ValueError, match="equally wide, got 4 and 3"):
        BidirectionalAttention()(np.zeros((1, 2, 4)), np.zeros((1, 2, 3)))
