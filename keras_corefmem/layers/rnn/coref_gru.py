"""Coref-GRU: a GRU whose memory follows coreference chains."""

import keras
from keras import ops

from keras_corefmem.layers.kernels.buffers import flat_index, product
from keras_corefmem.layers.kernels.recurrence import Recurrence
from keras_corefmem.layers.rnn.graph_cell import GraphCell, cell_options
from keras_corefmem.layers.rnn.graph_rnn import GraphRNN
from keras_corefmem.utils.checks import check_sizes


@keras.saving.register_keras_serializable("keras_corefmem")
class CorefGRUCell(GraphCell):
    """One step of a Coref-GRU, with one memory slot per coreference chain.

    ```
    α = softmax(x·k₁, x·k₂)₁, and 1 without an antecedent
    m = α h_{t-1}[:d/2] ‖ (1 - α) h_{y_t}[d/2:]
    r, z = σ(W x + U m + b)
    h̃ = tanh(W_h x + r ⊙ (U_h m) + b_h)
    h = (1 - z) ⊙ m + z ⊙ h̃
    ```

    `h_{y_t}` is the state at the most recent mention of the token's chain.

    Args:
        units: int, width d of the state, even.
        chains: int, number C of chains.
        activation, recurrent_activation, …, bias_constraint: as in `CorefGRU`.

    Call arguments:
        inputs: `(batch, features + C)`: token features, then a one-hot vector of the token's chain,
            or zeros.
        states: list with the output `(batch, d)`, the memory `(batch, C · d/2)` and `(batch, C)`, 1
            for each chain that was mentioned before.

    Returns:
        The output `(batch, d)` and the new states.

    Raises:
        ValueError: if `units` is not even and positive, or `chains` negative.

    Reference: [Dhingra et al., NAACL 2018](https://arxiv.org/abs/1804.05922), Appendix A.

    Example:
        >>> cell = keras_corefmem.layers.CorefGRUCell(4, chains=3)
        >>> tuple(keras.layers.RNN(cell)(np.zeros((2, 5, 6 + 3))).shape)
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
        if units % 2:
            raise ValueError(f"units must be even, half for coreference; got {units}.")
        half = units // 2
        super().__init__(Recurrence(units, ((0, half), (half, units))), units, chains, **options)

    @property
    def columns(self):
        return self.chains

    @property
    def state_size(self):
        return [self.units, self.chains * self.units // 2, self.chains]

    def build_extras(self, features):
        normal = keras.initializers.RandomNormal(stddev=0.1)
        self.keys = self.add_weight(name="keys", shape=(features, 2), initializer=normal)

    def share(self, x):
        """Returns α of tokens that have an antecedent."""
        return ops.softmax(product(x, self.keys), axis=-1)[..., 0]

    def direction_inputs(self, x, edges, reverse):
        share, antecedents = self.share(x), edges.sources[:, 0, 0]
        reader, reads = share, antecedents > 0
        if reverse:
            # The token that reads an edge weights it; backward, that is the antecedent.
            index = flat_index(ops.maximum(antecedents - 1, 0))
            # From an empty array, JAX takes one of that array's shape, not of the index's.
            reader = ops.reshape(ops.take(share, index), ops.shape(share))
            reads = edges.successors[:, 0, 0] > 0
        inputs = super().direction_inputs(x, edges, reverse)
        return inputs._replace(
            sequential_weights=ops.where(reads, share, 1.0),
            edge_weights=(1 - reader)[:, None, None],
        )

    def call(self, inputs, states, training=None):
        previous, memory, mentioned = states
        features = inputs.shape[-1] - self.chains
        x, chain = inputs[..., :features], inputs[..., features:]
        read = chain * mentioned
        share = ops.where(ops.any(read > 0, axis=-1, keepdims=True), self.share(x)[..., None], 1.0)
        parts = share * previous[..., : self.units // 2], (1 - share) * self.read(memory, read)[0]
        m = ops.concatenate(parts, axis=-1)
        h = self.update(x, m, m)
        return h, [h, self.write(memory, chain, h), ops.maximum(mentioned, chain)]


@keras.saving.register_keras_serializable("keras_corefmem")
class CorefGRU(GraphRNN):
    """Coref-GRU over a sequence, as one fused operation.

    Each step is that of `CorefGRUCell`; `h_{y_t}` is the state at the antecedent. Memory use does
    not grow with the number of chains. The backward direction has weights of its own and reads the
    state at the next mention of the chain, or the sum of these states if several tokens have the
    same antecedent. Without antecedents, it is a GRU that remembers only the first half of its
    state, as the equation says. For a text without tokens, the last state is the initial one.

    Args:
        units: int, width of the state per direction, even.
        bidirectional: bool, whether to read backward too; the states are concatenated.
        return_sequences: bool, whether to return all states, or only the last of each direction.
        dropout: float, fraction of the input features to drop, the same for all tokens of a text.
        return_state: bool, whether to return the last state of each direction too.
        go_backwards: bool, whether to read only backward, and return the last token's state first.
        recurrent_dropout: float, fraction of the units to drop from the input of the recurrent
            kernel, the same for all tokens of a text; nothing is dropped from the carry.
        seed: int, seed of both dropouts.
        activation, recurrent_activation: names or elementwise functions, used in place of tanh and
            σ.
        use_bias: bool, whether to add the bias b.
        kernel_initializer, recurrent_initializer, bias_initializer: initializers of W, U and b.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: regularizers of W, U and b.
        kernel_constraint, recurrent_constraint, bias_constraint: constraints of W, U and b.
        invalid_edges: what a compiled graph does with antecedents that are not the position of an
            earlier token, such as NaN and fractions: with `"ignore"`, it reads them as none; with
            `"nan"`, all states of their text become NaN, and other texts are not affected.

    Call arguments:
        x: `(batch, time, features)`.
        antecedents: int32 `(batch, time)`, 1-based position of the most recent coreferent token,
            0 = none. Masked tokens have none. `None` for no antecedents at all. Both inputs may
            also be passed as one list, `[x, antecedents]`.
        mask: bool `(batch, time)`, by default the mask of `x`; masked tokens keep the previous
            state.
        initial_state: `(batch, units)`, or a list with one for each direction; zeros by default.

    Returns:
        `(batch, time, units)`, or `(batch, units)` without `return_sequences`; twice as wide if
        bidirectional. With `return_state`, also the last state `(batch, units)` of each direction.

    Raises:
        ValueError: if `units` is not even and positive, shapes do not match, an option is not as
            described or not supported on a graph (`stateful`, `unroll`, …), antecedents are not
            integers, or those in an array or eager tensor point forward or out of range.

    Reference: [Dhingra et al., NAACL 2018](https://arxiv.org/abs/1804.05922), Appendix A.

    Example:
        >>> layer = keras_corefmem.layers.CorefGRU(4, bidirectional=True)
        >>> antecedents = np.array([[0, 0, 1]])
        >>> tuple(layer(np.ones((1, 3, 6)), antecedents).shape)
        (1, 3, 8)
    """

    CELL = CorefGRUCell
    EDGES = ("antecedents", ("batch", "time"))

    def build(self, x_shape, antecedents_shape=None):
        super().build(x_shape)

    def call(self, x, antecedents=None, mask=None, x_mask=None, training=None, initial_state=None):
        if antecedents is not None:
            antecedents = antecedents[..., None, None]
        return self.run(x, antecedents, mask, x_mask, training, initial_state)

    def compute_output_shape(self, x_shape, antecedents_shape=None):
        return super().compute_output_shape(x_shape)
