"""Building blocks of features: padded ids, spelled words, and pairs that supervise attention."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.graphs.targets import Structure, attention_pairs
from keras_corefmem.text.vocabulary import Vocabulary
from keras_corefmem.utils.checks import check_sizes

TARGETS = "passage_targets_"
# 8, 16, 32, 64, 96, 128, 192, …: short texts may be padded to twice their length.
LENGTHS = np.sort(np.append(8 << np.arange(22), 96 << np.arange(18))).astype("int32")


def pad(
    arrays: Sequence, width: int, count: int | None = None, inner: tuple[int, ...] = ()
) -> np.ndarray:
    """Stacks arrays of different lengths, padded with zeros at the end.

    Args:
        arrays: arrays `(n, *inner)` with n of at most `width`.
        width: length of each row.
        count: number of rows; those beyond the arrays are zero. `None` for one row per array.
        inner: further dimensions of each array.

    Returns:
        int32 array `(count, width, *inner)`.

    Raises:
        ValueError: if an array is longer than `width`.

    Example:
        >>> keras_corefmem.preprocessing.pad([[1, 2], [3]], 3)
        array([[1, 2, 0],
               [3, 0, 0]], dtype=int32)
    """
    result = np.zeros((len(arrays) if count is None else count, width, *inner), "int32")
    for row, array in zip(result, arrays, strict=count is None):
        if len(array) > width:
            raise ValueError(f"{len(array)} numbers do not fit into {width}: pad to a longer one.")
        row[: len(array)] = array
    return result


def coarse_length(length: Any, xp: Any = np) -> Any:
    """Rounds up the lengths of texts that are read one by one, so that few shapes are compiled."""
    shorter = xp.asarray(length)[..., None] > LENGTHS
    return xp.take(LENGTHS, xp.sum(xp.asarray(shorter, dtype="int32"), axis=-1))


def check_ids(name: str, ids: np.ndarray, count: int) -> None:
    """Raises a ValueError that names feature, row and id for ids outside 0 to `count - 1`."""
    outside = np.argwhere((ids < 0) | (ids >= count))
    if len(outside):
        raise ValueError(
            f"{name} of row {outside[0][0]} holds {ids[tuple(outside[0])]}, which the model does "
            f"not know: numbers go from 0 to {count - 1}. Encode with the model's own preprocessor."
        )


class Spelling:
    """Spells words as ids of characters."""

    def __init__(self, characters: str, length: int, tail: int = 0) -> None:
        check_sizes(word_length=length)
        self.vocabulary, self.length = Vocabulary(characters), length
        self.head, self.tail = length - tail, tail
        self._rows: dict[str, np.ndarray] = {}

    def __bool__(self) -> bool:
        return bool(self.vocabulary.known)

    def __call__(self, words: Sequence[str]) -> np.ndarray:
        """Returns int32 ids `(words, length)`."""
        for word in set(words) - self._rows.keys():
            # A word that is not too long keeps all its letters.
            cut = word[: self.head] + word[max(self.head, len(word) - self.tail) :]
            self._rows[word] = pad([self.vocabulary.encode(cut)], self.length)[0]
        return np.reshape([self._rows[word] for word in words], (-1, self.length)).astype("int32")


def targets_of(
    example: Example, signals: Iterable[str], chains: Sequence[int]
) -> dict[str, np.ndarray]:
    """Returns the pairs `(N, 2)` of an example's `structure` by signal.

    If it has none, coreference is that of `chains`, the chain of each passage token, 0 = none.
    """
    if not signals:
        return {}
    structure = getattr(example, "structure", None)
    if structure is None:
        structure = Structure.of_chains(chains)
    else:
        # Supervised heads attend to the passage alone.
        structure = structure.before(sum(text.count(" ") + 1 for text in example.sentences))
    return {signal: attention_pairs(structure, signal) for signal in signals}


def target_name(signal: str) -> str:
    """Names the feature that holds the pairs of a signal."""
    return TARGETS + signal


def pad_pairs(pairs: Sequence, room: int, count: int) -> np.ndarray:
    """Stacks lists of pairs into int32 `(count, room, 2)`; doubles the room until all fit."""
    while room < max(map(len, pairs), default=0):
        room *= 2
    return pad([np.reshape(each, (-1, 2)) for each in pairs], room, count, (2,))


def room_for(room: dict[str, int], targets: dict[str, Any], length: int) -> dict[str, int]:
    """Raises the room of each signal, in pairs per token, to what a passage's targets need."""
    needed = {signal: -(-len(targets.get(signal, ())) // length) for signal in room}
    return {signal: max(least, needed[signal]) for signal, least in room.items()}


def overlapping_words(passage: Any, question: Any, is_word: Any, xp: Any = np) -> Any:
    """Marks the words of passages `(batch, time)` as `mark_overlap` does, and padding with 0."""
    same = xp.any(passage[:, :, None] == question[:, None], axis=-1)
    return xp.asarray(xp.where(is_word, xp.where(same, 1, 2), 0), dtype="int32")


def sentence_numbers(ends: Any, xp: Any = np) -> Any:
    """Returns the number of each token's sentence, from 1."""
    ends = xp.asarray(ends, dtype="int32")
    return 1 + xp.asarray(xp.cumsum(ends, axis=-1), dtype="int32") - ends
