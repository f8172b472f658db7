"""Query reduction against its equation and its cell in `keras.layers.RNN`."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import QueryReduction, QueryReductionCell
from tests.support.conformance.evaluation import assert_agree, random_weights, stateless
from tests.support.conformance.graphs import random_features, random_mask
from tests.support.oracles import memory as memory_oracles

BATCH, TIME, UNITS = 4, 6, 3


@pytest.mark.parametrize("reset", [True, False])
def test_the_layer_its_cell_and_the_equation_agree(reset):
    rng = np.random.default_rng(0)
    layer = QueryReduction(UNITS)
    x, q = (random_features(rng, BATCH, TIME, UNITS) for _ in range(2))
    mask = random_mask(BATCH, TIME)
    layer.build(x.shape, q.shape)
    weights = random_weights(layer, rng, scale=1.5)
    upstream = rng.normal(size=(BATCH, TIME, 2 * UNITS + 1)).astype("float32")
    upstream[..., -1] = 0

    def fused(x, q, *weights):
        forward, backward, gates = stateless(layer, weights, x, q, reset=reset, mask=mask)
        return ops.concatenate([forward, backward, gates[..., None]], axis=-1)

    rnn = keras.layers.RNN(QueryReductionCell(UNITS, reset), return_sequences=True)
    rnn.build((BATCH, TIME, 2 * UNITS))

    def plain(x, q, gate_kernel, gate_bias, *weights):
        gates = 2 if reset else 1
        weights = gate_kernel[:, :gates], gate_bias[:gates], *weights
        inputs = ops.concatenate([x, q], axis=-1)
        forward = stateless(rnn, weights, inputs, mask=mask)
        backward = stateless(rnn, weights, ops.flip(inputs, axis=1), mask=mask[:, ::-1])
        return ops.concatenate([forward, ops.flip(backward, axis=1)], axis=-1)

    output = assert_agree(
        fused,
        lambda *tensors: ops.pad(plain(*tensors), ((0, 0), (0, 0), (0, 1))),
        [x, q, *weights],
        upstream,
    )
    output, gates = output[..., :-1], output[..., -1]
    assert np.all(gates[~mask] == 0) and np.all((gates[mask] > 0) & (gates[mask] < 1))
    named = {w.name: value for w, value in zip(layer.weights, weights, strict=True)}
    for b in range(BATCH):
        states, _ = memory_oracles.query_reduction(x[b], q[b], mask[b], named, reset)
        np.testing.assert_allclose(output[b], np.concatenate(states, axis=-1), atol=1e-5)
