"""The Gated-Attention Reader."""

import keras

from zoo.architectures.passage.reader_model import ReaderModel


@keras.saving.register_keras_serializable("keras_corefmem")
class GatedAttentionReader(ReaderModel):
    """Reads a passage K times, each time gated by what the question makes of its tokens.

    ```
    D^k = encoder(X^{k-1}),  Q^k = encoder(Q^{k-1})
    A^k = softmax(D^k (Q^k)ᵀ)
    X^k = dropout(D^k ⊙ (A^k Q^k)),  k < K
    q = last forward state of Q^K ‖ first backward state of Q^K
    P(c) ∝ Σ_{t mentions c} exp(D^K_t · q)
    ```

    `X^0` and `Q^0` are word vectors. Where joint, one encoder reads passage and question as one
    sequence, otherwise each has an encoder of its own, as in the paper. With
    `head="classification"`, `P` is a softmax over `W Σ_t s_t D^K_t + b` with `s = softmax(D^K q)`.

    Args:
        vocabulary_size: number of token ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        encoder: name of the recurrent encoder.
        layers: number K of layers.
        **kwargs: further arguments of `ReaderModel`.

    Reference: [Dhingra et al., ACL 2017](https://arxiv.org/abs/1606.01549); encoders from
    [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620) and
    [Dhingra et al., NAACL 2018](https://arxiv.org/abs/1804.05922).
    """

    def __init__(self, vocabulary_size, num_answers, encoder="coref_gru", layers=3, **kwargs):
        super().__init__(vocabulary_size, num_answers, encoder, layers=layers, **kwargs)
