"""The memory of every word against the equations of one memory a sentence, in float64."""

import functools
from collections import namedtuple

import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import EpisodicMemory, WordMemory
from tests.support import memory_oracles
from tests.support.evaluation import (
    assert_gradients,
    compiled,
    nested,
    random_weights,
    stateless,
    value_and_gradients,
)
from tests.support.graphs import random_features

BATCH, TIME, UNITS, PASSES = 3, 5, 3, 3
LENGTHS = (5, 2, 4)
# Attention, compact features, update, masked.
CASES = {
    "dmn": ("gated", False, "gru", True),
    "softmax": ("softmax", False, "gru", True),
    "dmn_plus": ("attention_gru", True, "relu", True),
    "unmasked": ("gated", True, "gru", False),
}
Result = namedtuple("Result", "layer facts question mask weights upstream output gradients")
every_case = pytest.mark.parametrize("name", CASES)


def make_layer(kind, name, **options):
    attention, compact, update, _ = CASES[name]
    options = {"attention": attention, "compact": compact, "update": update, **options}
    layer = kind(UNITS, PASSES, **options)
    layer.build((BATCH, TIME, UNITS), (BATCH, UNITS))
    return layer


@functools.cache
def run(name):
    """The memories of the layer and their gradients."""
    rng = np.random.default_rng(sum(map(ord, name)))
    layer = make_layer(WordMemory, name)
    facts, question = (random_features(rng, BATCH, n, UNITS) for n in (TIME, 1))
    question = question[:, 0]
    mask = np.arange(TIME) < np.array(LENGTHS)[:, None] if CASES[name][-1] else None
    weights = random_weights(layer, rng, scale=0.8)
    upstream = rng.normal(size=(BATCH, TIME, UNITS)).astype("float32")

    def function(facts, question, *weights):
        return stateless(layer, weights, facts, question, mask=mask)[0]

    output, gradients = value_and_gradients(function, [facts, question, *weights], upstream)
    return Result(layer, facts, question, mask, weights, upstream, output, gradients)


def oracle(name, facts, question, *weights):
    """Memories and gates of every word, each from the words up to it alone."""
    result = run(name)
    attention, compact, update, _ = CASES[name]
    mask = np.ones((BATCH, TIME), bool) if result.mask is None else result.mask
    weights = nested(result.layer, weights)
    memories = np.zeros((BATCH, TIME, UNITS))
    gates = np.zeros((BATCH, PASSES, TIME, TIME))
    for b, i in np.ndindex(BATCH, TIME):
        texts = facts[b, : i + 1], question[b], mask[b, : i + 1]
        options = weights, PASSES, attention, compact, update
        memories[b, i], gates[b, :, i, : i + 1] = memory_oracles.episodic_memory(*texts, *options)
    return memories, gates


def float64(name):
    result = run(name)
    return [a.astype("float64") for a in (result.facts, result.question, *result.weights)]


@every_case
def test_every_word_remembers_what_is_read_up_to_it(name):
    result = run(name)
    memories, gates = oracle(name, *float64(name))
    np.testing.assert_allclose(result.output, memories, atol=1e-5, rtol=0)
    result.layer.set_weights(result.weights)
    found = compiled(lambda f, q: result.layer(f, q, mask=result.mask))(
        result.facts, result.question
    )
    np.testing.assert_allclose(found[1], gates, atol=1e-5, rtol=0)


@every_case
def test_gradients_equal_finite_differences_of_the_equations(name):
    result = run(name)
    assert_gradients(
        lambda *arrays: np.sum(oracle(name, *arrays)[0] * result.upstream),
        float64(name),
        result.gradients,
    )


@every_case
def test_the_last_word_remembers_what_a_sentence_does(name):
    result = run(name)
    whole = make_layer(EpisodicMemory, name)
    whole.set_weights(result.weights)
    memory, _ = compiled(lambda f, q: whole(f, q, mask=result.mask))(result.facts, result.question)
    lengths = np.full(BATCH, TIME) if result.mask is None else np.array(LENGTHS)
    np.testing.assert_allclose(result.output[np.arange(BATCH), lengths - 1], memory, atol=1e-5)


def test_without_passes_every_memory_is_the_question():
    layer = WordMemory(UNITS, passes=0)
    rng = np.random.default_rng(2)
    question = random_features(rng, 2, 1, UNITS)[:, 0]
    memories, gates = layer(random_features(rng, 2, TIME, UNITS), question)
    expected = np.repeat(question[:, None], TIME, axis=1)
    np.testing.assert_array_equal(ops.convert_to_numpy(memories), expected)
    assert gates.shape == (2, 0, TIME, TIME)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="end_of_passes is for one memory a text"):
        WordMemory(UNITS, end_of_passes=True)
    with pytest.raises(ValueError, match="passes must be an integer of at least 0, got -2"):
        WordMemory(UNITS, passes=-2)


def test_the_configuration_makes_the_same_layer():
    layer = WordMemory(UNITS, 2, attention="softmax", compact=True, update="relu", dropout=0.1)
    copy = WordMemory.from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()
