"""The entity memory against its equations in float64 and its cell in `keras.layers.RNN`."""

import functools

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import EntityMemory, EntityMemoryCell, EntityOutput
from tests.support.conformance.evaluation import (
    assert_agree,
    assert_follows,
    compiled,
    evaluate,
    random_weights,
    stateless,
    value_and_gradients,
)
from tests.support.conformance.graphs import random_features, random_mask
from tests.support.oracles import memory as memory_oracles
from tests.support.tiers import standing_for

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
# `test_conformance` trains without slopes; those by slot are compared in float64.
ALIKE = ["linear", "relu", "slopes_by_slot", "tanh"]


def make(name, **options):
    """A built layer, its inputs by name, and its mask."""
    activation, by_slot, question_dependent, tied, masked = CASES[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    inputs = {"sentences": random_features(rng, BATCH, TIME, UNITS)}
    if question_dependent:
        inputs["question"] = random_features(rng, BATCH, 1, UNITS)[:, 0]
    layer = EntityMemory(
        SLOTS,
        UNITS,
        question_dependent=question_dependent,
        activation=keras.layers.PReLU() if by_slot else activation,
        **options,
    )
    # Built without keys, it has some of its own.
    layer.build(*(array.shape for array in inputs.values()))
    if tied:
        inputs["keys"] = random_features(rng, BATCH, SLOTS, UNITS)
    return layer, inputs, random_mask(BATCH, TIME) if masked else None


def join(outputs):
    """Memory and gates side by side."""
    return ops.concatenate([outputs[0], outputs[1][..., None]], axis=-1)


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        *((name, "singles") for name in CASES if name not in ALIKE),
        *(pytest.param(name, "singles", marks=pytest.mark.thorough) for name in ALIKE),
        ("slopes_by_slot", "doubles"),
    ],
)
def test_memory_gates_and_gradients_follow_the_equations(name, precision, request):
    request.getfixturevalue(precision)
    layer, inputs, mask = make(name, return_sequences=True, return_gates=True)

    def oracle(*arrays):
        given = dict(zip(inputs, arrays, strict=False))
        names = [weight.name for weight in layer.trainable_variables]
        weights = dict(zip(names, arrays[len(inputs) :], strict=True))
        rows = []
        for b in range(BATCH):
            memory, gates = memory_oracles.entity_memory(
                given["sentences"][b],
                given["question"][b] if "question" in given else None,
                given["keys"][b] if "keys" in given else weights["keys"],
                np.ones(TIME, bool) if mask is None else mask[b],
                weights,
                CASES[name][0],
            )
            rows.append(np.concatenate([memory, gates[..., None]], axis=-1))
        return np.stack(rows)

    names = list(inputs)[1:]
    output, _ = assert_follows(layer, oracle, [*inputs.values()], 0.4, join, names, mask=mask)
    np.testing.assert_allclose(np.linalg.norm(output[:, -1, :, :UNITS], axis=-1), 1, atol=1e-5)
    # Masked sentences change nothing.
    for b, t in () if mask is None else np.argwhere(~mask):
        assert np.all(output[b, t, :, UNITS] == 0)
        if t:
            np.testing.assert_array_equal(output[b, t, :, :UNITS], output[b, t - 1, :, :UNITS])


@pytest.mark.parametrize(
    "name", standing_for(["ren", "qdren", "slopes_by_slot", "relu"], ["qdren"])
)
def test_the_layer_equals_its_cell_in_a_keras_rnn(name):
    layer, inputs, mask = make(name, return_sequences=True)
    rng, count = np.random.default_rng(3), len(inputs)
    config = {**layer.cell.get_config(), "name": "copy"}
    rnn = keras.layers.RNN(EntityMemoryCell.from_config(config), return_sequences=True)
    rnn.build((BATCH, TIME, UNITS * count))
    # Before the first sentence that is not masked, Keras' output depends on the backend.
    begun = np.maximum.accumulate(np.ones((BATCH, TIME)) if mask is None else mask, axis=1)
    upstream = rng.normal(size=(BATCH, TIME, SLOTS * UNITS)) * begun[..., None]

    def fused(*tensors):
        memory = stateless(layer, tensors[count:], *tensors[:count], mask=mask)
        return ops.reshape(memory, (BATCH, TIME, SLOTS * UNITS))

    def stepwise(sentences, *tensors):
        texts = [sentences]
        if count > 1:
            texts.append(ops.broadcast_to(tensors[0][:, None], ops.shape(sentences)))
        return stateless(rnn, tensors[count - 1 :], ops.concatenate(texts, axis=-1), mask=mask)

    arrays = [*inputs.values(), *random_weights(layer, rng)]
    assert_agree(fused, stepwise, arrays, upstream.astype("float32"))


@pytest.mark.thorough
def test_the_last_memory_and_its_gradients():
    (last, inputs, mask), (layer, *_) = make("qdren"), make("qdren", return_sequences=True)
    rng = np.random.default_rng(3)
    upstream = rng.normal(size=(BATCH, SLOTS, UNITS)).astype("float32")
    assert_agree(
        lambda s, q, *weights: stateless(last, weights, s, q, mask=mask),
        lambda s, q, *weights: stateless(layer, weights, s, q, mask=mask)[:, -1],
        [*inputs.values(), *random_weights(layer, rng)],
        upstream,
    )


def test_without_sentences_the_memory_holds_the_keys():
    for sequences in (False, True):
        layer = EntityMemory(SLOTS, UNITS, sequences, return_gates=True)
        memory, gates = layer(np.zeros((BATCH, 0, UNITS), "float32"))
        assert gates.shape == (BATCH, 0, SLOTS)
        keys = ops.convert_to_numpy(layer.cell.keys)
        expected = np.broadcast_to(keys, (BATCH, SLOTS, UNITS))
        expected = np.zeros((BATCH, 0, SLOTS, UNITS)) if sequences else expected
        np.testing.assert_array_equal(memory, expected)


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


@pytest.mark.parametrize("axes", [[2], [1, 2]])
def test_slopes_are_shared_along_any_axes(axes):
    rng, results = np.random.default_rng(0), []
    x = random_features(rng, BATCH, TIME, UNITS)
    for shared in (None, axes):
        layer = EntityMemory(SLOTS, UNITS, activation=keras.layers.PReLU(shared_axes=shared))
        layer.build(x.shape)
        weights = results[0][2][:-1] if results else random_weights(layer, rng)[:-1]
        weights += [np.full(layer.cell.activation.alpha.shape, 0.3, "float32")]
        run = functools.partial(lambda layer, x, *weights: stateless(layer, weights, x), layer)
        results.append((*value_and_gradients(run, [x, *weights]), weights))
    (expected, gradients, _), (memory, others, _) = results
    np.testing.assert_allclose(memory, expected, atol=1e-6)
    summed = gradients[-1].sum(axis=tuple(axis - 1 for axis in axes), keepdims=True)
    for other, gradient in zip(others, [*gradients[:-1], summed], strict=True):
        np.testing.assert_allclose(other, gradient, atol=1e-5)


def test_the_output_has_precision_and_type_of_its_layer(halves):
    rng = np.random.default_rng(4)
    memory, question = (random_features(rng, BATCH, time, UNITS) for time in (SLOTS, 1))
    question, layers = question[:, 0], (EntityOutput(dtype="float32"), EntityOutput())
    for layer in layers:
        layer.build(memory.shape, question.shape)
    layers[1].set_weights(layers[0].get_weights())
    for layer, dtype in zip(layers, ("float32", "float16"), strict=True):
        outputs = layer(memory, question)
        symbols = layer(*(keras.KerasTensor(array.shape) for array in (memory, question)))
        for found in (outputs, symbols):
            types = [keras.backend.standardize_dtype(output.dtype) for output in found]
            assert types == [dtype, "float32"]
    # All slopes start at 1.
    output, attention = (ops.convert_to_numpy(each) for each in layers[0](memory, question))
    kernel = ops.convert_to_numpy(layers[0].kernel)
    expected = question + np.einsum("bm,bmd->bd", attention, memory) @ kernel
    np.testing.assert_allclose(output, expected, atol=1e-5)


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


def test_every_call_has_the_inputs_of_the_first():
    sentences, question = (
        np.ones((BATCH, TIME, UNITS), "float32"),
        np.ones((BATCH, UNITS), "float32"),
    )
    layer = EntityMemory(SLOTS, UNITS, question_dependent=True)
    layer(sentences, question)
    with pytest.raises(ValueError, match="needs a question"):
        layer(sentences)
    layer = EntityMemory(SLOTS, UNITS)
    layer(sentences, keys=np.ones((1, SLOTS, UNITS), "float32"))
    with pytest.raises(ValueError, match="keys are needed"):
        layer(sentences)
