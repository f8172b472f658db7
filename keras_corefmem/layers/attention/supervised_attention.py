"""Multi-head self-attention whose heads may be supervised."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.attention.attention_supervision import (
    ROW_WEIGHTS,
    SupervisedLayer,
    check_lengths,
    supervise,
    target_mask,
)
from keras_corefmem.layers.core.hash_dropout import HashDropout
from keras_corefmem.layers.core.masking import as_long_as, as_mask, clear_masked, mask_scores
from keras_corefmem.layers.core.serializable import inner_options, serializable
from keras_corefmem.utils.checks import check_shares, check_sizes


@serializable
class SupervisedMultiHeadAttention(SupervisedLayer):
    """Multi-head self-attention in which some heads learn to attend to targets.

    Weights and output are those of `keras.layers.MultiHeadAttention(num_heads, key_dim)(x, x)`.
    With `A = softmax(Q Kᵀ / √key_dim)`, the attention of a supervised head before dropout, and its
    targets S, a matrix of 0 and 1, the loss is

    ```
    loss_weight · Σ_s L_s,   L_s = (1/k) Σ_i w_i (-log Σ_j A_ij S_ij),   w_i = Σ_j S_ij or 1
    ```

    over the k rows i with a target, averaged over the instances that are not entirely masked; one
    without targets counts as 0. On JAX, a layer that is called more than once keeps only its last
    loss, unless the model is a `ReportsSupervision`. Heads without supervision, window or dropout
    are computed by `keras.ops.dot_product_attention`, which, where it is fused, never stores their
    attention; in float16 on a CPU under JAX, no head is.

    Args:
        num_heads: int, number of heads.
        key_dim: int, width of each head.
        signals: pairs of a head (from 0) and the name of the signal that supervises it.
        windows: heads that attend only within the sentence of the token. Targets outside it do
            not count.
        loss_weight: float, weight of the loss, 0 for none.
        row_weight: `"count"` weights each row by its number of targets, as in the equation of the
            paper; `"mean"` weights all rows equally.
        dropout: float, fraction of the attention to drop.
        use_bias: bool, whether projections have a bias.
        return_supervised: bool, whether to return the attention of supervised heads.
        output_initializer: initializer of the kernel of the last projection.

    Call arguments:
        inputs: `(batch, time, width)`.
        targets: list of int `(batch, n, 2)`, one for each signal: rows and columns of S, 1-based,
            0 = padding. Masked tokens, positions out of range and fractions do not count, and
            repeated pairs count once. `None` for no loss.
        sentences: int `(batch, time)`, number of the sentence of each token; needed for `windows`.
        mask: bool `(batch, time)`, or `None`. Masked tokens get no attention and output 0.

    Returns:
        `(batch, time, width)`, masked like the inputs; with `return_supervised` also A of the
        supervised heads, in the order of `signals`: `(batch, signals, time, time)`, float32, 0
        where row or column is masked.

    Attributes:
        measured: float32 `(signals, 4)` from the last call with targets: the sum of L over the
            batch, the number of instances that are not entirely masked, the sum of the attention on
            targets, and the number of rows with a target. `ReportsSupervision` turns it into
            metrics. It holds numbers only after a call outside of compiled functions.

    Raises:
        ValueError: if an argument is not as described.

    References: Cheng and Erk, "Attending to Entities for Better Text Understanding",
    [AAAI 2020](https://arxiv.org/abs/1911.04361), Eq. 2; [Vaswani et al., NIPS
    2017](https://arxiv.org/abs/1706.03762).

    Example:
        >>> layer = keras_corefmem.layers.SupervisedMultiHeadAttention(
        ...     num_heads=2, key_dim=4, signals=[(0, "coreference")])
        >>> targets = [np.array([[[3, 1], [0, 0]]])]
        >>> states = layer(np.ones((1, 5, 8)), targets)
        >>> tuple(states.shape), len(layer.losses)
        ((1, 5, 8), 1)
    """

    def __init__(
        self,
        num_heads,
        key_dim,
        signals=(),
        windows=(),
        loss_weight=0.3,
        row_weight="count",
        dropout=0.0,
        use_bias=True,
        return_supervised=False,
        output_initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_sizes(num_heads=num_heads, key_dim=key_dim)
        check_shares(dropout=dropout)
        self.num_heads, self.key_dim = num_heads, key_dim
        check_lengths("signals", signals, 2, "pairs of a head and the name of its signal")
        self.signals = tuple((head, name) for head, name in signals)
        self.windows = tuple(windows)
        supervised = [head for head, _ in self.signals]
        for heads, kind in ((supervised, "supervised"), (self.windows, "windowed")):
            for head in heads:
                if not 0 <= head < num_heads:
                    raise ValueError(f"Head {head} is {kind}, but heads are 0 to {num_heads - 1}.")
                if heads.count(head) > 1:
                    raise ValueError(f"Head {head} is {kind} twice: name each head once.")
        if loss_weight < 0:
            raise ValueError(f"loss_weight must not be negative, got {loss_weight}.")
        if row_weight not in ROW_WEIGHTS:
            choices = ", ".join(ROW_WEIGHTS)
            raise ValueError(f"row_weight must be one of {choices}; got {row_weight!r}.")
        if return_supervised and not self.signals:
            raise ValueError("return_supervised needs signals: no head is supervised.")
        self.loss_weight, self.row_weight = loss_weight, row_weight
        self.dropout, self.use_bias = dropout, use_bias
        self.return_supervised = return_supervised
        self.output_initializer = keras.initializers.get(output_initializer)
        self.drop = HashDropout(dropout, **inner_options(self, name="dropout"))
        self.measured = None

    def build(self, inputs_shape, targets_shape=None, sentences_shape=None):
        width, heads = inputs_shape[-1], (self.num_heads, self.key_dim)

        def project(name, equation, shape, bias_axes, input_shape, initializer="glorot_uniform"):
            own = inner_options(self, kernel_initializer=initializer, name=name)
            own["bias_axes"] = bias_axes if self.use_bias else None
            layer = keras.layers.EinsumDense(equation, (None, *shape), **own)
            layer.build((None, None, *input_shape))
            # Without this, Keras warns that the layer destroys the mask.
            layer.supports_masking = True
            return layer

        names = "query", "key", "value"
        self.query, self.key, self.value = (
            project(name, "btw,whd->bthd", heads, "hd", (width,)) for name in names
        )
        self.output_projection = project(
            "attention_output", "bthd,hdw->btw", (width,), "w", heads, self.output_initializer
        )

    def call(
        self, inputs, targets=None, sentences=None, mask=None, inputs_mask=None, training=None
    ):
        self.check_call(inputs, targets, sentences)
        mask = inputs_mask if mask is None else mask
        mask = as_mask(mask, batch=inputs.shape[0], time=inputs.shape[1])
        inputs = clear_masked(inputs, mask)
        if self.windows:
            sentences = as_long_as(sentences[..., None], inputs, 2)[..., 0]
        projected = [layer(inputs) for layer in (self.query, self.key, self.value)]
        # Heads whose attention matrix is needed; the others are fused.
        if training and self.dropout or not _can_fuse(self.compute_dtype):
            plain = list(range(self.num_heads))
        else:
            plain = sorted({head for head, _ in self.signals} | set(self.windows))
        fused = [head for head in range(self.num_heads) if head not in plain]
        states = {}
        if fused:
            parts = [_select(array, fused) for array in projected]
            # On TensorFlow, the default and numbers of Python would become float32.
            scale = np.float64(self.key_dim**-0.5)
            read = ops.dot_product_attention(*parts, mask=_square(mask), scale=scale)
            states |= {head: read[:, :, n] for n, head in enumerate(fused)}
        if plain:
            parts = [_select(array, plain) for array in projected]
            allowed = self.allow(mask, sentences, ops.shape(inputs)[1], plain)
            read, scores, attention = self.attend(*parts, allowed, training)
            states |= {head: read[:, :, n] for n, head in enumerate(plain)}
        joined = ops.stack([states[head] for head in range(self.num_heads)], axis=2)
        outputs = clear_masked(self.output_projection(joined), mask)
        if not self.signals:
            return outputs
        if mask is not None:
            allowed = ops.logical_and(allowed, mask[:, None, :, None])
        allowed = ops.broadcast_to(allowed, ops.shape(scores))
        supervised = [plain.index(head) for head, _ in self.signals]
        if targets is not None:
            self.measure(targets, [(scores[:, n], allowed[:, n]) for n in supervised], mask)
        if not self.return_supervised:
            return outputs
        attention = ops.where(allowed, attention, 0.0)
        return outputs, ops.stack([attention[:, n] for n in supervised], axis=1)

    def attend(self, query, key, value, allowed, training):
        """Returns what heads read, `(batch, time, heads, key_dim)`, their scores and attention."""
        scores = ops.einsum("bthd,bshd->bhts", query * self.key_dim**-0.5, key)
        scores = mask_scores(scores, allowed)
        attention = ops.softmax(scores, axis=-1)
        dropped = self.drop(ops.cast(attention, value.dtype), training=training)
        return ops.einsum("bhts,bshd->bthd", dropped, value), scores, attention

    def allow(self, mask, sentences, time, heads):
        """Returns the cells that each head may attend to, bool, broadcastable to its scores."""
        keys = ops.ones((1, 1, time), "bool") if mask is None else mask[:, None]
        if not self.windows:
            return keys[:, None]
        near = ops.logical_and(keys, ops.equal(sentences[:, :, None], sentences[:, None]))
        keys = ops.broadcast_to(keys, ops.shape(near))
        return ops.stack([near if head in self.windows else keys for head in heads], axis=1)

    def measure(self, targets, heads, mask):
        total, measured = 0.0, []
        real = ops.ones((ops.shape(targets[0])[0],)) if mask is None else ops.any(mask, axis=-1)
        count = ops.sum(ops.cast(real, heads[0][0].dtype))
        for pairs, (scores, allowed) in zip(targets, heads, strict=True):
            cells = target_mask(as_long_as(pairs, scores), ops.shape(scores)[1], allowed)
            loss, mass, rows = supervise(scores, cells, self.row_weight)
            total = total + ops.sum(loss) / ops.maximum(count, 1.0)
            measured.append(ops.stack([ops.sum(loss), count, ops.sum(mass), ops.sum(rows)]))
        self.measured = ops.stop_gradient(ops.cast(ops.stack(measured), "float32"))
        if self.loss_weight:
            self.add_loss(self.loss_weight * total)

    def width_of(self, width):
        return width


def _can_fuse(dtype):
    if dtype != "float16" or keras.backend.backend() != "jax":
        return True
    import jax

    return jax.default_backend() != "cpu"


def _square(mask):
    """Repeats a mask of keys for all queries, `(batch, 1, time, time)`, for fused attention."""
    if mask is None:
        return None
    batch, time = ops.shape(mask)
    return ops.broadcast_to(mask[:, None, None], (batch, 1, time, time))


def _select(projected, heads):
    if len(heads) == projected.shape[2]:
        return projected
    return ops.stack([projected[:, :, head] for head in heads], axis=2)
