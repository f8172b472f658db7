"""Steps of one bidirectional layer, run in each mode of Keras' backend and timed in turn."""

import statistics
import time
from typing import NamedTuple

import keras
import numpy as np
from keras import ops

from keras_corefmem.graphs import antecedents
from keras_corefmem.layers import MAGEGRU, CorefGRU, CorefGRUCell

CHAINS = 13


class Sizes(NamedTuple):
    """Sizes of a layer and its input; as many features as units."""

    length: int
    batch: int = 32
    units: int = 64


def make_chains(sizes, chains, share=0.3, seed=0):
    """Chain numbers `(batch, length)`, 0 outside, over a share of the tokens."""
    random, shape = np.random.default_rng(seed), (sizes.batch, sizes.length)
    numbers = random.integers(1, chains + 1, shape, "int32")
    return np.where(random.random(shape) < share, numbers, 0)


def keras_gru(sizes, chains, unroll=False):
    gru = keras.layers.GRU(sizes.units, return_sequences=True, unroll=unroll)
    return keras.layers.Bidirectional(gru), None, ()


def plain_gru(sizes, chains):
    return MAGEGRU((sizes.units,), bidirectional=True), None, ()


def coref_gru(sizes, chains):
    found = antecedents(make_chains(sizes, chains))
    return CorefGRU(sizes.units, bidirectional=True), None, (found,)


def mage_gru(sizes, chains):
    found = [antecedents(make_chains(sizes, chains, seed=seed)) for seed in range(2)]
    units = (sizes.units // 2, sizes.units // 4, sizes.units // 4)
    return MAGEGRU(units, bidirectional=True), None, (np.stack(found, axis=-1)[..., None],)


def coref_gru_cell(sizes, chains):
    rows = np.eye(chains + 1, dtype="float32")[make_chains(sizes, chains)][..., 1:]
    rnn = keras.layers.RNN(CorefGRUCell(sizes.units, chains), return_sequences=True)
    return keras.layers.Bidirectional(rnn), rows, ()


LAYERS = {
    "keras Bidirectional(GRU)": keras_gru,
    "plain GRU, fused": plain_gru,
    "CorefGRU": coref_gru,
    "MAGEGRU, two edge types": mage_gru,
    "keras RNN(CorefGRUCell)": coref_gru_cell,
}


def make_step(name, sizes, mode="XLA", gradients=True, chains=CHAINS):
    """A function that runs one step of the named layer and waits for its result.

    A step is the loss and its gradients with respect to all weights and inputs, or the loss alone.
    """
    options = {"unroll": True} if mode.endswith("unrolled") else {}
    layer, more, structures = LAYERS[name](sizes, chains, **options)
    x = random_features(sizes.batch, sizes.length, sizes.units)
    if more is not None:
        x = ops.concatenate([x, more], axis=-1)
    structures = tuple(map(ops.convert_to_tensor, structures))
    # Building on a few tokens is faster than on all.
    layer(x[:, :8], *(structure[:, :8] for structure in structures))
    return compile_step(layer, x, structures, mode.split(",")[0], gradients)


def random_features(*shape):
    random = np.random.default_rng(0)
    return ops.convert_to_tensor(random.normal(size=shape).astype("float32"))


def compile_step(layer, x, extra, mode="XLA", gradients=True):
    """A function that runs one step of a built layer and waits for its result.

    Args:
        layer: Keras layer.
        x: tensor, its input.
        extra: tuple of tensors, other arguments of its call.
        mode: str, `"XLA"`, or on TensorFlow also `"graph"` or `"eager"`.
        gradients: bool, whether a step has the gradients or is the forward pass alone.
    """
    if keras.backend.backend() == "jax":
        return _jax_step(layer, x, extra, gradients)
    import tensorflow as tf

    weights = [weight.value for weight in layer.trainable_variables]

    def training_step(x, *extra):
        if not gradients:
            return (_loss(layer(x, *extra, training=True)),)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = _loss(layer(x, *extra, training=True))
        return loss, tape.gradient(loss, [x, *weights])

    if mode != "eager":
        training_step = tf.function(training_step, jit_compile=mode == "XLA")
    return lambda: training_step(x, *extra)[0].numpy()


def _jax_step(layer, x, extra, gradients):
    import jax

    variables = layer.trainable_variables, layer.non_trainable_variables
    weights, state = ([variable.value for variable in kind] for kind in variables)

    def loss(weights, x, state, extra):
        mapping = zip([*variables[0], *variables[1]], [*weights, *state], strict=True)
        with keras.StatelessScope(state_mapping=list(mapping)):
            return _loss(layer(x, *extra, training=True))

    run = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)) if gradients else loss)
    return lambda: jax.block_until_ready(run(weights, x, state, extra))


def _loss(outputs):
    output = keras.tree.flatten(outputs)[0]
    size = int(np.prod(output.shape))
    return ops.sum(output * ops.reshape(ops.linspace(-1.0, 1.0, size), output.shape))


def measure(steps, rounds):
    """Minimum and median milliseconds of every step; they take turns, after a run to compile."""
    steps = list(steps)
    for step in steps:
        step()
    times = [[] for _ in steps]
    for _ in range(rounds):
        for step, found in zip(steps, times, strict=True):
            start = time.perf_counter()
            step()
            found.append(1e3 * (time.perf_counter() - start))
    return [{"ms": min(found), "median": statistics.median(found)} for found in times]
