"""What TensorBoard shows while a reader learns, and after. Needs no TensorFlow."""

from keras_corefmem.callbacks.questions import (
    AnswerAfterSentence,
    AnswerTable,
    AttentionPictures,
    HeadPictures,
    LabelTable,
    Questions,
    SentencePictures,
    WordPictures,
)
from keras_corefmem.callbacks.run import HParams, Scalars, WordProjector

__all__ = [
    "AnswerAfterSentence",
    "AnswerTable",
    "AttentionPictures",
    "HParams",
    "HeadPictures",
    "LabelTable",
    "Questions",
    "Scalars",
    "SentencePictures",
    "WordPictures",
    "WordProjector",
]
