"""Highway layers against their equation."""

import numpy as np
from keras import ops

from keras_corefmem.layers import Highway
from tests.support.conformance.evaluation import assert_follows
from tests.support.conformance.graphs import WIDTH, random_features
from tests.support.oracles import attention as attention_oracles

SHAPE = (2, 3, WIDTH)


def oracle(x, *weights):
    layers = zip(weights[:2], weights[2:4], weights[4:], strict=True)
    return attention_oracles.highway(x, list(layers))


def test_output_and_gradients_follow_the_equation():
    layer = Highway()
    layer.build(SHAPE)
    assert_follows(layer, oracle, [random_features(np.random.default_rng(0), *SHAPE[:2])])


def test_most_is_passed_on_at_first():
    layer = Highway(1)
    layer.build(SHAPE)
    layer.kernels[0].assign(np.zeros((WIDTH, 2 * WIDTH), "float32"))
    x = random_features(np.random.default_rng(1), 2, 3)
    passed = 1 / (1 + np.exp(-1))
    np.testing.assert_allclose(ops.convert_to_numpy(layer(x)), passed * x, rtol=1e-5)
