"""Contextual word vectors from any encoder."""

import keras
from keras import ops

from keras_corefmem.layers.core.serializable import inner_options, serializable
from keras_corefmem.layers.kernels.buffers import widen


@keras.saving.register_keras_serializable("keras_corefmem")
class LayerMix(keras.layers.Layer):
    """Mixes the layers of a frozen encoder, as ELMo does.

    `y = γ Σ_k softmax(s)_k x_k` with learned s and γ; it starts as the mean.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `(…, layers, width)`.

    Returns:
        `(…, width)`, masked like the inputs.

    Reference: [Peters et al., NAACL 2018](https://arxiv.org/abs/1802.05365), Eq. 1.

    Example:
        >>> layers = np.array([[[1.0, 1.0], [3.0, 5.0]]])
        >>> np.asarray(keras_corefmem.layers.LayerMix()(layers)).tolist()
        [[2.0, 3.0]]
    """

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def build(self, inputs_shape):
        shape = (inputs_shape[-2],)
        self.scores = self.add_weight(name="scores", shape=shape, initializer="zeros")
        self.scale = self.add_weight(name="scale", shape=(), initializer="ones")

    def call(self, inputs):
        inputs = ops.cast(inputs, self.compute_dtype)
        shares = self.scale * ops.softmax(widen(ops.convert_to_tensor(self.scores)))
        return ops.einsum("...kd,k->...d", inputs, ops.cast(shares, inputs.dtype))

    def compute_output_shape(self, inputs_shape):
        return (*inputs_shape[:-2], inputs_shape[-1])


@serializable
class ContextualVectors(keras.layers.Layer):
    """Contextual word vectors from an encoder of whole texts.

    If the encoder returns several layers, `LayerMix` mixes them as ELMo does. `WordPieces` turns a
    pretrained backbone that reads word pieces, such as KerasHub's, into such an encoder.

    Args:
        encoder: a Keras layer or model, or a function registered as serializable. It maps int32
            word ids `(batch, time)` to vectors `(batch, time, width)`, or to those of several
            layers, as a list or `(batch, time, layers, width)`.
        frozen: bool, whether the encoder is not trained; it then runs in inference mode.

    Call arguments:
        words: int32 `(batch, time)`.

    Returns:
        `(batch, time, width)`, without a mask.

    Raises:
        ValueError: if the encoder returns another shape.

    Reference: [Peters et al., NAACL 2018](https://arxiv.org/abs/1802.05365).

    Example:
        >>> layer = keras_corefmem.layers.ContextualVectors(keras.layers.Embedding(9, 4))
        >>> tuple(layer(np.array([[1, 2, 0]])).shape), layer.trainable_weights
        ((1, 3, 4), [])
    """

    def __init__(self, encoder, frozen=True, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.frozen = encoder, frozen
        self.mix = LayerMix(**inner_options(self, name="mix"))

    def build(self, words_shape):
        # Builds the encoder too.
        shape = self.shape_of(keras.KerasTensor(words_shape, dtype="int32"))
        if len(shape) == 4:
            self.mix.build(shape)
        if self.frozen and isinstance(self.encoder, keras.layers.Layer):
            # A loaded encoder was frozen before it had weights; Keras ignores an unchanged value.
            self.encoder.trainable = True
            self.encoder.trainable = False

    def shape_of(self, words):
        shape = self.encode(words).shape
        if len(shape) not in (3, 4) or shape[-1] is None:
            raise ValueError(
                f"The encoder of {self.name} returns {shape}; it must return (batch, time, width), "
                "or (batch, time, layers, width)."
            )
        return shape

    def encode(self, words):
        # A frozen encoder applies no dropout either.
        frozen = self.frozen and isinstance(self.encoder, keras.layers.Layer)
        vectors = self.encoder(words, **({"training": False} if frozen else {}))
        if isinstance(vectors, list | tuple):
            vectors = ops.stack(vectors, axis=-2)
        return vectors

    def call(self, words):
        vectors = ops.cast(self.encode(words), self.compute_dtype)
        if self.frozen:
            vectors = ops.stop_gradient(vectors)
        return self.mix(vectors) if len(vectors.shape) == 4 else vectors

    def compute_output_spec(self, words):
        shape = self.shape_of(words)
        return keras.KerasTensor((*words.shape, shape[-1]), dtype=self.compute_dtype)

    @classmethod
    def from_config(cls, config):
        encoder = keras.saving.deserialize_keras_object(config["encoder"])
        return cls(**{**config, "encoder": encoder})
