"""Dropout by a hash, which takes almost no time under XLA."""

import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable("keras_corefmem")
class HashDropout(keras.layers.Dropout):
    """Drops elements like `keras.layers.Dropout`, but by a hash of their positions.

    ```
    y_i = x_i / (1 - rate) where hash(i, key) >= rate · 2³², else 0
    ```

    Each call draws a new key. The cipher behind Keras' dropout takes longer under XLA on
    TensorFlow's CPU than all the rest of a small model.

    Args:
        rate: float, fraction of the elements to drop, 0 to 1.
        noise_shape: tuple, shape of the dropout mask; axes of `None` are as long as the input's.
        seed: int, seed of the keys.

    Call arguments:
        inputs: float tensor of any shape.
        training: bool; nothing is dropped at inference.

    Returns:
        A tensor of the inputs' shape, masked like them.

    Raises:
        ValueError: if the rate or the noise shape is not as described.

    References: [Srivastava et al., JMLR 2014](https://jmlr.org/papers/v15/srivastava14a.html);
    the hash is `lowbias32` of [Wellons](https://github.com/skeeto/hash-prospector).

    Example:
        >>> drop = keras_corefmem.layers.HashDropout(0.5, seed=0)
        >>> np.unique(drop(np.ones((4, 100)), training=True)).tolist()
        [0.0, 2.0]
    """

    def call(self, inputs, training=False):
        if not training or not self.rate:
            return inputs
        if self.rate == 1:
            return ops.zeros_like(inputs)
        sizes = self.noise_shape or (None,) * len(inputs.shape)
        if len(sizes) != len(inputs.shape):
            got = f"{sizes} for inputs of shape {tuple(inputs.shape)}"
            raise ValueError(f"noise_shape must have a size or None for each axis; got {got}.")
        sizes = zip(sizes, ops.shape(inputs), strict=True)
        shape = [own if size is None else size for size, own in sizes]
        keys = ops.cast(self.seed_generator.next(), "uint32")
        hashed = _hash(_hash(_indices(shape) + _hash(keys[0])) ^ _hash(keys[1]))
        kept = hashed >= _constant(min(round(self.rate * 2**32), 2**32 - 1))
        return inputs * (ops.cast(kept, inputs.dtype) / (1 - self.rate))


def _indices(shape):
    """Returns the flat index of each element, uint32."""
    total, columns = 0, 1
    for axis in range(len(shape))[::-1]:
        index = ops.cast(ops.arange(shape[axis]), "uint32")
        place = [1] * len(shape)
        place[axis] = -1
        total = total + ops.reshape(index * ops.cast(columns, "uint32"), place)
        columns = columns * shape[axis]
    return total


def _hash(x):
    """Permutes the 32-bit numbers; each bit of the result depends on all bits."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ ops.right_shift(x, _constant(shift))) * _constant(factor)
    return x ^ ops.right_shift(x, _constant(16))


def _constant(number):
    return ops.convert_to_tensor(np.uint32(number))
