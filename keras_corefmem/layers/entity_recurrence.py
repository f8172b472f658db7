"""The fused recurrence of an entity memory over sentences, with a hand-written gradient.

All that does not depend on the memory comes in ready-made; the loop holds one product and the
gates. Sentences run along the first axis.
"""

from keras import ops

from keras_corefmem.layers.custom_gradient import upstream_gradients
from keras_corefmem.layers.edge_walks import zeros

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


def normalize(x):
    """Rows of unit length, and one over what their length was."""
    inverse = ops.rsqrt(ops.maximum(ops.sum(x * x, axis=-1, keepdims=True), TINY))
    return x * inverse, inverse


def product(x, kernel):
    """`x @ kernel` as one flat product."""
    flat = ops.matmul(ops.reshape(x, (-1, x.shape[-1])), kernel)
    return ops.reshape(flat, (*ops.shape(x)[:-1], kernel.shape[-1]))


def entity_recurrence(activation, floats, mask=None, sequences=False):
    """Runs the memory over all sentences.

    ```
    g_j = σ(s_t·h_j + gate_tj)
    h̃_j = φ(h_j U + key_j + candidate_t)
    h_j ← (h_j + g_j h̃_j) / ‖h_j + g_j h̃_j‖
    ```

    Masked sentences leave the memory as it is, with gates of 0.

    Args:
        activation: name of φ, of `ACTIVATIONS`.
        floats: dictionary with `sentences` `(time, batch, units)`, `gate` `(time, batch, slots)`,
            `candidate` `(time, batch, units)`, `key` `(1 or batch, slots, units)`, `start` `(batch,
            slots, units)`, `kernel` `(units, units)` and, for a PReLU, `slopes` `(1 or slots,
            units)`.
        mask: `(time, batch)` bool, or `None`.
        sequences: whether to return the memory after every sentence, or after the last.

    Returns:
        The memory, `(time, batch, slots, units)` or `(batch, slots, units)`, and the gates,
        `(time, batch, slots)`.
    """
    names = list(floats)
    value, derivative = ACTIVATIONS[activation]
    if mask is not None:
        mask = ops.cast(mask, "float32")[..., None]

    @ops.custom_gradient
    def run(*arguments):
        given = dict(zip(names, arguments, strict=True))
        sentences, start, kernel = (given[name] for name in ("sentences", "start", "kernel"))
        slopes = given.get("slopes")
        time, batch = ops.shape(sentences)[:2]
        slots, units = start.shape[-2:]

        def outcome(h, t):
            """Pre-activation, candidate, gate and unnormalised memory, for one or all steps."""
            shared = given["candidate"][t][..., None, :] + given["key"]
            before = product(h, kernel) + shared
            candidate = value(before, slopes)
            scores = ops.einsum("...d,...md->...m", sentences[t], h) + given["gate"][t]
            gate = ops.sigmoid(scores)
            return before, candidate, gate, h + gate[..., None] * candidate

        def step(t, state):
            h, history, gates = state
            _, _, gate, raw = outcome(h, t)
            new, _ = normalize(raw)
            if mask is not None:
                new = h + mask[t][..., None] * (new - h)
                gate = gate * mask[t]
            history = ops.slice_update(history, (t + 1, 0, 0, 0), new[None])
            return new, history, ops.slice_update(gates, (t, 0, 0), gate[None])

        history = zeros(time + 1, batch, slots, units)
        history = ops.slice_update(history, (0, 0, 0, 0), start[None])
        last, history, gates = ops.fori_loop(
            0, time, step, (start, history, zeros(time, batch, slots))
        )

        def gradient(*args, upstream=None):
            dmemory, dgates = upstream_gradients(args, upstream)
            every, previous = slice(None), history[:-1]
            before, candidate, gate, raw = outcome(previous, every)
            unit, inverse = normalize(raw)
            slope = gate * (1 - gate)
            factor = gate[..., None] * derivative(before, slopes)
            if mask is not None:
                dgates, inverse = dgates * mask, inverse * mask[..., None]

            def back(i, state):
                dh, draws = state
                t = time - 1 - i
                if sequences:
                    dh = dh + dmemory[t]
                along = ops.sum(dh * unit[t], axis=-1, keepdims=True)
                draw = (dh - unit[t] * along) * inverse[t]
                dscore = (ops.sum(draw * candidate[t], axis=-1) + dgates[t]) * slope[t]
                kept = 0.0 if mask is None else (1 - mask[t][..., None]) * dh
                through = product(draw * factor[t], ops.transpose(kernel))
                dh = kept + draw + dscore[..., None] * sentences[t][:, None] + through
                return dh, ops.slice_update(draws, (t, 0, 0, 0), draw[None])

            first = ops.zeros_like(start) if sequences else dmemory
            dstart, draws = ops.fori_loop(0, time, back, (first, ops.zeros_like(previous)))
            dscores = (ops.sum(draws * candidate, axis=-1) + dgates) * slope
            dbefore = draws * factor
            dkey = ops.sum(dbefore, axis=0)
            found = {
                "sentences": ops.einsum("tbm,tbmd->tbd", dscores, previous),
                "gate": dscores,
                "candidate": ops.sum(dbefore, axis=2),
                "key": dkey if given["key"].shape[0] != 1 else ops.sum(dkey, 0, keepdims=True),
                "start": dstart,
                "kernel": ops.matmul(
                    ops.transpose(ops.reshape(previous, (-1, units))),
                    ops.reshape(dbefore, (-1, units)),
                ),
            }
            if slopes is not None:
                below = draws * gate[..., None] * ops.minimum(before, 0.0)
                axes = (0, 1) if slopes.shape[0] == slots else (0, 1, 2)
                found["slopes"] = ops.reshape(ops.sum(below, axis=axes), slopes.shape)
            return tuple(found[name] for name in names)

        return (history[1:] if sequences else last, gates), gradient

    return run(*(ops.cast(floats[name], "float32") for name in names))
