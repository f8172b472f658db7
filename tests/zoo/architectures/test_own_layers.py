"""Layers and initializers of users, as arguments of models."""

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem import layers
from tests.support.model_cases import STORIES, features_of, make


def copies_of(model, folder):
    """Copies of a model by all ways that Keras users know."""
    model.save(folder / "model.keras")
    model.save_to_preset(folder / "preset")
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    return zoo.load(folder / "model.keras"), zoo.from_preset(folder / "preset"), clone


def assert_alike(model, folder):
    features = features_of(model, STORIES[:4], 60, 8)
    expected = keras.ops.convert_to_numpy(model(features))
    for copy in copies_of(model, folder):
        assert len(copy.weights) == len(model.weights)
        np.testing.assert_allclose(copy(features), expected, rtol=1e-5, atol=1e-5)


def make_convolution(**options):
    return keras.layers.Conv1D(6, 3, **options)


def make_normed_gru():
    gru = keras.layers.GRU(6, return_sequences=True)
    return keras.Sequential([keras.layers.LayerNormalization(), gru])


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
@pytest.mark.parametrize(
    ("encoder", "joint"),
    [
        (make_convolution(padding="same"), False),
        (make_convolution(padding="same"), True),
        (make_normed_gru(), True),
    ],
)
def test_padding_behind_a_text_is_no_neighbour_of_its_last_word(encoder, joint):
    model = make("as-coref-gru", encoder=encoder, joint=joint)
    encoded = model.preprocessor.encode(STORIES[0])
    sizes = model.preprocessor.length(encoded), model.preprocessor.question_length(encoded)
    exact, *wider = (
        keras.ops.convert_to_numpy(model(features_of(model, STORIES[:1], *more)))
        for more in (sizes, (sizes[0] + 5, sizes[1]), (sizes[0], sizes[1] + 3))
    )
    for logits in wider:
        np.testing.assert_allclose(logits, exact, rtol=1e-4, atol=1e-4)


def test_layers_that_lose_the_mask_are_warned_of():
    inputs, convolve = keras.Input((None, 6)), make_convolution(padding="same")
    chain = keras.Sequential([convolve, make_normed_gru()])
    for encoder in (chain, keras.Model(inputs, convolve(inputs))):
        with pytest.warns(match="encoder: the Conv1D in the .* does not pass on the mask"):
            make("as-gru", encoder=encoder)


def test_layers_that_return_fewer_states_than_tokens_are_refused():
    for joint in (True, False):
        with pytest.raises(ValueError, match="the Conv1D returns 97 for 99: .* padding=.same"):
            make("as-gru", encoder=make_convolution(), joint=joint)


@pytest.mark.parametrize(
    "make_layer",
    [
        lambda: keras.layers.LSTM(6, return_sequences=True),
        lambda: keras.layers.Bidirectional(keras.layers.GRU(3, return_sequences=True)),
        lambda: layers.CorefGRU(6),
    ],
)
def test_an_encoder_that_was_used_before_is_built_anew(make_layer, tmp_path):
    layer = make_layer()
    layer(np.ones((1, 2, 3), "float32"))
    model = make("as-gru", encoder=layer)
    assert layer.built and not set(map(id, layer.weights)) & set(map(id, model.weights))
    assert_alike(model, tmp_path)


def test_weights_of_one_initializer_start_unlike_each_other(tmp_path):
    normal = keras.initializers.RandomNormal(stddev=0.1)
    names = "initializer", "mask_initializer", "question_mask_initializer"
    model = make("ren", spread=0, units=8, **dict.fromkeys(names, normal))
    starts = [np.ravel(weight)[:30] for weight in model.get_weights() if np.std(weight) > 0]
    assert len(starts) >= 8 and all(0 < np.std(start) < 0.2 for start in starts)
    alike = np.abs(np.corrcoef([start[:8] for start in starts])) - np.eye(len(starts))
    assert alike.max() < 0.999
    assert_alike(model, tmp_path)
    assert_alike(make("dmn", embeddings_initializer=normal), tmp_path)


def test_memory_and_output_share_the_activation_of_a_user_in_copies_too(tmp_path):
    slopes = keras.layers.PReLU("ones", shared_axes=[1])
    model = make("ren", activation=slopes)
    assert len(model.weights) == len(make("ren").weights)
    assert_alike(model, tmp_path)
    # The output has no slots.
    of_slots = make("ren", activation=keras.layers.PReLU("ones"))
    assert len(of_slots.weights) == len(model.weights) + 1
    assert_alike(of_slots, tmp_path)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([None, 2], "a token or None for each of 3 answers; got 2"),
        ([None, 2, 10], "below vocabulary_size=10, got 10"),
    ],
)
def test_tokens_that_are_not_those_of_all_answers_are_refused(tokens, message):
    with pytest.raises(ValueError, match=message):
        zoo.EndToEndMemoryNetwork(10, 3, 4, answer_tokens=tokens)
