"""Values and gradients of layers, the same way on every backend."""

import keras
import numpy as np
import pytest
from keras import ops

# On TensorFlow XLA takes longer to compile than a test lasts; on JAX nothing is slower than no XLA.
JIT = keras.backend.backend() == "jax"
# How to compile where a few steps take less time than tracing one: for tests of what is around it.
QUICK = {"jit_compile": JIT, "run_eagerly": not JIT}


def compiled(function, xla=False):
    """The function over arrays as one graph, with NumPy results; `xla` is for TensorFlow."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        graph = tf.function(function, autograph=False, jit_compile=xla)
    else:
        import jax

        graph = jax.jit(function)

    def call(*arrays):
        return keras.tree.map_structure(
            ops.convert_to_numpy, graph(*map(ops.convert_to_tensor, arrays))
        )

    return call


def value_and_gradients(function, arrays, upstream=None, xla=False):
    """`function(*arrays)` and the gradients of its sum, weighed by any `upstream`."""
    return with_gradients(function, upstream, xla)(*arrays)


def with_gradients(function, upstream=None, xla=False):
    """The function over arrays as one graph that returns its gradients too."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        def run(*tensors):
            with tf.GradientTape() as tape:
                tape.watch(tensors)
                value = function(*tensors)
                total = _project(value, upstream)
            return value, tape.gradient(total, tensors, unconnected_gradients="zero")
    else:
        import jax

        def run(*tensors):
            def total(*tensors):
                value = function(*tensors)
                return _project(value, upstream), value

            arguments = tuple(range(len(tensors)))
            gradients, value = jax.grad(total, argnums=arguments, has_aux=True)(*tensors)
            return value, gradients

    return compiled(run, xla)


def _project(value, upstream):
    if keras.backend.standardize_dtype(value.dtype) != "float64":
        value = ops.cast(value, "float32")
    return ops.sum(value if upstream is None else value * upstream)


def random_weights(layer, rng, scale=0.4):
    """New float32 weights for a built layer, so that no bias is zero."""
    return [rng.normal(0, scale, w.shape).astype("float32") for w in layer.trainable_variables]


def nested(values):
    """Arrays by path as float64, in a dictionary for every layer."""
    result = {}
    for path, value in values.items():
        *parents, name = path.split("/")
        group = result
        for parent in parents:
            group = group.setdefault(parent, {})
        group[name] = np.asarray(value, "float64")
    return result


def randomize(layer, rng, scale=0.4):
    """Gives a built layer random weights."""
    for variable in layer.trainable_variables:
        variable.assign(rng.normal(0, scale, variable.shape).astype("float32"))


def stateless(layer, weights, *args, **kwargs):
    """The layer's output with these trainable weights."""
    frozen = layer.non_trainable_variables
    return layer.stateless_call(list(weights), list(frozen), *args, **kwargs)[0]


def evaluate(layer, *args, **kwargs):
    """The output of a built layer for arrays; keywords stay as they are."""
    return compiled(lambda *tensors: layer(*tensors, **kwargs))(*args)


def assert_gradients(function, arrays, gradients, step=1e-6, tolerance=1e-5):
    """Compares gradients by float64 arrays with finite differences of a number in NumPy.

    Differences are of fourth order: with a step of 2e-4 they are right to about 1e-10.
    """
    rng = np.random.default_rng(1)
    for n, gradient in enumerate(gradients):
        direction, expected = rng.normal(size=gradient.shape), 0.0
        for steps, factor in ((2, -1), (1, 8), (-1, -8), (-2, 1)):
            by = steps * step * direction
            moved = [a + by if m == n else a for m, a in enumerate(arrays)]
            expected += factor * function(*moved) / (12 * step)
        scale = max(np.linalg.norm(gradient) * np.linalg.norm(direction), 1.0)
        assert np.sum(gradient * direction) == pytest.approx(expected, abs=tolerance * scale)


def assert_follows(
    layer, oracle, inputs, scale=0.4, join=lambda output: output, names=(), **kwargs
):
    """Compares a built layer and its gradients with an oracle in float64, for random weights.

    Gradients of a layer in float64 are compared to 1e-9.

    `names` are those of the inputs but the first, where they are not in order; `join` makes one
    tensor, that of the oracle, of several outputs. Returns the output and the gradients.
    """
    rng = np.random.default_rng(0)
    arrays, exact = [*inputs, *random_weights(layer, rng, scale)], layer.compute_dtype == "float64"
    count, doubles = len(inputs), [array.astype("float64") for array in arrays]
    arrays = doubles if exact else arrays
    expected = oracle(*doubles)
    upstream = rng.normal(size=expected.shape).astype(layer.compute_dtype)

    def function(*tensors):
        inputs, weights = tensors[:count], tensors[count:]
        named = dict(zip(names, inputs[1:], strict=True)) if names else {}
        unnamed = inputs[:1] if names else inputs
        outputs = stateless(layer, weights, *unnamed, **named, **kwargs)
        return join(outputs)

    output, gradients = value_and_gradients(function, arrays, upstream)
    np.testing.assert_allclose(output, expected, atol=1e-12 if exact else 1e-5)
    options = {"step": 2e-4, "tolerance": 1e-9} if exact else {}
    assert_gradients(
        lambda *arrays: np.sum(oracle(*arrays) * upstream), doubles, gradients, **options
    )
    return output, gradients


def assert_agree(function, other, arrays, upstream):
    """Compares two functions, where the gradient upstream is not 0, and their gradients.

    Returns the output of the first.
    """
    (output, gradients), (expected, others) = (
        value_and_gradients(each, arrays, upstream) for each in (function, other)
    )
    counted = upstream != 0
    np.testing.assert_allclose(output[counted], expected[counted], atol=1e-5)
    for gradient, expected in zip(gradients, others, strict=True):
        np.testing.assert_allclose(gradient, expected, atol=1e-5, rtol=1e-5)
    return output


def assert_same_weights(model, other, **tolerance):
    """Compares the weights of two models, by default bit by bit."""
    tolerance = tolerance or {"rtol": 0}
    for weight, expected in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_allclose(weight, expected, **tolerance)


def alike(variables):
    """Paths of pairs of weights that start with the same random numbers."""
    values = [ops.convert_to_numpy(variable) for variable in variables]
    return [
        (variables[i].path, variables[j].path)
        for j, other in enumerate(values)
        for i, value in enumerate(values[:j])
        if np.ptp(value) > 0 and np.array_equal(value, other)
    ]
