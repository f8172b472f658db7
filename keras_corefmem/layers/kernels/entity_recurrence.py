"""The fused recurrence of an entity memory over sentences, with a hand-written gradient.

All that does not depend on the memory comes in ready-made; the loop holds one product and the
gates. What the gradient needs of a sentence is used up while it is at hand, so that nothing large
is read twice. Sentences run along the first axis.
"""

from keras import ops

from keras_corefmem.layers.kernels.custom_gradient import upstream_gradients
from keras_corefmem.layers.kernels.edge_walks import zeros

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


def total(x):
    """Sums of rows, `(…, 1)`, as a product: compilers add up one row number by number."""
    return product(x, ops.ones((x.shape[-1], 1), x.dtype))


def normalize(x):
    """Rows of unit length, and one over what their length was."""
    inverse = ops.rsqrt(ops.maximum(total(x * x), TINY))
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

        def kept(t):
            """The share of the memory that a masked sentence hands on: all of it."""
            return 0.0 if mask is None else 1 - mask[t][..., None]

        def step(t, state):
            h, history, befores, gates, inverses = state
            before = product(h, kernel) + given["candidate"][t][:, None] + given["key"]
            scores = total(sentences[t][:, None] * h)[..., 0] + given["gate"][t]
            gate = ops.sigmoid(scores)
            new, inverse = normalize(h + gate[..., None] * value(before, slopes))
            if mask is not None:
                new = h + mask[t][..., None] * (new - h)
                gate, inverse = gate * mask[t], inverse * mask[t][..., None]
            return (
                new,
                ops.slice_update(history, (t + 1, 0, 0, 0), new[None]),
                ops.slice_update(befores, (t, 0, 0, 0), before[None]),
                ops.slice_update(gates, (t, 0, 0), gate[None]),
                ops.slice_update(inverses, (t, 0, 0, 0), inverse[None]),
            )

        history = zeros(time + 1, batch, slots, units)
        history = ops.slice_update(history, (0, 0, 0, 0), start[None])
        befores, gates = zeros(time, batch, slots, units), zeros(time, batch, slots)
        state = start, history, befores, gates, zeros(time, batch, slots, 1)
        last, history, befores, gates, inverses = ops.fori_loop(0, time, step, state)

        def gradient(*args, upstream=None):
            dmemory, dgates = upstream_gradients(args, upstream)
            over_slots = ops.ones((batch, 1, slots))
            if mask is not None:
                dgates = dgates * mask

            def back(i, state):
                dh, rows, sums = state
                t = time - 1 - i
                if sequences:
                    dh = dh + dmemory[t]
                # The inverse length of a masked sentence is 0, so that its unit does not matter.
                previous, before, unit, gate = history[t], befores[t], history[t + 1], gates[t]
                draw = (dh - unit * total(dh * unit)) * inverses[t]
                dgate = total(draw * value(before, slopes))[..., 0] + dgates[t]
                dscore = dgate * gate * (1 - gate)
                dcandidate = draw * gate[..., None]
                dbefore = dcandidate * derivative(before, slopes)
                found = {
                    "sentences": ops.sum(dscore[..., None] * previous, axis=1),
                    "gate": dscore,
                    "candidate": ops.matmul(over_slots, dbefore)[:, 0],
                }
                more = {
                    "kernel": ops.matmul(
                        ops.transpose(ops.reshape(previous, (-1, units))),
                        ops.reshape(dbefore, (-1, units)),
                    ),
                    "key": dbefore,
                }
                if slopes is not None:
                    more["slopes"] = dcandidate * ops.minimum(before, 0.0)
                rows = {
                    name: ops.slice_update(row, (t, 0, 0), found[name][None])
                    for name, row in rows.items()
                }
                sums = {name: ops.add(sums[name], more[name]) for name in sums}
                dh = dh * kept(t) + draw + dscore[..., None] * sentences[t][:, None]
                return dh + product(dbefore, ops.transpose(kernel)), rows, sums

            first = ops.zeros_like(start) if sequences else dmemory
            rows = {n: ops.zeros_like(given[n]) for n in ("sentences", "gate", "candidate")}
            sums = {"kernel": ops.zeros_like(kernel), "key": ops.zeros_like(start)}
            if slopes is not None:
                sums["slopes"] = ops.zeros_like(start)
            dstart, rows, sums = ops.fori_loop(0, time, back, (first, rows, sums))
            if given["key"].shape[0] == 1:
                sums["key"] = ops.sum(sums["key"], axis=0, keepdims=True)
            if slopes is not None:
                axes = 0 if slopes.shape[0] == slots else (0, 1)
                sums["slopes"] = ops.reshape(ops.sum(sums["slopes"], axis=axes), slopes.shape)
            found = {**rows, **sums, "start": dstart}
            return tuple(found[name] for name in names)

        return (history[1:] if sequences else last, gates), gradient

    return run(*(ops.cast(floats[name], "float32") for name in names))
