"""Features that supervise attention: pairs of tokens, and the sentence of each token."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.graphs.targets import attention_pairs
from keras_corefmem.preprocessing.arrays import pad

TARGETS = "passage_targets_"


def targets_of(example: Example, signals: Iterable[str]) -> dict[str, np.ndarray]:
    """Returns the pairs `(N, 2)` by signal; an example without a `structure` has none."""
    structure = getattr(example, "structure", None)
    if structure is None:
        return {}
    return {signal: attention_pairs(structure, signal) for signal in signals}


def target_name(signal: str) -> str:
    """Names the feature that holds the pairs of a signal."""
    return TARGETS + signal


def pad_pairs(pairs: Sequence, room: int, count: int) -> np.ndarray:
    """Stacks lists of pairs to int32 `(count, room, 2)`, doubling the room where one needs it."""
    while room < max(map(len, pairs), default=0):
        room *= 2
    return pad([np.reshape(each, (-1, 2)) for each in pairs], room, count, (2,))


def room_for(room: dict[str, int], targets: dict[str, Any], length: int) -> dict[str, int]:
    """Raises pairs for each token, by signal, to what the targets of a passage need.

    Args:
        room: pairs for each token that there is room for.
        targets: pairs `(N, 2)` by the name of their signal.
        length: number of tokens of the passage.
    """
    return {
        signal: max(least, -(-len(targets.get(signal, ())) // length))
        for signal, least in room.items()
    }


def sentence_numbers(ends: Any, xp: Any = np) -> Any:
    """Numbers the sentence of each token from 1.

    Args:
        ends: whether each token ends a sentence, bool `(…, time)`.
        xp: `numpy`, or a `GraphNumpy` inside a graph.
    """
    ends = xp.asarray(ends, dtype="int32")
    return 1 + xp.asarray(xp.cumsum(ends, axis=-1), dtype="int32") - ends
