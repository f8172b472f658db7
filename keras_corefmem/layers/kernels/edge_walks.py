"""Sums along the edges of a graph, one token at a time, by gathers alone.

A scatter into a loop's buffer makes XLA copy the whole buffer, and so does a gather that feeds the
row written next. Nothing here does either: every step costs the same, however long the sequence.
"""

from keras import ops


def zeros(*shape):
    return ops.zeros(shape, dtype="float32")


def put(buffer, start, rows):
    """The time-major buffer with rows from `start` on replaced."""
    return ops.slice_update(buffer, (start, 0, 0), rows)


def gather(buffer, rows):
    """Rows of a `(rows, batch, width)` buffer by flat row number: `rows.shape + (width,)`."""
    width = buffer.shape[-1]
    flat = ops.reshape(buffer, (-1, width))
    return ops.reshape(ops.take(flat, ops.reshape(rows, (-1,)), axis=0), (*ops.shape(rows), width))


def flat_rows(numbers):
    """Rows `(..., batch)` of a `(rows, batch, width)` buffer by number, after flattening it."""
    batch = ops.shape(numbers)[-1]
    return numbers * batch + ops.arange(batch, dtype="int32")


class Pull:
    """Walks forward: a token sums the values of its sources, from the history of all values.

    Args:
        edges: an `Edges`.
        weights: factor of each edge, `(time, types, edges, batch)`, or `None`.
    """

    def __init__(self, edges, weights):
        self.rows, self.weights = flat_rows(edges.sources), weights

    def read(self, history, slices, t):
        """Sums by edge type for token `t`, or for all tokens where `t` is a slice.

        Args:
            history: `(time + 1, batch, width)`; row 0 is zero.
            slices: the slice of a row that each edge type carries.
            t: index from 0.
        """
        parts = []
        for e, (start, stop) in enumerate(slices):
            values = gather(history, self.rows[t, e])[..., start:stop]
            if self.weights is not None:
                values = self.weights[t, e][..., None] * values
            parts.append(ops.sum(values, axis=-3))
        return parts


class Push:
    """Walks backward: a token adds its value to the edges that enter it, sources read the sums.

    The sum of an edge is that of the values at its own and at all later edges with the same source,
    so that a source reads the sum of its first edge.

    Args:
        edges: an `Edges`.
        weights: factor of each edge, `(time, types, edges, batch)`, or `None`.
        widths: width of the values of each edge type.
    """

    def __init__(self, edges, weights, widths):
        self.rows, self.widths = flat_rows(edges.links), widths
        self.time, _, count, self.batch = ops.shape(edges.links)
        self.count = count - 1
        self.weights = weights
        if self.count > 1:
            # Of several edges of one token with one source, the first stands for all.
            same = edges.sources[:, :, :, None] == edges.sources[:, :, None]
            weights = 1.0 if weights is None else weights[:, :, None]
            self.weights = ops.sum(ops.cast(same, "float32") * weights, axis=3)

    def begin(self):
        """For each edge type, the sums of all edges, and those that the next token needs."""
        sums = [zeros(self.time * self.count + 1, self.batch, width) for width in self.widths]
        return sums + [zeros(self.count + 1, self.batch, width) for width in self.widths]

    def read(self, state):
        """What the next token reads, by edge type."""
        return [ahead[0] for ahead in state[len(self.widths) :]]

    def read_all(self, state):
        """What every token read, by edge type."""
        sums = state[: len(self.widths)]
        return [gather(total, self.rows[:, e, 0]) for e, total in enumerate(sums)]

    def push(self, state, parts, t):
        """The state after token `t` added its values, `(batch, width)` by edge type."""
        sums, needed, following = [], [], ops.maximum(t - 1, 0)
        for e, part in enumerate(parts):
            values = part[None]
            if self.weights is not None:
                values = self.weights[t, e][..., None] * values
            values = values + state[len(parts) + e][1:]
            sums.append(put(state[e], t * self.count + 1, values))
            needed.append(gather(sums[e], self.rows[following, e]))
        return sums + needed
