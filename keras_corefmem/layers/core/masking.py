"""Masks, masked vectors, which are zeros, and masked scores, which a softmax ignores."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.kernels.buffers import widen
from keras_corefmem.utils.checks import check_shape

# Low enough for a softmax to give 0, and finite, so that gradients are finite too.
MASKED = -1e9


def as_mask(mask, name="mask", **axes):
    """Checks the shape of a mask, a tensor or nested list, and returns it as a bool tensor.

    `axes` are the lengths of its axes by name, `None` if unknown.
    """
    if mask is None:
        return None
    if not hasattr(mask, "dtype"):
        try:
            mask = np.asarray(mask)
        except ValueError:
            raise ValueError(
                f"{name} must be one array; fill shorter rows up with False."
            ) from None
    if getattr(mask.dtype, "kind", "b") not in "biuf":
        raise ValueError(f"{name} must be bool, got {mask.dtype}.")
    if axes:
        check_shape(name, mask, **axes)
    is_bool = keras.backend.standardize_dtype(mask.dtype) == "bool"
    # A needless cast would add an operation to a functional model.
    return mask if is_bool and not isinstance(mask, np.ndarray) else ops.cast(mask, "bool")


def clear_masked(vectors, mask=None):
    """Returns vectors `(…, width)`, with zeros where a mask `(…)` is false.

    Multiplying by the mask would keep NaN and inf, in values or in gradients.
    """
    if mask is None:
        return vectors
    return ops.where(as_long_as(mask[..., None], vectors, len(mask.shape)), vectors, 0)


def as_long_as(tensor, other, axes=1):
    """Returns the tensor; its first axes must be as long as those of another.

    Lengths that are unknown in a graph are compared when it runs, by a concatenation: arithmetic
    would broadcast, and TensorFlow drops a reshape that it infers to change nothing.
    """
    known = None not in (*tensor.shape[:axes], *other.shape[:axes])
    if known or isinstance(tensor, keras.KerasTensor):
        return tensor
    shape = *ops.shape(other)[:axes], *ops.shape(tensor)[axes:-1], 1
    return ops.concatenate([tensor, ops.zeros(shape, tensor.dtype)], axis=-1)[..., :-1]


def mask_scores(scores, mask=None):
    """Returns scores in float32 or better, `MASKED` where a broadcastable mask is false."""
    scores = widen(scores)
    return scores if mask is None else ops.where(mask, scores, MASKED)
