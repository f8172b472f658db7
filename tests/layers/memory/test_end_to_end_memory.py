"""The memory of MemN2N against its equations, one sentence at a time."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import EndToEndMemory
from tests.support.conformance.evaluation import compiled, nested, randomize
from tests.support.oracles import stories as story_oracles
from tests.support.oracles.stories import BATCH, TIME, UNITS, VOCABULARY, WORDS


def make_memory(**options):
    arguments = {"time_noise": 0.0, **options}
    layer = EndToEndMemory(VOCABULARY, UNITS, 2, 3, WORDS, [8, 2, 5], **arguments)
    layer.build((BATCH, TIME, WORDS), (BATCH, WORDS))
    randomize(layer, np.random.default_rng(5), scale=0.5)
    return layer


@pytest.fixture
def story():
    features = story_oracles.stories()
    return features["sentences"], features["question"]


@pytest.mark.parametrize("linear", [False, True])
def test_end_to_end_memory_follows_the_equations(story, linear):
    layer = make_memory()
    layer.linear.assign(float(linear))
    values = {v.path: ops.convert_to_numpy(v) for v in layer.trainable_variables}
    weights = {"memory": nested(values)[layer.name]}
    logits, attention = compiled(layer)(*story)
    for b, texts in enumerate(zip(*story, strict=True)):
        expected = story_oracles.end_to_end_memory_network(
            weights, layer.get_config(), *texts, linear
        )
        np.testing.assert_allclose(logits[b], expected[0], atol=1e-4, rtol=1e-5)
        np.testing.assert_allclose(attention[b], expected[1].T, atol=1e-4, rtol=1e-5)


def test_types_are_inferred(doubles):
    layer, story = make_memory(), story_oracles.stories()
    arrays = story["sentences"], story["question"]
    symbols = layer(*(keras.KerasTensor(array.shape, "int32") for array in arrays))
    types = [keras.backend.standardize_dtype(output.dtype) for output in layer(*arrays)]
    assert types == [symbol.dtype for symbol in symbols] == ["float32", "float64"]


def test_noise_moves_sentences_back_in_training_alone(story):
    layer, read = make_memory(time_noise=1.0), np.ones((1, 4), bool)
    assert ops.convert_to_numpy(layer.ages(read, training=False)).tolist() == [[2, 2, 1, 0]]
    assert ops.convert_to_numpy(layer.ages(read, training=True)).tolist() == [[2, 2, 2, 1]]
    without = make_memory()
    np.testing.assert_array_equal(compiled(layer)(*story)[0], compiled(without)(*story)[0])
