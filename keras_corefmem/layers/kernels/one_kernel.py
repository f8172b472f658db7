"""The loops of a gated recurrence as one GPU kernel each, on JAX.

For a loop, XLA launches several kernels per token. Here, one program reads one text in one
direction from end to end, with one thread per unit and the recurrent kernel in registers. Texts
share nothing, so plain reads and writes pass a token's value to its neighbours in the graph.
"""

import functools
from typing import NamedTuple

import keras

from keras_corefmem.layers.kernels.activations import find_activation

# The recurrent kernel of wider states does not fit into the registers of a program.
WIDEST = 128


@functools.cache
def has_one_gpu():
    """Returns whether JAX runs on exactly one GPU; it would split the batch between several."""
    if keras.backend.backend() != "jax":
        return False
    import jax

    return jax.default_backend() == "gpu" and jax.device_count() == 1


def fits(recurrence, inputs):
    """Returns whether this kernel can run a recurrence with these inputs, once projected."""
    used = {name for name, value in inputs._asdict().items() if value is not None}
    used -= {"input_kernel", "bias"}
    return (
        has_one_gpu()
        and recurrence.gates == "gru"
        and recurrence.carry != "mixed"
        and recurrence.gathered_slices == recurrence.slices
        and recurrence.units <= WIDEST
        and used <= {"projected", "kernel", "initial_state", "sequential_weights", "edge_weights"}
        and inputs.projected.dtype == "float32"
        and inputs.kernel.shape[-1] == 3 * recurrence.units
    )


class Token(NamedTuple):
    """Data of a token that a step can load before it reads a state."""

    t: object  # int
    edges: list  # by column: the row of the neighbour for each unit, 0 = none, and the weight
    weight: object  # of the sequential edge
    kept: object  # its mask, above 0 if the token is not masked


class Program:
    """The program for one text in one direction; `unit` holds the numbers of its units."""

    def __init__(self, directions, width, graph, gradient):
        import jax.numpy as jnp
        from jax.experimental import pallas

        self.text, self.direction = pallas.program_id(0), pallas.program_id(1)
        self.spec, self.time = directions[0].spec, directions[0].time
        self.unit, self.graph = jnp.arange(width), graph
        reverse = directions[0].reverse if len(directions) == 1 else self.direction == 1
        self.descending = jnp.logical_xor(reverse, gradient)
        # Ascending, tokens gather from predecessors; descending, they add to a sum for each.
        self.pulls = jnp.logical_not(self.descending)
        first = self.spec.slices[0][1]
        self.typed = jnp.logical_and(self.unit >= first, self.unit < self.spec.units)

    def token(self, i):
        """Returns the `Token` that is read as number i."""
        import jax.numpy as jnp

        i, graph, edges = jnp.minimum(i, self.time - 1), self.graph, []
        t = jnp.where(self.descending, self.time - 1 - i, i)
        if "sources" in graph:
            kind = jnp.zeros_like(self.unit)
            for start, _ in self.spec.slices[2:]:
                kind += self.unit >= start
            for column in range(graph["sources"].shape[2]):
                place = t, kind, column, self.text
                weights = graph.get("edge_weights")
                weight = None if weights is None else weights[self.direction, *place]
                edges.append((graph["sources"][place], weight))
        weights, mask = graph.get("sequential_weights"), graph.get("mask")
        weight = None if weights is None else weights[self.direction, t, self.text]
        return Token(t, edges, weight, None if mask is None else mask[t, self.text])

    def of(self, rows, t, *block):
        """Returns the units of a token, or of one of its gate blocks."""
        return rows[self.direction, t, self.text, *block, self.unit]

    def matrix(self, kernels, block):
        import jax.numpy as jnp

        return kernels[self.direction, block, jnp.arange(self.unit.size)[:, None], self.unit[None]]

    def _at(self, rows, row):
        return rows.at[self.direction, row, self.text, self.unit]

    def receive(self, token, values, sums, sequential):
        """Returns the values that a token receives by its edges, for all units."""
        import jax.numpy as jnp
        from jax.experimental.pallas import triton

        if not token.edges:
            return sequential
        mask = jnp.logical_and(self.typed, jnp.logical_not(self.pulls))
        total = triton.load(self._at(sums, token.t + 1), mask=mask, other=0.0)
        mask = jnp.logical_and(self.typed, self.pulls)
        for row, weight in token.edges:
            total += _times(weight, triton.load(self._at(values, row), mask=mask, other=0.0))
        return jnp.where(self.typed, total, sequential)

    def send(self, token, values, sums, value):
        """Stores the value of a token for those that pull it, or adds it to the sums of others."""
        import jax.numpy as jnp
        from jax.experimental.pallas import triton

        triton.store(self._at(values, token.t + 1), value)
        pushes = jnp.logical_and(self.typed, jnp.logical_not(self.pulls))
        for row, weight in token.edges:
            place, mask = self._at(sums, row), jnp.logical_and(pushes, row > 0)
            total = triton.load(place, mask=mask, other=0.0) + _times(weight, value)
            triton.store(place, total, mask=mask)
            if has_one_gpu():
                triton.debug_barrier()


def _times(weight, value):
    return value if weight is None else weight * value


def run(directions):
    """Returns, by direction, the history, and the sums of typed edges if it reads backward."""
    import jax
    import jax.numpy as jnp

    spec, time = directions[0].spec, directions[0].time
    outer = find_activation(spec.activation).value
    inner = find_activation(spec.recurrent_activation).value

    def read(program, arguments, values, sums):
        projected, kernels, starts = arguments
        matrices = [program.matrix(kernels, block) for block in range(3)]

        def inputs(i):
            token = program.token(i)
            return token, [program.of(projected, token.t, block) for block in range(3)]

        def step(i, state):
            # Loads the inputs of the next token while this one is computed.
            (previous, (token, x)), following = state, inputs(i + 1)
            gathered = program.receive(token, values, sums, _times(token.weight, previous))
            a = [jnp.sum(matrix * gathered[:, None], axis=0) for matrix in matrices]
            update = inner(x[1] + a[1])
            candidate = outer(x[2] + inner(x[0] + a[0]) * a[2])
            carry = previous if spec.carry == "previous" else gathered
            h = (1 - update) * carry + update * candidate
            if token.kept is not None:
                h = jnp.where(token.kept > 0, h, previous)
            program.send(token, values, sums, h)
            return h, following

        jax.lax.fori_loop(0, time, step, (program.of(starts, 0), inputs(0)))

    projected = [_by_block(d.inputs.projected) for d in directions]
    kernels = [jnp.moveaxis(_by_block(d.inputs.kernel), 1, 0) for d in directions]
    starts = [d.initial_state().hidden[None] for d in directions]
    values = [d.initial_state().history for d in directions]
    results = _call(read, directions, [projected, kernels, starts], values)
    histories, sums = ([rows[..., : spec.units] for rows in kind] for kind in results)
    return histories, [
        [rows[1 : time + 1, :, a:b] for a, b in spec.slices[1:]] if d.reverse else ()
        for d, rows in zip(directions, sums, strict=True)
    ]


def run_reverse(directions, blocks):
    """Returns three lists of gradients by direction.

    The first holds those of the gathered states, after a row of zeros, the second those of all
    states, and the third those of the state before the first token: by the sequential edge, and by
    carry and mask.
    """
    import jax
    import jax.numpy as jnp

    spec, time = directions[0].spec, directions[0].time

    def read(program, arguments, values, sums, gradients, ends):
        upstream, fa, fc, kernels = arguments
        matrices = [program.matrix(kernels, block) for block in range(3)]

        def inputs(i):
            token = program.token(i)
            factors = [program.of(fa, token.t, block) for block in range(3)]
            return token, factors, program.of(upstream, token.t), program.of(fc, token.t)

        zero = jnp.zeros_like(program.of(fc, 0))

        def step(i, state):
            (sequential, dprevious, now), following = state, inputs(i + 1)
            token, factors, dh, share = now
            dh = dh + program.receive(token, values, sums, sequential) + dprevious
            parts = [m * (dh * f)[:, None] for m, f in zip(matrices, factors, strict=True)]
            dgathered, dcarry = jnp.sum(sum(parts), axis=0), dh * share
            dprevious = zero if token.kept is None else jnp.where(token.kept > 0, 0.0, dh)
            if spec.carry == "previous":
                dprevious = dprevious + dcarry
            else:
                dgathered = dgathered + dcarry
            gradients[program.direction, token.t, program.text, program.unit] = dh
            program.send(token, values, sums, dgathered)
            return _times(token.weight, dgathered), dprevious, following

        *last, _ = jax.lax.fori_loop(0, time, step, (zero, zero, inputs(0)))
        for row, end in enumerate(last):
            ends[program.direction, row, program.text, program.unit] = end

    upstream = [d.upstream[1:-1] for d in directions]
    fa, fc = [_by_block(block.fa) for block in blocks], [block.fc for block in blocks]
    kernels = [jnp.moveaxis(_by_block(d.inputs.kernel), 0, 2) for d in directions]
    values = [jnp.pad(rows, ((1, 0), (0, 0), (0, 0))) for rows in map(jnp.zeros_like, fc)]
    values, _, *results = _call(read, directions, [upstream, fa, fc, kernels], values, (time, 2))
    return [[rows[..., : spec.units] for rows in kind] for kind in (values, *results)]


def _by_block(rows):
    return rows.reshape(*rows.shape[:-1], 3, -1)


def _stack(arrays, width, square=False):
    """Stacks the arrays of all directions, with units padded with zeros to `width`."""
    import jax.numpy as jnp

    stacked = jnp.stack(arrays)
    widths = [(0, 0)] * (stacked.ndim - 1) + [(0, width - stacked.shape[-1])]
    if square:
        widths[-2] = widths[-1]
    return jnp.pad(stacked, widths)


def _call(read, directions, arguments, values, more=()):
    """Runs `read(program, arguments, values, sums, *more)` for every text and direction."""
    import jax
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    first, gradient = directions[0], bool(more)
    width = max(16, 1 << (first.spec.units - 1).bit_length())
    square = [array[0].ndim == 3 and array[0].shape[0] == 3 for array in arguments]
    arguments = [_stack(a, width, s) for a, s in zip(arguments, square, strict=True)]
    values = _stack(values, width)
    graph = {"sources": first.predecessors.sources} if first.spec.slices[1:] else {}
    for name in ("sequential_weights", "edge_weights"):
        if getattr(first.inputs, name) is not None:
            graph[name] = jax.numpy.stack([getattr(d.inputs, name) for d in directions])
    if first.mask is not None:
        graph["mask"] = first.mask[..., 0]
    count, both = len(arguments), [values, jax.numpy.zeros_like(values)]
    inputs = [*arguments, *graph.values(), *both]

    def kernel(*refs):
        linked = dict(zip(graph, refs[count:], strict=False))
        program = Program(directions, width, linked, gradient)
        read(program, refs[:count], *refs[len(inputs) :])

    shapes = [array.shape for array in both]
    shapes += [(shapes[0][0], rows, *shapes[0][2:]) for rows in more]
    return pallas.pallas_call(
        kernel,
        grid=(first.batch, len(directions)),
        out_shape=[jax.ShapeDtypeStruct(shape, values.dtype) for shape in shapes],
        input_output_aliases={len(inputs) - 2: 0, len(inputs) - 1: 1},
        # The kernel takes 192 registers per thread; with more threads, each would wait longer.
        compiler_params=triton.CompilerParams(num_warps=max(2, width**2 // 2048), num_stages=1),
        interpret=not has_one_gpu(),
    )(*inputs)
