"""Supervised self-attention with all kinds of heads, masks and targets, and its oracle."""

from collections import namedtuple

import numpy as np
from keras import ops

from keras_corefmem.layers import SupervisedMultiHeadAttention
from tests.support.conformance.evaluation import random_weights, value_and_gradients
from tests.support.conformance.graphs import WIDTH, random_features
from tests.support.oracles import attention as attention_oracles

BATCH, TIME, HEADS, KEY_DIM = 4, 5, 3, 2
SIGNALS, WINDOWS = ((2, "dependency"), (0, "coreference")), (2,)
NAMES = [
    f"{layer}_{part}"
    for layer in ("query", "key", "value", "attention_output")
    for part in ("kernel", "bias")
]
# Whole, padded behind, whole without targets of the second signal, only padding.
MASK = np.array([[1] * 5, [1, 1, 1, 0, 0], [1] * 5, [0] * 5], bool)
SENTENCES = np.array([[1, 1, 2, 2, 2], [1, 1, 2, 0, 0], [1, 1, 1, 2, 3], [0] * 5], "int32")


Result = namedtuple("Result", "output loss gradients arrays upstream")


def make_targets():
    """Targets of each signal: with repetitions, padding, masked tokens and what lies outside."""
    dependency = np.zeros((BATCH, 4, 2), "int32")
    dependency[0] = [[1, 2], [2, 4], [5, 3], [0, 0]]
    dependency[1, :2] = [[2, 1], [3, 3]]
    dependency[2, :1] = [[4, 5]]
    dependency[3, :2] = [[1, 2], [2, 1]]
    coreference = np.zeros((BATCH, 6, 2), "int32")
    coreference[0] = [[1, 3], [1, 5], [1, 3], [4, 4], [6, 1], [2, 9]]
    coreference[1] = [[1, 4], [4, 1], [2, 1], [2, 3], [0, 2], [-1, 2]]
    coreference[3, 0] = [1, 1]
    return [dependency, coreference]


def make_layer(**options):
    options = {"signals": SIGNALS, "windows": WINDOWS, **options}
    layer = SupervisedMultiHeadAttention(HEADS, KEY_DIM, **options)
    layer.build((BATCH, TIME, WIDTH))
    return layer


def oracle(x, *weights, row_weight="count"):
    """Outputs, attention by signal, and (loss, attention on targets, rows) by signal and text."""
    weights = dict(zip(NAMES, weights, strict=True))
    outputs, shown = np.zeros(x.shape), np.zeros((BATCH, len(SIGNALS), TIME, TIME))
    found = np.zeros((len(SIGNALS), BATCH, 3))
    for b in range(BATCH):
        given = x[b], MASK[b], weights, WINDOWS, SENTENCES[b]
        outputs[b], attention = attention_oracles.self_attention(*given)
        for n, (head, _) in enumerate(SIGNALS):
            near = SENTENCES[b] if head in WINDOWS else None
            wanted = attention_oracles.targets_of(make_targets()[n][b], MASK[b], near)
            shown[b, n] = attention[head]
            found[n, b] = attention_oracles.attention_loss(attention[head], wanted, row_weight)
    return outputs, shown, found


def run(row_weight="count", xla=False):
    """Output and loss of the layer, gradients of their weighed sum, arrays and weighing."""
    rng = np.random.default_rng(3)
    layer = make_layer(row_weight=row_weight)
    arrays = [random_features(rng, BATCH, TIME), *random_weights(layer, rng)]
    upstream = rng.normal(size=(BATCH, TIME, WIDTH)).astype("float32")

    def function(x, *weights):
        outputs, _, losses = layer.stateless_call(
            list(weights), [], x, make_targets(), SENTENCES, mask=MASK, return_losses=True
        )
        loss = ops.broadcast_to(losses[0], (BATCH, TIME, 1))
        return ops.concatenate([outputs, loss], axis=-1)

    share = np.full((BATCH, TIME, 1), 1 / (BATCH * TIME), "float32")
    weighed = np.concatenate([upstream, share], axis=-1)
    value, gradients = value_and_gradients(function, arrays, weighed, xla)
    return Result(value[..., :-1], value[0, 0, -1], gradients, arrays, upstream)
