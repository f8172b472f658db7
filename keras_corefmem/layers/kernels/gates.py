"""The elementwise part of a recurrent step, and its derivatives in closed form.

Every function takes the activations of candidate and gates, the projected input `x`, the recurrent
product `a` and the `carry`, the state that the update keeps. Attention that weights the update is
one more block of `x`, repeated for all units. The factors `(fx, fa, fc)` turn the gradient `dh` of
the new state into `dx = dh ⊙ fx` and `da = dh ⊙ fa` for each gate block, and `dcarry = dh ⊙ fc`.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from keras import ops

from keras_corefmem.layers.kernels.activations import find_activation


class Gates(NamedTuple):
    """One kind of recurrent step."""

    step: Callable  # (x, a, carry) to the new state
    factors: Callable  # (x, a, carry) to (fx, fa, fc)
    blocks: int  # of the recurrent product, each as wide as the state


def _gru_parts(outer, inner, x, a):
    units = a.shape[-1] // 3
    before = x[..., : 2 * units] + a[..., : 2 * units]
    gates, recurrent = inner.value(before), a[..., 2 * units :]
    reset, update = gates[..., :units], gates[..., units:]
    attention = x[..., 3 * units :] if x.shape[-1] > 3 * units else None
    inside = x[..., 2 * units : 3 * units] + reset * recurrent
    return before, gates, reset, update, recurrent, inside, outer.value(inside), attention


def _gru(outer, inner, x, a, carry):
    """Computes `h = (1 - g z) ⊙ carry + g z ⊙ h̃`, with blocks r, z, h̃ and any attention g."""
    *_, update, _, _, candidate, attention = _gru_parts(outer, inner, x, a)
    share = update if attention is None else attention * update
    return (1 - share) * carry + share * candidate


def _gru_factors(outer, inner, x, a, carry):
    parts = _gru_parts(outer, inner, x, a)
    before, gates, reset, update, recurrent, inside, candidate, attention = parts
    slopes = inner.derivative(before, gates)
    units = update.shape[-1]
    share = update if attention is None else attention * update
    fz = candidate - carry
    fg = fz * update
    fz = (fz if attention is None else fz * attention) * slopes[..., units:]
    fh = share * outer.derivative(inside, candidate)
    fr = fh * recurrent * slopes[..., :units]
    fx = [fr, fz, fh] if attention is None else [fr, fz, fh, fg]
    return fx, [fr, fz, fh * reset], 1 - share


def _simple(outer, inner, x, a, carry):
    return outer.value(x + a)


def _simple_factors(outer, inner, x, a, carry):
    factor = outer.derivative(x + a, outer.value(x + a))
    return [factor], [factor], ops.zeros_like(factor)


def _attention_gru_parts(outer, inner, x, a):
    units = a.shape[-1] // 2
    before, recurrent = x[..., :units] + a[..., :units], a[..., units:]
    reset, attention = inner.value(before), x[..., 2 * units :]
    inside = x[..., units : 2 * units] + reset * recurrent
    return before, reset, recurrent, inside, outer.value(inside), attention


def _attention_gru(outer, inner, x, a, carry):
    """Computes `h = (1 - g) ⊙ carry + g ⊙ h̃`, with the attention g as the update gate."""
    *_, candidate, attention = _attention_gru_parts(outer, inner, x, a)
    return (1 - attention) * carry + attention * candidate


def _attention_gru_factors(outer, inner, x, a, carry):
    parts = _attention_gru_parts(outer, inner, x, a)
    before, reset, recurrent, inside, candidate, attention = parts
    fh = attention * outer.derivative(inside, candidate)
    fr = fh * recurrent * inner.derivative(before, reset)
    return [fr, fh, candidate - carry], [fr, fh * reset], 1 - attention


KINDS = {
    "gru": Gates(_gru, _gru_factors, 3),
    "simple": Gates(_simple, _simple_factors, 1),
    "attention_gru": Gates(_attention_gru, _attention_gru_factors, 2),
}


def make_gates(kind, activation="tanh", recurrent_activation="sigmoid"):
    """Returns the `Gates` of a kind with these activations of the candidate and of the gates."""
    step, factors, blocks = KINDS[kind]
    both = find_activation(activation), find_activation(recurrent_activation)
    return Gates(partial(step, *both), partial(factors, *both), blocks)
