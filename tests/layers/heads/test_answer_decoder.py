"""The answer decoder against its equations in float64."""

import keras
import numpy as np
import pytest

from keras_corefmem.layers import AnswerDecoder
from tests.support.evaluation import (
    assert_gradients,
    compiled,
    random_weights,
    stateless,
    value_and_gradients,
)
from tests.support.graphs import random_features
from tests.support.oracles import gru_step, softmax

BATCH, UNITS, ASKED, WORDS, LENGTH = 3, 4, 2, 5, 3


@pytest.fixture(scope="module")
def layer():
    layer = AnswerDecoder(WORDS, LENGTH)
    layer.build((BATCH, UNITS), (BATCH, ASKED))
    layer.set_weights(random_weights(layer, np.random.default_rng(0), scale=0.8))
    return layer


@pytest.fixture(scope="module")
def inputs():
    rng = np.random.default_rng(1)
    memory, question = (random_features(rng, BATCH, 1, width)[:, 0] for width in (UNITS, ASKED))
    return memory, question


def oracle(memory, question, *weights):
    kernel, recurrent, bias, output, output_bias = weights
    gru = {"kernel": kernel, "recurrent_kernel": recurrent, "bias": bias}
    rows = []
    for state, asked in zip(memory, question, strict=True):
        said, logits = np.zeros(WORDS), []
        for _ in range(LENGTH):
            state = gru_step(np.concatenate([said, asked]), state, state, gru)
            logits.append(state @ output + output_bias)
            said = softmax(logits[-1])
        rows.append(logits)
    return np.array(rows)


def test_logits_follow_the_equations(layer, inputs):
    expected = oracle(*(a.astype("float64") for a in (*inputs, *layer.get_weights())))
    assert np.ptp(expected, axis=1).min() > 1e-3
    found = compiled(layer)(*inputs)
    assert found.shape == layer.compute_output_spec(*map(keras.ops.convert_to_tensor, inputs)).shape
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_gradients_equal_finite_differences_of_the_equations(layer, inputs):
    weights = layer.get_weights()
    upstream = np.random.default_rng(2).normal(size=(BATCH, LENGTH, WORDS)).astype("float32")

    def function(memory, question, *weights):
        return stateless(layer, weights, memory, question)

    gradients = value_and_gradients(function, [*inputs, *weights], upstream)[1]
    arrays = [a.astype("float64") for a in (*inputs, *weights)]
    assert_gradients(lambda *arrays: np.sum(oracle(*arrays) * upstream), arrays, gradients)


def test_bad_arguments_are_refused():
    for sizes, name in (((0, 2), "words"), ((2, 0), "length")):
        with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1, got 0"):
            AnswerDecoder(*sizes)
