"""Contextual vectors, and the mix of layers against its equation."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import ContextualVectors, LayerMix
from tests.support.conformance.evaluation import assert_follows
from tests.support.oracles.recurrence import softmax

SHAPE = (2, 3, 4, 5)
WORDS = np.array([[1, 2, 0], [3, 1, 2]])


@keras.saving.register_keras_serializable("tests")
def powers(words):
    x = ops.cast(words, "float32")[..., None]
    return [x, x**2, x**3]


@keras.saving.register_keras_serializable("tests")
def flat(words):
    return ops.cast(words, "float32")


def test_layers_of_a_function_are_mixed():
    layer = ContextualVectors(powers)
    vectors = np.asarray(layer(WORDS))
    np.testing.assert_allclose(vectors[..., 0], (WORDS + WORDS**2 + WORDS**3) / 3, rtol=1e-6)
    layer.mix.scores.assign([0.0, 50.0, 0.0])
    np.testing.assert_allclose(np.asarray(layer(WORDS))[..., 0], WORDS**2, rtol=1e-6)
    config = keras.saving.serialize_keras_object(layer)
    assert keras.saving.deserialize_keras_object(config).encoder is powers


def test_one_layer_is_taken_as_it_is_and_a_frozen_one_not_trained():
    encoder = keras.Sequential([keras.layers.Embedding(5, 4)])
    layer = ContextualVectors(encoder, frozen=False)
    np.testing.assert_array_equal(layer(WORDS), encoder(WORDS))
    assert len(layer.trainable_weights) == 1 and not layer.mix.built
    frozen = ContextualVectors(keras.layers.Embedding(5, 4))
    assert frozen(WORDS).shape == (2, 3, 4) and not frozen.trainable_weights


def test_only_an_encoder_that_is_trained_drops_out():
    for frozen in (True, False):
        drop = keras.layers.Dropout(0.5)
        layer = ContextualVectors(keras.Sequential([keras.layers.Embedding(5, 400), drop]), frozen)
        drawn = np.asarray(layer(WORDS, training=True))
        assert np.array_equal(drawn, layer(WORDS)) == frozen


def test_rejects_encoders_without_vectors():
    with pytest.raises(ValueError, match=r"must return \(batch, time, width\)"):
        ContextualVectors(flat)(WORDS)


@pytest.mark.parametrize("precision", ["singles", "doubles"])
def test_a_mix_of_layers_starts_as_the_mean_and_follows_the_equation(precision, request):
    request.getfixturevalue(precision)
    layer = LayerMix()
    x = np.random.default_rng(0).normal(size=SHAPE).astype("float32")
    np.testing.assert_allclose(ops.convert_to_numpy(layer(x)), x.mean(axis=2), atol=1e-6)

    def oracle(x, scores, scale):
        return scale * np.einsum("btkd,k->btd", x, softmax(scores))

    assert_follows(layer, oracle, [x], scale=1)
