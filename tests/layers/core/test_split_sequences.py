import keras
import numpy as np

from keras_corefmem.layers import SplitSequences


def test_gives_back_what_was_joined():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 3, 4)), random.normal(size=(2, 5, 4))
    parts = SplitSequences()(np.concatenate([first, second], axis=1), first)
    for part, sequence in zip(parts, (first, second), strict=True):
        np.testing.assert_allclose(keras.ops.convert_to_numpy(part), sequence, rtol=1e-6)


def test_shapes_are_known_where_the_inputs_are():
    states, first = keras.Input((8, 4)), keras.Input((3, 6))
    assert [part.shape for part in SplitSequences()(states, first)] == [(None, 3, 4), (None, 5, 4)]
    states = keras.Input((None, 4))
    assert [part.shape for part in SplitSequences()(states, first)][1] == (None, None, 4)
