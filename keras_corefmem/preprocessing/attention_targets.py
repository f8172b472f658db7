"""Features that supervise attention: pairs of tokens, and which sentence each token is in."""

import copy

import numpy as np

from keras_corefmem.graphs.targets import attention_pairs

TARGETS = "passage_targets_"


def targets_of(example, signals):
    """Pairs that supervise attention, by the name of their signal.

    Args:
        example: an `Example`; one without a `structure` has none.
        signals: names of the signals.

    Returns:
        Dictionary of int32 arrays `(N, 2)`.
    """
    structure = getattr(example, "structure", None)
    if structure is None:
        return {}
    return {signal: attention_pairs(structure, signal) for signal in signals}


def target_name(signal):
    """Name of the feature that holds the pairs of a signal."""
    return TARGETS + signal


def pad_pairs(pairs, room, count):
    """Lists of pairs as rows of one, int32 `(count, room, 2)`, more room where one needs it."""
    while room < max(map(len, pairs), default=0):
        room *= 2
    result = np.zeros((count, room, 2), "int32")
    for row, found in zip(result, pairs, strict=False):
        row[: len(found)] = np.reshape(found, (-1, 2))
    return result


def with_room(preprocessor, rows):
    """A preprocessor whose batches of these rows have one shape for each length.

    Args:
        preprocessor: any preprocessor; what makes no targets stays as it is.
        rows: list of what it encoded.
    """
    known = getattr(preprocessor, "signals", {})
    room = {
        signal: max([least, *(-(-len(r.targets.get(signal, ())) // len(r.passage)) for r in rows)])
        for signal, least in known.items()
    }
    if room == known:
        return preprocessor
    other = copy.copy(preprocessor)
    other.signals = room
    return other


def sentence_numbers(ends, xp=np):
    """Number of each token's sentence, from 1, where only tokens say where sentences end.

    Args:
        ends: whether each token ends a sentence, bool `(…, time)`.
        xp: `numpy`, or `tensorflow.experimental.numpy` inside a SavedModel.
    """
    ends = xp.asarray(ends, dtype="int32")
    return 1 + xp.asarray(xp.cumsum(ends, axis=-1), dtype="int32") - ends
