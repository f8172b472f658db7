"""Scores of what is masked."""

from keras import ops

# So low that a softmax gives 0, and finite, so that gradients are.
MASKED = -1e9


def mask_scores(scores, mask=None):
    """Scores in float32, `MASKED` where a mask, broadcastable to them, is false."""
    scores = ops.cast(scores, "float32")
    return scores if mask is None else ops.where(mask, scores, MASKED)
