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
