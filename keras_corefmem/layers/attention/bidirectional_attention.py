"""Attention in both directions, of BiDAF."""

import keras
from keras import ops

from keras_corefmem.layers.attention.attention_supervision import FAR


@keras.saving.register_keras_serializable("keras_corefmem")
class BidirectionalAttention(keras.layers.Layer):
    """Joins every context token h with what it asks of the query u, and the context that matters.

    ```
    s_ij = w · [h_i ; u_j ; h_i ⊙ u_j]
    ũ_i = Σ_j softmax_j(s_ij) u_j,   h̃ = Σ_i softmax_i(max_j s_ij) h_i
    G_i = [h_i ; ũ_i ; h_i ⊙ ũ_i ; h_i ⊙ h̃]
    ```

    A bias would change neither softmax, so there is none.

    Call arguments:
        context: `(batch, time, width)`.
        query: `(batch, query time, width)`.
        context_mask: bool `(batch, time)`, or `None`.
        query_mask: bool `(batch, query time)`, or `None`.

    Returns:
        `(batch, time, 4 · width)`, masked like the context.

    Raises:
        ValueError: if context and query differ in width.

    Reference: [Seo et al., ICLR 2017](https://arxiv.org/abs/1611.01603).
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, context_shape, query_shape):
        width = context_shape[-1]
        if width != query_shape[-1]:
            raise ValueError(
                f"context and query must be equally wide, got {width} and {query_shape[-1]}."
            )
        self.kernel = self.add_weight(name="kernel", shape=(3 * width, 1))

    def call(self, context, query, context_mask=None, query_mask=None):
        of_context, of_query, of_product = ops.split(self.kernel, 3)
        products = ops.matmul(context * of_product[:, 0], ops.transpose(query, (0, 2, 1)))
        parts = products, ops.matmul(context, of_context), ops.matmul(query, of_query)
        products, own, asked = (ops.cast(part, "float32") for part in parts)
        scores = products + own + ops.transpose(asked, (0, 2, 1))
        if query_mask is not None:
            scores = ops.where(query_mask[:, None], scores, FAR)
        attention = ops.cast(ops.softmax(scores, axis=-1), context.dtype)
        asked = ops.matmul(attention, query)
        best = ops.max(scores, axis=-1)
        if context_mask is not None:
            best = ops.where(context_mask, best, FAR)
        attention = ops.cast(ops.softmax(best, axis=-1), context.dtype)
        summary = ops.einsum("bt,btd->bd", attention, context)[:, None]
        return ops.concatenate([context, asked, context * asked, context * summary], axis=-1)

    def compute_output_shape(self, context_shape, query_shape):
        return (*context_shape[:-1], 4 * context_shape[-1])

    def compute_mask(self, context, previous_mask):
        return previous_mask
