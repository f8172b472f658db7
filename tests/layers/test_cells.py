"""Cells: the contract of `AbstractRNNCell`, and cells in Keras' own recurrent layers."""

import keras
import numpy as np
import oracles
import pytest
from evaluation import compiled, evaluate, random_weights
from graphs import WIDTH, random_chains, random_features, random_mask
from keras import ops

from keras_corefmem.layers import (
    AbstractRNNCell,
    CorefGRU,
    CorefGRUCell,
    DAGRNNCell,
    MAGEGRUCell,
)

BATCH, TIME, CHAINS = 4, 6, 2
CELLS = [
    MAGEGRUCell((5,)),
    MAGEGRUCell((3, 2), chains=CHAINS),
    MAGEGRUCell((2, 1, 1), chains=CHAINS, carry="mixed", shared=True, edge_attention=True),
    CorefGRUCell(4, chains=CHAINS),
    DAGRNNCell(5, chains=CHAINS),
]
NO_EDGES = np.zeros((TIME, 1, 1), "int32")
SEQUENTIAL = [
    (MAGEGRUCell((6,)), oracles.gru, ()),
    (CorefGRUCell(6), oracles.coref_gru, (NO_EDGES[:, 0, 0],)),
    (DAGRNNCell(6), oracles.dag_rnn, (NO_EDGES,)),
]


class RunningSum(AbstractRNNCell):
    """A cell with two states."""

    state_size, output_size = [WIDTH, 1], WIDTH

    def call(self, inputs, states, training=None):
        total, steps = states
        return total + inputs, [total + inputs, steps + 1]


def named(value):
    return type(value).__name__ if isinstance(value, keras.Layer) else ""


def test_a_cell_must_say_what_it_does():
    cell = AbstractRNNCell()
    for ask in (
        lambda: cell.state_size,
        lambda: cell.output_size,
        lambda: cell.call(np.zeros((1, 2)), []),
        lambda: cell.get_initial_state(1),
    ):
        with pytest.raises(NotImplementedError, match="AbstractRNNCell must implement"):
            ask()


def test_a_cell_of_ones_own_runs_with_a_mask():
    x = random_features(np.random.default_rng(0), BATCH, TIME)
    mask = random_mask(BATCH, TIME)
    layer = keras.layers.RNN(RunningSum(), return_state=True)
    output, total, steps = (ops.convert_to_numpy(value) for value in layer(x, mask=mask))
    np.testing.assert_allclose(output, np.sum(x * mask[..., None], axis=1), atol=1e-5)
    np.testing.assert_array_equal(output, total)
    np.testing.assert_array_equal(steps[:, 0], mask.sum(axis=1))


@pytest.mark.parametrize("cell", CELLS, ids=named)
def test_sizes_describe_the_states_and_the_output(cell):
    states = cell.get_initial_state(batch_size=BATCH)
    assert [state.shape for state in states] == [(BATCH, size) for size in cell.state_size]
    assert not any(np.any(ops.convert_to_numpy(state)) for state in states)
    copy = type(cell).from_config(cell.get_config())
    inputs = np.ones((BATCH, WIDTH + cell.columns), "float32")
    copy.build(inputs.shape)
    step = compiled(lambda inputs, *states: copy(inputs, list(states)))
    output, after = step(inputs, *states)
    assert output.shape == (BATCH, cell.output_size)
    assert [state.shape for state in after] == [state.shape for state in states]
    np.testing.assert_array_equal(output, after[0])
    assert keras.layers.RNN(copy, return_sequences=True).compute_output_shape(
        (BATCH, TIME, inputs.shape[-1])
    ) == (BATCH, TIME, cell.output_size)


@pytest.mark.parametrize(("cell", "oracle", "edges"), SEQUENTIAL, ids=named)
def test_a_cell_without_slots_is_sequential(cell, oracle, edges):
    rng = np.random.default_rng(0)
    x, mask = random_features(rng, BATCH, TIME), random_mask(BATCH, TIME)
    layer = keras.layers.RNN(cell, return_sequences=True)
    layer.build(x.shape)
    layer.set_weights(random_weights(layer, rng))
    weights = {weight.name: ops.convert_to_numpy(weight) for weight in cell.weights}
    expected = [oracle(x[b], *edges, mask[b], weights) for b in range(BATCH)]
    np.testing.assert_allclose(evaluate(layer, x, mask=mask), expected, atol=1e-5)


def test_bidirectional_cells_equal_the_fused_layer():
    rng = np.random.default_rng(1)
    x, mask = random_features(rng, BATCH, TIME), random_mask(BATCH, TIME)
    members, antecedents = random_chains(rng, BATCH, TIME, CHAINS, mask)
    columns = np.concatenate([x, members], axis=-1)
    layer = keras.layers.Bidirectional(
        keras.layers.RNN(CorefGRUCell(4, chains=CHAINS), return_sequences=True)
    )
    layer.build(columns.shape)
    fused = CorefGRU(4, bidirectional=True)
    fused.build(x.shape, antecedents.shape)
    weights = random_weights(fused, rng)
    layer.set_weights(weights)
    fused.set_weights(weights)
    # Keras' Bidirectional gives zeros at masked tokens.
    states = evaluate(fused, x, antecedents, mask=mask) * mask[..., None]
    np.testing.assert_allclose(states, evaluate(layer, columns, mask=mask), atol=1e-5)


def test_training_a_cell_with_jit_compile_and_a_mask():
    rng = np.random.default_rng(2)
    members, _ = random_chains(rng, BATCH, TIME, CHAINS)
    x = np.concatenate([random_features(rng, BATCH, TIME), members], axis=-1)
    x[0, 4:] = 0
    model = keras.Sequential(
        [
            keras.Input((None, WIDTH + CHAINS)),
            keras.layers.Masking(),
            keras.layers.RNN(CorefGRUCell(4, chains=CHAINS)),
        ]
    )
    model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=True)
    target = np.ones((BATCH, 4), "float32")
    losses = model.fit(x, target, batch_size=BATCH, epochs=3, verbose=0).history["loss"]
    assert np.all(np.isfinite(losses)) and losses[-1] < losses[0]


def test_a_negative_number_of_slots_is_refused():
    with pytest.raises(ValueError, match="chains must not be negative"):
        MAGEGRUCell((2, 2), chains=-1)
