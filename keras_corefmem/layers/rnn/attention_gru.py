"""GRUs whose updates are weighed by an attention from outside."""

import keras
from keras import ops

from keras_corefmem.layers.kernels.gates import GATES
from keras_corefmem.layers.kernels.graph_gru import Recurrence, graph_gru
from keras_corefmem.layers.rnn.abstract_rnn_cell import AbstractRNNCell


@keras.saving.register_keras_serializable("keras_corefmem")
class AttentionGRUCell(AbstractRNNCell):
    """The modified GRU of dynamic memory networks: facts count by the attention they get.

    ```
    r, z = σ(W x + U h_{t-1} + b)
    h̃ = tanh(W_h x + r ⊙ (U_h h_{t-1}) + b_h)
    h = (1 - g z) ⊙ h_{t-1} + g z ⊙ h̃
    ```

    Without its update gate (DMN+), g stands for g z.

    Args:
        units: width of the state.
        update_gate: whether there is an update gate z besides the attention.

    Call arguments:
        inputs: `(batch, features + 1)`: the fact, then its attention g.
        states: the output `(batch, units)`.

    References: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285); DMN+: [Xiong et al.,
    ICML 2016](https://arxiv.org/abs/1603.01417).
    """

    def __init__(self, units, update_gate=True, **kwargs):
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"units must be positive, got {units}.")
        self.units, self.update_gate = units, update_gate
        self.gates = "gated" if update_gate else "attentive"

    @property
    def state_size(self):
        return self.units

    @property
    def output_size(self):
        return self.units

    def build(self, input_shape):
        width = self.units * GATES[self.gates][2]
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1] - 1, width))
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel", shape=(self.units, width), initializer="orthogonal"
        )
        self.bias = self.add_weight(name="bias", shape=(width,), initializer="zeros")

    def project(self, facts):
        """What the facts bring to the gates: the same in every pass over them."""
        return ops.matmul(facts, self.kernel) + self.bias

    def with_attention(self, projected, attention):
        """The input of the gates from projected facts and their attention `(…,)`."""
        shape = (*ops.shape(projected)[:-1], self.units)
        attention = ops.broadcast_to(ops.cast(attention, projected.dtype)[..., None], shape)
        return ops.concatenate([projected, attention], axis=-1)

    def call(self, inputs, states, training=None):
        previous = states[0]
        x = self.with_attention(self.project(inputs[..., :-1]), inputs[..., -1])
        product = ops.matmul(previous, self.recurrent_kernel)
        h = GATES[self.gates][0](x, product, previous)
        return h, [h]

    def run(self, projected, attention, mask=None):
        """All states, `(batch, time, units)`, as one fused operation.

        Args:
            projected: what `project` makes of the facts.
            attention: `(batch, time)`.
            mask: bool `(batch, time)`; masked facts keep the state.
        """
        spec = Recurrence(self.units, ((0, self.units),), gates=self.gates)
        x = ops.transpose(self.with_attention(projected, attention), (1, 0, 2))
        floats = {"x": x, "kernel": ops.convert_to_tensor(self.recurrent_kernel)}
        mask = None if mask is None else ops.transpose(mask)
        states = graph_gru(spec, [floats], (None,), mask)[0]
        return ops.cast(ops.transpose(states, (1, 0, 2)), self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "update_gate": self.update_gate}
