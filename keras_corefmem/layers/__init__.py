"""Recurrent cells, layers and attention, on TensorFlow and JAX."""

from keras_corefmem.layers.abstract_rnn_cell import AbstractRNNCell
from keras_corefmem.layers.answer_decoder import AnswerDecoder
from keras_corefmem.layers.attention_encoder import AttentionEncoder
from keras_corefmem.layers.attention_gru import AttentionGRUCell
from keras_corefmem.layers.attention_sum import AttentionSum
from keras_corefmem.layers.attention_supervision import hit_rate
from keras_corefmem.layers.bidirectional_attention import BidirectionalAttention
from keras_corefmem.layers.candidate_answers import CandidateAnswers
from keras_corefmem.layers.character_cnn import CharacterCNN
from keras_corefmem.layers.contextual_vectors import ContextualVectors
from keras_corefmem.layers.coref_gru import CorefGRU, CorefGRUCell
from keras_corefmem.layers.dag_rnn import DAGRNN, DAGRNNCell
from keras_corefmem.layers.end_to_end_memory import EndToEndMemory
from keras_corefmem.layers.entity_memory import EntityMemory, EntityMemoryCell
from keras_corefmem.layers.entity_output import EntityOutput
from keras_corefmem.layers.episodic_memory import EpisodicMemory
from keras_corefmem.layers.gated_attention import GatedAttention
from keras_corefmem.layers.graph_gru import graph_gru
from keras_corefmem.layers.hash_dropout import HashDropout
from keras_corefmem.layers.highway import Highway
from keras_corefmem.layers.layer_mix import LayerMix
from keras_corefmem.layers.mage_gru import MAGEGRU, MAGEGRUCell
from keras_corefmem.layers.multiplicative_mask import MultiplicativeMask
from keras_corefmem.layers.position_encoding import PositionEncoding
from keras_corefmem.layers.query_reduction import QueryReduction, QueryReductionCell
from keras_corefmem.layers.retrieve_sentences import (
    RestoreSentences,
    RetrieveSentences,
    inverse_sentence_frequency,
)
from keras_corefmem.layers.sentence_ends import SentenceEnds
from keras_corefmem.layers.sinusoidal_positions import SinusoidalPositions
from keras_corefmem.layers.split_sequences import SplitSequences
from keras_corefmem.layers.supervised_attention import SupervisedMultiHeadAttention
from keras_corefmem.layers.supervision_metrics import ReportsSupervision
from keras_corefmem.layers.word_memory import WordMemory
from keras_corefmem.layers.word_pieces import WordPieces

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
    "hit_rate",
    "inverse_sentence_frequency",
]
