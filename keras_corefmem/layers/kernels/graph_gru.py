"""The fused recurrence over a typed graph, with a hand-written gradient.

One operation computes `CorefGRU`, `MAGEGRU`, `DAGRNN` and a plain GRU, in one or both directions.
Time runs along the first axis. Memory is O(batch · time · units), whatever the number of chains or
edges.
"""

from dataclasses import dataclass

from keras import ops

from keras_corefmem.layers.kernels.custom_gradient import upstream_gradients
from keras_corefmem.layers.kernels.edge_walks import Pull, Push, gather, put, zeros
from keras_corefmem.layers.kernels.gates import GATES


@dataclass(frozen=True)
class Recurrence:
    """What is fixed when the graph is built.

    Args:
        units: width of the hidden state.
        reads: the slice `(start, stop)` of the hidden state that each edge type carries, the
            sequential edge first.
        carry: what the update keeps: `"gathered"`, `"previous"` or `"mixed"`.
        gates: `"gru"` or `"simple"`.
    """

    units: int
    reads: tuple
    carry: str = "gathered"
    gates: str = "gru"

    @property
    def shared(self):
        return len(self.reads) > 1 and self.reads[0] == self.reads[1]

    @property
    def offsets(self):
        """Slice of each edge type in the gathered state."""
        ends, total = [], 0
        for start, stop in self.reads:
            ends.append((total, total + stop - start))
            total += stop - start
        return tuple(ends)

    @property
    def gathered_units(self):
        return self.offsets[-1][1]

    @property
    def blocks(self):
        return GATES[self.gates][2]

    def spread(self, parts):
        """Gradients of the slices, as one gradient of the hidden state."""
        return sum(parts) if self.shared else ops.concatenate(parts, axis=-1)

    def fold(self, gathered, count):
        """The gathered state as a carry: the mean over the incoming edges where types share it."""
        if not self.shared:
            return gathered
        return sum(gathered[..., a:b] for a, b in self.offsets) / count

    def unfold(self, gradient, count):
        if not self.shared:
            return gradient
        return ops.concatenate([gradient / count] * len(self.reads), axis=-1)


class Sweep:
    """One direction of the recurrence.

    The ascending sweep pulls the states of its sources. The descending sweep reads every edge the
    other way and pushes its states to them. Each gradient walks back in the other form.
    """

    def __init__(self, recurrence, reverse, edges, mask, floats):
        self.spec, self.reverse, self.mask = recurrence, reverse, mask
        self.x, self.kernel = floats["x"], floats["kernel"]
        self.sequential, self.weights, self.mix = map(floats.get, ("sequential", "weights", "mix"))
        self.transposed = ops.transpose(self.kernel)
        self.time, self.batch = ops.shape(self.x)[0], ops.shape(self.x)[1]
        self.slices, self.offsets = recurrence.reads[1:], recurrence.offsets[1:]
        if self.slices:
            self.pull = Pull(edges, self.weights)
            self.push = Push(edges, self.weights, [stop - start for start, stop in self.slices])
            self.count = edges.count
        self.keeps_previous = recurrence.carry != "gathered" or mask is not None
        weighted = self.sequential is not None or self.weights is not None
        self.keeps_gathered = weighted or (reverse and bool(self.slices))

    def incoming(self, t):
        # Learned weights already sum to one over the incoming edges.
        return self.count[t] if self.weights is None and self.spec.shared else 1.0

    def zeros(self, *shape):
        return zeros(*shape[:-1], self.batch, shape[-1])

    def combine(self, previous, reads, t):
        """The gathered state and the carry."""
        start, stop = self.spec.reads[0]
        sequential = previous[..., start:stop]
        if self.sequential is not None:
            sequential = self.sequential[t][..., None] * sequential
        gathered = ops.concatenate([sequential, *reads], axis=-1) if reads else sequential
        if self.spec.carry == "previous":
            return gathered, previous
        carry = self.spec.fold(gathered, self.incoming(t))
        if self.mix is not None:
            carry = self.mix[t] * carry + (1 - self.mix[t]) * previous
        return gathered, carry

    def begin(self):
        units, start = self.spec.units, -1 if self.reverse else 0
        state = [self.zeros(units), self.x[start], self.zeros(self.time + 1, units)]
        return state + (self.push.begin() if self.reverse and self.slices else [])

    def step(self, i, state):
        previous, x, history, *sums = state
        if self.reverse:
            t = self.time - 1 - i
            ahead = ops.maximum(t - 1, 0)
            reads = self.push.read(sums) if sums else []
        else:
            t, ahead = i, ops.minimum(i + 1, self.time - 1)
            reads = self.pull.read(history, self.slices, t) if self.slices else []
        gathered, carry = self.combine(previous, reads, t)
        h = GATES[self.spec.gates][0](x, ops.matmul(gathered, self.kernel), carry)
        if self.mask is not None:
            h = previous + self.mask[t] * (h - previous)
        if sums:
            sums = self.push.push(sums, [h[..., a:b] for a, b in self.slices], t)
        # The next input rides in the loop state: XLA would fuse its slice into the gates,
        # unvectorised.
        return [h, self.x[ahead], put(history, t + 1, h[None]), *sums]

    def prepare(self, state):
        """Everything but the recurrence, for all tokens at once, from the history alone."""
        _, _, self.history, *sums = state
        every = slice(None)
        if self.reverse:
            self.previous = ops.concatenate([self.history[2:], self.history[:1]], axis=0)
            reads = self.push.read_all(sums) if sums else []
        else:
            self.previous = self.history[:-1]
            reads = self.pull.read(self.history, self.slices, every) if self.slices else []
        self.gathered, self.kept = self.combine(self.previous, reads, every)
        product = ops.matmul(self.gathered, self.kernel)
        self.fx, fa, self.fc = GATES[self.spec.gates][1](self.x, product, self.kept)
        if self.mask is not None:
            self.fx = [factor * self.mask for factor in self.fx]
            fa = [factor * self.mask for factor in fa]
            self.fc = self.fc * self.mask
        self.fa = ops.concatenate(fa, axis=-1)

    def begin_gradient(self):
        start, stop = self.spec.reads[0]
        state = [self.zeros(stop - start), self.zeros(self.time, self.spec.units)]
        if self.keeps_previous:
            state.append(self.zeros(self.spec.units))
        if self.keeps_gathered:
            state.append(self.zeros(self.time + 1, self.spec.gathered_units))
        return state + ([] if self.reverse or not self.slices else self.push.begin())

    def by_block(self, dh, factors):
        """`dh` times the factors of every gate block, `(…, batch, blocks · units)`."""
        shape = ops.shape(factors)
        blocks = ops.reshape(factors, (*shape[:-1], self.spec.blocks, self.spec.units))
        return ops.reshape(ops.expand_dims(dh, -2) * blocks, shape)

    def step_gradient(self, i, state, upstream):
        sequential, dhs, *rest = state
        dprevious = rest.pop(0) if self.keeps_previous else None
        dgathereds = rest.pop(0) if self.keeps_gathered else None
        t = i if self.reverse else self.time - 1 - i
        reads = []
        if self.slices and self.reverse:
            reads = self.pull.read(dgathereds, self.offsets, t)
        elif self.slices:
            reads = self.push.read(rest)
        dh = upstream[t] + self.spec.spread([sequential, *reads])
        if self.keeps_previous:
            dh = dh + dprevious
        dgathered = ops.matmul(self.by_block(dh, self.fa[t]), self.transposed)
        dcarry = dh * self.fc[t]
        dprevious = 0.0
        if self.spec.carry == "previous":
            dprevious = dcarry
        elif self.mix is not None:
            dprevious = (1 - self.mix[t]) * dcarry
            dcarry = self.mix[t] * dcarry
        if self.spec.carry != "previous":
            dgathered = dgathered + self.spec.unfold(dcarry, self.incoming(t))
        if self.mask is not None:
            dprevious = dprevious + (1 - self.mask[t]) * dh
        parts = [dgathered[..., a:b] for a, b in self.spec.offsets]
        sequential = parts[0]
        if self.sequential is not None:
            sequential = self.sequential[t][..., None] * sequential
        state = [sequential, put(dhs, t, dh[None])]
        state += [dprevious] if self.keeps_previous else []
        state += [put(dgathereds, t + 1, dgathered[None])] if self.keeps_gathered else []
        return state + (self.push.push(rest, parts[1:], t) if rest else [])

    def gradients(self, state):
        """Gradients of the float arguments, in their order, as large products after the loop."""
        dhs = state[1]
        grads = {
            "x": ops.concatenate([dhs * factor for factor in self.fx], axis=-1),
            "kernel": ops.matmul(
                ops.transpose(ops.reshape(self.gathered, (-1, self.spec.gathered_units))),
                ops.reshape(self.by_block(dhs, self.fa), (-1, self.kernel.shape[1])),
            ),
        }
        if self.mix is not None:
            folded = self.spec.fold(self.gathered, self.incoming(slice(None)))
            grads["mix"] = dhs * self.fc * (folded - self.previous)
        if self.keeps_gathered:
            dgathereds = state[3 if self.keeps_previous else 2]
        if self.sequential is not None:
            start, stop = self.spec.reads[0]
            grads["sequential"] = ops.sum(
                dgathereds[1:, :, : stop - start] * self.previous[..., start:stop], axis=-1
            )
        if self.weights is not None:
            grads["weights"] = self.weight_gradients(dgathereds)
        return grads

    def weight_gradients(self, dgathereds):
        """Products of the two ends of every edge, `(time, types, edges, batch)`."""
        by_type = []
        for e, ((a, b), (c, d)) in enumerate(zip(self.slices, self.offsets, strict=True)):
            rows = self.pull.rows[:, e]
            if self.reverse:
                ends = self.history[1:, None, :, a:b], gather(dgathereds, rows)[..., c:d]
            else:
                ends = gather(self.history, rows)[..., a:b], dgathereds[1:, None, :, c:d]
            by_type.append(ops.sum(ends[0] * ends[1], axis=-1))
        return ops.stack(by_type, axis=1)


FLOATS = ("x", "kernel", "sequential", "weights", "mix")


def graph_gru(recurrence, directions, edges, mask=None):
    """Runs the recurrence in one loop over time for all directions.

    Token `t` gathers `g_t = [s_t h_{t-1}[0]; …; Σ_k w_{tek} h_{source(t,e,k)}[e]; …]`, one slice of
    the hidden state per edge type `e`, and updates its state with the gates of the recurrence from
    `x_t`, `g_t U` and the carry. Masked tokens keep the previous state.

    Args:
        recurrence: a `Recurrence`.
        directions: one dictionary per direction (the first ascending, the second descending) with
            `x` `(time, batch, blocks · units)`, `kernel` `(gathered units, blocks · units)` and,
            where used, `sequential` `(time, batch)` and `weights` `(time, types, edges, batch)`,
            the factors of the sequential and the typed edges, and `mix` `(time, batch, units)`, the
            share of the gathered state in a mixed carry.
        edges: a pair of `Edges`, from `index_edges`, or of `None` without typed edges.
        mask: `(time, batch)` bool, or `None`.

    Returns:
        A list with the hidden states, `(time, batch, units)`, of each direction.
    """
    names = [name for name in FLOATS if directions[0].get(name) is not None]
    arguments = [ops.cast(floats[name], "float32") for floats in directions for name in names]
    if mask is not None:
        mask = ops.expand_dims(ops.cast(mask, "float32"), -1)

    @ops.custom_gradient
    def run(*arguments):
        sweeps = []
        for n in range(len(directions)):
            floats = dict(zip(names, arguments[n * len(names) :], strict=False))
            sweeps.append(Sweep(recurrence, n == 1, edges[n], mask, floats))
        time = sweeps[0].time
        states = loop(time, [s.begin() for s in sweeps], [s.step for s in sweeps])

        def gradient(*args, upstream=None):
            upstream = upstream_gradients(args, upstream)
            for sweep, state in zip(sweeps, states, strict=True):
                sweep.prepare(state)
            steps = [
                lambda i, state, s=s, u=u: s.step_gradient(i, state, u)
                for s, u in zip(sweeps, upstream, strict=True)
            ]
            finals = loop(time, [s.begin_gradient() for s in sweeps], steps)
            gradients = [s.gradients(final) for s, final in zip(sweeps, finals, strict=True)]
            return tuple(gradient[name] for gradient in gradients for name in names)

        return tuple(state[2][1:] for state in states), gradient

    return list(run(*arguments))


def loop(time, states, steps):
    """`fori_loop` over several independent states at once."""
    sizes = [len(state) for state in states]

    def body(i, flat):
        result, start = [], 0
        for size, step in zip(sizes, steps, strict=True):
            result += step(i, list(flat[start : start + size]))
            start += size
        return tuple(result)

    flat = ops.fori_loop(0, time, body, tuple(value for state in states for value in state))
    result, start = [], 0
    for size in sizes:
        result.append(list(flat[start : start + size]))
        start += size
    return result
