"""Dropout that costs next to nothing under XLA."""

import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable("keras_corefmem")
class HashDropout(keras.layers.Dropout):
    """Drops elements as `keras.layers.Dropout` does, by a hash of their positions.

    ```
    y_i = x_i / (1 - rate) where hash(i, key) >= rate · 2³², else 0
    ```

    The key is new in every call. Keras draws each number from a cipher, which under XLA on
    TensorFlow's CPU takes longer than all the rest of a small model.

    Args:
        rate: fraction of the elements to drop, 0 to 1.
        noise_shape: shape of the mask, `None` where it is that of the input; axes of size 1 share
            what is dropped.
        seed: seed of the keys.

    Raises:
        ValueError: if the rate or the noise shape is not as described.

    References: [Srivastava et al., JMLR 2014](https://jmlr.org/papers/v15/srivastava14a.html);
    the hash is `lowbias32` of [Wellons](https://github.com/skeeto/hash-prospector).
    """

    def call(self, inputs, training=False):
        if not training or not self.rate:
            return inputs
        if self.rate == 1:
            return ops.zeros_like(inputs)
        wanted = self.noise_shape or (None,) * len(inputs.shape)
        sizes = zip(wanted, ops.shape(inputs), strict=True)
        shape = [own if size is None else size for size, own in sizes]
        keys = ops.cast(self.seed_generator.next(), "uint32")
        hashed = mix(mix(positions(shape) + mix(keys[0])) ^ mix(keys[1]))
        kept = hashed >= constant(min(round(self.rate * 2**32), 2**32 - 1))
        return inputs * (ops.cast(kept, inputs.dtype) / (1 - self.rate))


def positions(shape):
    """The number of every element, uint32."""
    total, columns = 0, 1
    for axis in range(len(shape))[::-1]:
        index = ops.cast(ops.arange(shape[axis]), "uint32")
        place = [1] * len(shape)
        place[axis] = -1
        total = total + ops.reshape(index * ops.cast(columns, "uint32"), place)
        columns = columns * shape[axis]
    return total


def mix(x):
    """A permutation of the 32-bit numbers in which every bit of the result depends on all bits."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ ops.right_shift(x, constant(shift))) * constant(factor)
    return x ^ ops.right_shift(x, constant(16))


def constant(number):
    return ops.convert_to_tensor(np.uint32(number))
