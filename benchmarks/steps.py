"""Training steps of one bidirectional layer, compiled by XLA on TensorFlow."""

import time

import keras
import numpy as np
import tensorflow as tf

from keras_corefmem.graphs import antecedents
from keras_corefmem.layers import MAGEGRU, CorefGRU, CorefGRUCell

BATCH, FEATURES, UNITS = 32, 64, 64


def make_chains(length, chains, share=0.3, seed=0):
    """Chain numbers `(batch, length)`, 0 outside, over a share of the tokens."""
    random = np.random.default_rng(seed)
    numbers = random.integers(1, chains + 1, (BATCH, length), "int32")
    return np.where(random.random((BATCH, length)) < share, numbers, 0)


def keras_gru(x, chains):
    return keras.layers.Bidirectional(keras.layers.GRU(UNITS, return_sequences=True)), x, ()


def plain_gru(x, chains):
    return MAGEGRU((UNITS,), bidirectional=True), x, ()


def coref_gru(x, chains):
    found = tf.constant(antecedents(make_chains(x.shape[1], chains)))
    return CorefGRU(UNITS, bidirectional=True), x, (found,)


def mage_gru(x, chains):
    found = [antecedents(make_chains(x.shape[1], chains, seed=seed)) for seed in range(2)]
    sources = tf.constant(np.stack(found, axis=-1)[..., None])
    return MAGEGRU((UNITS // 2, UNITS // 4, UNITS // 4), bidirectional=True), x, (sources,)


def coref_gru_cell(x, chains):
    one_hot = tf.one_hot(make_chains(x.shape[1], chains) - 1, chains)
    rnn = keras.layers.RNN(CorefGRUCell(UNITS, chains), return_sequences=True)
    return keras.layers.Bidirectional(rnn), tf.concat([x, one_hot], axis=-1), ()


LAYERS = {
    "keras Bidirectional(GRU)": keras_gru,
    "plain GRU, fused": plain_gru,
    "CorefGRU": coref_gru,
    "MAGEGRU, two edge types": mage_gru,
    "keras RNN(CorefGRUCell)": coref_gru_cell,
}


def make_step(name, length, chains=13):
    """A compiled function that runs one step of the named layer and waits for its result.

    A step is the loss and its gradients with respect to all weights and inputs.
    """
    layer, x, extra = LAYERS[name](random_features(length), chains)
    # Building eagerly on all of it would copy the buffers of the loop at every token.
    layer(x[:, :8], *(structure[:, :8] for structure in extra))
    return compile_step(layer, x, extra)


def fastest(steps, rounds):
    """Seconds of the fastest run of every step; they take turns, after one run to compile."""
    for step in steps:
        step()
    times = [[] for _ in steps]
    for _ in range(rounds):
        for step, found in zip(steps, times, strict=True):
            start = time.perf_counter()
            step()
            found.append(time.perf_counter() - start)
    return [min(found) for found in times]


def random_features(*shape, width=FEATURES):
    random = np.random.default_rng(0)
    return tf.constant(random.normal(size=(BATCH, *shape, width)), tf.float32)


def compile_step(layer, x, extra):
    """A compiled function that runs one step of a built layer and waits for its result."""
    weights = [weight.value for weight in layer.trainable_variables]

    @tf.function(jit_compile=True)
    def training_step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            output = tf.nest.flatten(layer(x, *extra, training=True))[0]
            weighted = output * tf.reshape(tf.linspace(-1.0, 1.0, tf.size(output)), output.shape)
            loss = tf.reduce_sum(weighted)
        return loss, tape.gradient(loss, [x, *weights])

    return lambda: training_step(x)[0].numpy()
