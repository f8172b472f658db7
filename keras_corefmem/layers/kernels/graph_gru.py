"""The fused recurrence over a typed graph, with a hand-written gradient.

One operation computes `CorefGRU`, `MAGEGRU`, `DAGRNN` and a plain GRU, in one or both directions.
Time runs along the first axis. Memory is O(batch · time · units), whatever the number of chains or
edges.
"""

import functools

from keras import ops

from keras_corefmem.layers.kernels import one_kernel
from keras_corefmem.layers.kernels.buffers import float_type, missing_rows, rows, with_rows
from keras_corefmem.layers.kernels.compilation import differentiable, runs_concurrently
from keras_corefmem.layers.kernels.direction import Direction
from keras_corefmem.layers.kernels.edges import with_tokens
from keras_corefmem.layers.kernels.recurrence import DirectionInputs

# Number of tokens whose projected inputs and gate gradients fit into a core's cache.
BLOCK = 64


def graph_gru(recurrence, directions, edges=(None, None), mask=None, backward=False):
    """Runs a recurrence over a graph in all its reading directions.

    ```
    g_t = w_t h_{t-1}[0] ‖ Σ_k w_{t1k} h_{source(t, 1, k)}[1] ‖ …
    h_t = step(x_t, g_t U, carry)
    ```

    `h[e]` is the slice of the hidden state that edges of type e carry; all weights w are 1 if none
    are passed. Masked tokens keep the state of the previously read token. There may be no tokens.

    Args:
        recurrence: a `Recurrence`.
        directions: list of one `DirectionInputs` per direction, the forward one first.
        edges: a pair of `Edges`, from `index_edges`, or of `None` without typed edges. Degrees are
            needed if edge types share one state and there are no edge weights.
        mask: bool `(time, batch)`, or `None`.
        backward: bool, whether a single direction is the backward one.

    Returns:
        A list with the hidden states `(time, batch, units)` of each direction, float64 if the
        inputs are, otherwise float32. On TensorFlow, their gradients have no gradients.

    Raises:
        ValueError: if the recurrence has typed edges, and edges or their degrees are missing.

    Example:
        >>> recurrence = keras_corefmem.layers.Recurrence(4, ((0, 2), (2, 4)))
        >>> inputs = keras_corefmem.layers.DirectionInputs(np.ones((3, 2, 12)), np.ones((4, 12)))
        >>> edges = keras_corefmem.layers.index_edges(np.zeros((2, 3, 1, 1)))
        >>> (states,) = keras_corefmem.layers.graph_gru(recurrence, [inputs], edges)
        >>> tuple(states.shape)
        (3, 2, 4)
    """
    _check_edges(recurrence, directions[0], edges[0])
    dtype = float_type(ops.convert_to_tensor(directions[0].projected))
    directions = [
        DirectionInputs(*(None if value is None else ops.cast(value, dtype) for value in inputs))
        for inputs in directions
    ]
    time = ops.shape(directions[0].projected)[0]
    missing = missing_rows(time)
    directions, edges = [d.with_tokens(missing) for d in directions], with_tokens(edges, missing)
    if mask is not None:
        mask = with_rows(ops.expand_dims(ops.cast(mask, dtype), -1), missing)
    fits = one_kernel.fits(recurrence, directions[0])
    if fits or _block_size(directions[0].projected.shape[0]) is None:
        directions = [inputs.project() for inputs in directions]
    names = tuple(name for name, value in directions[0]._asdict().items() if value is not None)
    arguments = [[getattr(inputs, name) for name in names] for inputs in directions]

    def run(arguments, count, backward):
        kernel = _kernel(recurrence, names, count, backward, fits)
        return [history[1 : time + 1] for history in kernel(arguments, (edges, mask))]

    if len(directions) == 2 and runs_concurrently():
        forward, against = arguments
        return [*run(forward, 1, False), *run(against, 1, True)]
    return run(sum(arguments, []), len(directions), backward)


def _check_edges(recurrence, inputs, edges):
    if len(recurrence.slices) == 1:
        return
    if edges is None:
        raise ValueError("The recurrence has typed edges: pass edges=index_edges(sources).")
    mean = recurrence.shared and recurrence.carry != "previous" and inputs.edge_weights is None
    if mean and edges.degree is None:
        remedy = "pass edges=index_edges(sources, degrees=True)."
        raise ValueError(f"A carry of edge types that share one state is a mean: {remedy}")


@functools.lru_cache
def _kernel(recurrence, names, count, backward, as_one):
    """Makes the loops of a recurrence whose directions have inputs of these names."""

    def begin(arguments, constants):
        edges, mask = constants
        directions = []
        for n in range(count):
            inputs = DirectionInputs(**dict(zip(names, arguments[n * len(names) :], strict=False)))
            against = backward or n == 1
            directions.append(Direction(recurrence, against, edges[int(against)], mask, inputs))
        return directions

    def forward(arguments, constants):
        directions = begin(arguments, constants)
        if as_one:
            return one_kernel.run(directions)
        ends = _run(directions, tuple(d.initial_state() for d in directions))
        return [end.history for end in ends], [end.successors for end in ends]

    def reverse(arguments, constants, histories, successors, upstream):
        directions = begin(arguments, constants)
        ends = zip(directions, histories, successors, upstream, strict=True)
        states = tuple(d.begin_reverse(*end) for d, *end in ends)
        ends = (_run_as_one if as_one else _run_reverse)(directions, states)
        gradients = [d.gradients(*end) for d, end in zip(directions, ends, strict=True)]
        return [gradient[name] for gradient in gradients for name in names]

    return differentiable(forward, reverse)


def _run(directions, states):
    """Runs the recurrence from its first states, and returns the last ones."""

    def run_block(n, size, states):
        starts = [d.first_token(n, size, d.reverse) for d in directions]
        blocks = [
            (start, d.project(rows(d.inputs.projected, start, size)))
            for d, start in zip(directions, starts, strict=True)
        ]
        states = tuple(
            state._replace(projected=projected[-1 if d.reverse else 0])
            for d, (_, projected), state in zip(directions, blocks, states, strict=True)
        )

        def step(i, states):
            loops = zip(directions, states, blocks, strict=True)
            return tuple(d.step(i, state, *block) for d, state, block in loops)

        states = ops.fori_loop(0, size, step, states)
        return tuple(state._replace(projected=()) for state in states)

    return _loop_over_blocks(directions[0].time, run_block, states)


def _run_reverse(directions, states):
    """Runs the gradient from its first states, and returns the last ones and all gradients."""

    def run_block(n, size, totals):
        starts = [d.first_token(n, size, not d.reverse) for d in directions]
        blocks = [d.block(start, size) for d, start in zip(directions, starts, strict=True)]

        def step(i, ends):
            loops = zip(directions, ends, blocks, strict=True)
            return tuple(d.reverse_step(i, *end, block) for d, end, block in loops)

        first = tuple(
            (state, d.zeros(size, d.batch, d.spec.units))
            for d, (state, _) in zip(directions, totals, strict=True)
        )
        loops = zip(directions, blocks, ops.fori_loop(0, size, step, first), totals, strict=True)
        return tuple(
            (state, d.add_block(gradients, block, state, dhidden))
            for d, block, (state, dhidden), (_, gradients) in loops
        )

    totals = zip(directions, states, strict=True)
    totals = tuple((state, d.no_gradients()) for d, state in totals)
    return _loop_over_blocks(directions[0].time, run_block, totals)


def _run_as_one(directions, states):
    """Computes the results of `_run_reverse` by one kernel."""
    blocks = [d.block(0, d.time) for d in directions]
    ends, results = [], zip(*one_kernel.run_reverse(directions, blocks), strict=True)
    for d, state, block, result in zip(directions, states, blocks, results, strict=True):
        dgathered, gradients, (sequential, dprevious) = result
        start, stop = d.spec.slices[0]
        state = state._replace(
            sequential=sequential[:, start:stop],
            dprevious=dprevious if d.keeps_previous else (),
            dgathered=dgathered if d.keeps_gathered else (),
        )
        ends.append((state, d.add_block(d.no_gradients(), block, state, gradients)))
    return ends


def _loop_over_blocks(time, run_block, state):
    """Runs `(number, size, state) -> state` over all tokens, in blocks if they divide evenly."""
    size = _block_size(time)
    if size is None:
        return run_block(0, time, state)
    return ops.fori_loop(0, time // size, lambda n, state: run_block(n, size, state), state)


def _block_size(time):
    """Returns the number of tokens of a block, or `None` if the text is read as a whole."""
    sizes = range(BLOCK, BLOCK // 4, -1) if isinstance(time, int) and time > 2 * BLOCK else ()
    return next((size for size in sizes if time % size == 0), None)
