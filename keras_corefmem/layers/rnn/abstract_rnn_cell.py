"""Base class of recurrent cells, which Keras 3 no longer provides."""

import keras
from keras import ops


class AbstractRNNCell(keras.layers.Layer):
    """Base class of recurrent cells for `keras.layers.RNN` and `keras.layers.Bidirectional`.

    A cell is one step, `h, states = cell(x_t, states)`. A subclass implements `call` and the
    properties `state_size` and `output_size`.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `(batch, features)`.
        states: list of tensors `(batch, size)`. `states[0]` is the output and every state is flat:
            Keras masks steps by `states[0]` and infers wrong shapes for matrix states.

    Returns:
        The output `(batch, output_size)` and the new states.

    Raises:
        NotImplementedError: if a subclass does not implement one of the three.

    Example:
        >>> class RunningSum(keras_corefmem.layers.AbstractRNNCell):
        ...     state_size = output_size = 3
        ...
        ...     def call(self, inputs, states, training=None):
        ...         return states[0] + inputs, [states[0] + inputs]
        >>> np.asarray(keras.layers.RNN(RunningSum())(np.ones((1, 4, 3)))).tolist()
        [[4.0, 4.0, 4.0]]
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
        """Returns zeros for all states, as a list of `(batch_size, size)` tensors."""
        sizes = self.state_size if isinstance(self.state_size, (list, tuple)) else [self.state_size]
        return [ops.zeros((batch_size, size), dtype=self.compute_dtype) for size in sizes]
