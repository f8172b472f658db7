"""Softmax weights over the incoming edges of every token, in either reading direction."""

from keras import ops


def edge_shares(reader_scores, source_scores, edges, reverse):
    """Shares of the sequential and the typed edges, one for all edges into a token.

    The score of an edge of type e is the reader's score for e plus the source's score for e, the
    score of the sequential edge the reader's for it. Read backward, the reader of an edge is its
    source.

    Args:
        reader_scores: `(time, batch, 1 + types)`, the sequential edge first.
        source_scores: `(time, batch, types)`.
        edges: an `Edges`.
        reverse: whether the edges are read from target to source.

    Returns:
        The shares of the sequential edges, `(time, batch)`, and of the typed edges, `(time, types,
        edges, batch)`.
    """
    sources = edges.sources
    time, types, count, batch = ops.shape(sources)
    here = ops.broadcast_to(
        ops.arange(time, dtype="int32")[:, None, None, None], (time, types, count, batch)
    )
    there = ops.maximum(sources - 1, 0)
    reader, source = (there, here) if reverse else (here, there)

    def score(scores, positions):
        by_type = ops.transpose(scores, (0, 2, 1))
        columns = ops.reshape(ops.transpose(positions, (0, 2, 1, 3)), (time * count, types, batch))
        picked = ops.take_along_axis(by_type, columns, axis=0)
        return ops.transpose(ops.reshape(picked, (time, count, types, batch)), (0, 2, 1, 3))

    sequential = reader_scores[..., 0]
    typed = score(reader_scores[..., 1:], reader) + score(source_scores, source)
    typed = ops.where(sources > 0, typed, -1e30)
    segments = reader * batch + ops.arange(batch, dtype="int32")
    flat = ops.reshape(segments, (-1,))
    largest = ops.segment_max(ops.stop_gradient(ops.reshape(typed, (-1,))), flat, time * batch)
    shift = ops.maximum(ops.stop_gradient(sequential), ops.reshape(largest, (time, batch)))
    sequential = ops.exp(sequential - shift)
    typed = ops.exp(typed - ops.take(ops.reshape(shift, (-1,)), segments, axis=0))
    total = ops.segment_sum(ops.reshape(typed, (-1,)), flat, time * batch)
    total = sequential + ops.reshape(total, (time, batch))
    return sequential / total, typed / ops.take(ops.reshape(total, (-1,)), segments, axis=0)
