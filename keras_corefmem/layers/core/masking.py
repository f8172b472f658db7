"""What is masked: vectors of zeros, and scores that a softmax ignores."""

from keras import ops

from keras_corefmem.layers.kernels.buffers import widen

# So low that a softmax gives 0, and finite, so that gradients are.
MASKED = -1e9


def clear_masked(vectors, mask=None):
    """Vectors `(…, width)`, zeros where a mask `(…)` is false.

    A product with the mask would keep NaN and inf, in values or in gradients.
    """
    return vectors if mask is None else ops.where(mask[..., None], vectors, 0)


def as_long_as(tensor, other, axes=1):
    """The tensor, whose first axes are as long as those of another.

    Lengths that are not known before are compared as the program runs: arithmetic would broadcast,
    and TensorFlow takes a reshape to what it must be already out of its graphs.
    """
    if None not in (*tensor.shape[:axes], *other.shape[:axes]):
        return tensor
    shape = *ops.shape(other)[:axes], *ops.shape(tensor)[axes:-1], 1
    return ops.concatenate([tensor, ops.zeros(shape, tensor.dtype)], axis=-1)[..., :-1]


def mask_scores(scores, mask=None):
    """Scores in float32 or better, `MASKED` where a mask, broadcastable to them, is false."""
    scores = widen(scores)
    return scores if mask is None else ops.where(mask, scores, MASKED)
