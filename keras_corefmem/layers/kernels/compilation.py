"""Kernels with custom gradients that compile themselves wherever they are called."""

import contextlib

import keras
from keras import ops

from keras_corefmem.layers.kernels.buffers import XLA, output_gradients


@contextlib.contextmanager
def uncompiled():
    """Traces the kernels called in this context without XLA, for runtimes built without it."""
    token = XLA.set(False)
    try:
        yield
    finally:
        XLA.reset(token)


def compiled(function):
    """Returns a function of nested tensors that XLA compiles in eager calls and in any graph.

    On a CPU, Keras compiles a model only on request, and TensorFlow runs an uncompiled loop
    operation by operation. A graph that is compiled itself includes the function.
    """
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        kernel = tf.function(function, jit_compile=True, autograph=False)
        return lambda *arguments: (kernel if XLA.get() else function)(*arguments)
    return function


def runs_concurrently():
    """Returns whether compiled functions that do not depend on each other run at the same time.

    They do in a graph of TensorFlow, except in one that XLA compiles, which runs one loop after the
    other.
    """
    if keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf
    from tensorflow.python.ops import control_flow_util

    graph = tf.compat.v1.get_default_graph()
    return tf.inside_function() and not control_flow_util.GraphOrParentsInXlaContext(graph)


def differentiable(forward, reverse):
    """Makes a compiled function `(arguments, constants)` whose gradient `reverse` computes.

    Args:
        forward: function of `arguments`, a list of tensors, and `constants`, nested tensors that
            get no gradient; it returns a list of outputs and whatever else the gradient needs.
        reverse: function of `arguments`, `constants`, the two results of `forward` and the
            gradients of the outputs; it returns the gradients of the arguments.
    """
    forward, reverse = compiled(forward), compiled(reverse)
    if keras.backend.backend() == "jax":
        return _differentiable_on_jax(forward, reverse)

    def kernel(arguments, constants):
        @ops.custom_gradient
        def run(*arguments):
            if keras.backend.backend() == "tensorflow":
                # It would otherwise derive a gradient of the compiled function too.
                arguments = [ops.stop_gradient(argument) for argument in arguments]
            outputs, kept = forward(arguments, constants)

            def gradient(*args, upstream=None):
                upstream = list(output_gradients(args, upstream))
                return tuple(reverse(arguments, constants, outputs, kept, upstream))

            return tuple(outputs), gradient

        return run(*arguments)

    return kernel


def _differentiable_on_jax(forward, reverse):
    # `keras.ops.custom_gradient` would close over the constants, which `jax.checkpoint` and
    # `jax.lax.scan` forbid.
    import jax

    @jax.custom_vjp
    def kernel(arguments, constants):
        return tuple(forward(arguments, constants)[0])

    def keep(arguments, constants):
        outputs, kept = forward(arguments, constants)
        return tuple(outputs), (arguments, constants, outputs, kept)

    def gradient(saved, upstream):
        return list(reverse(*saved, list(upstream))), None

    kernel.defvjp(keep, gradient)
    return kernel
