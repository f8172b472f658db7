"""One vector from all layers of a language model."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("keras_corefmem")
class LayerMix(keras.layers.Layer):
    """Mixes the layers of a frozen encoder, as ELMo does.

    `y = γ Σ_k softmax(s)_k x_k` with learned s and γ, which start as the mean.

    Call arguments:
        inputs: `(…, layers, width)`.

    Returns:
        `(…, width)`.

    Reference: [Peters et al., NAACL 2018](https://arxiv.org/abs/1802.05365), Eq. 1.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, inputs_shape):
        shape = (inputs_shape[-2],)
        self.scores = self.add_weight(name="scores", shape=shape, initializer="zeros")
        self.scale = self.add_weight(name="scale", shape=(), initializer="ones")

    def call(self, inputs):
        shares = self.scale * ops.softmax(ops.cast(self.scores, "float32"))
        return ops.einsum("...kd,k->...d", inputs, ops.cast(shares, inputs.dtype))

    def compute_output_shape(self, inputs_shape):
        return (*inputs_shape[:-2], inputs_shape[-1])
