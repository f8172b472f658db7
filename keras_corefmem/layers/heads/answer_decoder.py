"""Answers of several words."""

import keras
from keras import ops

from keras_corefmem.layers.rnn.gru import GRUCell


@keras.saving.register_keras_serializable("keras_corefmem")
class AnswerDecoder(keras.layers.Layer):
    """Says an answer word by word.

    ```
    a_0 = m
    a_k = GRU([y_{k-1} ; q], a_{k-1})
    y_k = softmax(W a_k + b),   y_0 = 0
    ```

    The step before tells the next one its distribution over words, not a word drawn from it, so
    that training and prediction are one graph without the right answer among its inputs.

    Args:
        words: number of words, the one that ends an answer among them.
        length: number of steps, words of the longest answer and its end.

    Call arguments:
        memory: m, `(batch, units)`.
        question: q, `(batch, features)`.

    Returns:
        Logits of `y_1 … y_length`, `(batch, length, words)`, float32.

    Raises:
        ValueError: if an argument is not positive.

    Reference: the answer module of [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).
    """

    def __init__(self, words, length, **kwargs):
        super().__init__(**kwargs)
        for name, value in (("words", words), ("length", length)):
            if value < 1:
                raise ValueError(f"{name} must be positive, got {value}.")
        self.words, self.length = words, length

    def build(self, memory_shape, question_shape):
        units = memory_shape[-1]
        self.gru = GRUCell(units, name="gru", dtype=self.dtype_policy)
        self.gru.build((None, self.words + question_shape[-1]))
        self.output_layer = keras.layers.Dense(self.words, dtype="float32", name="output")
        self.output_layer.build((None, units))

    def call(self, memory, question):
        state = memory
        said = ops.zeros((ops.shape(memory)[0], self.words), memory.dtype)
        every = []
        for _ in range(self.length):
            state, _ = self.gru(ops.concatenate([said, question], axis=-1), [state])
            logits = self.output_layer(state)
            said = ops.cast(ops.softmax(logits, axis=-1), memory.dtype)
            every.append(logits)
        return ops.stack(every, axis=1)

    def compute_output_spec(self, memory, question):
        return keras.KerasTensor((memory.shape[0], self.length, self.words), dtype="float32")

    def get_config(self):
        return {**super().get_config(), "words": self.words, "length": self.length}
