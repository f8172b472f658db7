"""The output module of recurrent entity networks."""

import keras
from keras import ops

from keras_corefmem.layers.kernels.entity_recurrence import ACTIVATIONS
from keras_corefmem.layers.memory.entity_memory import (
    build_activation,
    make_activation,
    serialize_activation,
)


@keras.saving.register_keras_serializable("keras_corefmem")
class EntityOutput(keras.layers.Layer):
    """Reads an entity memory with a question.

    ```
    p = softmax_j(q·h_j),   u = Σ_j p_j h_j,   y = φ(q + H u)
    ```

    Args:
        activation: φ, a name or a `keras.layers.PReLU`, such as that of the memory.
        initializer: initializer of H.

    Call arguments:
        memory: `(batch, slots, units)`.
        question: `(batch, units)`.

    Returns:
        `y` `(batch, units)` and the attention p `(batch, slots)`, float32.

    Reference: [Henaff et al., ICLR 2017](https://arxiv.org/abs/1612.03969), Section 2.3.
    """

    def __init__(self, activation="prelu", initializer="glorot_uniform", **kwargs):
        super().__init__(**kwargs)
        self.activation = make_activation(activation)
        self.initializer = keras.initializers.get(initializer)

    def build(self, memory_shape, question_shape):
        units = memory_shape[-1]
        self.kernel = self.add_weight(
            name="kernel", shape=(units, units), initializer=self.initializer
        )
        build_activation(self.activation, 1, units)

    def call(self, memory, question):
        scores = ops.cast(ops.einsum("bd,bmd->bm", question, memory), "float32")
        attention = ops.softmax(scores, axis=-1)
        summary = ops.einsum("bm,bmd->bd", ops.cast(attention, memory.dtype), memory)
        before = question + ops.matmul(summary, self.kernel)
        if isinstance(self.activation, keras.layers.PReLU):
            # A shared one may have another policy.
            return ops.cast(self.activation(before[:, None])[:, 0], before.dtype), attention
        return ACTIVATIONS[self.activation][0](before, None), attention

    def compute_output_shape(self, memory_shape, question_shape):
        return question_shape, memory_shape[:2]

    def get_config(self):
        return {
            **super().get_config(),
            "activation": serialize_activation(self.activation),
            "initializer": keras.initializers.serialize(self.initializer),
        }
