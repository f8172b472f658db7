"""Parts a joint sequence again."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("keras_corefmem")
class SplitSequences(keras.layers.Layer):
    """Splits the states of two joined sequences, `[first; second]`, along time.

    Call arguments:
        states: `(batch, time of both, width)`.
        first: the first sequence, any tensor `(batch, time, …)`.

    Returns:
        The states of the first and of the second sequence.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, states_shape, first_shape):
        pass

    def call(self, states, first):
        split = ops.shape(first)[1]
        return states[:, :split], states[:, split:]

    def compute_output_shape(self, states_shape, first_shape):
        batch, time, width = states_shape
        rest = None if None in (time, first_shape[1]) else time - first_shape[1]
        return (batch, first_shape[1], width), (batch, rest, width)

    def compute_mask(self, states, previous_mask):
        return None


@keras.saving.register_keras_serializable("keras_corefmem")
class SentenceEnds(keras.layers.Layer):
    """The last of every `length` states: what a recurrence knows at the end of each sentence.

    Sentences are padded behind to `length` words, and padding keeps the state of the last word.

    Args:
        length: words of a sentence, padding included.

    Call arguments:
        states: `(batch, sentences · length, units)`.

    Returns:
        `(batch, sentences, units)`; a sentence is masked where all of its words are.

    Reference: the input module of [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).
    """

    def __init__(self, length, **kwargs):
        super().__init__(**kwargs)
        if length < 1:
            raise ValueError(f"length must be at least 1, got {length}.")
        self.length = length
        self.supports_masking = True

    def call(self, states):
        return states[:, self.length - 1 :: self.length]

    def compute_output_shape(self, states_shape):
        batch, time, units = states_shape
        return batch, None if time is None else time // self.length, units

    def compute_mask(self, states, previous_mask=None):
        if previous_mask is None:
            return None
        by_sentence = ops.reshape(previous_mask, (ops.shape(states)[0], -1, self.length))
        return ops.any(by_sentence, axis=-1)

    def get_config(self):
        return {**super().get_config(), "length": self.length}
