"""Words that a model reads by their characters."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import ContextualVectors, SpelledWords

SPELLINGS = [[0, 0, 0], [1, 0, 0], [3, 1, 2], [2, 2, 0]]
WORDS = np.array([[2, 1, 0], [3, 2, 1]])


def make_model(layers=2, names=("words", "characters")):
    """A model whose vectors depend on characters and on which words are there."""
    shapes = dict(zip(names, [(None,), (None, 3)], strict=True))
    words, characters = (keras.Input(s, dtype="int32", name=n) for n, s in shapes.items())
    first = ops.sum(keras.layers.Embedding(5, 4)(characters), axis=2)
    read = ops.cast(ops.not_equal(words, 0), "float32")[..., None]
    outputs = [first * read, ops.cumsum(first * read, axis=1)][:layers]
    inputs = dict(zip(names, [words, characters], strict=True))
    return keras.Model(inputs, outputs if layers > 1 else outputs[0])


@pytest.mark.parametrize("layers", [1, 2])
def test_words_are_read_as_they_are_spelled(layers):
    model = make_model(layers)
    features = {"words": WORDS, "characters": np.array(SPELLINGS)[WORDS]}
    expected, layer = model(features), SpelledWords(model, SPELLINGS)
    copy = SpelledWords.from_config(layer.get_config())
    copy(WORDS)
    copy.set_weights(layer.get_weights())
    for each in (layer, copy):
        found = each(WORDS)
        for array, wanted in zip(*map(keras.tree.flatten, (found, expected)), strict=True):
            np.testing.assert_allclose(array, wanted, atol=1e-6)
    vectors = ContextualVectors(layer)(WORDS)
    mean = sum(map(ops.convert_to_numpy, keras.tree.flatten(expected))) / layers
    np.testing.assert_allclose(vectors, mean, atol=1e-6)


@pytest.mark.parametrize(
    "model, spellings, message",
    [
        (make_model(1, ("words", "letters")), SPELLINGS, "a dictionary of words and characters"),
        (make_model(), [[1, 2], [3, 4]], "spellings must have 3 ids of characters for each word"),
        (make_model(), [1, 2, 3], "spellings must have 3 ids of characters for each word"),
    ],
)
def test_models_and_spellings_fit(model, spellings, message):
    with pytest.raises(ValueError, match=message):
        SpelledWords(model, spellings)
