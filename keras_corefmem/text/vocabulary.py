"""The words a model knows, and their ids."""

import collections
import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keras_corefmem.text.tokenizers import has_letters
from keras_corefmem.utils.arguments import check_configuration
from keras_corefmem.utils.checks import check_sizes

PADDING = 0
UNKNOWN = 1
_SPECIALS = ("", "[unknown]")
# Each has a word and a vector.
MOST_UNKNOWN = 100_000


class Vocabulary:
    """Maps words to ids and back: 0 is padding, 1 an unknown word, 2 the first word.

    Unknown words may be of several types, given by their hashes, so that a model can tell two
    unknown names of a text apart: the first type has id 1, the others follow the last word. Or they
    may be free symbols, which have the last ids: each unknown word of a text is then a symbol of
    its own, see `encode_texts`.

    Args:
        words: Distinct non-empty strings in the order of their ids, without the two specials.
        unknown_types: Number of types of unknown words.
        free_symbols: Number of free symbols.

    Attributes:
        words: List of all words by id, the specials included.
        known: List of the words that are known, without specials, by id from 2.
        unknown_types: Number of types of unknown words.
        free_symbols: Number of free symbols.
        symbols: Names of the free symbols, the last ones of `words`.
        ids: Ids by word, for words that are known or read like a known one.

    Raises:
        ValueError: If a word is empty, repeated, a special or no string, a number is too small, or
            there are both free symbols and types of unknown words.

    Example:
        >>> vocabulary = keras_corefmem.text.Vocabulary.from_tokens([["mary", "left"], ["mary"]])
        >>> vocabulary.encode(["mary", "slept"]).tolist(), vocabulary.decode([2, 1])
        ([2, 1], ['mary', '[unknown]'])
    """

    def __init__(self, words: Iterable[str], unknown_types: int = 1, free_symbols: int = 0) -> None:
        check_sizes(unknown_types=unknown_types)
        check_sizes(0, free_symbols=free_symbols)
        if free_symbols and unknown_types > 1:
            raise ValueError(
                "Unknown words are free symbols or of several types, not both: leave free_symbols "
                "or unknown_types out."
            )
        if max(unknown_types, free_symbols) > MOST_UNKNOWN:
            raise ValueError(
                f"unknown_types and free_symbols may be {MOST_UNKNOWN:,}, got {unknown_types:,} "
                f"and {free_symbols:,}."
            )
        self.known, self.unknown_types = list(words), unknown_types
        if wrong := [word for word in self.known if not isinstance(word, str)]:
            raise ValueError(f"`words` must be strings, got {wrong[0]!r:.80}.")
        self.free_symbols = free_symbols
        self.symbols = [f"[symbol {n}]" for n in range(1, free_symbols + 1)]
        others = [f"[unknown {n}]" for n in range(2, unknown_types + 1)]
        self.words = [*_SPECIALS, *self.known, *others, *self.symbols]
        ids = {word: i for i, word in enumerate(self.words)}
        if len(ids) < len(self.words):
            repeated = next(w for i, w in enumerate(self.words) if ids[w] != i)
            raise ValueError(
                f"`words` must be distinct, non-empty and without {_SPECIALS[UNKNOWN]!r}, "
                f"but {repeated!r:.80} occurs twice or is reserved."
            )
        # A special or a symbol in a text is an unknown word, as in a SavedModel.
        self.ids = {word: ids[word] for word in self.known}

    @classmethod
    def from_tokens(
        cls, token_lists: Iterable[Iterable[str]], max_size: int | None = None
    ) -> "Vocabulary":
        """Learns a vocabulary: frequent words first, equally frequent ones alphabetically.

        Args:
            token_lists: Lists of tokens.
            max_size: Maximum `len` of the vocabulary, specials included; `None` for all words.

        Raises:
            ValueError: If a string stands where a list should.
        """
        tokens = itertools.chain.from_iterable(map(_list, _list(token_lists)))
        return cls.from_counts(collections.Counter(tokens), max_size)

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], max_size: int | None = None) -> "Vocabulary":
        """Learns a vocabulary as `from_tokens` does, from the counts of tokens."""
        if max_size is not None and max_size <= len(_SPECIALS):
            raise ValueError(
                f"`max_size` counts the {len(_SPECIALS)} special ids and must be greater, "
                f"but is {max_size}."
            )
        words = sorted(counts.keys() - set(_SPECIALS), key=lambda word: (-counts[word], word))
        return cls(words if max_size is None else words[: max_size - len(_SPECIALS)])

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, tokens: Iterable[str]) -> np.ndarray:
        """Looks up the ids of n tokens, int32 `(n,)`.

        Tokens outside the vocabulary have the id of their type of unknown words, 1 if there is only
        one type.
        """
        return np.array([self.ids.get(token) or self._unknown(token) for token in tokens], "int32")

    def read_alike(self, words: Sequence[str]) -> None:
        """Gives the unknown ones of some words the id of the first known one."""
        known = [self.ids[word] for word in words if word in self.ids]
        self.ids = {**dict.fromkeys(words, *known[:1]), **self.ids} if known else self.ids

    def encode_texts(self, texts: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """Looks up the ids of texts that belong together, such as a passage and its question.

        With N free symbols, the n-th unknown word, in the order of first occurrences, is symbol
        `1 + (n - 1 + s) mod N`, where s is the sum of the ids of all known words. The symbol thus
        differs between texts, so that all symbols are learned alike. Unknown punctuation, and
        unknown words beyond N, have id 1.

        Args:
            texts: Lists of tokens.

        Returns:
            An array of ids for each text, int32.

        Example:
            >>> vocabulary = keras_corefmem.text.Vocabulary(["met", "who"], free_symbols=3)
            >>> texts = [["ann", "met", "bob"], ["who", "met", "ann"]]
            >>> [vocabulary.decode(ids) for ids in vocabulary.encode_texts(texts)]
            [['[symbol 2]', 'met', '[symbol 3]'], ['who', 'met', '[symbol 2]']]
        """
        ids = [self.encode(tokens) for tokens in texts]
        if not self.free_symbols:
            return ids
        joined = np.concatenate(ids) if ids else np.zeros(0, "int32")
        unknown = np.flatnonzero(joined == UNKNOWN)
        words = list(itertools.chain.from_iterable(texts))
        new = dict.fromkeys(words[n] for n in unknown if has_letters(words[n]))
        ranks = {word: rank for rank, word in enumerate(list(new)[: self.free_symbols])}
        turn, first = int(joined.sum()) - len(unknown), len(self) - self.free_symbols
        for n in unknown:
            if words[n] in ranks:
                joined[n] = first + (ranks[words[n]] + turn) % self.free_symbols
        return np.split(joined, np.cumsum(list(map(len, ids)))[:-1])

    def _unknown(self, token: str) -> int:
        kind = hash_bucket(token, self.unknown_types) if self.unknown_types > 1 else 0
        return len(_SPECIALS) + len(self.known) + kind - 1 if kind else UNKNOWN

    def is_unknown(self, ids: ArrayLike) -> np.ndarray:
        """Returns which ids are those of unknown words, bool, of the shape of the ids."""
        ids = np.asarray(ids)
        return (ids == UNKNOWN) | (ids >= len(_SPECIALS) + len(self.known))

    def decode(self, ids: ArrayLike) -> list[str]:
        """Looks up words: `""` for padding, `"[unknown]"` for an unknown word.

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

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments, ready for JSON."""
        config = {"words": self.known, "unknown_types": self.unknown_types}
        return config | ({"free_symbols": self.free_symbols} if self.free_symbols else {})

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Vocabulary":
        """Returns the vocabulary of a `get_config`."""
        check_configuration(cls, config)
        return cls(**config)


def _list(tokens):
    """Returns tokens, unless they are a string, whose letters would be taken for words."""
    if isinstance(tokens, str):
        raise ValueError(f"Pass lists of tokens, got the string {tokens!r:.80}: split it.")
    return tokens


@functools.lru_cache(2**17)
def hash_bucket(word: str, buckets: int) -> int:
    """Returns the bucket of a word, 0 to `buckets - 1`, the same as in a SavedModel."""
    import tensorflow as tf

    return int(tf.strings.to_hash_bucket_fast(word, buckets))
