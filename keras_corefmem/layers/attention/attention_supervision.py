"""What heads of attention should attend to: targets, loss and attention mass."""

import keras
from keras import ops

ROW_WEIGHTS = ("count", "mean")
FAR = -1e9


def check_call(signals, windows, targets, sentences):
    """Refuses what a layer with these signals and windows cannot be called on.

    Raises:
        ValueError: if windows lack sentences, there are not as many targets as signals, or targets
            have another shape.
    """
    if windows and sentences is None:
        raise ValueError("windows need sentences: give the number of each token's sentence.")
    if targets is None:
        return
    if not isinstance(targets, list | tuple) or len(targets) != len(signals):
        count = len(targets) if isinstance(targets, list | tuple) else "one array of"
        raise ValueError(
            f"Got {count} targets for {len(signals)} signals; give a list with the targets of each "
            "signal."
        )
    for (*_, name), pairs in zip(signals, targets, strict=True):
        if len(pairs.shape) != 3 or pairs.shape[-1] != 2:
            raise ValueError(
                f"Targets of {name} must be pairs, (batch, n, 2); got {tuple(pairs.shape)}."
            )


def check_lengths(argument, items, length, what):
    """Refuses items that are no sequences of a length.

    Raises:
        ValueError: naming the argument and what its items are.
    """
    for item in items:
        if not isinstance(item, list | tuple) or len(item) != length:
            raise ValueError(f"{argument} must be {what}; got {item!r}.")


class SupervisedLayer(keras.layers.Layer):
    """Base of layers with `signals` and `windows`, which return states and, with
    `return_supervised`, the attention of their supervised heads.

    A subclass defines `width_of(inputs)`, the width of the states.
    """

    def compute_output_spec(self, inputs, targets=None, sentences=None, **kwargs):
        check_call(self.signals, self.windows, targets, sentences)
        batch, time = inputs.shape[:2]
        shape = batch, time, self.width_of(inputs)
        states = keras.KerasTensor(shape, dtype=self.compute_dtype)
        if not self.return_supervised:
            return states
        shape = batch, len(self.signals), time, time
        return states, keras.KerasTensor(shape, dtype="float32")

    def compute_mask(self, inputs, previous_mask):
        return (previous_mask, None) if self.return_supervised else previous_mask


def target_mask(pairs, time, allowed=None):
    """Which column each row should attend to.

    Args:
        pairs: int `(batch, n, 2)`, row and column of targets, 1-based; 0 = padding. What lies
            outside does not count, and what is there twice counts once.
        time: number of rows and of columns.
        allowed: bool, broadcastable to the result, cells that may be targets; `None` for all.

    Returns:
        bool `(batch, time, time)`.
    """
    pairs = ops.cast(pairs, "int32")
    batch, count = ops.shape(pairs)[:2]
    inside = ops.logical_and(pairs >= 1, pairs <= time)
    cells = ops.where(ops.all(inside, axis=-1, keepdims=True), pairs, 0)
    numbers = ops.broadcast_to(ops.arange(batch, dtype="int32")[:, None, None], (batch, count, 1))
    index = ops.reshape(ops.concatenate([numbers, cells], axis=-1), (-1, 3))
    ones = ops.ones_like(index[:, 0], dtype="float32")
    # Row and column 0 take what does not count.
    marked = ops.scatter(index, ones, (batch, time + 1, time + 1))[:, 1:, 1:] > 0
    return marked if allowed is None else ops.logical_and(marked, allowed)


def supervise(scores, wanted, row_weight="count"):
    """How far one head is from its targets S.

    `L = (1/k) Σ_i w_i (-log Σ_j A_ij S_ij)` over the k rows i with a target, with `A = softmax` of
    the scores over columns j, and `w_i = Σ_j S_ij`, or 1.

    Args:
        scores: float32 `(batch, rows, columns)`, -1e9 where a row may not attend to.
        wanted: bool, of the same shape, S: none where the score is -1e9.
        row_weight: `"count"` for `w_i = Σ_j S_ij`, `"mean"` for 1.

    Returns:
        Three times `(batch,)`: L, 0 without targets; `Σ_i Σ_j A_ij S_ij`; and k.
    """
    counts = ops.sum(ops.cast(wanted, "float32"), axis=-1)
    aimed = ops.cast(counts > 0, "float32")
    rows = ops.sum(aimed, axis=-1)
    # Finite for rows without a target as well, so that their gradient is 0 and no NaN.
    found = ops.logsumexp(ops.where(wanted, scores, FAR), axis=-1)
    log_mass = aimed * (found - ops.logsumexp(scores, axis=-1))
    weights = counts if row_weight == "count" else aimed
    loss = -ops.sum(weights * log_mass, axis=-1) / ops.maximum(rows, 1)
    return loss, ops.sum(aimed * ops.exp(log_mass), axis=-1), rows


def attention_mass(attention, pairs, mask=None):
    """The attention that rows with a target pay to their targets, in the mean over these rows.

    Args:
        attention: `(batch, time, time)`, rows that sum to 1: of one head.
        pairs: its targets, as in `target_mask`.
        mask: bool `(batch, time)`, or `None`. Targets of masked rows and columns do not count.

    Returns:
        Hit rate `(batch,)`, 0 without targets, and number of rows with a target `(batch,)`, both
        float32.
    """
    allowed = None if mask is None else ops.logical_and(mask[:, :, None], mask[:, None])
    wanted = target_mask(pairs, ops.shape(attention)[1], allowed)
    mass = ops.where(wanted, ops.cast(attention, "float32"), 0.0)
    rows = ops.sum(ops.cast(ops.any(wanted, axis=-1), "float32"), axis=-1)
    return ops.sum(mass, axis=(1, 2)) / ops.maximum(rows, 1), rows
