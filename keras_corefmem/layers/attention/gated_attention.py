"""Gated attention between a passage and a question."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("keras_corefmem")
class GatedAttention(keras.layers.Layer):
    """Multiplies every passage token by its own summary of the question.

    `X = D ⊙ (A Q)` with `A = softmax(D Qᵀ)` over the question tokens that are not masked.

    Call arguments:
        passage: `(batch, time, width)`.
        question: `(batch, question time, width)`.
        question_mask: bool `(batch, question time)`, or `None`.

    Returns:
        `(batch, time, width)`, masked like the passage.

    Raises:
        ValueError: if passage and question differ in width.

    Reference: [Dhingra et al., ACL 2017](https://arxiv.org/abs/1606.01549).
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, passage_shape, question_shape):
        if passage_shape[-1] != question_shape[-1]:
            raise ValueError(
                f"passage and question must be equally wide, got {passage_shape[-1]} and "
                f"{question_shape[-1]}."
            )

    def call(self, passage, question, question_mask=None):
        scores = ops.matmul(passage, ops.transpose(question, (0, 2, 1)))
        scores = ops.cast(scores, "float32")
        if question_mask is not None:
            scores = ops.where(question_mask[:, None, :], scores, -1e9)
        attention = ops.cast(ops.softmax(scores, axis=-1), self.compute_dtype)
        return passage * ops.matmul(attention, question)

    def compute_output_shape(self, passage_shape, question_shape):
        return passage_shape

    def compute_mask(self, passage, previous_mask):
        return previous_mask
