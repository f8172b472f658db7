"""GRU cells without a graph: a plain one, and one whose update is weighted by attention."""

import keras
from keras import ops

from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.layers.kernels.buffers import last_row, product
from keras_corefmem.layers.kernels.gates import KINDS, make_gates
from keras_corefmem.layers.kernels.graph_gru import graph_gru
from keras_corefmem.layers.kernels.recurrence import DirectionInputs, Recurrence
from keras_corefmem.layers.rnn.abstract_rnn_cell import AbstractRNNCell
from keras_corefmem.utils.checks import check_sizes


def _orthogonal(shape, dtype=None):
    # Backends cannot decompose matrices in half precision.
    own = dtype if dtype == "float64" else "float32"
    return ops.cast(keras.initializers.get("orthogonal")(shape, own), dtype)


@serializable
class GRUCell(AbstractRNNCell):
    """One step of a plain GRU, which `CorefGRUCell` and `MAGEGRUCell` generalize.

    ```
    r, z = σ(W x + U h_{t-1} + b)
    h̃ = tanh(W_h x + r ⊙ (U_h h_{t-1}) + b_h)
    h = (1 - z) ⊙ h_{t-1} + z ⊙ h̃
    ```

    The fused layer with the same equations is `MAGEGRU((units,))`, called without edges.

    Args:
        units: int, width of the state.

    Call arguments:
        inputs: `(batch, features)`.
        states: list with the state `(batch, units)`.

    Returns:
        The new state `(batch, units)`, and a list that contains it.

    Raises:
        ValueError: if `units` is less than 1.

    Reference: [Cho et al., EMNLP 2014](https://arxiv.org/abs/1406.1078).

    Example:
        >>> cell = keras_corefmem.layers.GRUCell(4)
        >>> state, states = cell(np.ones((2, 3)), [np.zeros((2, 4))])
        >>> tuple(state.shape)
        (2, 4)
    """

    gates = "gru"

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        check_sizes(units=units)
        self.units = units

    state_size = output_size = property(lambda self: self.units)

    def build(self, input_shape):
        self.add_weights(input_shape[-1], "glorot_uniform")

    def add_weights(self, features, recurrent_initializer):
        width = self.units * KINDS[self.gates].blocks
        self.kernel = self.add_weight((features, width), name="kernel")
        shape = self.units, width
        self.recurrent_kernel = self.add_weight(
            shape, recurrent_initializer, name="recurrent_kernel"
        )
        self.bias = self.add_weight((width,), "zeros", name="bias")

    def project(self, x):
        return product(x, self.kernel) + self.bias

    def update(self, projected, previous):
        recurrent = ops.matmul(previous, self.recurrent_kernel)
        h = make_gates(self.gates).step(projected, recurrent, previous)
        return h, [h]

    def call(self, inputs, states, training=None):
        return self.update(self.project(inputs), states[0])


@serializable
class AttentionGRUCell(GRUCell):
    """One step of the GRU of dynamic memory networks, whose update is weighted by attention.

    `h = (1 - g z) ⊙ h_{t-1} + g z ⊙ h̃`, with z and h̃ as in `GRUCell`. Without the update gate
    (DMN+), g takes the place of g z.

    Args:
        units: int, width of the state.
        update_gate: bool, whether there is an update gate z in addition to the attention.

    Call arguments:
        inputs: `(batch, features + 1)`: the fact, then its attention g.
        states: list with the state `(batch, units)`.

    Returns:
        The new state `(batch, units)`, and a list that contains it.

    Raises:
        ValueError: if `units` is less than 1.

    References: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285); DMN+: [Xiong et al.,
    ICML 2016](https://arxiv.org/abs/1603.01417).

    Example:
        >>> cell = keras_corefmem.layers.AttentionGRUCell(4, update_gate=False)
        >>> tuple(keras.layers.RNN(cell)(np.ones((2, 5, 3))).shape)
        (2, 4)
    """

    def __init__(self, units, update_gate=True, **kwargs):
        super().__init__(units, **kwargs)
        self.update_gate = update_gate
        self.gates = "gru" if update_gate else "attention_gru"

    def build(self, input_shape):
        self.add_weights(input_shape[-1] - 1, _orthogonal)

    def with_attention(self, projected, attention):
        """Appends the attention `(…,)`, repeated for all units, to projected facts."""
        shape = (*ops.shape(projected)[:-1], self.units)
        attention = ops.broadcast_to(ops.cast(attention, projected.dtype)[..., None], shape)
        return ops.concatenate([projected, attention], axis=-1)

    def call(self, inputs, states, training=None):
        x = self.with_attention(self.project(inputs[..., :-1]), inputs[..., -1])
        return self.update(x, states[0])

    def run(self, projected, attention, mask=None, last=False):
        """Computes all states over projected facts `(batch, time, …)`, or the last, in one go."""
        recurrence = Recurrence(self.units, ((0, self.units),), gates=self.gates)
        x = ops.transpose(self.with_attention(projected, attention), (1, 0, 2))
        inputs = DirectionInputs(x, ops.convert_to_tensor(self.recurrent_kernel))
        mask = None if mask is None else ops.transpose(mask)
        (states,) = graph_gru(recurrence, [inputs], mask=mask)
        states = last_row(states) if last else ops.transpose(states, (1, 0, 2))
        return ops.cast(states, self.compute_dtype)
