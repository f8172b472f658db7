"""Sentences as sums of their word vectors, weighted by position."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.core.masking import as_mask, clear_masked
from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.utils.checks import check_sizes


def position_factors(length, units):
    """Returns the factors `(length, units)` of `PositionEncoding`, float64."""
    j = np.arange(1, length + 1)[:, None] / length
    k = np.arange(1, units + 1)[None] / units
    return (1 - j) - k * (1 - 2 * j)


def encode_words(words, factors, mask=None):
    """Computes `Σ_j f_j ⊙ e_j` over the words `(…, words, units)` that are not masked."""
    count = words.shape[-2]
    if count is not None and count > factors.shape[0]:
        raise ValueError(
            f"A sentence has {count} words, but length is {factors.shape[0]}; pass a larger length."
        )
    words = clear_masked(words, mask)
    factors = ops.convert_to_tensor(factors, words.dtype)
    return ops.sum(words * factors[: ops.shape(words)[-2]], axis=-2)


class SentenceEncoder(keras.layers.Layer):
    """Base class of layers that sum the words of sentences, weighted by factors of position."""

    def __init__(self, length, **kwargs):
        super().__init__(**kwargs)
        check_sizes(length=length)
        self.length = length

    def factors_of(self, units):
        raise NotImplementedError(f"{type(self).__name__} must implement factors_of.")

    def call(self, words, mask=None):
        axes = "batch", *(f"axis {n}" for n in range(1, len(words.shape) - 2)), "words"
        mask = as_mask(mask, **dict(zip(axes, words.shape, strict=False)))
        words = ops.cast(words, self.compute_dtype)
        return encode_words(words, self.factors_of(words.shape[-1]), mask)

    def compute_output_shape(self, words_shape):
        return (*words_shape[:-2], words_shape[-1])

    def compute_mask(self, words, previous_mask=None):
        return None if previous_mask is None else ops.any(as_mask(previous_mask), axis=-1)


@serializable
class PositionEncoding(SentenceEncoder):
    """Encodes sentences as `s = Σ_j l_j ⊙ e_j` over their words, with fixed factors of position.

    `l_jk = (1 - j/J) - (k/d) (1 - 2j/J)`, where d is the number of units and J the maximum
    length, not that of the sentence, so that padding changes nothing.

    Args:
        length: int, number J of positions, the words of the longest sentence.

    Call arguments:
        words: `(…, words, units)`.
        mask: bool `(…, words)`, or `None`. Masked words are ignored.

    Returns:
        `(…, units)`; a sentence is masked where all of its words are.

    Raises:
        ValueError: if a sentence has more than `length` words.

    Reference: [Sukhbaatar et al., NIPS 2015](https://arxiv.org/abs/1503.08895), Section 4.1.

    Example:
        >>> encode = keras_corefmem.layers.PositionEncoding(length=5)
        >>> tuple(encode(np.ones((2, 3, 4, 6))).shape)
        (2, 3, 6)
    """

    def factors_of(self, units):
        return position_factors(self.length, units)


@serializable
class MultiplicativeMask(SentenceEncoder):
    """Encodes sentences as `s = Σ_r f_r ⊙ e_r` over their words, with learned factors `f`.

    Call arguments, output and errors are those of `PositionEncoding`.

    Args:
        length: int, number of positions, the words of the longest sentence.
        initializer: initializer of `f`; with `"ones"`, encodings start as plain sums of words.

    Reference: [Henaff et al., ICLR 2017](https://arxiv.org/abs/1612.03969), Section 2.1.

    Example:
        >>> encode = keras_corefmem.layers.MultiplicativeMask(length=5)
        >>> np.asarray(encode(np.ones((1, 3, 2)))).tolist()
        [[3.0, 3.0]]
    """

    def __init__(self, length, initializer="ones", **kwargs):
        super().__init__(length, **kwargs)
        self.initializer = keras.initializers.get(initializer)

    def build(self, words_shape):
        self.factors = self.add_weight(
            name="factors", shape=(self.length, words_shape[-1]), initializer=self.initializer
        )

    def factors_of(self, units):
        return self.factors
