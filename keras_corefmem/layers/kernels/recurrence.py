"""Arguments of `graph_gru`: the fixed part of a recurrence, and the inputs of a direction."""

from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from keras import ops

from keras_corefmem.layers.kernels.buffers import product, with_rows
from keras_corefmem.layers.kernels.gates import KINDS, make_gates


@dataclass(frozen=True)
class Recurrence:
    """The part of a recurrence over a graph that is fixed when it is compiled.

    Args:
        units: int, width of the hidden state.
        slices: the slice `(start, stop)` of the hidden state that each edge type carries, the
            sequential edge first.
        carry: the state that the update keeps: `"gathered"`, `"previous"` or `"mixed"`.
        gates: `"gru"`, `"simple"` or `"attention_gru"`, whose update gate is an attention.
        activation: name or elementwise function, activation of the candidate.
        recurrent_activation: name or elementwise function, activation of the gates.

    Example:
        >>> recurrence = keras_corefmem.layers.Recurrence(4, ((0, 2), (2, 4)))
        >>> recurrence.gathered_units, recurrence.blocks
        (4, 3)
    """

    units: int
    slices: tuple
    carry: str = "gathered"
    gates: str = "gru"
    activation: object = "tanh"
    recurrent_activation: object = "sigmoid"

    @property
    def shared(self):
        """Whether all edge types carry the same slice."""
        return len(self.slices) > 1 and self.slices[0] == self.slices[1]

    @property
    def gathered_slices(self):
        """Slice of each edge type in the gathered state."""
        ends = list(accumulate(stop - start for start, stop in self.slices))
        return tuple(zip([0, *ends], ends, strict=False))

    @property
    def gathered_units(self):
        return self.gathered_slices[-1][1]

    @property
    def blocks(self):
        """Number of gate blocks of the kernels, each as wide as the hidden state."""
        return KINDS[self.gates].blocks

    def make_gates(self):
        return make_gates(self.gates, self.activation, self.recurrent_activation)

    def fold(self, gathered, degree):
        """Returns the gathered state as a carry: if types share a state, the mean over edges."""
        if not self.shared:
            return gathered
        return sum(gathered[..., a:b] for a, b in self.gathered_slices) / degree

    def unfold(self, gradient, degree):
        """Returns the gradient of the gathered state from that of its `fold`."""
        if not self.shared:
            return gradient
        return ops.concatenate([gradient / degree] * len(self.slices), axis=-1)


class DirectionInputs(NamedTuple):
    """The differentiable float inputs of one direction of `graph_gru`, `None` if not used.

    Args:
        projected: `(time, batch, blocks · units)`, the features times their kernel, plus the bias;
            or, with an `input_kernel`, the features `(time, batch, features)` themselves, which are
            then projected block by block.
        kernel: `(gathered units, blocks · units)`, the recurrent kernel U.
        sequential_weights: `(time, batch)`, factor of the sequential edge into each token.
        edge_weights: `(time, types, edges, batch)`, factor of each typed edge.
        carry_gate: `(time, batch, units)`, share of the gathered state in a mixed carry.
        initial_state: `(batch, units)`, the state before the first token that is read.
        recurrent_mask: `(batch, gathered units)`, factors of the gathered state as an input of the
            recurrent kernel, the same for all tokens. It gets no gradient.
        input_kernel: `(features, blocks · units)`, the kernel of the features.
        bias: `(blocks · units,)`, used with an `input_kernel`.

    Example:
        >>> inputs = keras_corefmem.layers.DirectionInputs(np.ones((5, 2, 12)), np.ones((4, 12)))
        >>> inputs.carry_gate is None
        True
    """

    projected: object
    kernel: object
    sequential_weights: object = None
    edge_weights: object = None
    carry_gate: object = None
    initial_state: object = None
    recurrent_mask: object = None
    input_kernel: object = None
    bias: object = None

    def with_tokens(self, missing):
        """Returns these inputs with `missing` more tokens of zeros at the end."""
        names = "projected", "sequential_weights", "edge_weights", "carry_gate"
        return self._replace(**{name: with_rows(getattr(self, name), missing) for name in names})

    def project(self):
        """Returns these inputs with all features projected.

        One compiled program then serves features of any width.
        """
        if self.input_kernel is None:
            return self
        projected = product(self.projected, self.input_kernel)
        projected = projected if self.bias is None else projected + self.bias
        return self._replace(projected=projected, input_kernel=None, bias=None)
