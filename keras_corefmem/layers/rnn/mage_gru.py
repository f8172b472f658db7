"""MAGE-GRU: a GRU over a typed acyclic graph, with one slice of memory per edge type."""

from itertools import accumulate

import keras
from keras import ops

from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.layers.kernels.buffers import float_type, product
from keras_corefmem.layers.kernels.edges import edge_softmax
from keras_corefmem.layers.kernels.recurrence import Recurrence
from keras_corefmem.layers.rnn.graph_cell import GraphCell, cell_options
from keras_corefmem.layers.rnn.graph_rnn import GraphRNN
from keras_corefmem.utils.checks import check_sizes

CARRIES = ("gathered", "previous", "mixed")


def _widths(units):
    """Checks the widths by edge type, and returns them as a tuple."""
    try:
        widths = tuple(units)
        check_sizes(units=len(widths))
        for width in widths:
            check_sizes(units=width)
    except (TypeError, ValueError):
        remedy = f"; for one type, write ({units},)" if isinstance(units, int) else ""
        wanted = "units must hold a positive width per edge type"
        raise ValueError(f"{wanted}, got {units!r}{remedy}.") from None
    return widths


def _recurrence(units, carry, shared):
    if carry not in CARRIES:
        raise ValueError(f"carry must be one of {', '.join(CARRIES)}; got {carry!r}.")
    total = sum(units)
    if shared:
        return Recurrence(total, ((0, total),) * len(units), carry)
    ends = list(accumulate(units))
    return Recurrence(total, tuple(zip([0, *ends], ends, strict=False)), carry)


@serializable
class MAGEGRUCell(GraphCell):
    """One step of a MAGE-GRU, with memory slots for the states that typed edges carry.

    ```
    g = h_{t-1}[0] ‖ Σ_{s ∈ sources(t, 1)} h_s[1] ‖ … ‖ Σ_{s ∈ sources(t, E)} h_s[E]
    r, z = σ(W x + U g + b)
    h̃ = tanh(W_h x + r ⊙ (U_h g) + b_h)
    h = (1 - z) ⊙ carry + z ⊙ h̃
    ```

    `h[e]` is the slice of the state that edges of type e carry. The carry is `h_{t-1}`
    (`"previous"`, Eq. 2 and 4), `g` (`"gathered"`) or `c ⊙ g + (1 - c) ⊙ h_{t-1}` with `c = σ(W_c x
    + b_c)` (`"mixed"`).

    Args:
        units: tuple of ints, width of each slice: first the sequential one, then one per extra edge
            type.
        chains: int, number C of memory slots per extra edge type.
        carry: `"gathered"`, `"previous"` or `"mixed"`.
        shared: bool, whether one state of width `sum(units)` serves all edge types. A gathered
            carry is then the mean over the incoming edges.
        edge_attention: bool, whether to weight the incoming edges by a softmax over `x_t·k_e +
            x_s·q_e`, which includes the sequential edge (`x_t·k_0`), instead of summing them.
        activation, recurrent_activation, …, bias_constraint: as in `CorefGRU`.

    Call arguments:
        inputs: `(batch, features + 2 · E · C)`: token features, then 1 for each slot of a type that
            an edge reads, then 1 for each slot that the new state is written to.
        states: list with the output `(batch, sum(units))`, the memory of all slots and, with edge
            attention, their scores `x_s·q_e`.

    Returns:
        The output `(batch, sum(units))` and the new states.

    Raises:
        ValueError: if `units` or `carry` is not as described, or `edge_attention` is set without a
            second edge type.

    Reference: [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620), Section 3.

    Example:
        >>> cell = keras_corefmem.layers.MAGEGRUCell((3, 1), chains=2)
        >>> tuple(keras.layers.RNN(cell)(np.zeros((2, 5, 6 + 2 * 2))).shape)
        (2, 4)
    """

    def __init__(
        self,
        units,
        chains=0,
        carry="gathered",
        shared=False,
        edge_attention=False,
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
        options, units = cell_options(locals()), _widths(units)
        super().__init__(_recurrence(units, carry, shared), units, chains, **options)
        if edge_attention and not self.types:
            raise ValueError(f"edge_attention needs a second edge type; got units {units}.")
        self.carry, self.shared, self.edge_attention = carry, shared, edge_attention

    @property
    def state_size(self):
        widths = [stop - start for start, stop in self.recurrence.slices[1:]]
        sizes = [self.recurrence.units, self.chains * sum(widths)]
        return sizes + ([self.types * self.chains] if self.edge_attention else [])

    def build_extras(self, features):
        if self.carry == "mixed":
            units = self.recurrence.units
            self.carry_kernel = self.add_weight((features, units), name="carry_kernel")
            self.carry_bias = self.add_weight((units,), "zeros", name="carry_bias")
        if self.edge_attention:
            normal, shape = keras.initializers.RandomNormal, (features, self.types + 1)
            self.reader_keys = self.add_weight(shape, normal(stddev=0.1), name="reader_keys")
            shape = features, self.types
            self.source_keys = self.add_weight(shape, normal(stddev=0.1), name="source_keys")

    def carry_gate(self, x):
        if self.carry != "mixed":
            return None
        return ops.sigmoid(product(x, self.carry_kernel) + self.carry_bias)

    def direction_inputs(self, x, edges, reverse):
        inputs = super().direction_inputs(x, edges, reverse)._replace(carry_gate=self.carry_gate(x))
        if not self.edge_attention:
            return inputs
        keys = self.reader_keys, self.source_keys
        scores = [product(x, key) for key in keys]
        scores = [ops.cast(score, float_type(score)) for score in scores]
        sequential, typed = edge_softmax(*scores, edges, reverse)
        return inputs._replace(sequential_weights=sequential, edge_weights=typed)

    def call(self, inputs, states, training=None):
        previous, memory, *scores = states
        x, reads, writes = self.split_columns(inputs)
        sequential, count = 1.0, 1.0 + ops.sum(reads, axis=-1, keepdims=True)
        if self.edge_attention:
            keys = ops.matmul(x, self.reader_keys)
            typed = ops.repeat(keys[..., 1:], self.chains, axis=-1) + scores[0]
            # Within the range of float16.
            shares = ops.concatenate([keys[..., :1], ops.where(reads > 0, typed, -3e4)], axis=-1)
            shares = ops.softmax(shares, axis=-1)
            sequential, reads, count = shares[..., :1], shares[..., 1:], 1.0
            written = ops.repeat(ops.matmul(x, self.source_keys), self.chains, axis=-1)
            scores = [(1 - writes) * scores[0] + writes * written]
        start, stop = self.recurrence.slices[0]
        parts = [sequential * previous[..., start:stop], *self.read(memory, reads)]
        gathered = ops.concatenate(parts, axis=-1)
        carry = previous
        if self.carry != "previous":
            carry = self.recurrence.fold(gathered, count)
        if self.carry == "mixed":
            gate = self.carry_gate(x)
            carry = gate * carry + (1 - gate) * previous
        h = self.update(x, gathered, carry)
        return h, [h, self.write(memory, writes, h), *scores]


@keras.saving.register_keras_serializable("keras_corefmem")
class MAGEGRU(GraphRNN):
    """MAGE-GRU over a sequence with typed edges, as one fused operation.

    Each step is that of `MAGEGRUCell`, exact for any acyclic graph: a token may have any number of
    sources and successors. The backward direction has weights of its own and reads every edge from
    target to source. With only the sequential slice, it is the plain GRU of `GRUCell`, with one
    bias. Keras' GRU with `reset_after` has two biases; it is the same if the recurrent one is zero,
    except that z and 1 - z change places.

    Args:
        units: tuple of ints, width of each slice per direction, as in `MAGEGRUCell`.
        carry, shared, edge_attention: as in `MAGEGRUCell`.
        bidirectional, return_sequences, …, invalid_edges: as in `CorefGRU`.

    Call arguments:
        x: `(batch, time, features)`.
        sources: int32 `(batch, time, E, K)`: 1-based positions of up to K earlier tokens with an
            edge of type e into the token, 0 = none. Masked tokens have no edges. `None` if there
            are only sequential edges.
        mask, initial_state: as in `CorefGRU`.

    Returns:
        As `CorefGRU`, with `sum(units)` in place of `units`.

    Raises:
        ValueError: if `units`, `carry` or the shape of `sources` is not as described, or
            sources in an array or eager tensor point forward or out of range.

    Reference: see `MAGEGRUCell`.

    Example:
        >>> layer = keras_corefmem.layers.MAGEGRU((3, 1), carry="previous")
        >>> sources = np.array([[[[0, 0]], [[1, 0]], [[1, 2]]]])
        >>> tuple(layer(np.ones((1, 3, 6)), sources).shape)
        (1, 3, 4)
    """

    CELL = MAGEGRUCell
    EXTRA = ("carry", "shared", "edge_attention")

    def __init__(
        self,
        units,
        carry="gathered",
        shared=False,
        edge_attention=False,
        bidirectional=False,
        return_sequences=True,
        dropout=0.0,
        return_state=False,
        go_backwards=False,
        recurrent_dropout=0.0,
        seed=None,
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
        invalid_edges="ignore",
        **kwargs,
    ):
        options = {**locals(), **kwargs, "units": _widths(units)}
        for name in ("self", "kwargs", "__class__"):
            del options[name]
        super().__init__(**options)

    def check_edges(self, edges, x_shape):
        edges = super().check_edges(edges, x_shape)
        units, types = self.cells[0].units, edges.shape[2]
        if types not in (None, len(units) - 1):
            named = f"units {units} names {len(units) - 1} besides the sequential one."
            raise ValueError(f"sources has {types} edge types, but {named}")
        return edges

    def edge_weights(self, x, sources, mask=None):
        """Computes the attention weights of the edges, as a call of the layer does.

        Args:
            x, sources, mask: as in a call.

        Returns:
            `(batch, directions, time, E, K)`, the weight of each edge in `sources`, 0 where there
            is none. Forward, the weights of the edges into a token and of its sequential edge,
            which is not returned, sum to 1; backward, those of the edges that leave it do.

        Raises:
            ValueError: if the layer has no edge attention, or for the same reasons as a call.

        Example:
            >>> layer = keras_corefmem.layers.MAGEGRU((2, 1), edge_attention=True)
            >>> x, sources = np.ones((1, 3, 4), "float32"), np.array([[[[0]], [[1]], [[2]]]])
            >>> states = layer(x, sources)
            >>> tuple(layer.edge_weights(x, sources).shape)
            (1, 1, 3, 1, 1)
        """
        if not self.cells[0].edge_attention:
            raise ValueError(f"{self.name} sums its edges: give it edge_attention=True.")
        sources = self.check_edges(sources, tuple(x.shape))
        _, directions, _ = self.prepare(x, sources, mask)
        weights = [ops.transpose(inputs.edge_weights, (3, 0, 1, 2)) for inputs in directions]
        return ops.stack(weights, axis=1)

    def call(self, x, sources=None, mask=None, x_mask=None, training=None, initial_state=None):
        return self.run(x, sources, mask, x_mask, training, initial_state)
