"""The fused layers on random graphs, with their oracles and cells."""

import functools
from collections import namedtuple

import numpy as np

from keras_corefmem.layers import DAGRNN, MAGEGRU, CorefGRU, CorefGRUCell, DAGRNNCell, MAGEGRUCell
from tests.support.conformance.evaluation import random_weights, stateless, value_and_gradients
from tests.support.conformance.graphs import (
    random_antecedents,
    random_chains,
    random_features,
    random_mask,
    random_sources,
    slot_columns,
)
from tests.support.oracles import recurrence as oracles

BATCH, TIME = 4, 8
# Units, carry, shared, edge attention: every pair of choices, and every carry alone.
MAGE = {
    "mage_gathered": ((3, 2, 1), "gathered", False, False),
    "mage_gathered_attention": ((4, 2), "gathered", False, True),
    "mage_gathered_shared": ((4, 2), "gathered", True, False),
    "mage_gathered_shared_attention": ((3, 2, 1), "gathered", True, True),
    "mage_previous": ((3, 2, 1), "previous", False, False),
    "mage_previous_attention": ((4, 2), "previous", False, True),
    "mage_previous_shared": ((4, 2), "previous", True, False),
    "mage_mixed": ((4, 2), "mixed", False, False),
    "mage_mixed_attention": ((3, 2, 1), "mixed", False, True),
    "mage_mixed_shared": ((4, 2), "mixed", True, False),
}
WITH_CELLS = (
    "coref_chains",
    "dag",
    "mage_gathered",
    "mage_gathered_shared",
    "mage_mixed",
    "mage_mixed_attention",
    "mage_previous",
    "mage_previous_shared",
)
NAMES = ("coref", "coref_chains", "dag", "gru", *MAGE)
# Edges of one type into a token at most, where not 2.
EDGES = {"mage_previous": 3}
Graph = namedtuple("Graph", "layer inputs oracle cell columns")
Result = namedtuple("Result", "graph x mask weights upstream output gradients")


def make_graph(name, rng, mask):
    """The bidirectional layer, its inputs besides `x`, its oracle, and its cell with columns."""
    if name == "gru":
        return Graph(MAGEGRU((6,), bidirectional=True), (), oracles.gru, None, None)
    if name == "coref_chains":
        members, antecedents = random_chains(rng, BATCH, TIME, 3, mask)
        cell, columns = CorefGRUCell(6, chains=3), (members, members)
        return Graph(
            CorefGRU(6, bidirectional=True), (antecedents,), oracles.coref_gru, cell, columns
        )
    if name == "coref":
        antecedents = random_antecedents(rng, BATCH, TIME, mask)
        layer = CorefGRU(6, bidirectional=True)
        return Graph(layer, (antecedents,), oracles.coref_gru, None, None)
    # A cell's columns cannot give an edge twice.
    repeat = name not in WITH_CELLS
    types = 2 if name == "dag" else len(MAGE[name][0]) - 1
    sources = random_sources(rng, BATCH, TIME, types, EDGES.get(name, 2), mask, repeat)
    if name == "dag":
        flat = sources.reshape(BATCH, TIME, 1, -1)
        columns = slot_columns(flat), slot_columns(flat, reverse=True)
        layer, cell = DAGRNN(6, bidirectional=True), DAGRNNCell(6, chains=TIME)
        return Graph(layer, (sources,), oracles.dag_rnn, cell, columns)
    names = ("units", "carry", "shared", "edge_attention")
    options = dict(zip(names, MAGE[name], strict=True))
    columns = slot_columns(sources), slot_columns(sources, reverse=True)
    oracle = functools.partial(oracles.mage_gru, **options)
    layer = MAGEGRU(**options, bidirectional=True)
    return Graph(layer, (sources,), oracle, MAGEGRUCell(**options, chains=TIME), columns)


def draw(name, masked):
    """The random numbers of a case, its mask, features and graph."""
    rng = np.random.default_rng(sum(map(ord, name)))
    mask = random_mask(BATCH, TIME) if masked else None
    x = random_features(rng, BATCH, TIME)
    return rng, mask, x, make_graph(name, rng, mask)


@functools.cache
def run(name, masked):
    """Outputs and gradients of the fused layer on a random graph."""
    rng, mask, x, graph = draw(name, masked)
    x = x.astype(graph.layer.compute_dtype)
    graph.layer.build(x.shape, *(array.shape for array in graph.inputs))
    weights = [weight.astype(x.dtype) for weight in random_weights(graph.layer, rng)]
    upstream = rng.normal(size=(BATCH, TIME, graph.layer.output_units)).astype(x.dtype)

    def function(x, *weights):
        return stateless(graph.layer, weights, x, *graph.inputs, mask=mask)

    output, gradients = value_and_gradients(function, [x, *weights], upstream)
    return Result(graph, x, mask, weights, upstream, output, gradients)
