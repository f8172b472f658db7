"""Batches of sentences, and of the phrases of their trees."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_corefmem.datasets.sentences.sst import epoch_phrases
from keras_corefmem.preprocessing.batching.batches import Batches
from keras_corefmem.preprocessing.encoding.features import pad


class SentenceBatches(Batches):
    """Batches of a classifier or tagger of sentences: `(features, answers, weights)`.

    With `shuffle`, an epoch has all whole sentences and a random share of the phrases, drawn by the
    seed. Tags and their weights are `(batch, time)`, 0 on padding.

    Args:
        encoded: list of `EncodedSentence`.
        *args: further arguments of `Batches`.
        share: share of the phrases in an epoch.
        **kwargs: further arguments of `Batches`.

    Reference: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285), Section 4.2.

    Example:
        >>> sentence = keras_corefmem.datasets.Sentence(("Good", "film"), ("JJ", "NN"))
        >>> preprocessor = keras_corefmem.preprocessing.SentencePreprocessor.fit([sentence])
        >>> batches = preprocessor.batches([preprocessor.encode(sentence)], ["words"], batch_size=1)
        >>> batches[0][1]
        array([[1, 2]], dtype=int32)
    """

    def __init__(self, encoded: Sequence, *args: Any, share: float = 0.5, **kwargs: Any) -> None:
        self.share, self.all_encoded = share, list(encoded)
        super().__init__(encoded, *args, **kwargs)

    def start_epoch(self, epoch: int) -> None:
        share = self.share if self.shuffle else 1.0
        self.encoded = epoch_phrases(self.all_encoded, epoch, share, self.seed)
        # Number of words before each sentence.
        self.starts = np.cumsum([0, *(len(sentence.words) for sentence in self.encoded)])
        super().start_epoch(epoch)

    def targets(self, rows: Sequence, length: int) -> tuple[np.ndarray, np.ndarray]:
        if not self.preprocessor.tags:
            return super().targets(rows, length)
        answers = pad([row.answer for row in rows], length, self.batch_size)
        ones = [np.ones(len(row.answer)) for row in rows]
        return answers, pad(ones, length, self.batch_size).astype("float32")

    def numbers(self, index: int) -> np.ndarray:
        if not self.preprocessor.tags:
            return super().numbers(index)
        members, length, _ = self.batches[index]
        words = [np.arange(*self.starts[i : i + 2]) for i in members]
        return pad(words, length, self.batch_size)

    @property
    def count(self) -> int:
        return sum(np.size(sentence.answer) for sentence in self.all_encoded)
