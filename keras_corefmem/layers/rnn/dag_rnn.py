"""DAG-RNN: the baseline without edge types."""

import keras
from keras import ops

from keras_corefmem.layers.kernels.recurrence import Recurrence
from keras_corefmem.layers.rnn.graph_cell import GraphCell, cell_options
from keras_corefmem.layers.rnn.graph_rnn import GraphRNN
from keras_corefmem.utils.checks import check_sizes


@keras.saving.register_keras_serializable("keras_corefmem")
class DAGRNNCell(GraphCell):
    """One step of a DAG-RNN, which sums the states of all predecessors of a token.

    `h = tanh(W x + U (h_{t-1} + Σ_s h_s) + b)` over all predecessors s.

    Args:
        units: int, width of the state.
        chains: int, number C of memory slots.
        activation, use_bias, …, bias_constraint: as in `CorefGRU`; there are no gates, so
            `recurrent_activation` must keep its default.

    Call arguments:
        inputs: `(batch, features + 2 · C)`: token features, then 1 for each slot that an edge
            reads, then 1 for each slot that the new state is written to.
        states: list with the output `(batch, units)` and the memory `(batch, C · units)`.

    Returns:
        The output `(batch, units)` and the new states.

    Raises:
        ValueError: if `units` is less than 1, or `chains` negative.

    Reference: the baseline of [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620), after
    [Shuai et al., CVPR 2016](https://arxiv.org/abs/1509.00552).

    Example:
        >>> cell = keras_corefmem.layers.DAGRNNCell(4, chains=3)
        >>> tuple(keras.layers.RNN(cell)(np.zeros((2, 5, 6 + 2 * 3))).shape)
        (2, 4)
    """

    def __init__(
        self,
        units,
        chains=0,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        options = cell_options(locals())
        check_sizes(units=units)
        if recurrent_activation != "sigmoid":
            raise ValueError("A DAG-RNN has no gates, so it takes no recurrent_activation.")
        recurrence = Recurrence(units, ((0, units),) * 2, "previous", "simple")
        super().__init__(recurrence, units, chains, **options)

    @property
    def state_size(self):
        return [self.units, self.chains * self.units]

    @property
    def recurrent_units(self):
        return self.units

    def recurrent(self):
        return ops.concatenate([self.recurrent_kernel, self.recurrent_kernel], axis=0)

    def call(self, inputs, states, training=None):
        previous, memory = states
        x, reads, writes = self.split_columns(inputs)
        gathered = ops.concatenate([previous, *self.read(memory, reads)], axis=-1)
        h = self.update(x, gathered, previous)
        return h, [h, self.write(memory, writes, h)]


@keras.saving.register_keras_serializable("keras_corefmem")
class DAGRNN(GraphRNN):
    """DAG-RNN over a sequence, as one fused operation; all edge types are treated alike.

    Each step is that of `DAGRNNCell`. The backward direction has weights of its own and reads every
    edge from target to source.

    Args:
        units: int, width of the state per direction.
        bidirectional, return_sequences, …, invalid_edges: as in `CorefGRU`; there are no gates, so
            `recurrent_activation` must keep its default.

    Call arguments:
        x: `(batch, time, features)`.
        sources: int32 `(batch, time, E, K)`, or `None`, as in `MAGEGRU`.
        mask, initial_state: as in `CorefGRU`.

    Returns:
        As `CorefGRU`.

    Raises:
        ValueError: if shapes do not match, or sources in an array or eager tensor point forward or
            out of range.

    Reference: see `DAGRNNCell`.

    Example:
        >>> layer = keras_corefmem.layers.DAGRNN(4)
        >>> sources = np.array([[[[0, 0]], [[1, 0]], [[1, 2]]]])
        >>> tuple(layer(np.ones((1, 3, 6)), sources).shape)
        (1, 3, 4)
    """

    CELL = DAGRNNCell

    def call(self, x, sources=None, mask=None, x_mask=None, training=None, initial_state=None):
        if sources is not None:
            batch, time, types, edges = ops.shape(sources)
            sources = ops.reshape(sources, (batch, time, 1, types * edges))
        return self.run(x, sources, mask, x_mask, training, initial_state)
