"""Edges of a directed acyclic graph as gather indices, and attention over them."""

import functools
import operator
from typing import NamedTuple

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.kernels.buffers import with_rows


class Edges(NamedTuple):
    """Edges of a batch of graphs, time-major, as one reading direction needs them."""

    sources: object  # int32 (time, types, edges, batch), 1-based position of the source, 0 = none
    # int32 (time, types, 1 + edges, batch), linked lists of edge numbers, 0 = none: the first edge
    # that leaves the token, then for each edge that enters it the next one with the same source.
    # The edge in column k of token t (both from 0) is number t * edges + k + 1.
    successors: object
    degree: object = None  # float32 (time, batch, 1), 1 + number of typed edges into the token


def index_edges(sources, degrees=False):
    """Indexes edges for `graph_gru`.

    Args:
        sources: int32 `(batch, time, types, edges)`, 1-based positions of earlier tokens, 0 = none.
            Anything that is not the position of an earlier token, such as fractions and NaN, is
            read as none.
        degrees: bool, whether to compute degrees too, for edge types that share one state.

    Returns:
        A pair of `Edges`, for the forward and the backward direction. Backward, each edge is read
        from its target to its source.

    Raises:
        ValueError: if there are so many edges that 32 bits do not number them.

    Example:
        >>> forward, backward = keras_corefmem.layers.index_edges(np.array([[[[0]], [[1]], [[1]]]]))
        >>> np.asarray(forward.sources)[:, 0, 0, 0].tolist()
        [0, 1, 1]
    """
    sources = to_positions(sources)
    _check_count(sources.shape)
    sources = ops.where(points_back(sources), sources, 0)
    arrays = [ops.transpose(array, (1, 2, 3, 0)) for array in (sources, _link(sources))]
    if not degrees:
        return Edges(*arrays), Edges(*arrays)
    degrees = [ops.cast(ops.transpose(1 + degree), "float32") for degree in _degrees(sources)]
    return tuple(Edges(*arrays, degree[..., None]) for degree in degrees)


def _check_count(shape):
    # Lengths that are unknown yet fail when a graph runs, since no array has that many numbers.
    if not all(isinstance(length, int) for length in shape):
        return
    batch, time, types, edges = shape
    if batch * types * time * (edges + 1) >= 2**31:
        raise ValueError(
            f"{batch} texts of {time} tokens with {types} types of {edges} edges each are more "
            "than 32 bits can number: read fewer texts at once."
        )


def with_tokens(edges, missing):
    """Appends `missing` tokens without edges to a pair of `Edges`; a pair of `None` stays."""
    if edges[0] is None or (isinstance(missing, int) and not missing):
        return edges
    # Both directions have the same two arrays.
    arrays = [with_rows(array, missing) for array in edges[0][:2]]
    degrees = [with_rows(each.degree, missing) for each in edges]
    return [Edges(*arrays, None if each is None else ops.maximum(each, 1)) for each in degrees]


def points_back(sources):
    """Returns whether each source `(batch, time, types, edges)` is none or an earlier token."""
    own = ops.arange(1, ops.shape(sources)[1] + 1, dtype="int32")[:, None, None]
    return ops.logical_and(sources >= 0, sources < own)


def to_positions(numbers):
    """Casts numbers to int32, with -1 for those that cannot be a position."""
    numbers = ops.convert_to_tensor(numbers)
    dtype = keras.backend.standardize_dtype(numbers.dtype)
    if dtype == "int32":
        return numbers
    if "float" in dtype or dtype.endswith(("int32", "int64")):
        whole = ops.equal(numbers, ops.floor(numbers)) if "float" in dtype else True
        inside = ops.logical_and(numbers >= 0, ops.cast(numbers, "float32") < 2.0**31)
        return ops.where(ops.logical_and(whole, inside), ops.cast(numbers, "int32"), -1)
    return ops.cast(numbers, "int32")


def _link(sources):
    """Computes the `successors` of `Edges`, batch-major, which allow sums without a scatter."""
    batch, time, types, edges = ops.shape(sources)
    lists = sources
    if edges > 1:
        same = sources[..., None] == sources[..., None, :]
        earlier = np.tril(np.ones((edges, edges), bool), -1)
        lists = ops.where(ops.any(ops.logical_and(same, earlier), axis=-1), 0, sources)
    lists = ops.reshape(ops.transpose(lists, (0, 2, 1, 3)), (batch, types, time * edges))
    heads = ops.broadcast_to(ops.arange(1, time + 1, dtype="int32"), (batch, types, time))
    # A position heads its own list: after sorting, it is followed by its first edge.
    owner = ops.concatenate([heads, lists], axis=-1)
    count = time * (edges + 1)
    # NumPy's sort is not stable. Keys `owner * count + item` would not fit 32 bits in long texts.
    item = ops.argsort(ops.concatenate([2 * heads, 2 * lists + 1], axis=-1), axis=-1)
    rows = count * ops.arange(batch * types, dtype="int32")
    places = ops.reshape(item, (batch * types, count)) + rows[:, None]
    owner = ops.reshape(ops.take(ops.reshape(owner, (-1,)), places), (batch, types, count))
    follows = ops.logical_and(owner[..., 1:] == owner[..., :-1], owner[..., 1:] > 0)
    following = ops.where(follows, item[..., 1:] - time + 1, 0)
    places = ops.reshape(places[:, :-1], (-1, 1))
    following = ops.scatter(places, ops.reshape(following, (-1,)), (batch * types * count,))
    following = ops.reshape(following, (batch, types, count))
    first = ops.expand_dims(following[..., :time], -1)
    siblings = ops.reshape(following[..., time:], (batch, types, time, edges))
    return ops.transpose(ops.concatenate([first, siblings], axis=-1), (0, 2, 1, 3))


def _degrees(sources):
    """Returns in- and out-degree of all tokens over all types, int32 `(batch, time)` each."""
    batch, time = ops.shape(sources)[:2]
    incoming = ops.sum(ops.cast(sources > 0, "int32"), axis=(2, 3))
    rows = (time + 1) * ops.arange(batch, dtype="int32")
    segments = ops.reshape(rows[:, None, None, None] + sources, (-1,))
    outgoing = ops.segment_sum(ops.ones_like(segments), segments, batch * (time + 1))
    return incoming, ops.reshape(outgoing, (batch, time + 1))[:, 1:]


def edge_softmax(reader_scores, source_scores, edges, reverse):
    """Computes a softmax over the edges into each token, sequential and typed ones together.

    The score of an edge of type e is the reader's score for e plus the source's score for e. The
    score of the sequential edge is that of the reader in column 0. Backward, the reader of an edge
    is its source. Returns weights `(time, batch)` and `(time, types, edges, batch)`.
    """
    sources = edges.sources
    time, types, count, batch = shape = ops.shape(sources)
    origins = ops.maximum(sources - 1, 0)
    sequential = reader_scores[..., 0]
    own, others = ops.transpose(reader_scores[..., 1:], (0, 2, 1)), source_scores
    if reverse:
        own, others = ops.transpose(source_scores, (0, 2, 1)), reader_scores[..., 1:]
    columns = ops.reshape(ops.transpose(origins, (0, 2, 1, 3)), (time * count, types, batch))
    others = ops.take_along_axis(ops.transpose(others, (0, 2, 1)), columns, axis=0)
    others = ops.transpose(ops.reshape(others, (time, count, types, batch)), (0, 2, 1, 3))
    typed = ops.where(sources > 0, own[:, :, None] + others, -1e30)
    if reverse:
        flat = ops.reshape(origins * batch + ops.arange(batch, dtype="int32"), (-1,))

        def spread(values):
            # The index is flat: from an empty array, JAX takes one of that array's shape.
            return ops.reshape(ops.take(ops.reshape(values, (-1,)), flat), shape)

        def gathered(reduce, values):
            values = reduce(ops.reshape(values, (-1,)), flat, time * batch)
            return ops.reshape(values, (time, batch))

        largest_of = functools.partial(gathered, ops.segment_max)
        sum_of = functools.partial(gathered, ops.segment_sum)
    else:
        # Edges are stored at the token that reads them; `initial` is for empty arrays.
        spread = operator.itemgetter(np.s_[:, None, None])
        largest_of = functools.partial(ops.max, axis=(1, 2), initial=-1e30)
        sum_of = functools.partial(ops.sum, axis=(1, 2))
    shift = ops.maximum(ops.stop_gradient(sequential), largest_of(ops.stop_gradient(typed)))
    sequential, typed = ops.exp(sequential - shift), ops.exp(typed - spread(shift))
    total = sequential + sum_of(typed)
    return sequential / total, typed / spread(total)
