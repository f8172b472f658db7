"""Gated and bidirectional attention against their equations."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import BidirectionalAttention, GatedAttention
from tests.support.conformance.evaluation import assert_follows, compiled, value_and_gradients
from tests.support.conformance.graphs import WIDTH, random_features
from tests.support.oracles import attention as attention_oracles
from tests.support.oracles import recurrence as oracles

BATCH, TIME, ASKED = 3, 5, 4
CONTEXT_MASK = np.array([[1] * 5, [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]], bool)
QUERY_MASK = np.array([[1, 1, 1, 0], [1] * 4, [1, 0, 0, 0]], bool)
MASKS = {"context_mask": CONTEXT_MASK, "query_mask": QUERY_MASK}


def oracle(context, query, kernel):
    context = np.where(CONTEXT_MASK[..., None], context, 0)
    return np.array(
        [
            attention_oracles.bidirectional_attention(*arrays, kernel)
            for arrays in zip(context, query, CONTEXT_MASK, QUERY_MASK, strict=True)
        ]
    )


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("masked", [False, True])
def test_gated_attention_follows_the_equation(rng, masked):
    document, question = random_features(rng, BATCH, TIME), random_features(rng, BATCH, ASKED)
    mask = np.ones((BATCH, 4), bool)
    if masked:
        mask[0, 2:], mask[1, 0] = False, False
    layer = GatedAttention()
    run = compiled(lambda d, q: layer(d, q, question_mask=mask if masked else None))
    expected = [
        oracles.gated_attention(*map(np.float64, rows), keep)
        for *rows, keep in zip(document, question, mask, strict=True)
    ]
    np.testing.assert_allclose(run(document, question), expected, atol=1e-5)
    question[~mask] = 9
    np.testing.assert_allclose(run(document, question), expected, atol=1e-5)


def test_gated_attention_passes_on_the_mask_of_the_document(rng):
    document = random_features(rng, BATCH, TIME)
    document[0, 3:] = 0
    masked = keras.layers.Masking()(document)
    states = keras.layers.GRU(2, return_sequences=True)(
        GatedAttention()(masked, random_features(rng, BATCH, ASKED))
    )
    states = ops.convert_to_numpy(states)
    np.testing.assert_array_equal(states[0, 3:], np.stack([states[0, 2]] * (TIME - 3)))


def test_both_directions_and_gradients_follow_the_equations(rng):
    layer = BidirectionalAttention()
    layer.build((BATCH, TIME, WIDTH), (BATCH, ASKED, WIDTH))
    inputs = random_features(rng, BATCH, TIME), random_features(rng, BATCH, ASKED)
    _, gradients = assert_follows(layer, oracle, inputs, scale=1, **MASKS)
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


@pytest.mark.parametrize("junk", [np.nan, np.inf])
def test_masked_context_reaches_no_other_token(junk):
    rng = np.random.default_rng(0)
    context, query = rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 3, 4))
    mask, dirty = np.arange(5) < np.array([[5], [3]]), context.copy()
    dirty[~mask] = junk
    layer = BidirectionalAttention()
    clean, found = (layer(each, query, context_mask=mask) for each in (context, dirty))
    np.testing.assert_allclose(found[mask], clean[mask], atol=1e-6)
