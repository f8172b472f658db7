"""The pointer-sum output of a reader."""

import keras
from keras import ops

from keras_corefmem.layers.core.masking import MASKED, clear_masked, mask_scores
from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.layers.kernels.buffers import float_type
from keras_corefmem.utils.checks import check_shape, check_sizes


@serializable
class AttentionSum(keras.layers.Layer):
    """Pointer sum: adds up the attention over all mentions of each candidate.

    `P(c) ∝ Σ_{t mentions c} exp(d_t · q)`, over the tokens t that mention candidate c. Logits are
    `log P` up to a constant; those of candidates without a mention are 100 below the best.

    Args:
        num_candidates: int, number of logits if `candidates` holds numbers; logit 0 stands for no
            candidate and is never mentioned.

    Call arguments:
        passage: `(batch, time, width)`.
        query: `(batch, width)`.
        candidates: int32 `(batch, time)`, the number of the candidate that each token mentions, 0 =
            none, also for masked tokens; or a mask `(batch, time, candidates)`, with which a token
            may belong to several candidates.

    Returns:
        Logits, float32 `(batch, candidates)`.

    Raises:
        ValueError: if `candidates` holds numbers and `num_candidates` is missing, or shapes do not
            match.

    Reference: [Kadlec et al., ACL 2016](https://arxiv.org/abs/1603.01547).

    Example:
        >>> head = keras_corefmem.layers.AttentionSum(num_candidates=3)
        >>> logits = head(np.zeros((1, 4, 2)), np.ones((1, 2)), np.array([[0, 1, 2, 2]]))
        >>> print(np.asarray(keras.ops.softmax(logits)).round(3))
        [[0.    0.333 0.667]]
    """

    def __init__(self, num_candidates=None, **kwargs):
        super().__init__(**kwargs)
        if num_candidates is not None:
            check_sizes(num_candidates=num_candidates)
        self.num_candidates = num_candidates

    def build(self, passage_shape, query_shape, candidates_shape):
        if len(candidates_shape) == 2 and self.num_candidates is None:
            raise ValueError("num_candidates is needed where candidates holds numbers, not a mask.")

    def call(self, passage, query, candidates):
        batch, time, width = passage.shape
        check_shape("query", query, batch=batch, width=width)
        more = {"candidates": None} if len(candidates.shape) == 3 else {}
        check_shape("candidates", candidates, batch=batch, time=time, **more)
        if len(candidates.shape) == 2:
            numbers = ops.arange(self.num_candidates, dtype="int32")
            candidates = ops.logical_and(ops.equal(candidates[:, :, None], numbers), numbers > 0)
        candidates = ops.cast(candidates, "bool")
        passage = clear_masked(passage, ops.any(candidates, axis=2))
        scores = ops.einsum("btd,bd->bt", passage, query)[:, :, None]
        logits = ops.logsumexp(mask_scores(scores, candidates), axis=1)
        best = ops.stop_gradient(ops.max(logits, axis=-1, keepdims=True, initial=MASKED))
        return ops.where(ops.any(candidates, axis=1), logits - best, -100.0)

    def compute_output_shape(self, passage_shape, query_shape, candidates_shape):
        is_mask = len(candidates_shape) == 3
        return passage_shape[0], candidates_shape[2] if is_mask else self.num_candidates

    def compute_output_spec(self, passage, query, candidates):
        shape = self.compute_output_shape(passage.shape, query.shape, candidates.shape)
        return keras.KerasTensor(shape, float_type(self.compute_dtype))

    def compute_mask(self, passage, previous_mask):
        return None
