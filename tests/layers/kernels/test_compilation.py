"""Kernels compile themselves in eager calls and in graphs that are not compiled as a whole."""

import keras
import numpy as np
import pytest

from keras_corefmem.layers import CorefGRU, EntityMemory
from keras_corefmem.layers.kernels.compilation import uncompiled

if keras.backend.backend() != "tensorflow":
    pytest.skip("JAX compiles whole functions", allow_module_level=True)

import tensorflow as tf

X = tf.constant(np.random.default_rng(0).normal(size=(2, 5, 4)), tf.float32)
ANTECEDENTS = np.array([[0, 1, 0, 2, 3], [0, 0, 1, 0, 1]])


def layers():
    coref, memory = CorefGRU(4), EntityMemory(units=4, slots=3)
    return {"coref": lambda x: coref(x, ANTECEDENTS), "memory": lambda x: memory(x)[0]}


def loss_and_gradients(call, x):
    """From a tape that counts twice, as one does that is persistent."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        loss = tf.reduce_sum(call(x) ** 3)
    return loss, tape.gradient(loss, x)


def node_types(graph):
    """Operations of a graph and of the functions that it calls, but for those that XLA compiles."""
    found, functions = set(), {f.signature.name: f for f in graph.as_graph_def().library.function}
    todo = list(graph.as_graph_def().node)
    while todo:
        node = todo.pop()
        found.add(node.op)
        called = functions.get(node.attr["f"].func.name)
        if called and not called.attr["_XlaMustCompile"].b:
            todo += called.node_def
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["coref", "memory"])
def test_every_way_to_call_a_layer_gives_the_same(name):
    call = layers()[name]
    expected = loss_and_gradients(call, X)
    graph = tf.function(lambda x: loss_and_gradients(call, x), autograph=False)
    whole = tf.function(lambda x: loss_and_gradients(call, x), autograph=False, jit_compile=True)
    assert not {"While", "StatelessWhile"} & node_types(graph.get_concrete_function(X).graph)
    with uncompiled():
        plain = tf.function(lambda x: loss_and_gradients(call, x), autograph=False)
        assert {"While", "StatelessWhile"} & node_types(plain.get_concrete_function(X).graph)
        results = [loss_and_gradients(call, X)]
    # Eager calls come again, after graphs of the same shapes.
    results += [f(X) for f in (graph, whole, plain)] + [loss_and_gradients(call, X)]
    for loss, gradient in results:
        np.testing.assert_allclose(loss, expected[0], rtol=1e-5)
        np.testing.assert_allclose(gradient, expected[1], rtol=1e-4, atol=1e-5)


def test_layers_share_programs_whatever_the_width_of_their_inputs():
    first, second = CorefGRU(4, bidirectional=True), CorefGRU(4, bidirectional=True)
    calls = tf.function(lambda x: second(first(x, ANTECEDENTS), ANTECEDENTS), autograph=False)
    library = calls.get_concrete_function(X).graph.as_graph_def().library
    programs = {f.signature.name for f in library.function if f.attr["_XlaMustCompile"].b}
    # One for each direction.
    assert first.cells[0].kernel.shape != second.cells[0].kernel.shape
    assert len(programs) == 2
