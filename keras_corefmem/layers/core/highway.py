"""Highway networks."""

import keras
from keras import ops

from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.utils.checks import check_sizes


@serializable
class Highway(keras.layers.Layer):
    """Highway network: layers that pass on a learned share of their inputs unchanged.

    ```
    g = σ(W_g x + b_g),   y = g ⊙ x + (1 - g) ⊙ ReLU(W x + b)
    ```

    `b_g` starts at 1, so that most of the input is passed on at first.

    Args:
        layers: int, number of layers.

    Call arguments:
        inputs: `(…, width)`.

    Returns:
        `(…, width)`, masked like the inputs.

    Raises:
        ValueError: if `layers` is less than 1.

    Reference: [Srivastava et al., 2015](https://arxiv.org/abs/1505.00387).

    Example:
        >>> tuple(keras_corefmem.layers.Highway(layers=2)(np.ones((2, 5, 4))).shape)
        (2, 5, 4)
    """

    def __init__(self, layers=2, **kwargs):
        super().__init__(**kwargs)
        check_sizes(layers=layers)
        self.layers = layers
        self.supports_masking = True

    def build(self, inputs_shape):
        width = inputs_shape[-1]

        def weights(name, shape, start):
            names = [f"{name}_{n}" for n in range(1, self.layers + 1)]
            return [self.add_weight(name=name, shape=shape, initializer=start) for name in names]

        self.kernels = weights("kernel", (width, 2 * width), "glorot_uniform")
        self.biases = weights("bias", (width,), "zeros")
        self.gate_biases = weights("gate_bias", (width,), "ones")

    def call(self, inputs):
        for kernel, *biases in zip(self.kernels, self.biases, self.gate_biases, strict=True):
            projected = ops.matmul(inputs, kernel) + ops.concatenate(biases)
            new, gate = ops.split(projected, 2, axis=-1)
            gate = ops.sigmoid(gate)
            inputs = gate * inputs + (1 - gate) * ops.relu(new)
        return inputs

    def compute_output_shape(self, inputs_shape):
        return inputs_shape
