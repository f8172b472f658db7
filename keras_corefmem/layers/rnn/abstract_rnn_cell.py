"""The base class of recurrent cells, which Keras 3 no longer has."""

import keras
from keras import ops


class AbstractRNNCell(keras.layers.Layer):
    """One step of a recurrence, for `keras.layers.RNN` and `keras.layers.Bidirectional`.

    A subclass implements `call(inputs, states, training=None) -> (output, new_states)` and the two
    properties `state_size` and `output_size`. `states[0]` is the output and every state is flat,
    `(batch, size)`: Keras masks steps by `states[0]` and infers wrong shapes for matrix states.
    """

    def call(self, inputs, states, training=None):
        raise NotImplementedError(f"{type(self).__name__} must implement call.")

    @property
    def state_size(self):
        """Width of each state: an integer or a list of integers."""
        raise NotImplementedError(f"{type(self).__name__} must implement state_size.")

    @property
    def output_size(self):
        """Width of the output."""
        raise NotImplementedError(f"{type(self).__name__} must implement output_size.")

    def get_initial_state(self, batch_size=None):
        """Zeros for every state, as a list of `(batch_size, size)` tensors."""
        sizes = self.state_size if isinstance(self.state_size, (list, tuple)) else [self.state_size]
        return [ops.zeros((batch_size, size), dtype=self.compute_dtype) for size in sizes]
