"""Words as the ids of their characters."""

from collections.abc import Sequence

import numpy as np

from keras_corefmem.preprocessing.arrays import pad
from keras_corefmem.text.vocabulary import Vocabulary
from keras_corefmem.utils.checks import check_sizes


class Spelling:
    """Spells words as ids of characters.

    Args:
        characters: string of the known characters, `""` where words are not spelled.
        length: characters of a word that are read.
        tail: how many of these are the last ones of a word that is longer.
    """

    def __init__(self, characters: str, length: int, tail: int = 0) -> None:
        check_sizes(word_length=length)
        self.vocabulary, self.length = Vocabulary(characters), length
        self.head, self.tail = length - tail, tail
        self._rows: dict[str, np.ndarray] = {}

    @property
    def count(self) -> int:
        """Number of character ids, 0 where words are not spelled."""
        return len(self.vocabulary) if self else 0

    @property
    def characters(self) -> str:
        return "".join(self.vocabulary.known)

    def __bool__(self) -> bool:
        return bool(self.vocabulary.known)

    def __call__(self, words: Sequence[str]) -> np.ndarray:
        """Returns int32 ids `(words, length)`."""
        for word in words:
            if word not in self._rows:
                cut = word
                if len(word) > self.length:
                    cut = word[: self.head] + word[len(word) - self.tail :]
                self._rows[word] = pad([self.vocabulary.encode(cut)], self.length)[0]
        return np.reshape([self._rows[word] for word in words], (-1, self.length)).astype("int32")
