"""A sentence as the sum of its word vectors, each multiplied by a vector of its position."""

import keras

from keras_corefmem.layers.embedding.position_encoding import SentenceEncoder


@keras.saving.register_keras_serializable("keras_corefmem")
class MultiplicativeMask(SentenceEncoder):
    """Encodes sentences as `s = Σ_r f_r ⊙ e_r` over their words, with learned `f`.

    Args:
        length: number of positions, the words of the longest sentence.
        initializer: initial value of `f`: `"ones"`, a sum of words to begin with, or any other.

    Call arguments:
        words: `(…, words, units)`.
        mask: bool `(…, words)`, or `None`. Masked words count nothing.

    Returns:
        `(…, units)`.

    Raises:
        ValueError: if a sentence has more than `length` words.

    Reference: [Henaff et al., ICLR 2017](https://arxiv.org/abs/1612.03969), Section 2.1.
    """

    def __init__(self, length, initializer="ones", **kwargs):
        super().__init__(length, **kwargs)
        self.initializer = keras.initializers.get(initializer)

    def build(self, words_shape):
        self.factors = self.add_weight(
            name="factors",
            shape=(self.length, words_shape[-1]),
            initializer=self.initializer,
        )

    def factors_of(self, units):
        return self.factors

    def get_config(self):
        initializer = keras.initializers.serialize(self.initializer)
        return {**super().get_config(), "initializer": initializer}
