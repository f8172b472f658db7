"""Rule-based coreference resolution for any spaCy pipeline with a parser, and its scores."""

from keras_corefmem.graphs.coreference.resolver import KINDS, STEPS, Resolver
from keras_corefmem.graphs.coreference.scores import Score, score_chains

__all__ = ["KINDS", "STEPS", "Resolver", "Score", "score_chains"]
