"""The mix of layers against its equation."""

import numpy as np
from keras import ops

from keras_corefmem.layers import LayerMix
from tests.support.evaluation import random_weights, stateless, value_and_gradients
from tests.support.oracles import softmax

SHAPE = (2, 3, 4, 5)


def test_output_and_gradients_follow_the_equation():
    rng = np.random.default_rng(0)
    layer = LayerMix()
    layer.build(SHAPE)
    x, upstream = rng.normal(size=SHAPE).astype("float32"), rng.normal(size=(2, 3, 5))
    scores, scale = weights = random_weights(layer, rng, scale=1)
    output, (by_x, _, by_scale) = value_and_gradients(
        lambda x, *weights: stateless(layer, weights, x),
        [x, *weights],
        upstream.astype("float32"),
    )
    shares = softmax(scores.astype("float64"))
    mixed = sum(share * x[:, :, k] for k, share in enumerate(shares))
    np.testing.assert_allclose(output, scale * mixed, atol=1e-5)
    expected = scale * shares[:, None] * upstream[:, :, None]
    np.testing.assert_allclose(by_x, expected, atol=1e-5)
    np.testing.assert_allclose(by_scale, np.sum(mixed * upstream), rtol=1e-4)


def test_it_starts_as_the_mean():
    x = np.random.default_rng(1).normal(size=SHAPE).astype("float32")
    np.testing.assert_allclose(ops.convert_to_numpy(LayerMix()(x)), x.mean(axis=2), atol=1e-6)
