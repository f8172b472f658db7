"""Waves of positions against their equation."""

import numpy as np
import pytest

from keras_corefmem.layers import SinusoidalPositions
from tests.support.conformance.evaluation import compiled
from tests.support.oracles import attention as attention_oracles


@pytest.mark.parametrize("precision", ["singles", "doubles"])
@pytest.mark.parametrize("width", [1, 2, 7, 8])
def test_sines_and_cosines_are_added(width, precision, request):
    request.getfixturevalue(precision)
    layer = SinusoidalPositions()
    x = np.random.default_rng(0).normal(size=(2, 40, width)).astype(layer.compute_dtype)
    expected = x + attention_oracles.positions(40, width)
    tolerance = 1e-12 if precision == "doubles" else 1e-5
    np.testing.assert_allclose(compiled(layer)(x), expected, atol=tolerance)
