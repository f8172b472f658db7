"""One reading direction of a recurrence over a graph: its steps, and those of its gradient."""

import functools
from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple

from keras import ops

from keras_corefmem.layers.kernels.buffers import gather, rows, write
from keras_corefmem.layers.kernels.message_passing import PredecessorSums, SuccessorSums


class ForwardState(NamedTuple):
    """Loop state of a recurrence."""

    hidden: object  # (batch, units), the state of the previously read token
    # (batch, blocks · units), the projected features of the next token; () between blocks. If they
    # were not in the loop state, XLA would fuse their slice into the gates, unvectorized.
    projected: object
    # (time + 2, batch, units): a row of zeros, the states of the tokens, and the initial state of
    # the backward direction.
    history: object
    successors: tuple  # SuccessorState, or () if the direction reads predecessors


class ReverseState(NamedTuple):
    """Loop state of the gradient, which reads the tokens in the opposite order."""

    sequential: object  # (batch, slice), gradient of the next token's state, by the sequential edge
    dprevious: object  # (batch, units), gradient of the next state, by carry and mask, or ()
    dgathered: object  # (time + 1, batch, gathered units), first a row of zeros, or ()
    successors: tuple  # SuccessorState of the gradients, or () if predecessors are read


class Block(NamedTuple):
    """Consecutive tokens, with all parts of their gradient that need no recurrence."""

    start: object  # int, the first token
    pick: Callable  # from an array with a row per token to the rows of the block
    of_history: Callable  # the same for an array with one more row before the first token
    previous: object  # (block, batch, units), the state read before each token's
    gathered: object  # (block, batch, gathered units)
    carry: object  # (block, batch, units), the gathered state as a carry
    fx: list  # factors of `Gates`; fa is one array (block, batch, blocks · units)
    fa: object
    fc: object


class Direction:
    """One reading direction of a recurrence, with its gradient.

    Forward, a token sums the states of its predecessors; backward, those of its successors. The
    gradient of a direction takes the other kind of sums.
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
        """Applies the recurrent mask to the gathered state, or to its gradient."""
        mask = self.inputs.recurrent_mask
        return gathered if mask is None else gathered * mask

    def degree_of(self, pick):
        # Learned weights already sum to one over the incoming edges.
        mean = self.inputs.edge_weights is None and self.spec.shared
        return pick(self.degree) if mean else 1.0

    def combine(self, previous, sums, pick):
        """Returns the gathered state, its fold and the carry of the tokens that `pick` selects."""
        inputs, (start, stop) = self.inputs, self.spec.slices[0]
        sequential = previous[..., start:stop]
        if inputs.sequential_weights is not None:
            sequential = pick(inputs.sequential_weights)[..., None] * sequential
        gathered = ops.concatenate([sequential, *sums], axis=-1) if sums else sequential
        if self.spec.carry == "previous":
            return gathered, previous, previous
        folded = carry = self.spec.fold(gathered, self.degree_of(pick))
        if inputs.carry_gate is not None:
            gate = pick(inputs.carry_gate)
            carry = gate * folded + (1 - gate) * previous
        return gathered, folded, carry

    def project(self, features):
        kernel, bias = self.inputs.input_kernel, self.inputs.bias
        if kernel is None:
            return features
        projected = ops.matmul(features, kernel)
        return projected if bias is None else projected + bias

    def initial_state(self):
        start, history = (self.zeros(n, self.batch, self.spec.units) for n in (1, self.time + 2))
        if self.inputs.initial_state is not None:
            start = self.inputs.initial_state[None]
            history = write(history, self.time + 1, start) if self.reverse else history
        adds = self.reverse and self.slices
        return ForwardState(start[0], (), history, self.successors.initial_state() if adds else ())

    def first_token(self, n, size, backward):
        """Returns the first token of block `n`, counted from 0 in the order of reading."""
        return self.time - size * (n + 1) if backward else size * n

    def step(self, i, state, start, projected):
        """Runs the `i`-th step in the block that begins at `start`, and returns the new state."""
        previous, successors, sums = state.hidden, state.successors, []
        last = ops.shape(projected)[0] - 1
        if self.reverse:
            own, following = last - i, ops.maximum(last - i - 1, 0)
        else:
            own, following = i, ops.minimum(i + 1, last)
        pick = itemgetter(t := start + own)
        if self.slices and self.reverse:
            sums = self.successors.read(successors)
        elif self.slices:
            sums = self.predecessors.read(state.history, self.slices, pick)
        gathered, _, carry = self.combine(previous, sums, pick)
        product = ops.matmul(self.masked(gathered), self.inputs.kernel)
        h = self.gates.step(state.projected, product, carry)
        if self.mask is not None:
            h = ops.where(self.mask[t] > 0, h, previous)
        if successors:
            successors = self.successors.add(successors, [h[..., a:b] for a, b in self.slices], t)
        history = write(state.history, t + 1, h[None])
        return ForwardState(h, projected[following], history, successors)

    def begin_reverse(self, history, successors, upstream):
        """Stores the results of the forward pass, and returns the first state of the gradient."""
        self.history, self.sums, self.upstream = history, successors, upstream
        self.before = history[2:] if self.reverse else history
        if self.inputs.initial_state is not None and not self.reverse:
            self.before = ops.concatenate([self.inputs.initial_state[None], history[1:]], axis=0)
        spec, batch, (start, stop) = self.spec, self.batch, self.spec.slices[0]
        return ReverseState(
            self.zeros(batch, stop - start),
            self.zeros(batch, spec.units) if self.keeps_previous else (),
            self.zeros(self.time + 1, batch, spec.gathered_units) if self.keeps_gathered else (),
            () if self.reverse or not self.slices else self.successors.initial_state(),
        )

    def block(self, start, size):
        """Recomputes all parts of a block that need no recurrence."""
        pick, sums = functools.partial(rows, start=start, count=size), []
        if isinstance(self.sums, list):
            sums = [pick(of_type) for of_type in self.sums]
        elif self.slices and self.reverse:
            sums = self.successors.read_all(self.sums, pick)
        elif self.slices:
            sums = self.predecessors.read(self.history, self.slices, pick)
        previous = pick(self.before)
        gathered, folded, carry = self.combine(previous, sums, pick)
        product = ops.matmul(self.masked(gathered), self.inputs.kernel)
        projected = self.project(pick(self.inputs.projected))
        fx, fa, fc = self.gates.factors(projected, product, carry)
        if self.mask is not None:
            mask = pick(self.mask)
            fx, fa = ([factor * mask for factor in factors] for factors in (fx, fa))
            fc = fc * mask
        of_history = functools.partial(rows, start=start + 1, count=size)
        return Block(
            start,
            pick,
            of_history,
            previous,
            gathered,
            folded,
            fx,
            ops.concatenate(fa, axis=-1),
            fc,
        )

    def by_block(self, dh, factors):
        """Multiplies `dh` by the factors of each gate block, `(…, batch, blocks · units)`."""
        shape = ops.shape(factors)
        blocks = ops.reshape(factors, (*shape[:-1], self.spec.blocks, self.spec.units))
        return ops.reshape(ops.expand_dims(dh, -2) * blocks, shape)

    def reverse_step(self, i, state, dhidden, block):
        """Runs the gradient's `i`-th step in a block, and returns the new state and `dhidden`."""
        own = i if self.reverse else ops.shape(block.fc)[0] - 1 - i
        t, inputs, successors = block.start + own, self.inputs, ()
        parts = [state.sequential]
        if self.slices and self.reverse:
            parts += self.predecessors.read(state.dgathered, self.gathered_slices, itemgetter(t))
        elif self.slices:
            parts += self.successors.read(state.successors)
        dh = sum(parts) if self.spec.shared else ops.concatenate(parts, axis=-1)
        dh = self.upstream[t + 1] + dh
        if self.keeps_previous:
            dh = dh + state.dprevious
        dgathered = self.masked(ops.matmul(self.by_block(dh, block.fa[own]), self.transposed))
        dcarry, dprevious = dh * block.fc[own], 0.0
        if self.spec.carry == "previous":
            dprevious = dcarry
        elif inputs.carry_gate is not None:
            dprevious = (1 - inputs.carry_gate[t]) * dcarry
            dcarry = inputs.carry_gate[t] * dcarry
        if self.spec.carry != "previous":
            dgathered = dgathered + self.spec.unfold(dcarry, self.degree_of(itemgetter(t)))
        if self.mask is not None:
            dprevious = dprevious + (1 - self.mask[t]) * dh
        sequential, *values = (dgathered[..., a:b] for a, b in self.spec.gathered_slices)
        if inputs.sequential_weights is not None:
            sequential = inputs.sequential_weights[t][..., None] * sequential
        if state.successors:
            successors = self.successors.add(state.successors, values, t)
        state = ReverseState(
            sequential,
            dprevious if self.keeps_previous else (),
            write(state.dgathered, t + 1, dgathered[None]) if self.keeps_gathered else (),
            successors,
        )
        return state, write(dhidden, own, dh[None])

    def no_gradients(self):
        """Returns zeros by input, to which the blocks add their gradients."""
        named, later = self.inputs._asdict().items(), ("initial_state", "recurrent_mask")
        return {
            name: ops.zeros_like(value)
            for name, value in named
            if value is not None and name not in later
        }

    def add_block(self, gradients, block, state, dhidden):
        """Adds the gradients of a block, as large products of the gradients of its states."""
        inputs, sums, by_token = self.inputs, {}, {}
        gathered = ops.reshape(self.masked(block.gathered), (-1, self.spec.gathered_units))
        dproduct = ops.reshape(self.by_block(dhidden, block.fa), (-1, inputs.kernel.shape[1]))
        sums["kernel"] = ops.matmul(ops.transpose(gathered), dproduct)
        projected = ops.concatenate([dhidden * factor for factor in block.fx], axis=-1)
        if inputs.bias is not None:
            sums["bias"] = ops.sum(projected, axis=(0, 1))
        if inputs.input_kernel is not None:
            features = ops.reshape(block.pick(inputs.projected), (-1, inputs.projected.shape[-1]))
            flat = ops.reshape(projected, (-1, projected.shape[-1]))
            sums["input_kernel"] = ops.matmul(ops.transpose(features), flat)
            projected = ops.matmul(projected, ops.transpose(inputs.input_kernel))
        by_token["projected"] = projected
        if inputs.carry_gate is not None:
            by_token["carry_gate"] = dhidden * block.fc * (block.carry - block.previous)
        if inputs.sequential_weights is not None:
            (start, stop), dgathered = self.spec.slices[0], block.of_history(state.dgathered)
            products = dgathered[..., : stop - start] * block.previous[..., start:stop]
            by_token["sequential_weights"] = ops.sum(products, axis=-1)
        if inputs.edge_weights is not None:
            by_token["edge_weights"] = self.weight_gradients(block, state.dgathered)
        added = {name: gradients[name] + value for name, value in sums.items()}
        written = {n: write(gradients[n], block.start, value) for n, value in by_token.items()}
        return {**added, **written}

    def weight_gradients(self, block, dgathered):
        """Returns gradients of the weights of edges into a block, `(block, types, edges, batch)`.

        Each is the product of the values at the two ends of its edge.
        """
        index = block.pick(self.predecessors.index)
        sources, targets = (dgathered, self.history) if self.reverse else (self.history, dgathered)
        targets, by_type = block.of_history(targets)[:, None], []
        for e, (hidden, gathered) in enumerate(zip(self.slices, self.gathered_slices, strict=True)):
            (a, b), (c, d) = (gathered, hidden) if self.reverse else (hidden, gathered)
            products = gather(sources, index[:, e])[..., a:b] * targets[..., c:d]
            by_type.append(ops.sum(products, axis=-1))
        return ops.stack(by_type, axis=1)

    def gradients(self, state, gradients):
        """Returns all gradients by input, from those of the blocks and the last state."""
        inputs, gradients = self.inputs, dict(gradients)
        if inputs.initial_state is not None:
            rest = self.spec.units - state.sequential.shape[1]
            start = ops.pad(state.sequential, ((0, 0), (0, rest)))
            start = start + state.dprevious if self.keeps_previous else start
            gradients["initial_state"] = start
        if inputs.recurrent_mask is not None:
            gradients["recurrent_mask"] = ops.zeros_like(inputs.recurrent_mask)
        return gradients
