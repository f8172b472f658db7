"""The words a model knows, and their ids."""

import collections
import itertools

import numpy as np

PADDING = 0
UNKNOWN = 1
_SPECIALS = ("", "[unknown]")


class Vocabulary:
    """Maps words to ids and back: 0 is padding, 1 an unknown word, 2 the first word.

    Args:
        words: Distinct non-empty strings in the order of their ids, without the two specials.

    Attributes:
        words: List of all words by id, the specials included.

    Raises:
        ValueError: If a word is empty, repeated or a special.
    """

    def __init__(self, words):
        self.words = [*_SPECIALS, *words]
        self._ids = {word: i for i, word in enumerate(self.words)}
        if len(self._ids) < len(self.words):
            repeated = next(w for i, w in enumerate(self.words) if self._ids[w] != i)
            raise ValueError(
                f"`words` must be distinct, non-empty and without {_SPECIALS[UNKNOWN]!r}, "
                f"but {repeated!r} occurs twice or is reserved."
            )

    @classmethod
    def from_tokens(cls, token_lists, max_size=None):
        """Learns a vocabulary: frequent words first, equally frequent ones alphabetically.

        Args:
            token_lists: Iterable of lists of tokens.
            max_size: Largest `len` of the vocabulary, specials included; `None` for all words.

        Returns:
            A `Vocabulary`.
        """
        return cls.from_counts(
            collections.Counter(itertools.chain.from_iterable(token_lists)), max_size
        )

    @classmethod
    def from_counts(cls, counts, max_size=None):
        """Learns a vocabulary as `from_tokens` does.

        Args:
            counts: Mapping of tokens to how often they occur.
            max_size: Largest `len` of the vocabulary, specials included; `None` for all words.
        """
        if max_size is not None and max_size <= len(_SPECIALS):
            raise ValueError(
                f"`max_size` counts the {len(_SPECIALS)} special ids and must be greater, "
                f"but is {max_size}."
            )
        words = sorted(counts.keys() - set(_SPECIALS), key=lambda word: (-counts[word], word))
        return cls(words if max_size is None else words[: max_size - len(_SPECIALS)])

    def __len__(self):
        return len(self.words)

    def encode(self, tokens):
        """Looks up ids.

        Args:
            tokens: Sequence of n strings.

        Returns:
            An int32 array of shape `(n,)`; tokens outside the vocabulary are 1.
        """
        return np.array([self._ids.get(token, UNKNOWN) for token in tokens], "int32")

    def decode(self, ids):
        """Looks up words.

        Args:
            ids: Integers of shape `(n,)`.

        Returns:
            A list of n strings: `""` for padding, `"[unknown]"` for an unknown word.

        Raises:
            ValueError: If an id lies outside the vocabulary.
        """
        ids = np.asarray(ids, "int64")
        outside = ids[(ids < 0) | (ids >= len(self))]
        if outside.size:
            raise ValueError(
                f"Id {outside[0]} lies outside this vocabulary of {len(self)}: "
                "use the vocabulary that encoded it."
            )
        return [self.words[i] for i in ids]

    def get_config(self):
        """Returns the constructor's arguments, ready for JSON."""
        return {"words": self.words[len(_SPECIALS) :]}

    @classmethod
    def from_config(cls, config):
        """Returns the vocabulary of a `get_config`."""
        return cls(**config)
