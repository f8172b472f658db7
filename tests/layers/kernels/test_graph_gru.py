"""Fused layers against the equations in float64 and against their cells in `keras.layers.RNN`."""

import importlib
import types

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import MAGEGRU, EntityMemory, GRUCell, index_edges
from tests.support.conformance.evaluation import (
    assert_gradients,
    compiled,
    evaluate,
    randomize,
    stateless,
    value_and_gradients,
)
from tests.support.conformance.fused import BATCH, EDGES, NAMES, TIME, WITH_CELLS, draw, run
from tests.support.conformance.graphs import WIDTH, random_features
from tests.support.tiers import standing_for

# The package exports the function by this name.
kernel_module = importlib.import_module("keras_corefmem.layers.kernels.graph_gru")
MASKED = [(name, True) for name in NAMES]
TYPED = [name for name in NAMES if name == "dag" or name.startswith("mage")]
UNMASKED = [(name, False) for name in ("coref", "gru", "mage_gathered", "mage_mixed_shared")]
KEPT = [(name, True) for name in ("coref", "coref_chains")]
KEPT += [("mage_gathered_shared_attention", True), ("gru", False)]
CASES = [
    pytest.param(*case, marks=() if case in KEPT else pytest.mark.thorough)
    for case in MASKED + UNMASKED
]


def oracle_output(result, x, weights):
    """Both directions of the oracle, for every example."""
    graph, rows = result.graph, []
    mask = np.ones(x.shape[:2], bool) if result.mask is None else result.mask
    names = [weight.name for weight in graph.layer.cells[0].trainable_variables]
    forward = dict(zip(names, weights[: len(names)], strict=True))
    backward = dict(zip(names, weights[len(names) :], strict=True))
    for b in range(len(x)):
        arguments = (x[b], *(array[b] for array in graph.inputs), mask[b])
        states = [
            graph.oracle(*arguments, weights=forward),
            graph.oracle(*arguments, weights=backward, reverse=True),
        ]
        rows.append(np.concatenate(states, axis=-1))
    return np.stack(rows)


def float64(arrays):
    return [array.astype("float64") for array in arrays]


@pytest.mark.parametrize(("name", "masked"), CASES)
def test_states_follow_the_equations(name, masked):
    result = run(name, masked)
    expected = oracle_output(result, *float64([result.x]), float64(result.weights))
    np.testing.assert_allclose(result.output, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("name", "masked"), CASES)
def test_gradients_equal_finite_differences_of_the_equations(name, masked):
    result = run(name, masked)
    assert_gradients(
        lambda x, *weights: np.sum(oracle_output(result, x, weights) * result.upstream),
        float64([result.x, *result.weights]),
        result.gradients,
        step=1e-5,
    )


@pytest.mark.parametrize(
    "name",
    standing_for(["coref", "dag", "mage_gathered_shared_attention", "mage_mixed"], ["mage_mixed"]),
)
def test_gradients_in_float64_are_exact(name, doubles):
    result = run.__wrapped__(name, masked=True)
    assert result.output.dtype == "float64" and {g.dtype.name for g in result.gradients} == {
        "float64"
    }
    assert_gradients(
        lambda x, *weights: np.sum(oracle_output(result, x, weights) * result.upstream),
        [result.x, *result.weights],
        result.gradients,
        step=2e-4,
        tolerance=1e-9,
    )


@pytest.mark.parametrize(
    ("name", "xla"),
    [
        ("coref", False),
        ("coref", True),
        ("mage_mixed_attention", False),
    ],
)
@pytest.mark.thorough
def test_blocks_of_tokens_change_nothing(name, xla, monkeypatch):
    result = run(name, masked=True)
    monkeypatch.setattr(kernel_module, "BLOCK", 3)
    kernel_module._kernel.cache_clear()
    weights, graph = result.weights, result.graph
    state = [np.full((BATCH, 6), 0.3, "float32")] * 2

    def function(x, *weights):
        arguments = {"mask": result.mask, "initial_state": state}
        return stateless(graph.layer, weights, x, *graph.inputs, **arguments)

    def both():
        return value_and_gradients(function, [result.x, *weights], result.upstream, xla)

    output, gradients = both()
    monkeypatch.undo()
    kernel_module._kernel.cache_clear()
    expected, expected_gradients = both()
    np.testing.assert_allclose(output, expected, atol=1e-6)
    for gradient, other in zip(gradients, expected_gradients, strict=True):
        np.testing.assert_allclose(gradient, other, atol=1e-5, rtol=1e-5)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX always uses XLA")
@pytest.mark.parametrize(
    "name", standing_for(["coref", "dag", "gru", "mage_mixed_attention"], ["coref"])
)
def test_xla_changes_nothing_on_tensorflow(name):
    result = run(name, masked=True)
    inputs = [keras.ops.convert_to_tensor(array) for array in result.graph.inputs]

    def function(x, *weights):
        return stateless(result.graph.layer, weights, x, *inputs, mask=result.mask)

    arrays = [result.x, *result.weights]
    output, gradients = value_and_gradients(function, arrays, result.upstream, xla=True)
    np.testing.assert_allclose(output, result.output, atol=1e-5, rtol=0)
    for gradient, expected in zip(gradients, result.gradients, strict=True):
        np.testing.assert_allclose(gradient, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.thorough
@pytest.mark.parametrize("name", WITH_CELLS)
def test_layers_equal_their_cells_in_a_keras_rnn(name):
    result = run(name, masked=True)
    cell, columns, directions = result.graph.cell, result.graph.columns, []
    for column, backward in zip(columns, (False, True), strict=True):
        copy = type(cell).from_config(cell.get_config())
        rnn = keras.layers.RNN(copy, return_sequences=True, go_backwards=backward)
        rnn.build((BATCH, TIME, WIDTH + column.shape[-1]))
        directions.append(rnn)
    count = len(result.weights) // 2

    def function(x, *weights):
        ends = zip(directions, (weights[:count], weights[count:]), columns, strict=True)
        forward, backward = (
            stateless(rnn, own, ops.concatenate([x, column], axis=-1), mask=result.mask)
            for rnn, own, column in ends
        )
        return ops.concatenate([forward, ops.flip(backward, axis=1)], axis=-1)

    output, gradients = value_and_gradients(function, [result.x, *result.weights], result.upstream)
    np.testing.assert_allclose(result.output, output, atol=1e-5, rtol=0)
    for fused, gradient in zip(result.gradients, gradients, strict=True):
        np.testing.assert_allclose(fused, gradient, atol=1e-5, rtol=1e-5)


def test_a_plain_gru_equals_the_gru_of_keras():
    result, units = run("gru", False), 6
    kernel, recurrent_kernel, bias = result.weights[:3]

    def reordered(weight):
        # Keras keeps the old state where its update gate is open, and puts that gate first.
        r, z, h = np.split(weight, 3, axis=-1)
        return np.concatenate([-z, r, h], axis=-1)

    layer = keras.layers.GRU(units, return_sequences=True, reset_after=True)
    layer.build(result.x.shape)
    biases = np.stack([reordered(bias), np.zeros_like(bias)])
    layer.set_weights([reordered(kernel), reordered(recurrent_kernel), biases])
    expected = evaluate(layer, result.x)
    np.testing.assert_allclose(result.output[..., :units], expected, atol=1e-5, rtol=0)


def edges_of(name, masked):
    """Every edge once: `(example, token, type, source)`."""
    (sources,) = draw(name, masked)[3].inputs
    sources = sources.reshape(*sources.shape[:2], *(sources.shape[2:] or (1, 1)))
    edges = zip(*np.nonzero(sources), sources[sources > 0], strict=True)
    return {(b, t, e, source) for b, t, e, _, source in edges}


def largest_number(keys):
    return np.unique(list(keys), axis=0, return_counts=True)[1].max()


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("name", ["coref", *TYPED])
def test_a_token_has_several_edges_of_one_type_in_and_out(name, masked):
    edges = edges_of(name, masked)
    incoming = largest_number((b, t, e) for b, t, e, _ in edges)
    assert incoming == (1 if name == "coref" else EDGES.get(name, 2))
    assert largest_number((b, e, source) for b, _, e, source in edges) > 1
    assert all(source <= t for _, t, _, source in edges)


def test_edges_of_texts_of_any_length_are_numbered():
    time, read = 40_000, (39_000, 7)
    sources, targets = np.zeros((1, time, 1, 2), "int32"), [39_500, 39_900, 39_999]
    for target in targets:
        sources[0, target, 0] = read
    index = index_edges
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        index = tf.function(index_edges, [tf.TensorSpec((None, None, 1, 2), "int32")])
    successors = ops.convert_to_numpy(index(sources)[1].successors)[:, 0, :, 0]
    expected = np.zeros((time, 3), "int32")
    for column, source in enumerate(read):
        numbers = [2 * target + column + 1 for target in targets]
        expected[source - 1, 0] = numbers[0]
        expected[targets, column + 1] = [*numbers[1:], 0]
    np.testing.assert_array_equal(successors, expected)


def test_equal_numbers_may_be_sorted_in_any_order(monkeypatch):
    def argsort(numbers, axis):
        flipped = np.argsort(ops.convert_to_numpy(numbers)[..., ::-1], axis, kind="stable")
        return ops.convert_to_tensor((numbers.shape[axis] - 1 - flipped).astype("int32"))

    sources = np.array([[0, 1, 2, 0, 4]], "int32")[..., None, None]
    expected = index_edges(sources)[1].successors
    monkeypatch.setattr(ops, "argsort", argsort)
    np.testing.assert_array_equal(index_edges(sources)[1].successors, expected)


@pytest.mark.thorough
@pytest.mark.parametrize("length", [10, 32_768, 100_000])
@pytest.mark.parametrize("name", ["coref", "dag", "mage_mixed"])
def test_texts_of_any_length_follow_the_equations(name, length):
    rng, _, _, graph = draw(name, masked=False)
    shape = 1, length, *graph.inputs[0].shape[2:]
    earlier = np.arange(length).reshape(1, length, *[1] * (len(shape) - 2))
    drawn = 1 + (rng.random(shape) * earlier).astype("int32")
    sources = np.where((rng.random(shape) < 0.3) & (earlier > 0), drawn, 0)
    x, layer = random_features(rng, 1, length), graph.layer
    layer.build(x.shape, shape)
    randomize(layer, rng)
    functions = [compiled(layer, xla=True)]
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        # A length that is not known before.
        specs = (tf.TensorSpec((1, None, *a.shape[2:]), a.dtype) for a in (x, sources))
        functions += [tf.function(layer, list(specs), autograph=False, jit_compile=True)]
    result = types.SimpleNamespace(graph=graph._replace(inputs=[sources]), mask=None)
    expected = oracle_output(result, *float64([x]), float64(layer.get_weights()))
    for function in functions:
        np.testing.assert_allclose(function(x, sources), expected, atol=1e-4, rtol=0)


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="TensorFlow refuses them")
def test_gradients_have_gradients():
    import jax

    x = np.random.default_rng(4).normal(size=(2, 5, 3)).astype("float32")
    fused = MAGEGRU((4,))
    plain = keras.layers.RNN(GRUCell(4), return_sequences=True)
    slopes = []
    for layer in (fused, plain):
        layer.build(x.shape)
        layer.set_weights(fused.get_weights())
        slope = jax.grad(lambda x, layer=layer: keras.ops.sum(layer(x) ** 2))
        slopes.append(jax.jit(jax.grad(lambda x, slope=slope: keras.ops.sum(slope(x) ** 2)))(x))
    assert np.any(slopes[0])
    np.testing.assert_allclose(*slopes, atol=1e-5)


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="these are JAX's")
@pytest.mark.parametrize("layer", [MAGEGRU((4,)), EntityMemory(2, 3)], ids=["gru", "memory"])
def test_texts_may_be_scanned_and_read_again_for_their_gradients(layer):
    import jax

    x = np.random.default_rng(4).normal(size=(2, 5, 3)).astype("float32")
    mask = np.arange(5) < np.array([[5], [3]])
    layer.build(x.shape)

    def loss(x, mask):
        return ops.sum(layer(x, mask=mask) ** 3)

    def scanned(x, mask):
        def step(total, text):
            return total + loss(*(each[None] for each in text)), None

        return jax.lax.scan(step, 0.0, (x, mask))[0]

    expected = jax.grad(loss)(x, mask)
    for function in (jax.checkpoint(loss), scanned):
        np.testing.assert_allclose(jax.grad(function)(x, mask), expected, atol=1e-5)
