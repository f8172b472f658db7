"""Fused recurrences and their gradients, without layer classes."""

from keras_corefmem.layers.kernels.edges import index_edges
from keras_corefmem.layers.kernels.graph_gru import graph_gru
from keras_corefmem.layers.kernels.recurrence import DirectionInputs, Recurrence

__all__ = ["DirectionInputs", "Recurrence", "graph_gru", "index_edges"]
