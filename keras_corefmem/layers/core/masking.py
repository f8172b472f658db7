"""What is masked: vectors of zeros, and scores that a softmax ignores."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.kernels.buffers import widen
from keras_corefmem.utils.checks import check_shape

# So low that a softmax gives 0, and finite, so that gradients are.
MASKED = -1e9


def as_mask(mask, name="mask", **axes):
    """A mask, a list perhaps, as a bool tensor; of these axes, `None` where a length is unknown."""
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
    # Another cast would be one more operation of a functional model.
    return mask if is_bool and not isinstance(mask, np.ndarray) else ops.cast(mask, "bool")


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
