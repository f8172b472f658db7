"""The contract of `AbstractRNNCell`, and cells in Keras' own recurrent layers."""

import inspect
import json

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import (
    AbstractRNNCell,
    AttentionGRUCell,
    CorefGRUCell,
    DAGRNNCell,
    EntityMemoryCell,
    GRUCell,
    MAGEGRUCell,
    QueryReductionCell,
)
from keras_corefmem.layers.rnn.graph_cell import CELL_OPTIONS
from tests.support.conformance.evaluation import compiled, evaluate, random_weights
from tests.support.conformance.graphs import WIDTH, random_chains, random_features, random_mask
from tests.support.oracles import recurrence as oracles

BATCH, TIME, CHAINS = 4, 6, 2
# With the width of the inputs.
CELLS = [
    (GRUCell(5), WIDTH),
    (MAGEGRUCell((5,)), WIDTH),
    (MAGEGRUCell((3, 2), chains=CHAINS), WIDTH + 2 * CHAINS),
    (MAGEGRUCell((2, 1, 1), CHAINS, "mixed", True, edge_attention=True), WIDTH + 4 * CHAINS),
    (CorefGRUCell(4, chains=CHAINS), WIDTH + CHAINS),
    (DAGRNNCell(5, chains=CHAINS), WIDTH + 2 * CHAINS),
    (EntityMemoryCell(3, WIDTH, question_dependent=True), 2 * WIDTH),
    (AttentionGRUCell(5), WIDTH + 1),
    (QueryReductionCell(WIDTH), 2 * WIDTH),
]
NO_EDGES = np.zeros((TIME, 1, 1), "int32")
SEQUENTIAL = [
    (GRUCell(6), oracles.gru, ()),
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


def cell_name(value):
    return type(value).__name__ if isinstance(value, keras.Layer) else ""


def test_a_cell_must_implement_its_protocol():
    cell = AbstractRNNCell()
    for use in (
        lambda: cell.state_size,
        lambda: cell.output_size,
        lambda: cell.call(np.zeros((1, 2)), []),
        lambda: cell.get_initial_state(1),
    ):
        with pytest.raises(NotImplementedError, match="AbstractRNNCell must implement"):
            use()


@pytest.mark.parametrize("kind", [CorefGRUCell, DAGRNNCell, MAGEGRUCell])
def test_cells_list_the_options_that_they_keep(kind):
    names = inspect.getfullargspec(kind).args[1:]
    assert set(CELL_OPTIONS) <= set(names)
    units = (3, 1) if kind is MAGEGRUCell else 4
    config = kind(units, activation="relu", bias_constraint="non_neg").get_config()
    assert set(names) <= set(config)
    assert kind.from_config(config).get_config() == config


def test_a_custom_cell_runs_with_a_mask():
    x = random_features(np.random.default_rng(0), BATCH, TIME)
    mask = random_mask(BATCH, TIME)
    layer = keras.layers.RNN(RunningSum(), return_state=True)
    output, total, steps = (ops.convert_to_numpy(value) for value in layer(x, mask=mask))
    np.testing.assert_allclose(output, np.sum(x * mask[..., None], axis=1), atol=1e-5)
    np.testing.assert_array_equal(output, total)
    np.testing.assert_array_equal(steps[:, 0], mask.sum(axis=1))


def copy_of(cell, **changes):
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(cell)))
    config["config"] |= changes
    return keras.saving.deserialize_keras_object(config)


def random_inputs(rng, cell, width):
    """Features, and 0 or 1 in the columns behind them that address a memory."""
    inputs = random_features(rng, BATCH, TIME, width)
    columns = getattr(cell, "columns", 0)
    inputs[..., width - columns :] = inputs[..., width - columns :] > 0.5
    return inputs


def step_by_step(cell, x, mask):
    """Outputs of a cell, one step after the other; masked steps change nothing."""
    step = compiled(lambda inputs, *states: cell(inputs, list(states)))
    states = list(map(ops.convert_to_numpy, cell.get_initial_state(batch_size=BATCH)))
    outputs = [np.zeros((BATCH, cell.output_size))]
    for t in range(TIME):
        read = mask[:, t, None]
        output, after = step(x[:, t], *states)
        states = [np.where(read, new, old) for new, old in zip(after, states, strict=True)]
        outputs.append(np.where(read, output, outputs[-1]))
    return np.stack(outputs[1:], axis=1)


# What MAGE cells without attention do, the one with it does too.
FEWER = [isinstance(cell, MAGEGRUCell) and not cell.edge_attention for cell, _ in CELLS]
all_cells = pytest.mark.parametrize(
    ("cell", "width"),
    [
        pytest.param(*case, marks=pytest.mark.thorough if fewer else ())
        for case, fewer in zip(CELLS, FEWER, strict=True)
    ],
    ids=cell_name,
)


@all_cells
def test_sizes_describe_the_states_and_the_output(cell, width):
    copy = copy_of(cell)
    assert type(copy) is type(cell) and copy.get_config() == cell.get_config()
    inputs = np.ones((BATCH, width), "float32")
    copy.build(inputs.shape)
    states = copy.get_initial_state(batch_size=BATCH)
    sizes = keras.tree.flatten(cell.state_size)
    assert [state.shape for state in states] == [(BATCH, size) for size in sizes]
    start = np.concatenate([ops.convert_to_numpy(state) for state in states], axis=-1)
    # An entity memory starts as its keys.
    assert np.any(start) == isinstance(cell, EntityMemoryCell)
    step = compiled(lambda inputs, *states: copy(inputs, list(states)))
    output, after = step(inputs, *states)
    assert output.shape == (BATCH, cell.output_size)
    assert [state.shape for state in after] == [state.shape for state in states]
    np.testing.assert_array_equal(output, after[0])
    rnn = keras.layers.RNN(copy, return_sequences=True)
    assert rnn.compute_output_shape((BATCH, TIME, width)) == (BATCH, TIME, cell.output_size)


@all_cells
def test_keras_layers_run_a_cell_step_by_step(cell, width):
    rng = np.random.default_rng(3)
    x, mask = random_inputs(rng, cell, width), random_mask(BATCH, TIME)
    layer = keras.layers.Bidirectional(keras.layers.RNN(copy_of(cell), return_sequences=True))
    layer.build(x.shape)
    layer.set_weights(random_weights(layer, rng))
    forward = step_by_step(layer.forward_layer.cell, x, mask)
    backward = step_by_step(layer.backward_layer.cell, x[:, ::-1], mask[:, ::-1])[:, ::-1]
    # Keras' Bidirectional gives zeros at masked tokens.
    expected = np.concatenate([forward, backward], axis=-1) * mask[..., None]
    np.testing.assert_allclose(evaluate(layer, x, mask=mask), expected, atol=1e-5)


@all_cells
def test_mixed_precision_stays_close(cell, width):
    rng = np.random.default_rng(4)
    x, weights, outputs = random_inputs(rng, cell, width), None, []
    for dtype in ("float32", "mixed_float16"):
        layer = keras.layers.RNN(copy_of(cell, dtype=dtype), return_sequences=True, dtype=dtype)
        layer.build(x.shape)
        weights = weights or random_weights(layer, rng)
        layer.set_weights(weights)
        outputs.append(evaluate(layer, x))
    expected, output = outputs
    assert output.dtype.name == "float16"
    error = np.abs(output.astype("float32") - expected)
    assert np.max(error) < 0.01 * np.max(np.abs(expected))


@pytest.mark.parametrize(("cell", "oracle", "edges"), SEQUENTIAL, ids=cell_name)
def test_a_cell_without_slots_is_sequential(cell, oracle, edges):
    rng = np.random.default_rng(0)
    x, mask = random_features(rng, BATCH, TIME), random_mask(BATCH, TIME)
    layer = keras.layers.RNN(cell, return_sequences=True)
    layer.build(x.shape)
    layer.set_weights(random_weights(layer, rng))
    weights = {weight.name: ops.convert_to_numpy(weight) for weight in cell.weights}
    expected = [oracle(x[b], *edges, mask[b], weights) for b in range(BATCH)]
    np.testing.assert_allclose(evaluate(layer, x, mask=mask), expected, atol=1e-5)


def test_training_a_cell_with_jit_compile_and_a_mask():
    rng = np.random.default_rng(2)
    members, _ = random_chains(rng, BATCH, TIME, CHAINS)
    x = np.concatenate([random_features(rng, BATCH, TIME), members], axis=-1)
    x[0, 4:] = 0
    masking, rnn = keras.layers.Masking(), keras.layers.RNN(CorefGRUCell(4, chains=CHAINS))
    model = keras.Sequential([keras.Input((None, WIDTH + CHAINS)), masking, rnn])
    model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=True)
    target = np.ones((BATCH, 4), "float32")
    losses = model.fit(x, target, batch_size=BATCH, epochs=3, verbose=0).history["loss"]
    assert np.all(np.isfinite(losses)) and losses[-1] < losses[0]
