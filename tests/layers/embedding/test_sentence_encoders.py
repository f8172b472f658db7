"""Layers from words to sentences, and the memory of MemN2N, against their equations."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import (
    EndToEndMemory,
    EntityOutput,
    MultiplicativeMask,
    PositionEncoding,
    SentenceEnds,
)
from tests.support.evaluation import compiled, evaluate, random_weights
from tests.support.graphs import random_features

BATCH, TIME, WORDS, UNITS = 3, 4, 5, 6


@pytest.fixture
def words():
    return random_features(np.random.default_rng(0), BATCH * TIME, WORDS, UNITS).reshape(
        BATCH, TIME, WORDS, UNITS
    )


@pytest.fixture
def mask():
    lengths = np.random.default_rng(1).integers(0, WORDS + 1, (BATCH, TIME, 1))
    return np.arange(WORDS) < lengths


def position_factor(j, k, length, units):
    """Section 4.1 of Sukhbaatar et al., counted from 1."""
    return (1 - j / length) - (k / units) * (1 - 2 * j / length)


def encoded_by_position(words, mask, length):
    result = np.zeros((*words.shape[:2], UNITS))
    for b, t, j, k in np.ndindex(words.shape):
        if mask[b, t, j]:
            result[b, t, k] += position_factor(j + 1, k + 1, length, UNITS) * words[b, t, j, k]
    return result


@pytest.mark.parametrize("length", [WORDS, WORDS + 3])
def test_position_encoding_follows_the_equation(words, mask, length):
    found = evaluate(PositionEncoding(length), words, mask=mask)
    np.testing.assert_allclose(found, encoded_by_position(words, mask, length), atol=1e-5)


def test_the_multiplicative_mask_follows_the_equation(words, mask):
    layer = MultiplicativeMask(WORDS + 2)
    plain = evaluate(layer, words, mask=mask) if layer.built else layer(words, mask=mask)
    np.testing.assert_allclose(
        ops.convert_to_numpy(plain), np.sum(words * mask[..., None], axis=2), atol=1e-5
    )
    (factors,) = random_weights(layer, np.random.default_rng(2))
    layer.set_weights([factors])
    expected = np.einsum("btwd,wd,btw->btd", words, factors[:WORDS], mask)
    np.testing.assert_allclose(evaluate(layer, words, mask=mask), expected, atol=1e-5)


@pytest.mark.parametrize("layer", [PositionEncoding, MultiplicativeMask])
def test_longer_sentences_are_refused(words, layer):
    with pytest.raises(ValueError, match=f"{WORDS} words, but length is 4; pass a larger length"):
        layer(4)(words)


def test_sentence_ends_have_the_last_state_of_each_sentence():
    states = random_features(np.random.default_rng(3), BATCH, TIME * WORDS, UNITS)
    layer = SentenceEnds(WORDS)
    expected = states.reshape(BATCH, TIME, WORDS, UNITS)[:, :, -1]
    np.testing.assert_array_equal(evaluate(layer, states), expected)
    assert layer.compute_output_shape(states.shape) == expected.shape
    mask = np.zeros((BATCH, TIME * WORDS), bool)
    mask[:, :1] = mask[1, WORDS + 2] = True
    found = ops.convert_to_numpy(layer.compute_mask(states, ops.convert_to_tensor(mask)))
    assert found.tolist() == [[True, n == 1, False, False] for n in range(BATCH)]
    with pytest.raises(ValueError, match="length must be an integer of at least 1, got 0"):
        SentenceEnds(0)


@pytest.mark.parametrize("activation", ["prelu", "sigmoid"])
def test_the_output_module_follows_the_equations(activation):
    rng = np.random.default_rng(4)
    memory, question = (random_features(rng, BATCH, time, UNITS) for time in (TIME, 1))
    question = question[:, 0]
    layer = EntityOutput(activation)
    layer.build(memory.shape, question.shape)
    weights = random_weights(layer, rng)
    layer.set_weights(weights)
    named = {variable.name: value for variable, value in zip(layer.weights, weights, strict=True)}
    summary, attention = compiled(layer)(memory, question)
    for b in range(BATCH):
        odds = np.exp(memory[b] @ question[b])
        p = odds / odds.sum()
        np.testing.assert_allclose(attention[b], p, atol=1e-5)
        before = question[b] + (p @ memory[b]) @ named["kernel"]
        expected = 1 / (1 + np.exp(-before))
        if activation == "prelu":
            expected = np.where(before > 0, before, named["alpha"][0] * before)
        np.testing.assert_allclose(summary[b], expected, atol=1e-5)


VOCABULARY, HOPS, PLACES = 9, 2, 3
ANSWERS = [8, 2, 5]


def make_memory(**options):
    arguments = {"time_noise": 0.0, **options}
    layer = EndToEndMemory(VOCABULARY, UNITS, HOPS, PLACES, WORDS, ANSWERS, **arguments)
    layer.build((BATCH, TIME, WORDS), (BATCH, WORDS))
    rng = np.random.default_rng(5)
    for variable in layer.trainable_variables:
        variable.assign(rng.normal(0, 0.5, variable.shape))
    return layer


@pytest.fixture
def story():
    """Sentences, the last two of the first story padding, and questions."""
    rng = np.random.default_rng(6)
    sentences = rng.integers(1, VOCABULARY, (BATCH, TIME, WORDS)).astype("int32")
    sentences[:, :, 3:] *= rng.integers(0, 2, (BATCH, TIME, 1)).astype("int32")
    sentences[0, -2:] = 0
    question = rng.integers(1, VOCABULARY, (BATCH, WORDS)).astype("int32")
    return sentences, question


def end_to_end_memory(layer, sentences, question, linear):
    """Logits and attention of one story, one sentence at a time."""
    tables, times = (
        [ops.convert_to_numpy(weight).astype("float64") for weight in weights]
        for weights in (layer.tables, layer.times)
    )
    read = [n for n, sentence in enumerate(sentences) if sentence.any()]

    def encode(n, tokens):
        total = np.zeros(UNITS)
        for j, token in enumerate(tokens, 1):
            if token:
                k = np.arange(1, UNITS + 1)
                total += 2 * position_factor(j, k, WORDS, UNITS) * tables[n][token]
        return total

    state, attentions = encode(0, question), []
    for hop in range(HOPS):
        memory, output = (
            np.array(
                [
                    encode(n, sentences[i]) + times[n][min(len(read) - 1 - i, PLACES - 1)]
                    for i in read
                ]
            )
            for n in (hop, hop + 1)
        )
        p = memory @ state
        if not linear:
            p = np.exp(p) / (np.exp(p).sum() + max(0, PLACES - len(read)))
        attentions.append(np.pad(p, (0, len(sentences) - len(read))))
        state = state + p @ output
    return tables[-1][ANSWERS] @ state, np.array(attentions)


@pytest.mark.parametrize("linear", [False, True])
def test_end_to_end_memory_follows_the_equations(story, linear):
    layer = make_memory()
    layer.linear.assign(float(linear))
    logits, attention = compiled(layer)(*story)
    for b in range(BATCH):
        expected = end_to_end_memory(layer, story[0][b], story[1][b], linear)
        np.testing.assert_allclose(logits[b], expected[0], atol=1e-4, rtol=1e-5)
        np.testing.assert_allclose(attention[b], expected[1], atol=1e-4, rtol=1e-5)


def test_noise_moves_sentences_back_in_training_alone(story):
    layer = make_memory(time_noise=1.0)
    read = np.ones((1, TIME), bool)
    assert ops.convert_to_numpy(layer.places(read, training=False)).tolist() == [[2, 2, 1, 0]]
    assert ops.convert_to_numpy(layer.places(read, training=True)).tolist() == [[2, 2, 2, 1]]
    quiet = make_memory()
    np.testing.assert_array_equal(compiled(layer)(*story)[0], compiled(quiet)(*story)[0])


def test_the_memory_needs_a_hop():
    with pytest.raises(ValueError, match="hops must be an integer of at least 1, got 0"):
        EndToEndMemory(VOCABULARY, UNITS, 0, PLACES, WORDS, ANSWERS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MultiplicativeMask(4, "zeros"),
        lambda: PositionEncoding(4),
        lambda: SentenceEnds(4),
        lambda: EntityOutput(keras.layers.PReLU(shared_axes=[1])),
        make_memory,
    ],
)
def test_config_round_trip(make):
    layer = make()
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(copy) is type(layer) and copy.get_config() == layer.get_config()
