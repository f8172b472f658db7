"""The elementwise part of a recurrent step, and its derivatives in closed form.

Every function takes the projected input `x`, the recurrent product `a` and the `carry`, the state
that the update keeps. An attention that weighs the update is one more block of `x`, repeated for
all units. The factors `(fx, fa, fc)` turn the gradient `dh` of the new state into `dx = dh ⊙
fx` and `da = dh ⊙ fa` for each gate block, and `dcarry = dh ⊙ fc`.
"""

from collections.abc import Callable
from typing import NamedTuple

from keras import ops


class Gates(NamedTuple):
    """One kind of recurrent step."""

    step: Callable  # (x, a, carry) to the new state
    factors: Callable  # (x, a, carry) to (fx, fa, fc)
    blocks: int  # of the recurrent product, each as wide as the state


def _gru_parts(x, a):
    units = a.shape[-1] // 3
    gates = ops.sigmoid(x[..., : 2 * units] + a[..., : 2 * units])
    reset, update, recurrent = gates[..., :units], gates[..., units:], a[..., 2 * units :]
    attention = x[..., 3 * units :] if x.shape[-1] > 3 * units else None
    candidate = ops.tanh(x[..., 2 * units : 3 * units] + reset * recurrent)
    return reset, update, recurrent, candidate, attention


def _gru(x, a, carry):
    """`h = (1 - g z) ⊙ carry + g z ⊙ h̃`, with blocks r, z, h̃ and the attention g, if any."""
    _, update, _, candidate, attention = _gru_parts(x, a)
    share = update if attention is None else attention * update
    return (1 - share) * carry + share * candidate


def _gru_factors(x, a, carry):
    reset, update, recurrent, candidate, attention = _gru_parts(x, a)
    share = update if attention is None else attention * update
    fg = (candidate - carry) * update
    fz = (fg if attention is None else fg * attention) * (1 - update)
    fh = share * (1 - candidate * candidate)
    fr = fh * recurrent * reset * (1 - reset)
    fx = [fr, fz, fh] if attention is None else [fr, fz, fh, fg]
    return fx, [fr, fz, fh * reset], 1 - share


def _simple(x, a, carry):
    return ops.tanh(x + a)


def _simple_factors(x, a, carry):
    h = ops.tanh(x + a)
    factor = 1 - h * h
    return [factor], [factor], ops.zeros_like(factor)


def _attention_gru_parts(x, a):
    units = a.shape[-1] // 2
    reset = ops.sigmoid(x[..., :units] + a[..., :units])
    recurrent, attention = a[..., units:], x[..., 2 * units :]
    candidate = ops.tanh(x[..., units : 2 * units] + reset * recurrent)
    return reset, recurrent, candidate, attention


def _attention_gru(x, a, carry):
    """`h = (1 - g) ⊙ carry + g ⊙ h̃`: the attention g is the update gate."""
    _, _, candidate, attention = _attention_gru_parts(x, a)
    return (1 - attention) * carry + attention * candidate


def _attention_gru_factors(x, a, carry):
    reset, recurrent, candidate, attention = _attention_gru_parts(x, a)
    fh = attention * (1 - candidate * candidate)
    fr = fh * recurrent * reset * (1 - reset)
    return [fr, fh, candidate - carry], [fr, fh * reset], 1 - attention


GATES = {
    "gru": Gates(_gru, _gru_factors, 3),
    "simple": Gates(_simple, _simple_factors, 1),
    "attention_gru": Gates(_attention_gru, _attention_gru_factors, 2),
}
