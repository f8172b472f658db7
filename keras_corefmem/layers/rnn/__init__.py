"""Recurrent cells and layers over a sequence or a typed graph."""

from keras_corefmem.layers.rnn.abstract_rnn_cell import AbstractRNNCell
from keras_corefmem.layers.rnn.coref_gru import CorefGRU, CorefGRUCell
from keras_corefmem.layers.rnn.dag_rnn import DAGRNN, DAGRNNCell
from keras_corefmem.layers.rnn.gru import AttentionGRUCell, GRUCell
from keras_corefmem.layers.rnn.mage_gru import MAGEGRU, MAGEGRUCell

__all__ = ["DAGRNN", "MAGEGRU", "AbstractRNNCell", "AttentionGRUCell", "CorefGRU", "CorefGRUCell"]
__all__ += ["DAGRNNCell", "GRUCell", "MAGEGRUCell"]
