"""Attention between a passage and a question: gated and bidirectional."""

import keras
from keras import ops

from keras_corefmem.layers.core.masking import (
    MASKED,
    as_long_as,
    as_mask,
    clear_masked,
    mask_scores,
)
from keras_corefmem.layers.kernels.buffers import widen
from keras_corefmem.utils.checks import check_shape


class _TwoSequences(keras.layers.Layer):
    """Base class of layers that read two equally wide sequences and keep the mask of the first."""

    NAMES = ("passage", "question")

    def check_widths(self, first, second):
        if first[-1] != second[-1]:
            names, widths = " and ".join(self.NAMES), f"{first[-1]} and {second[-1]}"
            raise ValueError(f"{names} must be equally wide, got {widths}.")

    def as_many(self, second, first):
        """Returns the second sequences, which must be as many as the first."""
        check_shape(self.NAMES[1], second, batch=first.shape[0], time=None, width=None)
        return as_long_as(second, first)

    def compute_mask(self, inputs, previous_mask):
        return previous_mask


@keras.saving.register_keras_serializable("keras_corefmem")
class GatedAttention(_TwoSequences):
    """Multiplies each passage token by its own summary of the question.

    `X = D ⊙ (A Q)` with `A = softmax(D Qᵀ)` over the question tokens that are not masked.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        passage: `(batch, time, width)`.
        question: `(batch, question time, width)`.
        question_mask: bool `(batch, question time)`, or `None`.

    Returns:
        `(batch, time, width)`, masked like the passage.

    Raises:
        ValueError: if passage and question differ in width or in number.

    Reference: [Dhingra et al., ACL 2017](https://arxiv.org/abs/1606.01549).

    Example:
        >>> layer = keras_corefmem.layers.GatedAttention()
        >>> tuple(layer(np.ones((2, 5, 4)), np.ones((2, 3, 4))).shape)
        (2, 5, 4)
    """

    def build(self, passage_shape, question_shape):
        self.check_widths(passage_shape, question_shape)

    def call(self, passage, question, question_mask=None):
        question = self.as_many(question, passage)
        batch, time, _ = question.shape
        question_mask = as_mask(question_mask, "question_mask", batch=batch, time=time)
        question = clear_masked(question, question_mask)
        scores = ops.matmul(passage, ops.transpose(question, (0, 2, 1)))
        mask = None if question_mask is None else question_mask[:, None]
        attention = ops.softmax(mask_scores(scores, mask), axis=-1)
        return passage * ops.matmul(ops.cast(attention, self.compute_dtype), question)

    def compute_output_shape(self, passage_shape, question_shape):
        return passage_shape


@keras.saving.register_keras_serializable("keras_corefmem")
class BidirectionalAttention(_TwoSequences):
    """Joins each context token h with its summary of the query u and a summary of the context.

    ```
    s_ij = w · [h_i ; u_j ; h_i ⊙ u_j]
    ũ_i = Σ_j softmax_j(s_ij) u_j,   h̃ = Σ_i softmax_i(max_j s_ij) h_i
    G_i = [h_i ; ũ_i ; h_i ⊙ ũ_i ; h_i ⊙ h̃]
    ```

    A bias would change neither softmax, so there is none.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        context: `(batch, time, width)`.
        query: `(batch, query time, width)`.
        context_mask: bool `(batch, time)`, or `None`.
        query_mask: bool `(batch, query time)`, or `None`.

    Returns:
        `(batch, time, 4 · width)`, masked like the context, whose masked tokens count as zeros.

    Raises:
        ValueError: if context and query differ in width or in number.

    Reference: [Seo et al., ICLR 2017](https://arxiv.org/abs/1611.01603).

    Example:
        >>> layer = keras_corefmem.layers.BidirectionalAttention()
        >>> tuple(layer(np.ones((2, 5, 4)), np.ones((2, 3, 4))).shape)
        (2, 5, 16)
    """

    NAMES = ("context", "query")

    def build(self, context_shape, query_shape):
        self.check_widths(context_shape, query_shape)
        self.kernel = self.add_weight(name="kernel", shape=(3 * context_shape[-1], 1))

    def call(self, context, query, context_mask=None, query_mask=None):
        query = self.as_many(query, context)
        batch, time, _ = context.shape
        context_mask = as_mask(context_mask, "context_mask", batch=batch, time=time)
        query_mask = as_mask(query_mask, "query_mask", batch=batch, time=query.shape[1])
        context, query = clear_masked(context, context_mask), clear_masked(query, query_mask)
        of_context, of_query, of_product = ops.split(self.kernel, 3)
        products = ops.matmul(context * of_product[:, 0], ops.transpose(query, (0, 2, 1)))
        parts = products, ops.matmul(context, of_context), ops.matmul(query, of_query)
        products, by_context, by_query = map(widen, parts)
        scores = products + by_context + ops.transpose(by_query, (0, 2, 1))
        scores = mask_scores(scores, None if query_mask is None else query_mask[:, None])
        attention = ops.cast(ops.softmax(scores, axis=-1), context.dtype)
        read = ops.matmul(attention, query)
        best = mask_scores(ops.max(scores, axis=-1, initial=MASKED), context_mask)
        attention = ops.cast(ops.softmax(best, axis=-1), context.dtype)
        summary = ops.einsum("bt,btd->bd", attention, context)[:, None]
        return ops.concatenate([context, read, context * read, context * summary], axis=-1)

    def compute_output_shape(self, context_shape, query_shape):
        return (*context_shape[:-1], 4 * context_shape[-1])
