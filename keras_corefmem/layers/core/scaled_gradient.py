"""Scaling of gradients by a factor that may change during training."""

import keras
from keras import ops

from keras_corefmem.layers.core.serializable import serializable


@serializable
class ScaledGradient(keras.layers.Layer):
    """Returns its inputs, and multiplies their gradient by a factor.

    Before a loss, the factor is the weight of that loss. It is a non-trainable weight of the layer
    and starts at 1; a callback may assign another number between epochs, as `zoo.GatesFirst` does.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: finite numbers of any shape.

    Returns:
        The inputs.

    Example:
        >>> layer = keras_corefmem.layers.ScaledGradient()
        >>> np.asarray(layer(np.array([[1.0, 2.0]]))).tolist()
        [[1.0, 2.0]]
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, inputs_shape):
        self.factor = self.add_weight(name="factor", shape=(), initializer="ones", trainable=False)

    def call(self, inputs):
        still = ops.stop_gradient(inputs)
        return still + ops.cast(self.factor, inputs.dtype) * (inputs - still)

    def compute_output_shape(self, inputs_shape):
        return inputs_shape
