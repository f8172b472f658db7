"""The elementwise part of a recurrent step, and its derivatives in closed form.

`x` is the projected input, `a` the recurrent product, `carry` the state that the update keeps. The
factors `(fx, fa, fc)` give, for the gradient `dh` of the new state, `dx = dh ⊙ fx` and `da = dh ⊙
fa` for each gate block, and `dcarry = dh ⊙ fc`.
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


GATES = {"gru": (gru, gru_factors, 3), "simple": (simple, simple_factors, 1)}
