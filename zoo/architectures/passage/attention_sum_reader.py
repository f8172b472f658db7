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

    It is a `GatedAttentionReader` of one layer, which has nothing to gate: same arguments but for
    `layers`, same input and output. The paper's own reader has `encoder="gru"`, `joint=False` and
    `dropout=0`.

    Args:
        vocabulary_size: int, number of token ids.
        num_answers: int, number of answers; answer 0 is the unknown one and never predicted.
        encoder: str, recurrent encoder.
        **kwargs: the other arguments of `GatedAttentionReader`.

    Reference: [Kadlec et al., ACL 2016](https://arxiv.org/abs/1603.01547).

    Example:

    >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
    >>> reader = zoo.AttentionSumReader.from_examples(stories, encoder="gru", units=4)
    >>> reader.features
    ('passage', 'question', 'candidates')
    """
