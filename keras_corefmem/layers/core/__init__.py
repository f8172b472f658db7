"""Building blocks: highway, dropout, splitting, sentence retrieval, scaled gradients."""

from keras_corefmem.layers.core.hash_dropout import HashDropout
from keras_corefmem.layers.core.highway import Highway
from keras_corefmem.layers.core.retrieve_sentences import (
    RestoreSentences,
    RetrieveSentences,
    inverse_sentence_frequency,
)
from keras_corefmem.layers.core.scaled_gradient import ScaledGradient
from keras_corefmem.layers.core.split_sequences import SentenceEnds, SplitSequences

__all__ = ["HashDropout", "Highway", "RestoreSentences", "RetrieveSentences", "ScaledGradient"]
__all__ += ["SentenceEnds", "SplitSequences", "inverse_sentence_frequency"]
