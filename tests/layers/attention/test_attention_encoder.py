"""The stacked self-attention encoder against its equations."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import AttentionEncoder
from tests.support.conformance.evaluation import (
    assert_gradients,
    compiled,
    nested,
    randomize,
    value_and_gradients,
)
from tests.support.conformance.graphs import WIDTH, random_features
from tests.support.conformance.supervised import BATCH, MASK, SENTENCES, TIME, make_targets
from tests.support.oracles import attention as attention_oracles

UNITS, INNER = 6, 5
# Not in the order of the layers.
SIGNALS, WINDOWS = [(2, 0, "dependency"), (1, 2, "coreference"), (2, 1, "all")], [(2, 0)]
TARGETS = [*make_targets(), make_targets()[1]]


def make_layer(**options):
    options = {"signals": SIGNALS, "windows": WINDOWS, **options}
    layer = AttentionEncoder(2, 3, UNITS, INNER, **options)
    layer.build((BATCH, TIME, WIDTH))
    randomize(layer, np.random.default_rng(5))
    return layer


def oracle(layer, x):
    """States, attention by signal, and the loss."""
    values = {v.path.split("/", 1)[1]: ops.convert_to_numpy(v) for v in layer.trainable_variables}
    weights, states = nested(values), np.zeros((BATCH, TIME, UNITS))
    shown, loss = np.zeros((BATCH, len(SIGNALS), TIME, TIME)), 0.0
    for b in range(BATCH):
        states[b], every = attention_oracles.attention_encoder(
            x[b], MASK[b], weights, 2, WINDOWS, SENTENCES[b]
        )
        for place, (n, head, _) in enumerate(SIGNALS):
            near = SENTENCES[b] if (n, head) in WINDOWS else None
            wanted = attention_oracles.targets_of(TARGETS[place][b], MASK[b], near)
            shown[b, place] = every[n - 1][head]
            loss += attention_oracles.attention_loss(shown[b, place], wanted)[0]
    return states, shown, 0.3 * loss / MASK.any(axis=1).sum()


def test_states_attention_loss_and_gradients_follow_the_equations():
    rng = np.random.default_rng(0)
    layer, x = make_layer(return_supervised=True), random_features(rng, BATCH, TIME)
    # States of masked tokens do not count, nor does attention for gradients.
    upstream = np.zeros((BATCH, TIME, UNITS + 1 + TIME * len(SIGNALS)), "float32")
    upstream[..., :UNITS] = rng.normal(size=(BATCH, TIME, UNITS)) * MASK[..., None]
    upstream[..., UNITS] = 1 / (BATCH * TIME)

    def function(x):
        (states, attention), _, losses = layer.stateless_call(
            layer.trainable_variables,
            layer.non_trainable_variables,
            x,
            TARGETS,
            SENTENCES,
            mask=MASK,
            return_losses=True,
        )
        loss = ops.broadcast_to(sum(losses), (BATCH, TIME, 1))
        rows = ops.reshape(ops.transpose(attention, (0, 2, 1, 3)), (BATCH, TIME, -1))
        return ops.concatenate([states, loss, rows], axis=-1)

    def flat_oracle(x):
        states, attention, loss = oracle(layer, x)
        rows = attention.transpose(0, 2, 1, 3).reshape(BATCH, TIME, -1)
        return np.concatenate([states, np.full((BATCH, TIME, 1), loss), rows], axis=-1)

    output, gradients = value_and_gradients(function, [x], upstream)
    x = x.astype("float64")
    np.testing.assert_allclose(output[MASK], flat_oracle(x)[MASK], atol=1e-5)
    assert not np.any(output[~MASK][:, UNITS + 1 :])
    assert_gradients(lambda x: np.sum(flat_oracle(x) * upstream), [x], gradients)


def test_dropout_drops_the_same_units_for_all_tokens():
    layer = AttentionEncoder(1, 1, WIDTH, 3, dropout=0.5)
    x = np.zeros((1, TIME, WIDTH), "float32")
    layer.build(x.shape)
    # What is fed is 1 everywhere, attention gives 0, and no norm changes what is dropped.
    for variable in layer.trainable_variables:
        ones = variable is layer.outer[0].bias or variable.name == "gamma"
        variable.assign(np.full(variable.shape, ones, "float32"))
    keras.utils.set_random_seed(3)
    assert layer.projection is None
    states = compiled(lambda x: layer(x, training=True))(x)
    waves = attention_oracles.positions(TIME, WIDTH)[None]
    candidates = [
        attention_oracles.layer_norm(attention_oracles.layer_norm(waves + kept, 1, 0), 1, 0)
        for kept in 2 * np.array(np.meshgrid(*[[0, 1]] * WIDTH)).reshape(WIDTH, -1).T
    ]
    assert min(np.max(np.abs(states - candidate)) for candidate in candidates) < 1e-4


def test_what_a_layer_adds_starts_near_0():
    layer = AttentionEncoder(3, 2, WIDTH - WIDTH % 2, 8, dropout=0.0)
    x = random_features(np.random.default_rng(0), BATCH, TIME)[..., : layer.units]
    x = np.float32(1e-2) * x
    expected = attention_oracles.layer_norm(x.astype("float64"), 1, 0)
    expected = expected + attention_oracles.positions(TIME, layer.units)
    for _ in range(6):
        expected = attention_oracles.layer_norm(expected, 1, 0)
    np.testing.assert_allclose(ops.convert_to_numpy(layer(x)), expected, atol=0.1)


def test_bad_calls_are_refused():
    layer, x = make_layer(), np.zeros((BATCH, TIME, WIDTH), "float32")
    with pytest.raises(ValueError, match="windows need sentences"):
        layer(x, TARGETS)
    with pytest.raises(ValueError, match="Got 1 targets for 3 signals"):
        layer(x, TARGETS[:1], SENTENCES)
