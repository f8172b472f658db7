"""Random inputs over random acyclic graphs."""

import numpy as np

from keras_corefmem.graphs import Annotation

WIDTH = 4


def spaced_annotation(text, **structure):
    """An annotation of a text whose tokens stand between single spaces."""
    tokens = text.split(" ")
    starts = [sum(len(token) + 1 for token in tokens[:n]) for n in range(len(tokens))]
    return Annotation(text, tokens, starts, **structure)


def random_mask(batch, time):
    """Padding at the end, in the middle, at the start and nowhere, one kind per example."""
    mask = np.ones((batch, time), bool)
    kinds = (slice(time - 2, None), slice(2, 4), slice(0, 2), slice(0, 0))
    for b in range(batch):
        mask[b, kinds[b % 4]] = False
    return mask


def random_features(rng, batch, time, width=WIDTH):
    return rng.normal(size=(batch, time, width)).astype("float32")


def random_sources(rng, batch, time, types, edges, mask=None, repeat=False):
    """Up to `edges` sources per token and type, drawn per type, so that types share sources.

    With `repeat`, an edge may occur twice. Masked tokens neither read nor are read.
    """
    sources = np.zeros((batch, time, types, edges), "int32")
    mask = np.ones((batch, time), bool) if mask is None else mask
    for b, t, e in np.ndindex(batch, time, types):
        earlier = 1 + np.flatnonzero(mask[b, :t])
        count = rng.integers(0, edges + 1) if mask[b, t] else 0
        count = min(count, len(earlier)) if len(earlier) else 0
        sources[b, t, e, rng.permutation(edges)[:count]] = rng.choice(
            earlier, count, replace=repeat
        )
    return sources


def random_antecedents(rng, batch, time, mask=None):
    """At most one earlier token each; several tokens may share it."""
    return random_sources(rng, batch, time, 1, 1, mask)[:, :, 0, 0]


def random_chains(rng, batch, time, chains, mask=None):
    """Chain of every token as one-hot columns, and the antecedents that follow from it."""
    members = np.zeros((batch, time, chains), "float32")
    antecedents = np.zeros((batch, time), "int32")
    for b in range(batch):
        last = {}
        for t in range(time):
            chain = int(rng.integers(0, chains + 1))
            if chain < chains and (mask is None or mask[b, t]):
                members[b, t, chain] = 1
                antecedents[b, t] = last.get(chain, 0)
                last[chain] = t + 1
    return members, antecedents


def slot_columns(sources, reverse=False):
    """Read and write columns of a cell with one memory slot per position.

    With `reverse`, the edges are read from target to source.
    """
    batch, time, types, _ = sources.shape
    reads = np.zeros((batch, time, types, time), "float32")
    for (b, t, e, _), source in np.ndenumerate(sources):
        if source:
            reader, slot = (source - 1, t) if reverse else (t, source - 1)
            reads[b, reader, e, slot] += 1
    writes = np.broadcast_to(np.eye(time, dtype="float32")[:, None], reads.shape)
    return np.concatenate([reads, writes], axis=2).reshape(batch, time, -1)
