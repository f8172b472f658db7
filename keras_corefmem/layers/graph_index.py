"""Edges of a directed acyclic graph as gather indices, in both reading directions."""

from typing import NamedTuple

from keras import ops


class Edges(NamedTuple):
    """Edges as a sweep walks them.

    Attributes:
        sources: int32 `(time, types, edges, batch)`, 1-based position of the source, 0 = none.
        first: int32 `(time, types, batch)`, number of the first edge that leaves a token, 0 = none.
        siblings: like `sources`: number of the next edge with the same source, 0 = none.
        count: float32 `(time, batch, 1)`: 1 + number of edges that the sweep reads, or `None`.
    """

    sources: object
    first: object
    siblings: object
    count: object = None


def successors(sources):
    """Linked lists that turn edges round without a scatter.

    Every edge gets a pointer to the next edge of its type with the same source (its sibling), every
    position a pointer to its first outgoing edge, so that sums over successors are exact for any
    out-degree and need gathers only.

    Args:
        sources: int32 `(batch, time, types, edges)`, 1-based positions, 0 = no edge.

    Returns:
        `first`, int32 `(batch, time, types)`, and `siblings`, int32 of the shape of `sources`:
        1-based edge numbers, 0 = none. The edge in column `k` of token `t` (0-based) is number
        `t * edges + k + 1`.
    """
    batch, time, types, edges = ops.shape(sources)
    lists = ops.reshape(ops.transpose(sources, (0, 2, 1, 3)), (batch, types, time * edges))
    heads = ops.broadcast_to(ops.arange(1, time + 1, dtype="int32"), (batch, types, time))
    # A position heads its own list: after sorting, what follows it is its first edge.
    owner = ops.concatenate([heads, lists], axis=-1)
    count = time * (edges + 1)
    keys = ops.sort(owner * count + ops.arange(count, dtype="int32"), axis=-1)
    owner, item = keys // count, keys % count
    follows = ops.logical_and(owner[..., 1:] == owner[..., :-1], owner[..., 1:] > 0)
    following = ops.where(follows, item[..., 1:] - time + 1, 0)
    lists = ops.arange(batch * types, dtype="int32")[:, None] * count
    places = ops.reshape(lists + ops.reshape(item[..., :-1], (batch * types, -1)), (-1, 1))
    following = ops.scatter(places, ops.reshape(following, (-1,)), (batch * types * count,))
    following = ops.reshape(following, (batch, types, count))
    first = ops.transpose(following[..., :time], (0, 2, 1))
    siblings = ops.reshape(following[..., time:], (batch, types, time, edges))
    return first, ops.transpose(siblings, (0, 2, 1, 3))


def index_edges(sources, count=False):
    """Everything that the two sweeps need to know of the edges, time-major.

    Args:
        sources: int32 `(batch, time, types, edges)`, 1-based positions of earlier tokens, 0 = none.
        count: whether to count the incoming edges as well.

    Returns:
        A pair of `Edges`, for the ascending and the descending sweep.
    """
    first, siblings = successors(sources)
    links = [ops.transpose(links, (1, 2, 3, 0)) for links in (sources, siblings)]
    links.insert(1, ops.transpose(first, (1, 2, 0)))
    counts = (None, None)
    if count:
        counts = [ops.transpose(1 + degree)[..., None] for degree in degrees(sources)]
        counts = [ops.cast(degree, "float32") for degree in counts]
    return tuple(Edges(*links, count) for count in counts)


def degrees(sources):
    """In- and out-degree of every token over all types, int32 `(batch, time)` each."""
    batch, time = ops.shape(sources)[:2]
    incoming = ops.sum(ops.cast(sources > 0, "int32"), axis=(2, 3))
    rows = (time + 1) * ops.arange(batch, dtype="int32")[:, None]
    segments = ops.reshape(rows + ops.reshape(sources, (batch, -1)), (-1,))
    outgoing = ops.segment_sum(ops.ones_like(segments), segments, batch * (time + 1))
    return incoming, ops.reshape(outgoing, (batch, time + 1))[:, 1:]
