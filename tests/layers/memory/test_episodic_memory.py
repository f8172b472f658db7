"""The episodic memory and its GRU against their equations in float64."""

import functools
from collections import namedtuple

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import AttentionGRUCell, EpisodicMemory
from tests.support import memory_oracles
from tests.support.evaluation import (
    assert_gradients,
    compiled,
    nested,
    random_weights,
    stateless,
    value_and_gradients,
)
from tests.support.graphs import random_features, random_mask

BATCH, TIME, UNITS, PASSES = 4, 5, 3, 2
# Attention, compact features, update, masked.
CASES = {
    "dmn": ("gated", False, "gru", True),
    "dmn_softmax": ("softmax", False, "gru", True),
    "dmn_plus": ("attention_gru", True, "relu", True),
    "unmasked": ("gated", True, "gru", False),
}
Result = namedtuple("Result", "layer facts question mask weights upstream output gradients")
every_case = pytest.mark.parametrize("name", CASES)


def make_layer(name, **options):
    attention, compact, update, _ = CASES[name]
    layer = EpisodicMemory(UNITS, PASSES, attention, compact, update, **options)
    layer.build((BATCH, TIME, UNITS), (BATCH, UNITS))
    return layer


@functools.cache
def run(name):
    """The memory of the layer and its gradients."""
    rng = np.random.default_rng(sum(map(ord, name)))
    layer = make_layer(name)
    facts, question = (random_features(rng, BATCH, n, UNITS) for n in (TIME, 1))
    question = question[:, 0]
    mask = random_mask(BATCH, TIME) if CASES[name][-1] else None
    weights = random_weights(layer, rng, scale=0.8)
    upstream = rng.normal(size=(BATCH, UNITS)).astype("float32")

    def function(facts, question, *weights):
        return stateless(layer, weights, facts, question, mask=mask)[0]

    output, gradients = value_and_gradients(function, [facts, question, *weights], upstream)
    return Result(layer, facts, question, mask, weights, upstream, output, gradients)


def oracle(name, facts, question, *weights):
    """Memory and gates of every example."""
    result = run(name)
    attention, compact, update, _ = CASES[name]
    mask = np.ones((BATCH, TIME), bool) if result.mask is None else result.mask
    weights = nested(result.layer, weights)
    rows = [
        memory_oracles.episodic_memory(
            facts[b], question[b], mask[b], weights, PASSES, attention, compact, update
        )
        for b in range(BATCH)
    ]
    return np.stack([memory for memory, _ in rows]), np.stack([gates for _, gates in rows])


def float64(name):
    result = run(name)
    return [a.astype("float64") for a in (result.facts, result.question, *result.weights)]


@every_case
def test_memory_and_gates_follow_the_equations(name):
    result = run(name)
    memory, gates = oracle(name, *float64(name))
    np.testing.assert_allclose(result.output, memory, atol=1e-5, rtol=0)
    result.layer.set_weights(result.weights)
    found = compiled(lambda f, q: result.layer(f, q, mask=result.mask))(
        result.facts, result.question
    )
    np.testing.assert_allclose(found[1], gates, atol=1e-5, rtol=0)
    if result.mask is not None:
        assert np.all(found[1].transpose(0, 2, 1)[~result.mask] == 0)


@every_case
def test_gradients_equal_finite_differences_of_the_equations(name):
    result = run(name)
    assert_gradients(
        lambda *arrays: np.sum(oracle(name, *arrays)[0] * result.upstream),
        float64(name),
        result.gradients,
    )


@pytest.mark.parametrize("update_gate", [True, False])
def test_the_fused_gru_equals_its_cell_in_a_keras_rnn(update_gate):
    rng = np.random.default_rng(3)
    cell = AttentionGRUCell(UNITS, update_gate)
    rnn = keras.layers.RNN(cell, return_sequences=True)
    rnn.build((BATCH, TIME, UNITS + 1))
    facts, mask = random_features(rng, BATCH, TIME, UNITS), random_mask(BATCH, TIME)
    attention = rng.uniform(size=(BATCH, TIME)).astype("float32")
    weights = random_weights(rnn, rng)
    upstream = rng.normal(size=(BATCH, TIME, UNITS)).astype("float32")
    rnn.set_weights(weights)

    def fused(facts, attention):
        return cell.run(cell.project(facts), attention, mask)

    def plain(facts, attention):
        return rnn(ops.concatenate([facts, attention[..., None]], axis=-1), mask=mask)

    output, gradients = value_and_gradients(fused, [facts, attention], upstream)
    expected, others = value_and_gradients(plain, [facts, attention], upstream)
    np.testing.assert_allclose(output, expected, atol=1e-5)
    for found, other in zip(gradients, others, strict=True):
        np.testing.assert_allclose(found, other, atol=1e-5)
    oracle_weights = {
        weight.name: value for weight, value in zip(rnn.weights, weights, strict=True)
    }
    for b in range(BATCH):
        states = memory_oracles.attention_gru(
            facts[b], attention[b], mask[b], oracle_weights, update_gate
        )
        np.testing.assert_allclose(output[b], states, atol=1e-5)


def test_reading_ends_where_a_pass_attends_to_its_end():
    rng = np.random.default_rng(5)
    layer = make_layer("dmn", end_of_passes=True)
    layer.set_weights(random_weights(layer, rng))
    facts, question = (
        random_features(rng, 32, TIME, UNITS),
        random_features(rng, 32, 1, UNITS)[:, 0],
    )
    memory, gates = compiled(layer)(facts, question)
    assert gates.shape == (32, PASSES, TIME + 1)
    ended = gates[:, 0].argmax(axis=-1) == TIME
    assert 0 < ended.sum() < 32
    np.testing.assert_array_equal(memory[ended], question[ended])
    assert np.all(np.any(memory[~ended] != question[~ended], axis=-1))
    # There was no second pass.
    assert np.all(gates[ended, 1] == 0) and np.all(gates[~ended, 1] > 0)


@pytest.mark.parametrize("end_of_passes", [False, True])
def test_the_loss_of_gates_is_the_cross_entropy_of_supporting_facts(end_of_passes):
    rng = np.random.default_rng(7)
    layer = EpisodicMemory(UNITS, 3, end_of_passes=end_of_passes, gate_loss=0.5)
    facts, question = random_features(rng, 4, TIME, UNITS), random_features(rng, 4, 1, UNITS)[:, 0]
    # More facts than passes, none, one, and two.
    wanted = np.array([[5, 2, 1, 4], [0, 0, 0, 0], [3, 0, 0, 0], [1, 4, 0, 0]], "int32")
    layer(facts, question, wanted)
    layer.set_weights(random_weights(layer, rng))
    gates = np.array(layer(facts, question, wanted)[1], "float64")
    for text in gates:
        for n in range(1, len(text)):
            # Behind the end of the reading, the memory and thus the scores are the same.
            text[n] = text[n] if text[n].any() else text[n - 1]
    odds = gates / (1 - gates)
    logs = np.log(odds / odds.sum(axis=-1, keepdims=True))
    pairs = [(0, 0, 5), (0, 1, 2), (0, 2, 1), (2, 0, 3), (3, 0, 1), (3, 1, 4)]
    if end_of_passes:
        pairs += [(2, 1, TIME + 1), (3, 2, TIME + 1)]
    expected = -0.5 * np.mean([logs[b][n][fact - 1] for b, n, fact in pairs])
    assert [float(loss) for loss in layer.losses] == [pytest.approx(expected, rel=1e-5)]
    layer(facts, question, np.zeros((4, 2), "int32"))
    assert [float(loss) for loss in layer.losses] == [0]
    layer(facts, question)
    assert layer.losses == []


def test_supervised_gates_learn_to_pick_their_facts():
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(8)
    sizes = {"facts": (TIME, UNITS), "question": (UNITS,)}
    facts = rng.integers(1, TIME + 1, (64, 2))
    inputs = {name: keras.Input(shape, name=name) for name, shape in sizes.items()}
    inputs["wanted"] = keras.Input((2,), dtype="int32", name="wanted")
    layer = EpisodicMemory(UNITS, 2, gate_loss=1.0)
    memory, gates = layer(inputs["facts"], inputs["question"], inputs["wanted"])
    model = keras.Model(inputs, memory)
    model.compile(keras.optimizers.Adam(0.03), "mse", jit_compile=True)
    features = {
        "facts": random_features(rng, 64, TIME, UNITS),
        "question": random_features(rng, 64, 1, UNITS)[:, 0],
        "wanted": facts.astype("int32"),
    }
    # The facts to pick are marked, one in the first unit and one in the second.
    features["facts"][..., :2] = 0
    for n in range(2):
        features["facts"][np.arange(64), facts[:, n] - 1, n] = 3
    often = {name: np.concatenate([array] * 200) for name, array in features.items()}
    model.fit(often, often["question"], batch_size=64, verbose=0)
    picked = keras.Model(inputs, gates).predict(features, verbose=0).argmax(axis=-1) + 1
    assert np.mean(picked == facts) > 0.85


def test_without_passes_the_memory_is_the_question():
    layer = EpisodicMemory(UNITS, passes=0)
    facts, question = np.ones((2, TIME, UNITS), "float32"), np.ones((2, UNITS), "float32")
    memory, gates = layer(facts, question)
    np.testing.assert_array_equal(ops.convert_to_numpy(memory), question)
    assert gates.shape == (2, 0, TIME)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="passes must be an integer of at least 0, got -1"):
        EpisodicMemory(UNITS, passes=-1)
    with pytest.raises(ValueError, match="attention must be one of gated, softmax"):
        EpisodicMemory(UNITS, attention="hard")
    with pytest.raises(ValueError, match="gate_loss must not be negative, got -1"):
        EpisodicMemory(UNITS, gate_loss=-1)
    with pytest.raises(ValueError, match="update must be one of gru, relu; got 'lstm'"):
        EpisodicMemory(UNITS, update="lstm")
    with pytest.raises(ValueError, match="must be 3 wide, as the memory; got 4 and 3"):
        EpisodicMemory(UNITS)(np.zeros((1, 2, 4), "float32"), np.zeros((1, 3), "float32"))
