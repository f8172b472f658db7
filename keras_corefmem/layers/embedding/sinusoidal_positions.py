"""Position vectors of sines and cosines."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.kernels.buffers import float_type


@keras.saving.register_keras_serializable("keras_corefmem")
class SinusoidalPositions(keras.layers.Layer):
    """Adds sines and cosines of the position t, from 0, to each vector.

    ```
    p_t = [sin(t r_1) … sin(t r_n), cos(t r_1) … cos(t r_n)],   r_k = 10⁴^(-(k - 1) / (n - 1))
    ```

    where n is half of the width, rounded down; if the width is odd, the last element is 0.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `(batch, time, width)`.

    Returns:
        `(batch, time, width)`, masked like the inputs.

    Reference: [Vaswani et al., NIPS 2017](https://arxiv.org/abs/1706.03762), Section 3.5.

    Example:
        >>> vectors = keras_corefmem.layers.SinusoidalPositions()(np.zeros((1, 3, 2)))
        >>> np.asarray(vectors)[0, 0].tolist()
        [0.0, 1.0]
    """

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def call(self, inputs):
        inputs = ops.cast(inputs, self.compute_dtype)
        width = inputs.shape[-1]
        half = width // 2
        rates = 1e4 ** (-np.arange(half) / max(half - 1, 1))
        dtype = float_type(inputs)
        times = ops.cast(ops.arange(ops.shape(inputs)[1]), dtype)
        angles = times[:, None] * ops.convert_to_tensor(rates.astype(dtype))
        waves = ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=-1)
        return inputs + ops.cast(ops.pad(waves, ((0, 0), (0, width % 2))), inputs.dtype)

    def compute_output_shape(self, inputs_shape):
        return inputs_shape
