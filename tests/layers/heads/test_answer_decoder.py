"""The answer decoder against its equations in float64."""

import numpy as np

from keras_corefmem.layers import AnswerDecoder
from tests.support.conformance.evaluation import assert_follows
from tests.support.conformance.graphs import random_features
from tests.support.oracles.recurrence import gru_step, softmax

BATCH, UNITS, FEATURES, WORDS, LENGTH = 3, 4, 2, 5, 3


def oracle(memory, question, *weights):
    kernel, recurrent, bias, output, output_bias = weights
    gru = {"kernel": kernel, "recurrent_kernel": recurrent, "bias": bias}
    rows = []
    for state, vector in zip(memory, question, strict=True):
        said, logits = np.zeros(WORDS), []
        for _ in range(LENGTH):
            state = gru_step(np.concatenate([said, vector]), state, state, gru)
            logits.append(state @ output + output_bias)
            said = softmax(logits[-1])
        rows.append(logits)
    return np.array(rows)


def test_logits_and_gradients_follow_the_equations():
    layer, rng = AnswerDecoder(WORDS, LENGTH), np.random.default_rng(1)
    layer.build((BATCH, UNITS), (BATCH, FEATURES))
    inputs = [random_features(rng, BATCH, 1, width)[:, 0] for width in (UNITS, FEATURES)]
    logits, _ = assert_follows(layer, oracle, inputs, scale=0.8)
    assert np.ptp(logits, axis=1).min() > 1e-3
    assert logits.shape == layer.compute_output_spec(*inputs).shape
