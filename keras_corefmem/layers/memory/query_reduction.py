"""Query reduction: a question that changes with each sentence read."""

import keras
from keras import ops

from keras_corefmem.layers.core.masking import MASKED, as_mask, clear_masked
from keras_corefmem.layers.core.serializable import inner_options, serializable
from keras_corefmem.layers.kernels.activations import tanh
from keras_corefmem.layers.kernels.buffers import widen
from keras_corefmem.layers.rnn.abstract_rnn_cell import AbstractRNNCell
from keras_corefmem.utils.checks import check_shape, check_sizes


@serializable
class QueryReductionCell(AbstractRNNCell):
    """One step of a query-reduction network: a sentence changes its query.

    ```
    z = σ(w·(q ⊙ x) + b_z + c),   r = σ(w_r·(q ⊙ x) + b_r)
    h̃ = tanh(W [q ; x] + b)
    h = z r h̃ + (1 - z) h_{t-1}
    ```

    The gates z and r are numbers, not vectors.

    Args:
        units: int, width d of sentences, queries and the state.
        reset: bool, whether there is a gate r.
        update_bias: float, constant c; if negative, most sentences change little at first.

    Call arguments:
        inputs: `(batch, 2 · units)`: the sentence x, then its query q.
        states: list with the output `(batch, units)`.

    Returns:
        The new state `(batch, units)`, and a list that contains it.

    Raises:
        ValueError: if `units` is less than 1, or inputs have another width.

    Reference: [Seo et al., ICLR 2017](https://arxiv.org/abs/1606.04582).

    Example:
        >>> cell = keras_corefmem.layers.QueryReductionCell(4)
        >>> tuple(keras.layers.RNN(cell)(np.ones((2, 5, 8))).shape)
        (2, 4)
    """

    def __init__(self, units, reset=True, update_bias=-2.5, **kwargs):
        super().__init__(**kwargs)
        check_sizes(units=units)
        self.units, self.reset, self.update_bias = units, reset, update_bias

    state_size = output_size = property(lambda self: self.units)

    def build(self, input_shape):
        if input_shape[-1] != 2 * self.units:
            widths = f"must be {self.units} wide each, got {input_shape[-1]} together."
            raise ValueError(f"Sentence and query {widths}")
        gates = 2 if self.reset else 1
        self.gate_kernel = self.add_weight((self.units, gates), name="gate_kernel")
        self.gate_bias = self.add_weight((gates,), "zeros", name="gate_bias")
        self.kernel = self.add_weight((2 * self.units, self.units), name="kernel")
        self.bias = self.add_weight((self.units,), "zeros", name="bias")

    def gates(self, x, q, reset):
        """Computes scores of the update gate `(…, 1)` and the term `z r h̃` for any sentences."""
        scores = ops.matmul(x * q, self.gate_kernel) + self.gate_bias
        update = scores[..., :1] + self.update_bias
        share = ops.sigmoid(update)
        if reset:
            share = share * ops.sigmoid(scores[..., 1:])
        joined = ops.matmul(ops.concatenate([q, x], axis=-1), self.kernel) + self.bias
        return update, share * tanh(joined)

    def call(self, inputs, states, training=None):
        update, added = self.gates(*ops.split(inputs, 2, axis=-1), self.reset)
        h = added + ops.sigmoid(-update) * states[0]
        return h, [h]


@serializable
class QueryReduction(keras.layers.Layer):
    """A layer of a query-reduction network, computed for all sentences at once.

    The equation is that of `QueryReductionCell`. Its gates do not depend on the state, so that
    `h_t = Σ_{s ≤ t} Π_{s < u ≤ t} (1 - z_u) z_s r_s h̃_s` is one product with a lower triangular
    matrix of decays. The backward direction shares the weights.

    Args:
        units: int, width d of sentences, queries and states.
        update_bias: float, constant c of the update gate.

    Call arguments:
        sentences: `(batch, time, units)`.
        queries: `(batch, time, units)`, the query that each sentence is read with.
        reset: bool, whether to use the gate r; the last layer of a network does not.
        mask: bool `(batch, time)`; masked sentences keep the state.

    Returns:
        The forward and the backward states, `(batch, time, units)` each, and the update gates
        `(batch, time)`, 0 where masked.

    Raises:
        ValueError: if `units` is less than 1, or sentences or queries have another width.

    Reference: [Seo et al., ICLR 2017](https://arxiv.org/abs/1606.04582), Section 2.2.

    Example:
        >>> layer = keras_corefmem.layers.QueryReduction(4)
        >>> forward, backward, gates = layer(np.ones((2, 5, 4)), np.ones((2, 5, 4)))
        >>> tuple(forward.shape), tuple(gates.shape)
        ((2, 5, 4), (2, 5))
    """

    def __init__(self, units, update_bias=-2.5, **kwargs):
        super().__init__(**kwargs)
        own = inner_options(self, name="cell")
        self.cell = QueryReductionCell(units, update_bias=update_bias, **own)
        self.units, self.update_bias = units, update_bias

    def build(self, sentences_shape, queries_shape):
        self.cell.build((None, sentences_shape[-1] + queries_shape[-1]))

    def call(
        self, sentences, queries, reset=True, mask=None, sentences_mask=None, queries_mask=None
    ):
        mask = sentences_mask if mask is None else mask
        check_shape("sentences", sentences, batch=None, time=None, units=self.units)
        batch, time, units = sentences.shape
        check_shape("queries", queries, batch=batch, time=time, units=units)
        mask = as_mask(mask, batch=batch, time=time)
        sentences, queries = (clear_masked(each, mask) for each in (sentences, queries))
        update, added = self.cell.gates(sentences, queries, reset)
        # log(1 - σ(s)) = -softplus(s), exact where the gate is almost 1.
        logs = -ops.softplus(widen(update[..., 0]))
        added = widen(added)
        if mask is not None:
            logs = ops.where(mask, logs, 0.0)
            added = ops.where(mask[..., None], added, 0.0)
        total = ops.cumsum(logs, axis=1)
        time = ops.shape(logs)[1]
        row, column = ops.arange(time)[:, None], ops.arange(time)[None]
        forward = total[:, :, None] - total[:, None, :]
        before = total - logs
        backward = before[:, None, :] - before[:, :, None]
        states = [
            ops.matmul(ops.exp(ops.where(seen, decay, MASKED)), added)
            for decay, seen in ((forward, column <= row), (backward, column >= row))
        ]
        # The gate of a masked sentence is closed.
        results = [*states, 1 - ops.exp(logs)]
        return tuple(ops.cast(result, self.compute_dtype) for result in results)

    def compute_output_shape(self, sentences_shape, queries_shape):
        return sentences_shape, sentences_shape, sentences_shape[:2]

    def compute_mask(self, inputs, previous_mask=None):
        return None
