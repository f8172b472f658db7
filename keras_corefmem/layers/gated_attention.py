"""Gated attention between a document and a question."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("keras_corefmem")
class GatedAttention(keras.layers.Layer):
    """Multiplies every document token by its own summary of the question.

    `X = D ⊙ (A Q)` with `A = softmax(D Qᵀ)` over the question tokens that are not masked.

    Call arguments:
        document: `(batch, time, width)`.
        question: `(batch, question time, width)`.
        question_mask: bool `(batch, question time)`, or `None`.

    Returns:
        `(batch, time, width)`, masked like the document.

    Reference: [Dhingra et al., ACL 2017](https://arxiv.org/abs/1606.01549).
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, document_shape, question_shape):
        if document_shape[-1] != question_shape[-1]:
            raise ValueError(
                f"document and question must be equally wide, got {document_shape[-1]} and "
                f"{question_shape[-1]}."
            )

    def call(self, document, question, question_mask=None):
        scores = ops.matmul(document, ops.transpose(question, (0, 2, 1)))
        scores = ops.cast(scores, "float32")
        if question_mask is not None:
            scores = ops.where(question_mask[:, None, :], scores, -1e9)
        attention = ops.cast(ops.softmax(scores, axis=-1), self.compute_dtype)
        return document * ops.matmul(attention, question)

    def compute_output_shape(self, document_shape, question_shape):
        return document_shape

    def compute_mask(self, document, previous_mask):
        return previous_mask
