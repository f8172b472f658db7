"""The fused recurrence of an entity memory over sentences, with a hand-written gradient.

All that does not depend on the memory comes in ready-made; the loop holds one product and the
gates. What the gradient needs of a sentence is used up while it is at hand, so that nothing large
is read twice. Sentences run along the first axis.
"""

from typing import NamedTuple

from keras import ops

from keras_corefmem.layers.kernels.buffers import output_gradients, write, zeros

# Value and derivative at the pre-activation x, with slopes a where it is a PReLU.
ACTIVATIONS = {
    "prelu": (
        lambda x, a: ops.maximum(x, 0.0) + a * ops.minimum(x, 0.0),
        lambda x, a: ops.where(x > 0, ops.ones_like(x), ops.broadcast_to(a, ops.shape(x))),
    ),
    "relu": (lambda x, a: ops.relu(x), lambda x, a: ops.cast(x > 0, x.dtype)),
    "sigmoid": (
        lambda x, a: ops.sigmoid(x),
        lambda x, a: ops.sigmoid(x) * (1 - ops.sigmoid(x)),
    ),
    "tanh": (lambda x, a: ops.tanh(x), lambda x, a: 1 - ops.square(ops.tanh(x))),
    "linear": (lambda x, a: x, lambda x, a: ops.ones_like(x)),
}
TINY = 1e-24


class EntityInputs(NamedTuple):
    """The differentiable inputs of the recurrence.

    Attributes:
        sentences: `(time, batch, units)`.
        gate_scores: `(time, batch, slots)`, the scores of the gates but for the memory's share.
        candidates: `(time, batch, units)`, the projected sentences with the bias.
        keys: `(1 or batch, slots, units)`, the projected keys.
        memory: `(batch, slots, units)`, the memory before the first sentence.
        kernel: `(units, units)`, U.
        slopes: `(1 or slots, units)` of a PReLU, or `None`.
    """

    sentences: object
    gate_scores: object
    candidates: object
    keys: object
    memory: object
    kernel: object
    slopes: object = None


class _ForwardState(NamedTuple):
    """Loop state of the recurrence.

    Attributes:
        memory: `(batch, slots, units)`.
        history: `(time + 1, batch, slots, units)`, the memories, the one at the start first.
        preactivations: `(time, batch, slots, units)` of the candidates.
        gates: `(time, batch, slots)`.
        inverses: `(time, batch, slots, 1)`, one over the lengths that the slots had.
    """

    memory: object
    history: object
    preactivations: object
    gates: object
    inverses: object


class _ReverseState(NamedTuple):
    """Loop state of the gradient.

    Attributes:
        dmemory: `(batch, slots, units)`, gradient of the memory after the sentence.
        by_sentence: gradients of `sentences`, `gate_scores` and `candidates`, row by row.
        totals: gradients of `kernel`, `keys` and any `slopes`, summed over sentences.
    """

    dmemory: object
    by_sentence: tuple
    totals: tuple


def product(x, kernel):
    """`x @ kernel` as one flat product."""
    flat = ops.matmul(ops.reshape(x, (-1, x.shape[-1])), kernel)
    return ops.reshape(flat, (*ops.shape(x)[:-1], kernel.shape[-1]))


def _row_sums(x):
    """Sums of rows, `(…, 1)`, as a product: compilers add up a row number by number."""
    return product(x, ops.ones((x.shape[-1], 1), x.dtype))


def normalize(x):
    """Rows of unit length, and one over what their length was."""
    inverse = ops.rsqrt(ops.maximum(_row_sums(x * x), TINY))
    return x * inverse, inverse


def entity_recurrence(activation, inputs, mask=None, sequences=False):
    """Runs the memory over all sentences.

    ```
    g_j = σ(s_t·h_j + gate_scores_tj)
    h̃_j = φ(h_j U + keys_j + candidates_t)
    h_j ← (h_j + g_j h̃_j) / ‖h_j + g_j h̃_j‖
    ```

    Masked sentences leave the memory as it is, with gates of 0.

    Args:
        activation: name of φ, of `ACTIVATIONS`.
        inputs: an `EntityInputs`.
        mask: `(time, batch)` bool, or `None`.
        sequences: whether to return the memory after every sentence, or after the last.

    Returns:
        The memory, `(time, batch, slots, units)` or `(batch, slots, units)`, and the gates,
        `(time, batch, slots)`.
    """
    value, derivative = ACTIVATIONS[activation]
    if mask is not None:
        mask = ops.cast(mask, "float32")[..., None]

    @ops.custom_gradient
    def run(*arguments):
        sentences, gate_scores, candidates, keys, start, kernel, slopes = EntityInputs(*arguments)
        time, batch = ops.shape(sentences)[:2]
        slots, units = start.shape[-2:]

        def step(t, state):
            h = state.memory
            before = product(h, kernel) + candidates[t][:, None] + keys
            scores = _row_sums(sentences[t][:, None] * h)[..., 0] + gate_scores[t]
            gate = ops.sigmoid(scores)
            new, inverse = normalize(h + gate[..., None] * value(before, slopes))
            if mask is not None:
                new = h + mask[t][..., None] * (new - h)
                gate, inverse = gate * mask[t], inverse * mask[t][..., None]
            return _ForwardState(
                new,
                write(state.history, t + 1, new[None]),
                write(state.preactivations, t, before[None]),
                write(state.gates, t, gate[None]),
                write(state.inverses, t, inverse[None]),
            )

        first = _ForwardState(
            start,
            write(zeros(time + 1, batch, slots, units), 0, start[None]),
            zeros(time, batch, slots, units),
            zeros(time, batch, slots),
            zeros(time, batch, slots, 1),
        )
        forward = ops.fori_loop(0, time, step, first)

        def gradient(*args, upstream=None):
            dmemory, dgates = output_gradients(args, upstream)
            over_slots = ops.ones((batch, 1, slots))
            if mask is not None:
                dgates = dgates * mask

            def reverse_step(i, state):
                t, dh = time - 1 - i, state.dmemory
                if sequences:
                    dh = dh + dmemory[t]
                # The inverse length of a masked sentence is 0, so that its unit does not matter.
                previous, unit = forward.history[t], forward.history[t + 1]
                before, gate = forward.preactivations[t], forward.gates[t]
                draw = (dh - unit * _row_sums(dh * unit)) * forward.inverses[t]
                dgate = _row_sums(draw * value(before, slopes))[..., 0] + dgates[t]
                dscore = dgate * gate * (1 - gate)
                dcandidate = draw * gate[..., None]
                dbefore = dcandidate * derivative(before, slopes)
                rows = (
                    ops.sum(dscore[..., None] * previous, axis=1),
                    dscore,
                    ops.matmul(over_slots, dbefore)[:, 0],
                )
                dkernel = ops.matmul(
                    ops.transpose(ops.reshape(previous, (-1, units))),
                    ops.reshape(dbefore, (-1, units)),
                )
                terms = (dkernel, dbefore)
                if slopes is not None:
                    terms = (*terms, dcandidate * ops.minimum(before, 0.0))
                # A masked sentence hands on all of the memory.
                kept = 0.0 if mask is None else 1 - mask[t][..., None]
                dh = dh * kept + draw + dscore[..., None] * sentences[t][:, None]
                return _ReverseState(
                    dh + product(dbefore, ops.transpose(kernel)),
                    tuple(
                        write(x, t, r[None]) for x, r in zip(state.by_sentence, rows, strict=True)
                    ),
                    tuple(ops.add(x, y) for x, y in zip(state.totals, terms, strict=True)),
                )

            by_slot = (start,) if slopes is None else (start, start)
            last = ops.fori_loop(
                0,
                time,
                reverse_step,
                _ReverseState(
                    ops.zeros_like(start) if sequences else dmemory,
                    tuple(ops.zeros_like(x) for x in (sentences, gate_scores, candidates)),
                    tuple(ops.zeros_like(x) for x in (kernel, *by_slot)),
                ),
            )
            dkernel, dkeys, *dslopes = last.totals
            if keys.shape[0] == 1:
                dkeys = ops.sum(dkeys, axis=0, keepdims=True)
            if slopes is not None:
                axes = 0 if slopes.shape[0] == slots else (0, 1)
                dslopes = [ops.reshape(ops.sum(dslopes[0], axis=axes), slopes.shape)]
            return (*last.by_sentence, dkeys, last.dmemory, dkernel, *dslopes)

        return (forward.history[1:] if sequences else forward.memory, forward.gates), gradient

    return run(*(ops.cast(tensor, "float32") for tensor in inputs if tensor is not None))
