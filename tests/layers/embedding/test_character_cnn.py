"""The character CNN against its equations, one window at a time, in float64."""

import functools

import numpy as np
import pytest

from keras_corefmem.layers import CharacterCNN
from tests.support.conformance.evaluation import assert_follows
from tests.support.oracles import recurrence as oracles

BATCH, TIME, LENGTH, FEATURES, FILTERS, WIDTHS = 2, 3, 5, 2, 4, (1, 3, 4)
COUNTS = np.array([[5, 1, 3], [2, 0, 4]])
ACTIVATIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}


def make_layer(activation="tanh"):
    layer = CharacterCNN(FILTERS, WIDTHS, activation)
    layer.build((BATCH, TIME, LENGTH, FEATURES))
    return layer


def oracle(activation, characters, *weights):
    *kernels, bias = weights
    result = np.zeros((BATCH, TIME, FILTERS * len(WIDTHS)))
    for b, t in np.ndindex(BATCH, TIME):
        word = characters[b, t, : COUNTS[b, t]]
        result[b, t] = oracles.character_cnn(word, kernels, bias, ACTIVATIONS[activation])
    return result


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_output_and_gradients_follow_the_equations(activation):
    mask = np.arange(LENGTH) < COUNTS[..., None]
    # Masked characters may be anything.
    shape = (BATCH, TIME, LENGTH, FEATURES)
    characters = np.random.default_rng(4).normal(size=shape).astype("float32")
    follows = functools.partial(oracle, activation)
    layer = make_layer(activation)
    output, gradients = assert_follows(layer, follows, [characters], scale=0.7, mask=mask)
    assert not np.any(output[1, 1]) and not np.any(gradients[0][~mask])
