"""Readers of data sets, and a simulator of stories."""

from keras_corefmem.datasets.example import CandidateExample, Example, Splits, group_by_story
from keras_corefmem.datasets.passages import cbt, cnn, lambada, novels, wikihop
from keras_corefmem.datasets.sentences import pos, sst
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.datasets.stories import babi, mix, simulator

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
    "group_by_story",
    "wikihop",
]
