"""Gradients times a factor."""

import numpy as np
import pytest

from keras_corefmem.layers import ScaledGradient
from tests.support.conformance.evaluation import value_and_gradients


@pytest.mark.parametrize("factor", [1.0, 0.0, -0.5])
def test_the_inputs_are_passed_on_and_their_gradient_is_scaled(factor):
    layer, rng = ScaledGradient(), np.random.default_rng(0)
    x, upstream = rng.normal(size=(2, 3, 4)).astype("float32")
    layer.build(x.shape)
    assert float(layer.factor) == 1 and layer.trainable_weights == []
    layer.factor.assign(factor)
    output, (gradient,) = value_and_gradients(layer, [x], upstream)
    np.testing.assert_array_equal(output, x)
    np.testing.assert_allclose(gradient, factor * upstream, rtol=1e-6)
