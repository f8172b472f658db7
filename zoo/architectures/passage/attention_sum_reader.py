"""The Attention-Sum Reader."""

import keras

from zoo.architectures.passage.reader_model import ReaderModel


@keras.saving.register_keras_serializable("keras_corefmem")
class AttentionSumReader(ReaderModel):
    """Reads passage and question once, and points at the answer.

    ```
    D = encoder(passage),  Q = encoder(question)
    q = last forward state of Q ‖ first backward state of Q
    P(c) ∝ Σ_{t mentions c} exp(D_t · q)
    ```

    It is a `GatedAttentionReader` of one layer, which has nothing to gate. The paper's own reader
    has `encoder="gru"`, `joint=False` and `dropout=0`.

    Args:
        vocabulary_size: number of token ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        encoder: name of the recurrent encoder.
        **kwargs: further arguments of `ReaderModel`, but for `layers`.

    Reference: [Kadlec et al., ACL 2016](https://arxiv.org/abs/1603.01547).
    """

    FIXED = ("layers",)

    def __init__(self, vocabulary_size, num_answers, encoder="coref_gru", **kwargs):
        super().__init__(vocabulary_size, num_answers, encoder, layers=1, **kwargs)

    def get_config(self):
        config = super().get_config()
        del config["layers"]
        return config
