"""Arguments of the layers over graphs."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import DAGRNN, MAGEGRU, CorefGRU
from tests.support.evaluation import evaluate
from tests.support.graphs import WIDTH

X = np.ones((2, 3, WIDTH), "float32")


def test_dropout_drops_the_same_features_at_every_token():
    sources = np.zeros((2, 3, 1, 1), "int32")
    keras.utils.set_random_seed(0)
    layer = DAGRNN(WIDTH, dropout=0.5)
    layer.build(X.shape, sources.shape)
    layer.set_weights([np.eye(WIDTH), np.zeros((WIDTH, WIDTH)), np.zeros(WIDTH)])
    np.testing.assert_allclose(evaluate(layer, X, sources), np.tanh(X), rtol=1e-6)
    states = ops.convert_to_numpy(layer(X, sources, training=True))
    np.testing.assert_array_equal(states, np.stack([states[:, 0]] * 3, axis=1))
    kept = np.isclose(states, np.tanh(2.0))
    assert np.all(kept | (states == 0)) and not np.all(kept)


@pytest.mark.parametrize("make", [np.array, ops.convert_to_tensor], ids=["array", "tensor"])
@pytest.mark.parametrize("kind, units", [(CorefGRU, 4), (MAGEGRU, (3, 1)), (DAGRNN, 4)])
def test_rejects_edges_that_do_not_fit(kind, units, make):
    layer = kind(units)
    x = np.zeros((2, 5, 3), "float32")
    shape = (2, 5) if isinstance(layer, CorefGRU) else (2, 5, 1, 2)
    edges = np.zeros(shape, "int32")
    for position, message in ((5, "points forward"), (9, "out of range"), (-3, "out of range")):
        edges[1, 3, ...] = position
        with pytest.raises(ValueError, match=f"{position} of example 1 at position 4 .*{message}"):
            layer(x, make(edges))
        with pytest.raises(ValueError, match=message):
            layer(x, **{layer.EDGES[0]: make(edges)})
    for wrong in ((2, 4, *shape[2:]), (2, 5, 1)):
        with pytest.raises(ValueError, match=r"must be \(batch, time"):
            layer(x, make(np.zeros(wrong, "int32")))
    edges[1, 3, ...] = 3
    assert layer(x, make(edges)).shape == (2, 5, 4)
