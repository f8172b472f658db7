"""The fused recurrence of an entity memory over sentences, with a hand-written gradient."""

import functools
from typing import NamedTuple

from keras import ops

from keras_corefmem.layers.kernels.activations import tanh
from keras_corefmem.layers.kernels.buffers import (
    float_type,
    missing_rows,
    product,
    with_rows,
    write,
)
from keras_corefmem.layers.kernels.compilation import differentiable

# Value and derivative at the pre-activation x, with slopes a for a PReLU.
ACTIVATIONS = {
    "prelu": (
        lambda x, a: ops.maximum(x, 0.0) + a * ops.minimum(x, 0.0),
        lambda x, a: ops.where(x > 0, ops.ones_like(x), ops.broadcast_to(a, ops.shape(x))),
    ),
    "relu": (lambda x, a: ops.relu(x), lambda x, a: ops.cast(x > 0, x.dtype)),
    "sigmoid": (lambda x, a: ops.sigmoid(x), lambda x, a: ops.sigmoid(x) * (1 - ops.sigmoid(x))),
    "tanh": (lambda x, a: tanh(x), lambda x, a: 1 - ops.square(tanh(x))),
    "linear": (lambda x, a: x, lambda x, a: ops.ones_like(x)),
}
TINY = 1e-24


class EntityInputs(NamedTuple):
    """The differentiable inputs of the recurrence; terms that need no loop are precomputed."""

    sentences: object  # (time, batch, units)
    gate_scores: object  # (time, batch, slots), scores of the gates without the memory's term
    candidates: object  # (time, batch, units), the projected sentences with the bias
    keys: object  # (1 or batch, slots, units), the projected keys
    memory: object  # (batch, slots, units) before the first sentence
    kernel: object  # (units, units), U
    slopes: object = None  # (1 or slots, 1 or units) of a PReLU, or None


class _ForwardState(NamedTuple):
    """Loop state of the recurrence."""

    memory: object  # (batch, slots, units)
    history: object  # (time + 1, batch, slots, units), the memories, the one at the start first
    preactivations: object  # (time, batch, slots, units) of the candidates
    gates: object  # (time, batch, slots)
    inverses: object  # (time, batch, slots, 1), inverse lengths before normalization


class _ReverseState(NamedTuple):
    """Loop state of the gradient."""

    dmemory: object  # (batch, slots, units), gradient of the memory after the sentence
    by_sentence: tuple  # gradients of sentences, gate_scores and candidates, row by row
    totals: tuple  # gradients of kernel, keys and any slopes, summed over sentences


def _row_sums(x):
    """Sums rows, `(…, 1)`, by a product, since compilers add up a row number by number."""
    return product(x, ops.ones((x.shape[-1], 1), x.dtype))


def normalize(x):
    """Normalizes rows to unit length, and returns them and their inverse lengths."""
    inverse = ops.rsqrt(ops.maximum(_row_sums(x * x), TINY))
    return x * inverse, inverse


def entity_recurrence(activation, inputs, mask=None, sequences=False):
    """Runs the memory over all sentences.

    ```
    g_j = σ(s_t·h_j + gate_scores_tj)
    h̃_j = φ(h_j U + keys_j + candidates_t)
    h_j ← (h_j + g_j h̃_j) / ‖h_j + g_j h̃_j‖
    ```

    Sentences masked by `mask` `(time, batch)` do not change the memory, and their gates are 0.
    Returns the memory `(batch, slots, units)`, after each sentence with `sequences`, and the gates.
    """
    dtype = float_type(inputs.sentences)
    arguments = [ops.cast(tensor, dtype) for tensor in inputs if tensor is not None]
    time, start = ops.shape(inputs.sentences)[0], arguments[4]
    missing = missing_rows(time)
    mask = None if mask is None else with_rows(ops.cast(mask, dtype)[..., None], missing)
    arguments[:3] = [with_rows(tensor, missing) for tensor in arguments[:3]]
    memory, gates = _kernel(activation, sequences)(arguments, mask)
    if sequences:
        memory = memory[1 : time + 1]
    elif not inputs.sentences.shape[0]:
        memory = ops.where(time > 0, memory, start)
    return memory, gates[:time]


@functools.lru_cache
def _kernel(activation, sequences):
    """Makes the loops over the sentences, with outputs after the last or after each sentence."""
    value, derivative = ACTIVATIONS[activation]

    def forward(arguments, mask):
        sentences, gate_scores, candidates, keys, start, kernel, slopes = EntityInputs(*arguments)
        time, batch = ops.shape(sentences)[:2]
        slots, units = start.shape[-2:]
        dtype = start.dtype

        def step(t, state):
            h = state.memory
            before = product(h, kernel) + candidates[t][:, None] + keys
            scores = _row_sums(sentences[t][:, None] * h)[..., 0] + gate_scores[t]
            gate = ops.sigmoid(scores)
            new, inverse = normalize(h + gate[..., None] * value(before, slopes))
            if mask is not None:
                new = ops.where(mask[t][..., None] > 0, new, h)
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
            write(ops.zeros((time + 1, batch, slots, units), dtype), 0, start[None]),
            ops.zeros((time, batch, slots, units), dtype),
            ops.zeros((time, batch, slots), dtype),
            ops.zeros((time, batch, slots, 1), dtype),
        )
        end = ops.fori_loop(0, time, step, first)
        outputs = [end.history if sequences else end.memory, end.gates]
        return outputs, (end.history, end.preactivations, end.inverses)

    def reverse(arguments, mask, outputs, kept, upstream):
        sentences, gate_scores, candidates, keys, start, kernel, slopes = EntityInputs(*arguments)
        time, batch = ops.shape(sentences)[:2]
        slots, units = start.shape[-2:]
        (_, gates), (history, preactivations, inverses) = outputs, kept
        dmemory, dgates = upstream
        over_slots = ops.ones((batch, 1, slots), start.dtype)
        if mask is not None:
            dgates = dgates * mask

        def reverse_step(i, state):
            t, dh = time - 1 - i, state.dmemory
            if sequences:
                dh = dh + dmemory[t + 1]
            # The inverse length of a masked sentence is 0, so that its unit vector does not matter.
            previous, unit = history[t], history[t + 1]
            before, gate = preactivations[t], gates[t]
            draw = (dh - unit * _row_sums(dh * unit)) * inverses[t]
            dgate = _row_sums(draw * value(before, slopes))[..., 0] + dgates[t]
            dscore = dgate * gate * (1 - gate)
            dcandidate = draw * gate[..., None]
            dbefore = dcandidate * derivative(before, slopes)
            dsentence = ops.sum(dscore[..., None] * previous, axis=1)
            rows = dsentence, dscore, ops.matmul(over_slots, dbefore)[:, 0]
            flat, dflat = (ops.reshape(x, (-1, units)) for x in (previous, dbefore))
            terms = (ops.matmul(ops.transpose(flat), dflat), dbefore)
            if slopes is not None:
                terms = (*terms, dcandidate * ops.minimum(before, 0.0))
            # A masked sentence passes on all of the gradient.
            share = 0.0 if mask is None else 1 - mask[t][..., None]
            dh = dh * share + draw + dscore[..., None] * sentences[t][:, None]
            pairs = zip(state.by_sentence, rows, strict=True)
            return _ReverseState(
                dh + product(dbefore, ops.transpose(kernel)),
                tuple(write(x, t, row[None]) for x, row in pairs),
                tuple(ops.add(x, y) for x, y in zip(state.totals, terms, strict=True)),
            )

        by_slot = (start,) if slopes is None else (start, start)
        end = _ReverseState(
            ops.zeros_like(start) if sequences else dmemory,
            tuple(ops.zeros_like(x) for x in (sentences, gate_scores, candidates)),
            tuple(ops.zeros_like(x) for x in (kernel, *by_slot)),
        )
        last = ops.fori_loop(0, time, reverse_step, end)
        dkernel, dkeys, *dslopes = last.totals
        if keys.shape[0] == 1:
            dkeys = ops.sum(dkeys, axis=0, keepdims=True)
        if slopes is not None:
            shared = [n for n, size in enumerate(slopes.shape, 1) if size == 1]
            dslopes = [ops.sum(dslopes[0], axis=(0, *shared), keepdims=True)[0]]
        return (*last.by_sentence, dkeys, last.dmemory, dkernel, *dslopes)

    return differentiable(forward, reverse)
