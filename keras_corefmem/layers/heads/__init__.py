"""Layers from states to logits: pointer sum, candidate answers and answer decoder."""

from keras_corefmem.layers.heads.answer_decoder import AnswerDecoder
from keras_corefmem.layers.heads.attention_sum import AttentionSum
from keras_corefmem.layers.heads.candidate_answers import CandidateAnswers

__all__ = ["AnswerDecoder", "AttentionSum", "CandidateAnswers"]
