"""The fused recurrence over a typed graph, with a hand-written gradient.

One operation computes `CorefGRU`, `MAGEGRU`, `DAGRNN` and a plain GRU, in one or both directions.
Time runs along the first axis. Memory is O(batch · time · units), whatever the number of chains or
edges.
"""

import functools
from typing import NamedTuple

from keras import ops

from keras_corefmem.layers.kernels.buffers import float_type, gather, write
from keras_corefmem.layers.kernels.compilation import differentiable
from keras_corefmem.layers.kernels.message_passing import PredecessorSums, SuccessorSums
from keras_corefmem.layers.kernels.recurrence import DirectionInputs


class _ForwardState(NamedTuple):
    """Loop state of a recurrence."""

    hidden: object  # (batch, units), the state of the token read before
    # (batch, blocks · units), the projected input of the next token, whose slice XLA would fuse
    # into the gates, unvectorised, if the loop state did not carry it.
    projected: object
    history: object  # (time + 1, batch, units), the states of the tokens behind a row of zeros
    successors: tuple  # SuccessorState, or () where the direction reads predecessors


class _ReverseState(NamedTuple):
    """Loop state of the gradient, which reads the tokens in the opposite order."""

    sequential: object  # (batch, slice), gradient of the next token's state by the sequential edge
    dhidden: object  # (time, batch, units), gradients of the states
    dprevious: object  # (batch, units), gradient of the next state by carry and mask, or ()
    dgathered: object  # (time + 1, batch, gathered units) behind a row of zeros, or ()
    successors: tuple  # SuccessorState of the gradients, or () where they come by predecessors


class _Direction:
    """One reading direction: forward, a token sums the states of its predecessors; backward, those
    of its successors. Each gradient takes the other kind of sums.
    """

    def __init__(self, recurrence, reverse, edges, mask, inputs):
        self.spec, self.reverse, self.mask, self.inputs = recurrence, reverse, mask, inputs
        self.gates, self.dtype = recurrence.make_gates(), inputs.projected.dtype
        self.transposed = ops.transpose(inputs.kernel)
        self.time, self.batch = ops.shape(inputs.projected)[:2]
        self.slices, self.gathered_slices = recurrence.slices[1:], recurrence.gathered_slices[1:]
        if self.slices:
            widths = [stop - start for start, stop in self.slices]
            self.predecessors = PredecessorSums(edges, inputs.edge_weights)
            self.successors = SuccessorSums(edges, inputs.edge_weights, widths, self.dtype)
            self.degree = None if edges.degree is None else ops.cast(edges.degree, self.dtype)
        self.keeps_previous = recurrence.carry != "gathered" or mask is not None
        weighted = inputs.sequential_weights is not None or inputs.edge_weights is not None
        self.keeps_gathered = weighted or (reverse and bool(self.slices))

    def zeros(self, *shape):
        return ops.zeros(shape, self.dtype)

    def masked(self, gathered):
        """What the kernel reads of the gathered state, or the gradient by it."""
        mask = self.inputs.recurrent_mask
        return gathered if mask is None else gathered * mask

    def degree_at(self, t):
        # Learned weights already sum to one over the incoming edges.
        mean = self.inputs.edge_weights is None and self.spec.shared
        return self.degree[t] if mean else 1.0

    def combine(self, previous, sums, t):
        """The gathered state and the carry."""
        start, stop = self.spec.slices[0]
        sequential = previous[..., start:stop]
        if self.inputs.sequential_weights is not None:
            sequential = self.inputs.sequential_weights[t][..., None] * sequential
        gathered = ops.concatenate([sequential, *sums], axis=-1) if sums else sequential
        if self.spec.carry == "previous":
            return gathered, previous
        carry, gate = self.spec.fold(gathered, self.degree_at(t)), self.inputs.carry_gate
        if gate is not None:
            carry = gate[t] * carry + (1 - gate[t]) * previous
        return gathered, carry

    def initial_state(self):
        units, first, state = self.spec.units, -1 if self.reverse else 0, self.inputs.initial_state
        return _ForwardState(
            self.zeros(self.batch, units) if state is None else state,
            self.inputs.projected[first],
            self.zeros(self.time + 1, self.batch, units),
            self.successors.initial_state() if self.reverse and self.slices else (),
        )

    def step(self, i, state):
        previous, successors, sums = state.hidden, state.successors, []
        if self.reverse:
            t = self.time - 1 - i
            following = ops.maximum(t - 1, 0)
            if self.slices:
                sums = self.successors.read(successors)
        else:
            t, following = i, ops.minimum(i + 1, self.time - 1)
            if self.slices:
                sums = self.predecessors.read(state.history, self.slices, t)
        gathered, carry = self.combine(previous, sums, t)
        product = ops.matmul(self.masked(gathered), self.inputs.kernel)
        h = self.gates.step(state.projected, product, carry)
        if self.mask is not None:
            h = ops.where(self.mask[t] > 0, h, previous)
        if successors:
            successors = self.successors.add(successors, [h[..., a:b] for a, b in self.slices], t)
        history = write(state.history, t + 1, h[None])
        return _ForwardState(h, self.inputs.projected[following], history, successors)

    def begin_reverse(self, history, successors):
        """Recomputes all but the recurrence from the history, and makes the first reverse state."""
        self.history, sums, all_tokens = history, [], slice(None)
        start = self.inputs.initial_state
        start = self.history[:1] if start is None else start[None]
        if self.reverse:
            self.previous = ops.concatenate([self.history[2:], start], axis=0)
            if self.slices:
                sums = self.successors.read_all(successors)
        else:
            self.previous = self.history[:-1]
            if self.inputs.initial_state is not None:
                self.previous = ops.concatenate([start, self.history[1:-1]], axis=0)
            if self.slices:
                sums = self.predecessors.read(self.history, self.slices, all_tokens)
        self.gathered, carry = self.combine(self.previous, sums, all_tokens)
        product = ops.matmul(self.masked(self.gathered), self.inputs.kernel)
        self.fx, fa, self.fc = self.gates.factors(self.inputs.projected, product, carry)
        if self.mask is not None:
            self.fx = [factor * self.mask for factor in self.fx]
            fa = [factor * self.mask for factor in fa]
            self.fc = self.fc * self.mask
        self.fa = ops.concatenate(fa, axis=-1)
        spec, batch, (start, stop) = self.spec, self.batch, self.spec.slices[0]
        return _ReverseState(
            self.zeros(batch, stop - start),
            self.zeros(self.time, batch, spec.units),
            self.zeros(batch, spec.units) if self.keeps_previous else (),
            self.zeros(self.time + 1, batch, spec.gathered_units) if self.keeps_gathered else (),
            () if self.reverse or not self.slices else self.successors.initial_state(),
        )

    def by_block(self, dh, factors):
        """`dh` times the factors of every gate block, `(…, batch, blocks · units)`."""
        shape = ops.shape(factors)
        blocks = ops.reshape(factors, (*shape[:-1], self.spec.blocks, self.spec.units))
        return ops.reshape(ops.expand_dims(dh, -2) * blocks, shape)

    def reverse_step(self, i, state, upstream):
        t, inputs, successors = i if self.reverse else self.time - 1 - i, self.inputs, ()
        parts = [state.sequential]
        if self.slices and self.reverse:
            parts += self.predecessors.read(state.dgathered, self.gathered_slices, t)
        elif self.slices:
            parts += self.successors.read(state.successors)
        dh = upstream[t + 1] + (sum(parts) if self.spec.shared else ops.concatenate(parts, axis=-1))
        if self.keeps_previous:
            dh = dh + state.dprevious
        dgathered = self.masked(ops.matmul(self.by_block(dh, self.fa[t]), self.transposed))
        dcarry, dprevious = dh * self.fc[t], 0.0
        if self.spec.carry == "previous":
            dprevious = dcarry
        elif inputs.carry_gate is not None:
            dprevious = (1 - inputs.carry_gate[t]) * dcarry
            dcarry = inputs.carry_gate[t] * dcarry
        if self.spec.carry != "previous":
            dgathered = dgathered + self.spec.unfold(dcarry, self.degree_at(t))
        if self.mask is not None:
            dprevious = dprevious + (1 - self.mask[t]) * dh
        sequential, *values = (dgathered[..., a:b] for a, b in self.spec.gathered_slices)
        if inputs.sequential_weights is not None:
            sequential = inputs.sequential_weights[t][..., None] * sequential
        if state.successors:
            successors = self.successors.add(state.successors, values, t)
        return _ReverseState(
            sequential,
            write(state.dhidden, t, dh[None]),
            dprevious if self.keeps_previous else (),
            write(state.dgathered, t + 1, dgathered[None]) if self.keeps_gathered else (),
            successors,
        )

    def gradients(self, state):
        """Gradients of the inputs, as large products after the loop."""
        inputs, dhidden, dgathered = self.inputs, state.dhidden, state.dgathered
        gathered = ops.reshape(self.masked(self.gathered), (-1, self.spec.gathered_units))
        dproduct = ops.reshape(self.by_block(dhidden, self.fa), (-1, inputs.kernel.shape[1]))
        gradients = DirectionInputs(
            ops.concatenate([dhidden * factor for factor in self.fx], axis=-1),
            ops.matmul(ops.transpose(gathered), dproduct),
        )
        if inputs.sequential_weights is not None:
            start, stop = self.spec.slices[0]
            products = dgathered[1:, :, : stop - start] * self.previous[..., start:stop]
            gradients = gradients._replace(sequential_weights=ops.sum(products, axis=-1))
        if inputs.edge_weights is not None:
            gradients = gradients._replace(edge_weights=self.weight_gradients(dgathered))
        if inputs.carry_gate is not None:
            folded = self.spec.fold(self.gathered, self.degree_at(slice(None)))
            gate = dhidden * self.fc * (folded - self.previous)
            gradients = gradients._replace(carry_gate=gate)
        if inputs.initial_state is not None:
            rest = self.spec.units - state.sequential.shape[1]
            start = ops.pad(state.sequential, ((0, 0), (0, rest)))
            start = start + state.dprevious if self.keeps_previous else start
            gradients = gradients._replace(initial_state=start)
        if inputs.recurrent_mask is not None:
            none = ops.zeros_like(inputs.recurrent_mask)
            gradients = gradients._replace(recurrent_mask=none)
        return gradients

    def weight_gradients(self, dgathered):
        """Products of the two ends of every edge, `(time, types, edges, batch)`."""
        by_type = []
        for e, ((a, b), (c, d)) in enumerate(zip(self.slices, self.gathered_slices, strict=True)):
            index = self.predecessors.index[:, e]
            if self.reverse:
                ends = self.history[1:, None, :, a:b], gather(dgathered, index)[..., c:d]
            else:
                ends = gather(self.history, index)[..., a:b], dgathered[1:, None, :, c:d]
            by_type.append(ops.sum(ends[0] * ends[1], axis=-1))
        return ops.stack(by_type, axis=1)


def graph_gru(recurrence, directions, edges=(None, None), mask=None, backward=False):
    """Runs a recurrence over a graph in one loop over time for all directions.

    ```
    g_t = w_t h_{t-1}[0] ‖ Σ_k w_{t1k} h_{source(t, 1, k)}[1] ‖ …
    h_t = step(x_t, g_t U, carry)
    ```

    `h[e]` is the slice of the hidden state that edges of type e carry; all weights w are 1 where
    there are none. Masked tokens keep the state of the token read before.

    Args:
        recurrence: a `Recurrence`.
        directions: list of one `DirectionInputs` per direction, the forward one first.
        edges: a pair of `Edges`, from `index_edges`, or of `None` without typed edges. Its degrees
            are needed where edge types share one state and there are no edge weights.
        mask: bool `(time, batch)`, or `None`.
        backward: bool, whether a single direction is the backward one.

    Returns:
        A list with the hidden states `(time, batch, units)` of each direction, float64 where the
        inputs are, otherwise float32.

    Example:
        >>> recurrence = keras_corefmem.layers.Recurrence(4, ((0, 2), (2, 4)))
        >>> inputs = keras_corefmem.layers.DirectionInputs(np.ones((3, 2, 12)), np.ones((4, 12)))
        >>> edges = keras_corefmem.layers.index_edges(np.zeros((2, 3, 1, 1)))
        >>> (states,) = keras_corefmem.layers.graph_gru(recurrence, [inputs], edges)
        >>> tuple(states.shape)
        (3, 2, 4)
    """
    names = tuple(name for name, value in directions[0]._asdict().items() if value is not None)
    dtype = float_type(ops.convert_to_tensor(directions[0].projected))
    arguments = [ops.cast(getattr(d, name), dtype) for d in directions for name in names]
    if mask is not None:
        mask = ops.expand_dims(ops.cast(mask, dtype), -1)

    kernel = _kernel(recurrence, names, len(directions), backward)
    return [history[1:] for history in kernel(arguments, (edges, mask))]


@functools.lru_cache
def _kernel(recurrence, names, count, backward):
    """The loops of a recurrence whose directions have inputs of these names."""

    def begin(arguments, constants):
        edges, mask = constants
        directions = []
        for n in range(count):
            inputs = DirectionInputs(**dict(zip(names, arguments[n * len(names) :], strict=False)))
            against = backward or n == 1
            directions.append(_Direction(recurrence, against, edges[int(against)], mask, inputs))
        return directions

    def forward(arguments, constants):
        directions = begin(arguments, constants)

        def step(i, states):
            return tuple(d.step(i, state) for d, state in zip(directions, states, strict=True))

        first = tuple(d.initial_state() for d in directions)
        ends = ops.fori_loop(0, directions[0].time, step, first)
        return [end.history for end in ends], [end.successors for end in ends]

    def reverse(arguments, constants, histories, successors, upstream):
        directions = begin(arguments, constants)

        def step(i, states):
            ends = zip(directions, states, upstream, strict=True)
            return tuple(d.reverse_step(i, state, dh) for d, state, dh in ends)

        ends = zip(directions, histories, successors, strict=True)
        first = tuple(d.begin_reverse(*end) for d, *end in ends)
        ends = ops.fori_loop(0, directions[0].time, step, first)
        gradients = [d.gradients(end) for d, end in zip(directions, ends, strict=True)]
        return [getattr(gradient, name) for gradient in gradients for name in names]

    return differentiable(forward, reverse)
