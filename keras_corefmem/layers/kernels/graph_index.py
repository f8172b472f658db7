"""Edges of a directed acyclic graph as gather indices, in both reading directions."""

from typing import NamedTuple

import numpy as np
from keras import ops


class Edges(NamedTuple):
    """Edges as a sweep walks them.

    Attributes:
        sources: int32 `(time, types, edges, batch)`, 1-based position of the source, 0 = none.
        links: int32 `(time, types, 1 + edges, batch)`, edge numbers, 0 = none: the first edge that
            leaves the token, then for each edge that enters it the next one with the same source.
            The edge in column `k` of token `t` (both from 0) is number `t * edges + k + 1`.
        count: float32 `(time, batch, 1)`: 1 + number of edges that the sweep reads, or `None`.
    """

    sources: object
    links: object
    count: object = None


def link_edges(sources):
    """The `links` of `Edges`, batch-major: sums over any number of successors without a scatter."""
    batch, time, types, edges = ops.shape(sources)
    if isinstance(time, int) and time * time * (edges + 1) >= 2**31:
        raise ValueError(f"{time} tokens with {edges} edges of a type are too many to number.")
    lists = sources
    if edges > 1:
        same = sources[..., None] == sources[..., None, :]
        earlier = np.tril(np.ones((edges, edges), bool), -1)
        lists = ops.where(ops.any(ops.logical_and(same, earlier), axis=-1), 0, sources)
    lists = ops.reshape(ops.transpose(lists, (0, 2, 1, 3)), (batch, types, time * edges))
    heads = ops.broadcast_to(ops.arange(1, time + 1, dtype="int32"), (batch, types, time))
    # A position heads its own list: after sorting, what follows it is its first edge.
    owner = ops.concatenate([heads, lists], axis=-1)
    count = time * (edges + 1)
    keys = ops.sort(owner * count + ops.arange(count, dtype="int32"), axis=-1)
    owner, item = keys // count, keys % count
    follows = ops.logical_and(owner[..., 1:] == owner[..., :-1], owner[..., 1:] > 0)
    following = ops.where(follows, item[..., 1:] - time + 1, 0)
    starts = ops.arange(batch * types, dtype="int32")[:, None] * count
    places = ops.reshape(starts + ops.reshape(item[..., :-1], (batch * types, -1)), (-1, 1))
    following = ops.scatter(places, ops.reshape(following, (-1,)), (batch * types * count,))
    following = ops.reshape(following, (batch, types, count))
    first = ops.expand_dims(following[..., :time], -1)
    siblings = ops.reshape(following[..., time:], (batch, types, time, edges))
    return ops.transpose(ops.concatenate([first, siblings], axis=-1), (0, 2, 1, 3))


def index_edges(sources, count=False):
    """Everything that the two sweeps need to know of the edges, time-major.

    Args:
        sources: int32 `(batch, time, types, edges)`, 1-based positions of earlier tokens, 0 = none.
        count: whether to count the incoming edges as well.

    Returns:
        A pair of `Edges`, for the ascending and the descending sweep.
    """
    arrays = [ops.transpose(array, (1, 2, 3, 0)) for array in (sources, link_edges(sources))]
    counts = (None, None)
    if count:
        counts = [ops.transpose(1 + degree)[..., None] for degree in degrees(sources)]
        counts = [ops.cast(degree, "float32") for degree in counts]
    return tuple(Edges(*arrays, count) for count in counts)


def degrees(sources):
    """In- and out-degree of every token over all types, int32 `(batch, time)` each."""
    batch, time = ops.shape(sources)[:2]
    incoming = ops.sum(ops.cast(sources > 0, "int32"), axis=(2, 3))
    rows = (time + 1) * ops.arange(batch, dtype="int32")[:, None]
    segments = ops.reshape(rows + ops.reshape(sources, (batch, -1)), (-1,))
    outgoing = ops.segment_sum(ops.ones_like(segments), segments, batch * (time + 1))
    return incoming, ops.reshape(outgoing, (batch, time + 1))[:, 1:]
