"""The memory of MemN2N against its equations, one sentence at a time."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import EndToEndMemory
from tests.support.evaluation import compiled
from tests.support.memory_oracles import position_factor

BATCH, TIME, WORDS, UNITS = 3, 4, 5, 6
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
    assert ops.convert_to_numpy(layer.ages(read, training=False)).tolist() == [[2, 2, 1, 0]]
    assert ops.convert_to_numpy(layer.ages(read, training=True)).tolist() == [[2, 2, 2, 1]]
    quiet = make_memory()
    np.testing.assert_array_equal(compiled(layer)(*story)[0], compiled(quiet)(*story)[0])


def test_the_memory_needs_a_hop():
    with pytest.raises(ValueError, match="hops must be an integer of at least 1, got 0"):
        EndToEndMemory(VOCABULARY, UNITS, 0, PLACES, WORDS, ANSWERS)


def test_config_round_trip():
    layer = make_memory()
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert copy.get_config() == layer.get_config()
