"""Readers of data sets, and a simulator of stories."""

from keras_corefmem.datasets import (
    babi,
    cbt,
    cnn,
    lambada,
    mix,
    novels,
    pos,
    simulator,
    sst,
    wikihop,
)
from keras_corefmem.datasets.example import CandidateExample, Example, Splits, stories
from keras_corefmem.datasets.sentence import Sentence

__all__ = [
    "CandidateExample",
    "Example",
    "Sentence",
    "Splits",
    "babi",
    "cbt",
    "cnn",
    "lambada",
    "mix",
    "novels",
    "pos",
    "simulator",
    "sst",
    "stories",
    "wikihop",
]
