"""The elementwise part of a recurrent step, and its derivatives in closed form.

`x` is the projected input, `a` the recurrent product, `carry` the state that the update keeps.
Where attention weighs the update, `x` has one more block: the attention, the same for all units.
The factors `(fx, fa, fc)` give, for the gradient `dh` of the new state, `dx = dh ⊙ fx` and `da = dh
⊙ fa` for each gate block, and `dcarry = dh ⊙ fc`.
"""

from keras import ops


def _gru_parts(x, a):
    units = a.shape[-1] // 3
    gates = ops.sigmoid(x[..., : 2 * units] + a[..., : 2 * units])
    reset, update = gates[..., :units], gates[..., units:]
    recurrent = a[..., 2 * units :]
    return reset, update, recurrent, ops.tanh(x[..., 2 * units :] + reset * recurrent)


def gru(x, a, carry):
    """`h = (1 - z) ⊙ carry + z ⊙ h̃`, with blocks r, z, h̃ and the reset after the product."""
    _, update, _, candidate = _gru_parts(x, a)
    return (1 - update) * carry + update * candidate


def gru_factors(x, a, carry):
    reset, update, recurrent, candidate = _gru_parts(x, a)
    fz = (candidate - carry) * update * (1 - update)
    fh = update * (1 - candidate * candidate)
    fr = fh * recurrent * reset * (1 - reset)
    return [fr, fz, fh], [fr, fz, fh * reset], 1 - update


def simple(x, a, carry):
    """`h = tanh(x + a)`."""
    return ops.tanh(x + a)


def simple_factors(x, a, carry):
    h = ops.tanh(x + a)
    factor = 1 - h * h
    return [factor], [factor], ops.zeros_like(factor)


def gated(x, a, carry):
    """A GRU in the share g of the attention: `h = (1 - g z) ⊙ carry + g z ⊙ h̃`."""
    units = carry.shape[-1]
    _, update, _, candidate = _gru_parts(x[..., : 3 * units], a)
    share = x[..., 3 * units :] * update
    return (1 - share) * carry + share * candidate


def gated_factors(x, a, carry):
    units = carry.shape[-1]
    reset, update, recurrent, candidate = _gru_parts(x[..., : 3 * units], a)
    attention = x[..., 3 * units :]
    fg = (candidate - carry) * update
    fz = fg * attention * (1 - update)
    fh = attention * update * (1 - candidate * candidate)
    fr = fh * recurrent * reset * (1 - reset)
    return [fr, fz, fh, fg], [fr, fz, fh * reset], 1 - attention * update


def _attentive_parts(x, a):
    units = a.shape[-1] // 2
    reset = ops.sigmoid(x[..., :units] + a[..., :units])
    recurrent, attention = a[..., units:], x[..., 2 * units :]
    candidate = ops.tanh(x[..., units : 2 * units] + reset * recurrent)
    return reset, recurrent, candidate, attention


def attentive(x, a, carry):
    """A GRU with the attention g for its update gate: `h = (1 - g) carry + g h̃`."""
    _, _, candidate, attention = _attentive_parts(x, a)
    return (1 - attention) * carry + attention * candidate


def attentive_factors(x, a, carry):
    reset, recurrent, candidate, attention = _attentive_parts(x, a)
    fh = attention * (1 - candidate * candidate)
    fr = fh * recurrent * reset * (1 - reset)
    return [fr, fh, candidate - carry], [fr, fh * reset], 1 - attention


# Value, factors and number of blocks of the recurrent product.
GATES = {
    "gru": (gru, gru_factors, 3),
    "simple": (simple, simple_factors, 1),
    "gated": (gated, gated_factors, 3),
    "attentive": (attentive, attentive_factors, 2),
}
