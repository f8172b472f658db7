"""Decoder of answers of several words."""

import keras
from keras import ops

from keras_corefmem.layers.core.serializable import inner_options, serializable
from keras_corefmem.layers.rnn.gru import GRUCell
from keras_corefmem.utils.checks import check_shape, check_sizes


@serializable
class AnswerDecoder(keras.layers.Layer):
    """Generates an answer word by word.

    ```
    a_0 = m
    a_k = GRU([y_{k-1} ; q], a_{k-1})
    y_k = softmax(W a_k + b),   y_0 = 0
    ```

    Each step reads the distribution over words of the step before, so that training and prediction
    are one graph.

    Args:
        words: int, number of words, including the one that ends an answer.
        length: int, number of steps: the words of the longest answer and its end.

    Call arguments:
        memory: m, `(batch, units)`.
        question: q, `(batch, features)`.

    Returns:
        Logits of `y_1 … y_length`, float32 `(batch, length, words)`.

    Raises:
        ValueError: if `words` or `length` is less than 1, or memory and question differ in number.

    Reference: the answer module of [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).

    Example:
        >>> decode = keras_corefmem.layers.AnswerDecoder(words=9, length=3)
        >>> tuple(decode(np.ones((2, 4)), np.ones((2, 5))).shape)
        (2, 3, 9)
    """

    def __init__(self, words, length, **kwargs):
        super().__init__(**kwargs)
        check_sizes(words=words, length=length)
        self.words, self.length = words, length

    def build(self, memory_shape, question_shape):
        units = memory_shape[-1]
        self.gru = GRUCell(units, **inner_options(self, name="gru"))
        self.gru.build((None, self.words + question_shape[-1]))
        own = inner_options(self, dtype="float32", name="output")
        self.output_layer = keras.layers.Dense(self.words, **own)
        self.output_layer.build((None, units))

    def call(self, memory, question):
        check_shape("question", question, batch=memory.shape[0], features=None)
        state, outputs = memory, []
        previous = ops.zeros((ops.shape(memory)[0], self.words), memory.dtype)
        for _ in range(self.length):
            state, _ = self.gru(ops.concatenate([previous, question], axis=-1), [state])
            outputs.append(self.output_layer(state))
            previous = ops.cast(ops.softmax(outputs[-1], axis=-1), memory.dtype)
        return ops.stack(outputs, axis=1)

    def compute_output_shape(self, memory_shape, question_shape):
        return memory_shape[0], self.length, self.words

    def compute_output_spec(self, memory, question):
        shape = self.compute_output_shape(memory.shape, question.shape)
        return keras.KerasTensor(shape, dtype="float32")
