"""Recurrent cells, layers and attention, on every Keras backend."""

from keras_corefmem.layers.abstract_rnn_cell import AbstractRNNCell
from keras_corefmem.layers.attention_sum import AttentionSum
from keras_corefmem.layers.coref_gru import CorefGRU, CorefGRUCell
from keras_corefmem.layers.dag_rnn import DAGRNN, DAGRNNCell
from keras_corefmem.layers.gated_attention import GatedAttention
from keras_corefmem.layers.graph_gru import graph_gru
from keras_corefmem.layers.mage_gru import MAGEGRU, MAGEGRUCell
from keras_corefmem.layers.split_sequences import SplitSequences

__all__ = [
    "DAGRNN",
    "MAGEGRU",
    "AbstractRNNCell",
    "AttentionSum",
    "CorefGRU",
    "CorefGRUCell",
    "DAGRNNCell",
    "GatedAttention",
    "MAGEGRUCell",
    "SplitSequences",
    "graph_gru",
]
