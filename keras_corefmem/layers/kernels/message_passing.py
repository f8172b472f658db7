"""Sums over the neighbours of a token in a graph, one token at a time, by gathers alone.

A scatter into a loop's buffer makes XLA copy the whole buffer, and so does a gather that feeds the
row written next. Nothing here does either: every step costs the same, however long the sequence.
"""

from typing import NamedTuple

from keras import ops

from keras_corefmem.layers.kernels.buffers import flat_index, gather, write


class PredecessorSums:
    """Sums the values of each token's predecessors, gathered from the history of all values."""

    def __init__(self, edges, weights):
        self.sources, self.weights = edges.sources, weights
        self.index = flat_index(edges.sources)

    def read(self, history, slices, pick):
        """Returns sums by edge type for the tokens that `pick` selects; row 0 of history is 0."""
        sums, index = [], pick(self.index)
        weights = None if self.weights is None else pick(self.weights)[..., None]
        for e, (start, stop) in enumerate(slices):
            values = gather(history, index[..., e, :, :])[..., start:stop]
            if weights is not None:
                values = weights[..., e, :, :, :] * values
            sums.append(ops.sum(values, axis=-3))
        return sums


class SuccessorState(NamedTuple):
    """The loop state of `SuccessorSums`, with one tensor per edge type in each field."""

    # (time · edges + 1, batch, width): for each edge, the sum over it and all later edges with the
    # same source; row 0 is zero.
    sums: tuple
    ahead: tuple  # (edges + 1, batch, width): rows of sums that the next token reads and extends


class SuccessorSums:
    """Sums the values of each token's successors, with tokens read in descending order.

    A token adds its value to the edges that enter it; a source reads the sum of its first edge.
    """

    def __init__(self, edges, weights, widths, dtype):
        self.index, self.widths, self.dtype = flat_index(edges.successors), widths, dtype
        self.time, _, count, self.batch = ops.shape(edges.successors)
        self.count, self.weights = count - 1, weights
        if self.count > 1:
            # If a token has several edges from one source, the first stands for all.
            same = edges.sources[:, :, :, None] == edges.sources[:, :, None]
            weights = 1.0 if weights is None else weights[:, :, None]
            self.weights = ops.sum(ops.cast(same, dtype) * weights, axis=3)

    def initial_state(self):
        def of(rows):
            return tuple(ops.zeros((rows, self.batch, n), self.dtype) for n in self.widths)

        return SuccessorState(of(self.time * self.count + 1), of(self.count + 1))

    def read(self, state):
        """Returns sums by edge type for the next token."""
        return [ahead[0] for ahead in state.ahead]

    def read_all(self, state, pick):
        """Returns sums by edge type for the tokens that `pick` selects, once all are complete."""
        index = pick(self.index)
        return [gather(sums, index[:, e, 0]) for e, sums in enumerate(state.sums)]

    def add(self, state, values, t):
        """Adds the values of token `t`, `(batch, width)` by edge type; returns the new state."""
        sums, ahead, following = [], [], ops.maximum(t - 1, 0)
        for e, value in enumerate(values):
            value = value[None]
            if self.weights is not None:
                value = self.weights[t, e][..., None] * value
            value = value + state.ahead[e][1:]
            sums.append(write(state.sums[e], t * self.count + 1, value))
            ahead.append(gather(sums[e], self.index[following, e]))
        return SuccessorState(tuple(sums), tuple(ahead))
