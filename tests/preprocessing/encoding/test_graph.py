import numpy as np
import pytest

from keras_corefmem.preprocessing.encoding.graph import GraphNumpy


def test_numpy_of_a_graph_takes_along_the_last_axis():
    pytest.importorskip("tensorflow")
    random = np.random.default_rng(0)
    values, indices = random.normal(size=(2, 3, 5)), random.integers(0, 5, (2, 3, 4))
    found = GraphNumpy().take_along_axis(values, indices, axis=-1)
    np.testing.assert_array_equal(found, np.take_along_axis(values, indices, axis=-1))
    with pytest.raises(ValueError, match="axis must be the last of 3, got 1"):
        GraphNumpy().take_along_axis(values, indices, axis=1)
