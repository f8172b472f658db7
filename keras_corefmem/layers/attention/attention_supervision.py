"""Supervision of attention heads: targets, loss and attention mass."""

import keras
from keras import ops

from keras_corefmem.layers.core.masking import as_mask, mask_scores
from keras_corefmem.layers.kernels.buffers import float_type
from keras_corefmem.layers.kernels.edges import to_positions
from keras_corefmem.utils.checks import check_position_type, check_shape, shapes_agree

ROW_WEIGHTS = ("count", "mean")


class SupervisedLayer(keras.layers.Layer):
    """Base class of layers with `signals` and `windows`.

    A subclass implements `width_of`, which returns the width of the states from that of the inputs.
    """

    def check_call(self, inputs, targets, sentences):
        batch, time = inputs.shape[:2]
        if self.windows and sentences is None:
            raise ValueError("windows need sentences: pass the number of each token's sentence.")
        check_shape("sentences", sentences, batch=batch, time=time)
        if targets is None:
            return
        if not isinstance(targets, list | tuple) or len(targets) != len(self.signals):
            count = len(targets) if isinstance(targets, list | tuple) else "one array of"
            remedy = "pass a list with the targets of each signal."
            raise ValueError(f"Got {count} targets for {len(self.signals)} signals; {remedy}")
        for (*_, name), pairs in zip(self.signals, targets, strict=True):
            if not shapes_agree(tuple(pairs.shape), (batch, None, 2)):
                got = f"{tuple(pairs.shape)} for inputs {tuple(inputs.shape)}"
                raise ValueError(f"Targets of {name} must be pairs, (batch, n, 2); got {got}.")
            dtype = keras.backend.standardize_dtype(pairs.dtype)
            check_position_type(f"Targets of {name}", dtype)

    def compute_output_spec(self, inputs, targets=None, sentences=None, **kwargs):
        self.check_call(inputs, targets, sentences)
        shapes = self.compute_output_shape(inputs.shape)
        if not self.return_supervised:
            return keras.KerasTensor(shapes, dtype=self.compute_dtype)
        dtypes = self.compute_dtype, float_type(self.compute_dtype)
        return tuple(map(keras.KerasTensor, shapes, dtypes))

    def compute_output_shape(self, inputs_shape, targets_shape=None, sentences_shape=None):
        batch, time, width = inputs_shape
        states = batch, time, self.width_of(width)
        if not self.return_supervised:
            return states
        return states, (batch, len(self.signals), time, time)

    def compute_mask(self, inputs, previous_mask):
        mask = as_mask(previous_mask)
        return (mask, None) if self.return_supervised else mask


def check_lengths(argument, items, length, description):
    for item in items:
        if not isinstance(item, list | tuple) or len(item) != length:
            raise ValueError(f"{argument} must be {description}; got {item!r}.")


def target_mask(pairs, time, allowed=None):
    """Returns the allowed cells among 1-based pairs `(batch, n, 2)`, bool `(batch, time, time)`.

    Numbers that are no position, such as fractions and NaN, mark no cell.
    """
    pairs = to_positions(pairs)
    batch, count = ops.shape(pairs)[:2]
    inside = ops.logical_and(pairs >= 1, pairs <= time)
    cells = ops.where(ops.all(inside, axis=-1, keepdims=True), pairs, 0)
    numbers = ops.broadcast_to(ops.arange(batch, dtype="int32")[:, None, None], (batch, count, 1))
    index = ops.reshape(ops.concatenate([numbers, cells], axis=-1), (-1, 3))
    ones = ops.ones_like(index[:, 0], dtype="float32")
    # Row and column 0 collect the pairs that do not count.
    marked = ops.scatter(index, ones, (batch, time + 1, time + 1))[:, 1:, 1:] > 0
    return marked if allowed is None else ops.logical_and(marked, allowed)


def supervise(scores, targets, row_weight="count"):
    """Compares the attention of one head with its targets S.

    Returns the loss L of `SupervisedMultiHeadAttention`, which is 0 without targets, the attention
    on targets `Σ_i Σ_j A_ij S_ij` and the number k of rows with a target, all `(batch,)`. Scores
    are float32 or better, and very low in cells that a row may not attend to, which hold no
    targets.
    """
    counts = ops.sum(ops.cast(targets, scores.dtype), axis=-1)
    aimed = ops.cast(counts > 0, scores.dtype)
    rows = ops.sum(aimed, axis=-1)
    # Finite for rows without a target as well, so that their gradient is 0, not NaN.
    on_targets = ops.logsumexp(mask_scores(scores, targets), axis=-1)
    log_mass = aimed * (on_targets - ops.logsumexp(scores, axis=-1))
    weights = counts if row_weight == "count" else aimed
    loss = -ops.sum(weights * log_mass, axis=-1) / ops.maximum(rows, 1)
    return loss, ops.sum(aimed * ops.exp(log_mass), axis=-1), rows


def attention_mass(attention, pairs, mask=None):
    """Measures the attention on targets, averaged over the rows that have a target.

    Args:
        attention: float `(batch, time, time)`, attention of one head, whose rows sum to 1.
        pairs: int `(batch, n, 2)`, 1-based rows and columns of its targets; 0 = padding.
        mask: bool `(batch, time)`, or `None`. Targets of masked rows and columns do not count.

    Returns:
        The attention mass `(batch,)`, 0 without targets, and the number of rows with a target
        `(batch,)`, both float32.

    Raises:
        ValueError: if shapes do not match.

    Example:
        >>> attention = np.array([[[0.5, 0.5], [0.25, 0.75]]])
        >>> mass, rows = keras_corefmem.layers.attention_mass(attention, np.array([[[2, 1]]]))
        >>> float(mass[0]), float(rows[0])
        (0.25, 1.0)
    """
    attention, pairs = map(ops.convert_to_tensor, (attention, pairs))
    batch, time, _ = attention.shape
    check_shape("pairs", pairs, batch=batch, n=None, ends=2)
    mask = as_mask(mask, batch=batch, time=time)
    allowed = None if mask is None else ops.logical_and(mask[:, :, None], mask[:, None])
    targets = target_mask(pairs, ops.shape(attention)[1], allowed)
    mass = ops.where(targets, ops.cast(attention, "float32"), 0.0)
    rows = ops.sum(ops.cast(ops.any(targets, axis=-1), "float32"), axis=-1)
    return ops.sum(mass, axis=(1, 2)) / ops.maximum(rows, 1), rows
