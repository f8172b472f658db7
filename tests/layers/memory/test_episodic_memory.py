"""The episodic memory, its memory of every word and its GRU against equations in float64."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import AttentionGRUCell, EntityMemory, EpisodicMemory, WordMemory
from tests.support.conformance.evaluation import (
    assert_agree,
    assert_follows,
    compiled,
    nested,
    random_weights,
)
from tests.support.conformance.graphs import random_features, random_mask
from tests.support.oracles import memory as memory_oracles
from tests.support.tiers import standing_for

BATCH, TIME, UNITS, PASSES = 4, 5, 3, 3
# Attention, compact features, update, masked.
CASES = {
    "dmn": ("gated", False, "gru", True),
    "dmn_softmax": ("softmax", False, "gru", True),
    "dmn_plus": ("attention_gru", True, "relu", True),
    "unmasked": ("gated", True, "gru", False),
}
every_kind = pytest.mark.parametrize("kind", [EpisodicMemory, WordMemory])


def make_layer(kind, name, **options):
    names = "attention", "compact", "update"
    layer = kind(UNITS, PASSES, **dict(zip(names, CASES[name], strict=False)), **options)
    layer.build((BATCH, TIME, UNITS), (BATCH, UNITS))
    return layer


def make_inputs(rng, batch=BATCH):
    """Facts and questions."""
    return random_features(rng, batch, TIME, UNITS), random_features(rng, batch, 1, UNITS)[:, 0]


def make_mask(kind, name):
    """The mask of a case; the words of a `WordMemory` have padding behind them."""
    if not CASES[name][-1]:
        return None
    if kind is EpisodicMemory:
        return random_mask(BATCH, TIME)
    return np.arange(TIME) < np.array([5, 2, 4, 3])[:, None]


def oracle(layer, name, mask, facts, question, *weights):
    """Memory and gates of every text; those of a word come from the words up to it alone."""
    paths = [variable.path for variable in layer.trainable_variables]
    weights = nested(dict(zip(paths, weights, strict=True)))[layer.name]
    options = weights, PASSES, *CASES[name][:3]
    mask, rows = np.ones((BATCH, TIME), bool) if mask is None else mask, []
    for b in range(BATCH):
        if type(layer) is EpisodicMemory:
            memory, gates = memory_oracles.episodic_memory(facts[b], question[b], mask[b], *options)
        else:
            memory, gates = np.zeros((TIME, UNITS)), np.zeros((PASSES, TIME, TIME))
            for i in range(TIME):
                text = facts[b, : i + 1], question[b], mask[b, : i + 1]
                memory[i], gates[:, i, : i + 1] = memory_oracles.episodic_memory(*text, *options)
        rows.append(np.concatenate([memory.ravel(), gates.ravel()]))
    return np.array(rows)


def join(outputs):
    return ops.concatenate([ops.reshape(output, (BATCH, -1)) for output in outputs], axis=-1)


EQUATIONS = [*((name, "singles") for name in CASES), ("dmn", "doubles")]
# Calls of `test_conformance` have no mask, and words the memory of the words up to them.
OF_SENTENCES = [case for case in EQUATIONS if case[0] != "unmasked" and case != ("dmn", "singles")]
OF_WORDS = [("dmn_plus", "singles")]


@pytest.mark.parametrize(
    ("name", "precision", "kind"),
    [
        pytest.param(*case, kind, marks=() if case in kept else pytest.mark.thorough)
        for kind, kept in ((EpisodicMemory, OF_SENTENCES), (WordMemory, OF_WORDS))
        for case in EQUATIONS
    ],
)
def test_memory_gates_and_gradients_follow_the_equations(kind, name, precision, request):
    request.getfixturevalue(precision)
    layer, mask = make_layer(kind, name), make_mask(kind, name)
    inputs = make_inputs(np.random.default_rng(sum(map(ord, name))))
    output, _ = assert_follows(
        layer, lambda *arrays: oracle(layer, name, mask, *arrays), inputs, 0.8, join, mask=mask
    )
    if mask is not None and kind is EpisodicMemory:
        gates = output[:, UNITS:].reshape(BATCH, PASSES, TIME)
        assert np.all(gates.transpose(0, 2, 1)[~mask] == 0)


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

    output = assert_agree(fused, plain, [facts, attention], upstream)
    oracle_weights = {
        weight.name: value for weight, value in zip(rnn.weights, weights, strict=True)
    }
    for b in range(BATCH):
        states = memory_oracles.attention_gru(
            facts[b], attention[b], mask[b], oracle_weights, update_gate
        )
        np.testing.assert_allclose(output[b], states, atol=1e-5)


@pytest.mark.parametrize("attention", ["softmax", "attention_gru"])
def test_nothing_is_attended_to_if_all_facts_are_masked(attention):
    facts, question = make_inputs(np.random.default_rng(5))
    for kind in (EpisodicMemory, WordMemory):
        _, gates = kind(UNITS, 2, attention)(facts, question, mask=np.zeros(facts.shape[:2], bool))
        assert not np.any(ops.convert_to_numpy(gates))


def test_reading_ends_where_a_pass_attends_to_its_end():
    rng = np.random.default_rng(5)
    layer = make_layer(EpisodicMemory, "dmn", end_of_passes=True)
    layer.set_weights(random_weights(layer, rng))
    facts, question = make_inputs(rng, 32)
    memory, gates = compiled(layer)(facts, question)
    assert gates.shape == (32, 3, TIME + 1)
    ended = gates[:, 0].argmax(axis=-1) == TIME
    assert 0 < ended.sum() < 32
    np.testing.assert_array_equal(memory[ended], question[ended])
    assert np.all(np.any(memory[~ended] != question[~ended], axis=-1))
    # There was no second pass.
    assert np.all(gates[ended, 1:] == 0) and np.all(gates[~ended, 1] > 0)


def test_known_facts_keep_the_reading_going_in_training():
    rng, facts = np.random.default_rng(5), np.array([[2, 4], [3, 0], [0, 0], [1, 2]], "int32")
    layer, plain = (
        make_layer(EpisodicMemory, "dmn", end_of_passes=True, teacher_forcing=forced)
        for forced in (True, False)
    )
    layer.set_weights(random_weights(layer, rng))
    plain.set_weights(layer.get_weights())
    inputs = make_inputs(rng, 4)

    def gates_of(layer, training):
        return ops.convert_to_numpy(layer(*inputs, facts, training=training)[1])

    # A pass for each fact, and one to end; where none is known, the gates decide.
    made = gates_of(layer, True).any(axis=-1).sum(axis=-1)
    by_gates = gates_of(plain, True)
    decided = by_gates.any(axis=-1).sum(axis=-1)
    assert made.tolist() == [3, 2, decided[2], 3] and decided.tolist() != made.tolist()
    np.testing.assert_allclose(gates_of(layer, False), by_gates, atol=1e-6)


@pytest.mark.parametrize("attention", ["gated", "softmax"])
@pytest.mark.parametrize("end_of_passes", [False, True])
def test_the_loss_of_gates_is_the_cross_entropy_of_supporting_facts(end_of_passes, attention):
    rng = np.random.default_rng(7)
    layer = EpisodicMemory(UNITS, 3, attention, end_of_passes=end_of_passes, gate_loss=0.5)
    facts, question = make_inputs(rng, 4)
    # More facts than passes, none, one, and two.
    wanted = np.array([[5, 2, 1, 4], [0, 0, 0, 0], [3, 0, 0, 0], [1, 4, 0, 0]], "int32")
    layer(facts, question, wanted)
    layer.set_weights(random_weights(layer, rng))
    gates = np.array(layer(facts, question, wanted)[1], "float64")
    for text in gates:
        for n in range(1, len(text)):
            # Behind the end of the reading, the memory and thus the scores are the same.
            text[n] = text[n] if text[n].any() else text[n - 1]
    pairs = [(0, 0, 5), (0, 1, 2), (0, 2, 1), (2, 0, 3), (3, 0, 1), (3, 1, 4)]
    if end_of_passes:
        pairs += [(2, 1, TIME + 1), (3, 2, TIME + 1)]
    rows = [(gates[b][n], np.arange(gates.shape[-1]) == fact - 1) for b, n, fact in pairs]
    # Sigmoids are gates of their own, each of which should be open or shut.
    logs = [np.log(np.where(right, g, 1 - g if attention == "gated" else 1)) for g, right in rows]
    expected = -0.5 * np.mean(np.sum(logs, axis=-1))
    assert [float(loss) for loss in layer.losses] == [pytest.approx(expected, rel=1e-5)]
    layer(facts, question, np.zeros((4, 2), "int32"))
    assert [float(loss) for loss in layer.losses] == [0]
    layer(facts, question)
    assert layer.losses == []


@pytest.mark.parametrize("end_of_passes", [False, True])
def test_facts_that_are_masked_or_outside_do_not_count(end_of_passes):
    layer = EpisodicMemory(UNITS, 2, end_of_passes=end_of_passes, gate_loss=1.0)
    inputs, mask = make_inputs(np.random.default_rng(8)), np.ones((BATCH, TIME), "bool")
    mask[:, -1] = False
    losses = []
    for fact in (TIME, TIME + 1, TIME + 9):
        layer(*inputs, np.full((BATCH, 1), fact), mask=mask)
        losses.append(float(layer.losses[0]))
    # The pass behind these facts should attend to the end.
    assert losses == [losses[0]] * 3 and (0 < losses[0] < 99 if end_of_passes else not losses[0])
    # Nor do any facts of a text that has none.
    layer(inputs[0][:, :0], inputs[1], np.full((BATCH, 1), 1))
    assert (0 < float(layer.losses[0]) < 99) == end_of_passes


@every_kind
def test_without_passes_the_memory_is_the_question(kind):
    facts, question = make_inputs(np.random.default_rng(2))
    memory, gates = map(ops.convert_to_numpy, kind(UNITS, passes=0)(facts, question))
    words = (TIME,) if kind is WordMemory else ()
    expected = np.broadcast_to(question[:, None] if words else question, memory.shape)
    np.testing.assert_array_equal(memory, expected)
    assert memory.shape == (BATCH, *words, UNITS) and gates.shape == (BATCH, 0, *words, TIME)


@every_kind
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_weights_may_have_half_precision(kind, dtype):
    facts, question = make_inputs(np.random.default_rng(4))
    memory, _ = make_layer(kind, "dmn_plus", dtype=dtype)(facts, question)
    assert keras.backend.standardize_dtype(memory.dtype) == dtype
    assert np.all(np.isfinite(ops.convert_to_numpy(ops.cast(memory, "float32"))))


def test_supporting_facts_that_are_no_integers_have_no_loss():
    facts, question = make_inputs(np.random.default_rng(4))
    layer = EpisodicMemory(UNITS, PASSES, gate_loss=1.0)
    for fact, counts in ((1.7, False), (np.nan, False), (3e9, False), (2, True)):
        layer(facts, question, np.full((BATCH, 1), fact, "float32"))
        assert (float(layer.losses[0]) > 0) == counts


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX knows all shapes before")
@pytest.mark.parametrize(
    "make", standing_for([EpisodicMemory, WordMemory, EntityMemory], [EntityMemory])
)
def test_questions_of_other_rows_fail_where_batches_are_unknown_before(make):
    import tensorflow as tf

    memory = make(3, 4, question_dependent=True) if make is EntityMemory else make(4)
    specs = tf.TensorSpec((None, 5, 4), "float32"), tf.TensorSpec((None, 4), "float32")
    sentences, questions = np.ones((3, 5, 4), "float32"), np.ones((3, 4), "float32")
    for xla in (False, True):
        function = tf.function(memory, specs, autograph=False, jit_compile=xla)
        function(sentences, questions)
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(sentences, questions[:1])
