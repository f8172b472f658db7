import keras
import numpy as np
from keras import ops

from keras_corefmem.layers import SentenceEnds, SplitSequences
from tests.support.conformance.evaluation import evaluate
from tests.support.conformance.graphs import random_features


def test_gives_back_what_was_joined():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 3, 4)), random.normal(size=(2, 5, 4))
    parts = SplitSequences()(np.concatenate([first, second], axis=1), first)
    for part, sequence in zip(parts, (first, second), strict=True):
        np.testing.assert_allclose(keras.ops.convert_to_numpy(part), sequence, rtol=1e-6)


def test_shapes_are_known_where_the_inputs_are():
    for time, rest in ((8, 5), (None, None)):
        parts = SplitSequences()(keras.Input((time, 4)), keras.Input((3, 6)))
        assert [part.shape for part in parts] == [(None, 3, 4), (None, rest, 4)]


def test_sentence_ends_have_the_last_state_of_each_sentence():
    states = random_features(np.random.default_rng(3), 2, 4 * 3, 6)
    layer = SentenceEnds(3)
    expected = states.reshape(2, 4, 3, 6)[:, :, -1]
    np.testing.assert_array_equal(evaluate(layer, states), expected)
    assert layer.compute_output_shape(states.shape) == expected.shape
    mask = np.zeros((2, 4 * 3), bool)
    mask[:, :1] = mask[1, 3 + 2] = True
    sentence_mask = ops.convert_to_numpy(layer.compute_mask(states, ops.convert_to_tensor(mask)))
    assert sentence_mask.tolist() == [[True, n == 1, False, False] for n in range(2)]
