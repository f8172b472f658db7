"""The entity memory against its equations in float64 and its cell in `keras.layers.RNN`."""

import functools
from collections import namedtuple

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import EntityMemory, EntityMemoryCell, EntityOutput
from tests.support import memory_oracles
from tests.support.evaluation import (
    assert_gradients,
    compiled,
    evaluate,
    random_weights,
    stateless,
    value_and_gradients,
)
from tests.support.graphs import random_features, random_mask

BATCH, TIME, SLOTS, UNITS = 4, 6, 3, 4
# Activation, slopes per slot, question dependent, keys given, masked.
CASES = {
    "ren": ("prelu", False, False, False, False),
    "qdren": ("prelu", False, True, False, True),
    "slopes_by_slot": ("prelu", True, True, False, True),
    "tied": ("sigmoid", False, True, True, True),
    "relu": ("relu", False, False, False, True),
    "tanh": ("tanh", False, False, True, False),
    "linear": ("linear", False, True, False, False),
}
Result = namedtuple("Result", "layer arrays mask weights upstream output gradients")
every_case = pytest.mark.parametrize("name", CASES)


def make_layer(name, **options):
    activation, by_slot, question_dependent, _, _ = CASES[name]
    if by_slot:
        activation = keras.layers.PReLU()
    return EntityMemory(
        SLOTS, UNITS, question_dependent=question_dependent, activation=activation, **options
    )


def make_arrays(name, rng):
    """Sentences and, where the case has them, question and keys, by name."""
    _, _, question_dependent, tied, _ = CASES[name]
    arrays = {"sentences": random_features(rng, BATCH, TIME, UNITS)}
    if question_dependent:
        arrays["question"] = random_features(rng, BATCH, 1, UNITS)[:, 0]
    if tied:
        arrays["keys"] = random_features(rng, BATCH, SLOTS, UNITS)
    return arrays


@functools.cache
def run(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    layer, arrays = (
        make_layer(name, return_sequences=True, return_gates=True),
        make_arrays(name, rng),
    )
    mask = random_mask(BATCH, TIME) if CASES[name][-1] else None
    layer.build(
        *(arrays[key].shape if key in arrays else None for key in ("sentences", "question"))
    )
    weights = random_weights(layer, rng)
    upstream = rng.normal(size=(BATCH, TIME, SLOTS, UNITS + 1)).astype("float32")

    def function(*tensors):
        given = dict(zip(arrays, tensors, strict=False))
        sentences = given.pop("sentences")
        memory, gates = stateless(layer, tensors[len(arrays) :], sentences, **given, mask=mask)
        return ops.concatenate([memory, gates[..., None]], axis=-1)

    output, gradients = value_and_gradients(function, [*arrays.values(), *weights], upstream)
    return Result(layer, arrays, mask, weights, upstream, output, gradients)


def oracle(name, arrays):
    """Memory and gates, as the layer gives them."""
    result = run(name)
    given = dict(zip(result.arrays, arrays, strict=False))
    names = [weight.name for weight in result.layer.trainable_variables]
    weights = dict(zip(names, arrays[len(result.arrays) :], strict=True))
    mask = np.ones((BATCH, TIME), bool) if result.mask is None else result.mask
    rows = []
    for b in range(BATCH):
        question = given["question"][b] if "question" in given else None
        keys = given["keys"][b] if "keys" in given else weights["keys"]
        memory, gates = memory_oracles.entity_memory(
            given["sentences"][b], question, keys, mask[b], weights, CASES[name][0]
        )
        rows.append(np.concatenate([memory, gates[..., None]], axis=-1))
    return np.stack(rows)


def float64(name):
    result = run(name)
    return [array.astype("float64") for array in (*result.arrays.values(), *result.weights)]


@every_case
def test_memory_and_gates_follow_the_equations(name):
    np.testing.assert_allclose(run(name).output, oracle(name, float64(name)), atol=1e-5, rtol=0)


@every_case
def test_gradients_equal_finite_differences_of_the_equations(name):
    result = run(name)
    assert_gradients(
        lambda *arrays: np.sum(oracle(name, arrays) * result.upstream),
        float64(name),
        result.gradients,
    )


@pytest.mark.parametrize("name", ["ren", "qdren", "slopes_by_slot", "relu"])
def test_the_layer_equals_its_cell_in_a_keras_rnn(name):
    result = run(name)
    config = {**result.layer.cell.get_config(), "name": "copy"}
    rnn = keras.layers.RNN(EntityMemoryCell.from_config(config), return_sequences=True)
    rnn.build((BATCH, TIME, UNITS * len(result.arrays)))
    # Before the first sentence that is not masked, Keras' output depends on the backend.
    mask = np.ones((BATCH, TIME), bool) if result.mask is None else result.mask
    begun = np.maximum.accumulate(mask, axis=1)[..., None, None]
    upstream = begun * result.upstream[..., :UNITS]

    def function(sentences, *tensors):
        inputs, weights = sentences, tensors
        if "question" in result.arrays:
            question = ops.broadcast_to(tensors[0][:, None], ops.shape(sentences))
            inputs, weights = ops.concatenate([sentences, question], axis=-1), tensors[1:]
        return ops.reshape(
            stateless(rnn, weights, inputs, mask=result.mask), (BATCH, TIME, SLOTS, UNITS)
        )

    output, gradients = value_and_gradients(
        function, [*result.arrays.values(), *result.weights], upstream
    )
    expected = begun * result.output[..., :UNITS]
    np.testing.assert_allclose(begun * output, expected, atol=1e-5)
    alone = value_and_gradients(
        lambda *tensors: stateless(
            result.layer,
            tensors[len(result.arrays) :],
            *tensors[: len(result.arrays)],
            mask=result.mask,
        )[0],
        [*result.arrays.values(), *result.weights],
        upstream,
    )[1]
    for found, expected in zip(alone, gradients, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5, rtol=1e-5)


def test_the_last_memory_and_its_gradients():
    result = run("qdren")
    last = make_layer("qdren")
    last.build((BATCH, TIME, UNITS), (BATCH, UNITS))
    upstream = result.upstream[:, -1, :, :UNITS]

    def function(sentences, question, *weights):
        return stateless(last, weights, sentences, question, mask=result.mask)

    def sliced(sentences, question, *weights):
        return stateless(result.layer, weights, sentences, question, mask=result.mask)[0][:, -1]

    arrays = [*result.arrays.values(), *result.weights]
    output, gradients = value_and_gradients(function, arrays, upstream)
    expected, others = value_and_gradients(sliced, arrays, upstream)
    np.testing.assert_allclose(output, expected, atol=1e-6)
    for found, other in zip(gradients, others, strict=True):
        np.testing.assert_allclose(found, other, atol=1e-5)


def test_slots_have_unit_length_and_masked_sentences_change_nothing():
    result = run("qdren")
    memory = result.output[..., :UNITS]
    np.testing.assert_allclose(np.linalg.norm(memory[:, -1], axis=-1), 1, atol=1e-5)
    for b, t in np.argwhere(~result.mask):
        assert np.all(result.output[b, t, :, UNITS] == 0)
        if t:
            np.testing.assert_array_equal(memory[b, t], memory[b, t - 1])


def test_layers_may_share_a_prelu():
    activation = keras.layers.PReLU(shared_axes=[1])
    layers = [EntityMemory(SLOTS, UNITS, activation=activation) for _ in range(2)]
    x = random_features(np.random.default_rng(0), BATCH, TIME, UNITS)
    before = [
        evaluate(layer, x) if layer.built else ops.convert_to_numpy(layer(x)) for layer in layers
    ]
    activation.alpha.assign(activation.alpha + 0.5)
    after = [evaluate(layer, x) for layer in layers]
    for old, new in zip(before, after, strict=True):
        assert np.max(np.abs(old - new)) > 1e-3


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="activation must be one of prelu, relu"):
        EntityMemory(SLOTS, UNITS, activation="gelu")
    with pytest.raises(ValueError, match="slots must be an integer of at least 1, got 0"):
        EntityMemoryCell(0, UNITS)
    sentences, question = np.zeros((1, 2, UNITS), "float32"), np.zeros((1, UNITS), "float32")
    with pytest.raises(ValueError, match="takes no question"):
        EntityMemory(SLOTS, UNITS)(sentences, question)
    with pytest.raises(ValueError, match="needs a question"):
        EntityMemory(SLOTS, UNITS, question_dependent=True)(sentences)
    with pytest.raises(ValueError, match="as wide as the slots, 4 together; got 5"):
        EntityMemory(SLOTS, UNITS)(np.zeros((1, 2, 5), "float32"))


@pytest.mark.parametrize("activation", ["prelu", "sigmoid"])
def test_the_output_module_follows_the_equations(activation):
    rng = np.random.default_rng(4)
    memory, question = (random_features(rng, BATCH, time, UNITS) for time in (SLOTS, 1))
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
