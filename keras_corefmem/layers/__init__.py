"""Recurrent cells, layers and attention, on TensorFlow and JAX."""

from keras_corefmem.layers.attention.attention_encoder import AttentionEncoder
from keras_corefmem.layers.attention.attention_supervision import attention_mass
from keras_corefmem.layers.attention.bidirectional_attention import BidirectionalAttention
from keras_corefmem.layers.attention.gated_attention import GatedAttention
from keras_corefmem.layers.attention.supervised_attention import SupervisedMultiHeadAttention
from keras_corefmem.layers.attention.supervision_metrics import ReportsSupervision
from keras_corefmem.layers.core.hash_dropout import HashDropout
from keras_corefmem.layers.core.highway import Highway
from keras_corefmem.layers.core.retrieve_sentences import (
    RestoreSentences,
    RetrieveSentences,
    inverse_sentence_frequency,
)
from keras_corefmem.layers.core.sentence_ends import SentenceEnds
from keras_corefmem.layers.core.split_sequences import SplitSequences
from keras_corefmem.layers.embedding.character_cnn import CharacterCNN
from keras_corefmem.layers.embedding.contextual_vectors import ContextualVectors
from keras_corefmem.layers.embedding.layer_mix import LayerMix
from keras_corefmem.layers.embedding.multiplicative_mask import MultiplicativeMask
from keras_corefmem.layers.embedding.position_encoding import PositionEncoding
from keras_corefmem.layers.embedding.sinusoidal_positions import SinusoidalPositions
from keras_corefmem.layers.embedding.word_pieces import WordPieces
from keras_corefmem.layers.heads.answer_decoder import AnswerDecoder
from keras_corefmem.layers.heads.attention_sum import AttentionSum
from keras_corefmem.layers.heads.candidate_answers import CandidateAnswers
from keras_corefmem.layers.kernels.graph_gru import graph_gru
from keras_corefmem.layers.memory.end_to_end_memory import EndToEndMemory
from keras_corefmem.layers.memory.entity_memory import EntityMemory, EntityMemoryCell
from keras_corefmem.layers.memory.entity_output import EntityOutput
from keras_corefmem.layers.memory.episodic_memory import EpisodicMemory
from keras_corefmem.layers.memory.query_reduction import QueryReduction, QueryReductionCell
from keras_corefmem.layers.memory.word_memory import WordMemory
from keras_corefmem.layers.rnn.abstract_rnn_cell import AbstractRNNCell
from keras_corefmem.layers.rnn.attention_gru import AttentionGRUCell
from keras_corefmem.layers.rnn.coref_gru import CorefGRU, CorefGRUCell
from keras_corefmem.layers.rnn.dag_rnn import DAGRNN, DAGRNNCell
from keras_corefmem.layers.rnn.mage_gru import MAGEGRU, MAGEGRUCell

__all__ = [
    "DAGRNN",
    "MAGEGRU",
    "AbstractRNNCell",
    "AnswerDecoder",
    "AttentionEncoder",
    "AttentionGRUCell",
    "AttentionSum",
    "BidirectionalAttention",
    "CandidateAnswers",
    "CharacterCNN",
    "ContextualVectors",
    "CorefGRU",
    "CorefGRUCell",
    "DAGRNNCell",
    "EndToEndMemory",
    "EntityMemory",
    "EntityMemoryCell",
    "EntityOutput",
    "EpisodicMemory",
    "GatedAttention",
    "HashDropout",
    "Highway",
    "LayerMix",
    "MAGEGRUCell",
    "MultiplicativeMask",
    "PositionEncoding",
    "QueryReduction",
    "QueryReductionCell",
    "ReportsSupervision",
    "RestoreSentences",
    "RetrieveSentences",
    "SentenceEnds",
    "SinusoidalPositions",
    "SplitSequences",
    "SupervisedMultiHeadAttention",
    "WordMemory",
    "WordPieces",
    "graph_gru",
    "attention_mass",
    "inverse_sentence_frequency",
]
