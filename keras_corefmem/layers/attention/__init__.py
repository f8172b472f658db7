"""Gated, bidirectional and supervised self-attention."""

from keras_corefmem.layers.attention.attention_encoder import AttentionEncoder
from keras_corefmem.layers.attention.attention_supervision import attention_mass
from keras_corefmem.layers.attention.question_attention import (
    BidirectionalAttention,
    GatedAttention,
)
from keras_corefmem.layers.attention.supervised_attention import SupervisedMultiHeadAttention
from keras_corefmem.layers.attention.supervision_metrics import ReportsSupervision

__all__ = ["AttentionEncoder", "BidirectionalAttention", "GatedAttention", "ReportsSupervision"]
__all__ += ["SupervisedMultiHeadAttention", "attention_mass"]
