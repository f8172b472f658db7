"""Stacked self-attention with supervised heads."""

import keras
from keras import ops

from keras_corefmem.layers.attention.attention_supervision import SupervisedLayer, check_lengths
from keras_corefmem.layers.attention.supervised_attention import SupervisedMultiHeadAttention
from keras_corefmem.layers.core.hash_dropout import HashDropout
from keras_corefmem.layers.core.masking import as_mask, clear_masked
from keras_corefmem.layers.core.serializable import inner_options, serializable
from keras_corefmem.layers.embedding.sinusoidal_positions import SinusoidalPositions
from keras_corefmem.utils.checks import check_shares, check_sizes

EPSILON = 1e-6


@serializable
class AttentionEncoder(SupervisedLayer):
    """Encodes a sequence with layers of feed-forward networks and self-attention.

    ```
    x ← LayerNorm(x) + positions
    x ← LayerNorm(x + dropout(W₂ ReLU(W₁ x + b₁) + b₂))
    x ← LayerNorm(x + dropout(SupervisedMultiHeadAttention(x)))
    ```

    The last two lines are one layer. Inputs whose width is not `units` are projected first. Two
    choices let several layers learn from scratch: words have as much weight as positions, whatever
    the scale of their vectors, and what a layer adds to its input starts near 0.

    Args:
        layers: int, number of layers.
        num_heads: int, number of heads of each layer.
        units: int, width of the states, a multiple of `num_heads`.
        inner_units: int, width of the hidden layers of the feed-forward networks.
        dropout: float, fraction of the units to drop, the same ones for all tokens of a sequence.
        signals: triples of a layer (from 1), a head (from 0) and the name of the signal that
            supervises the head.
        windows: pairs of a layer and a head that attends only within the sentence of the token.
        loss_weight, row_weight: see `SupervisedMultiHeadAttention`.
        return_supervised: bool, whether to return the attention of supervised heads.

    Call arguments:
        inputs: `(batch, time, width)`.
        targets: list of int `(batch, n, 2)`, one for each signal, as for
            `SupervisedMultiHeadAttention`; `None` for no loss.
        sentences: int `(batch, time)`, number of the sentence of each token; needed for `windows`.
        mask: bool `(batch, time)`, or `None`.

    Returns:
        `(batch, time, units)`, masked like the inputs; with `return_supervised` also the attention
        of the supervised heads, in the order of `signals`: `(batch, signals, time, time)`, float32.

    Raises:
        ValueError: if an argument is not as described.

    References: [Vaswani et al., NIPS 2017](https://arxiv.org/abs/1706.03762); Cheng and Erk,
    [AAAI 2020](https://arxiv.org/abs/1911.04361).

    Example:
        >>> layer = keras_corefmem.layers.AttentionEncoder(
        ...     layers=2, num_heads=2, units=8, inner_units=6, signals=[(1, 0, "coreference")])
        >>> states = layer(np.ones((1, 5, 4)), [np.array([[[3, 1]]])])
        >>> tuple(states.shape)
        (1, 5, 8)
    """

    def __init__(
        self,
        layers=4,
        num_heads=4,
        units=200,
        inner_units=512,
        dropout=0.2,
        signals=(),
        windows=(),
        loss_weight=0.3,
        row_weight="count",
        return_supervised=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_sizes(layers=layers, num_heads=num_heads, units=units, inner_units=inner_units)
        check_shares(dropout=dropout)
        if units % num_heads:
            raise ValueError(f"units must be a multiple of {num_heads} heads, got {units}.")
        triples = "triples of a layer, a head and the name of its signal"
        check_lengths("signals", signals, 3, triples)
        check_lengths("windows", windows, 2, "pairs of a layer and a head")
        self.signals = tuple((n, head, name) for n, head, name in signals)
        self.windows = tuple((n, head) for n, head in windows)
        for n, *_ in (*self.signals, *self.windows):
            if not 1 <= n <= layers:
                raise ValueError(f"Layer {n} has a signal or window; layers are 1 to {layers}.")
        if return_supervised and not self.signals:
            raise ValueError("return_supervised needs signals: no head is supervised.")
        self.layers, self.num_heads, self.units = layers, num_heads, units
        self.inner_units, self.dropout = inner_units, dropout
        self.loss_weight, self.row_weight = loss_weight, row_weight
        self.return_supervised = return_supervised
        own = inner_options(self)
        # One mask for all tokens of a sequence, as in the readers.
        self.drop = HashDropout(dropout, noise_shape=(None, 1, None), name="dropout", **own)
        self.positions = SinusoidalPositions(name="positions", **own)
        numbers = range(1, layers + 1)
        self.attentions = [self.make_attention(n) for n in numbers]
        dense, norm = keras.layers.Dense, keras.layers.LayerNormalization
        self.inner = [dense(inner_units, "relu", name=f"inner_{n}", **own) for n in numbers]
        self.outer = [
            dense(units, kernel_initializer=_near_zero(), name=f"outer_{n}", **own) for n in numbers
        ]
        names = [f"{part}_norm_{n}" for n in numbers for part in ("inner", "attention")]
        self.norms = [norm(epsilon=EPSILON, name=name, **own) for name in names]
        self.input_norm = norm(epsilon=EPSILON, name="input_norm", **own)
        self.projection = None

    def make_attention(self, number):
        signals = [(head, name) for n, head, name in self.signals if n == number]
        return SupervisedMultiHeadAttention(
            self.num_heads,
            self.units // self.num_heads,
            signals,
            [head for n, head in self.windows if n == number],
            self.loss_weight,
            self.row_weight,
            return_supervised=self.return_supervised and bool(signals),
            output_initializer=_near_zero(),
            **inner_options(self, name=f"attention_{number}"),
        )

    def build(self, inputs_shape, targets_shape=None, sentences_shape=None):
        shape = (None, None, self.units)
        if inputs_shape[-1] != self.units:
            own = inner_options(self, name="projection")
            self.projection = keras.layers.Dense(self.units, **own)
            self.projection.build(inputs_shape)
        for layer in (self.input_norm, self.positions, *self.attentions, *self.inner, *self.norms):
            layer.build(shape)
        for layer in self.outer:
            layer.build((None, None, self.inner_units))

    def call(
        self, inputs, targets=None, sentences=None, mask=None, inputs_mask=None, training=None
    ):
        self.check_call(inputs, targets, sentences)
        mask = inputs_mask if mask is None else mask
        mask = as_mask(mask, batch=inputs.shape[0], time=inputs.shape[1])
        inputs = clear_masked(inputs, mask)
        x = inputs if self.projection is None else self.projection(inputs)
        x, supervised = self.positions(self.input_norm(x)), {}
        for n, attend in enumerate(self.attentions, start=1):
            inner_norm, attention_norm = self.norms[2 * n - 2 : 2 * n]
            inner = self.outer[n - 1](self.inner[n - 1](x))
            x = inner_norm(x + self.drop(inner, training=training))
            numbers = [number for number, (layer, *_) in enumerate(self.signals) if layer == n]
            own = None if targets is None else [targets[number] for number in numbers]
            read = attend(x, own, sentences, mask=mask, training=training)
            if attend.return_supervised:
                read, attention = read
                supervised |= {number: attention[:, m] for m, number in enumerate(numbers)}
            x = attention_norm(x + self.drop(read, training=training))
        if not self.return_supervised:
            return x
        return x, ops.stack([supervised[n] for n in range(len(self.signals))], axis=1)

    def width_of(self, width):
        return self.units


def _near_zero():
    # A hundredth of Glorot's weights.
    return keras.initializers.VarianceScaling(1e-4, "fan_avg", "uniform")
