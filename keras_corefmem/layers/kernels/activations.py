"""Elementwise activations and their derivatives."""

from collections.abc import Callable
from typing import NamedTuple

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.kernels.buffers import float_type


class Activation(NamedTuple):
    value: Callable  # x to y
    derivative: Callable  # (x, y) to dy/dx


def tanh(x):
    """Returns tanh(x) in the precision of x; Keras' own turns float64 into float32 on JAX."""
    return ops.tanh(x) if float_type(x) == "float32" else 2 * ops.sigmoid(2 * x) - 1


CLOSED = {
    keras.activations.tanh: Activation(tanh, lambda x, y: 1 - y * y),
    keras.activations.sigmoid: Activation(ops.sigmoid, lambda x, y: y * (1 - y)),
    keras.activations.relu: Activation(ops.relu, lambda x, y: ops.cast(x > 0, x.dtype)),
    keras.activations.linear: Activation(lambda x: x, lambda x, y: ops.ones_like(x)),
}


def find_activation(activation):
    """Returns the `Activation` of a name or an elementwise function."""
    function = keras.activations.get(activation)

    def value(x):
        return ops.cast(function(x), x.dtype)

    return CLOSED.get(function) or Activation(value, lambda x, y: _differentiate(value, x))


def check_elementwise(name, activation):
    """Checks that an activation is an elementwise function."""
    function = keras.activations.get(activation)
    if isinstance(function, keras.layers.Layer):
        raise ValueError(f"{name} must be a name or a function, not the layer {function.name}.")
    if function in CLOSED:
        return
    probe = np.array([[-0.3, 0.2, 0.7]], "float32")
    whole, part = (ops.convert_to_numpy(function(x)) for x in (probe, probe[:, :2]))
    if whole.shape != probe.shape or not np.allclose(whole[:, :2], part, atol=1e-6):
        raise ValueError(f"{name} must act on every number alone, as tanh does; got {activation}.")


def _differentiate(function, x):
    if keras.backend.backend() == "jax":
        import jax

        return jax.jvp(function, (x,), (ops.ones_like(x),))[1]
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x, unconnected_gradients="zero")
    known = ", ".join(function.__name__ for function in CLOSED)
    raise NotImplementedError(f"On {keras.backend.backend()}, activations are {known}.")
