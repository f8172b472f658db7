"""Coreference resolution by rules, on any spaCy pipeline with a parser."""

from keras_corefmem.graphs.coreference.resolver import KINDS, STEPS, Resolver

__all__ = ["KINDS", "STEPS", "Resolver"]
