"""Readers of data sets, and a simulator of stories."""

from keras_corefmem.datasets import babi, cnn, mix, pos, simulator, sst
from keras_corefmem.datasets.example import Example, Splits, stories
from keras_corefmem.datasets.sentence import Sentence

__all__ = [
    "Example",
    "Sentence",
    "Splits",
    "babi",
    "cnn",
    "mix",
    "pos",
    "simulator",
    "sst",
    "stories",
]
