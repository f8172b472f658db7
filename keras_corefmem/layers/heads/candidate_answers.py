"""Answers that compete only if the passage mentions them."""

import math

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.utils.checks import shapes_agree


@serializable
class CandidateAnswers(keras.layers.Layer):
    """Subtracts 100 from the logits of answers that the passage does not mention.

    ```
    z'_a = z_a           where a word of the passage is answer a, a candidate
    z'_a = z_a - 100     elsewhere
    ```

    If there are no candidates, the order of the answers does not change.

    Args:
        answer_tokens: list with the token id of each answer, or `None` for an answer that is not a
            word and thus never a candidate.

    Call arguments:
        logits: `(batch, answers)`.
        words: int32 `(batch, …)`, ids of the words of the passage, 0 = padding.

    Returns:
        Logits `(batch, answers)`.

    Raises:
        ValueError: if two answers share a token, a token is padding, or the numbers of answers and
            logits, or of texts in `logits` and `words`, differ.

    Example:
        >>> head = keras_corefmem.layers.CandidateAnswers([None, 5, 7])
        >>> np.asarray(head(np.ones((1, 3)), np.array([[3, 7, 0]]))).tolist()
        [[-99.0, -99.0, 1.0]]
    """

    def __init__(self, answer_tokens, **kwargs):
        super().__init__(**kwargs)
        self.answer_tokens = [None if token is None else int(token) for token in answer_tokens]
        tokens = [token for token in self.answer_tokens if token is not None]
        if len(set(tokens)) < len(tokens) or min(tokens, default=1) < 1:
            raise ValueError(
                f"answer_tokens must be distinct ids from 1, or None; got {self.answer_tokens}."
            )
        # Column 0 stands for all other words.
        self.columns = np.zeros(max(tokens, default=0) + 2, "int32")
        for column, token in enumerate(self.answer_tokens, 1):
            if token is not None:
                self.columns[token] = column

    def build(self, logits_shape, words_shape):
        if logits_shape[-1] != len(self.answer_tokens):
            count = len(self.answer_tokens)
            raise ValueError(f"There are {logits_shape[-1]} logits, but {count} answer_tokens.")

    def call(self, logits, words):
        if not shapes_agree(logits.shape[:1], words.shape[:1]):
            shapes = f"{tuple(logits.shape)} and {tuple(words.shape)}"
            raise ValueError(f"logits and words must be of as many texts; got shapes {shapes}.")
        batch, count = ops.shape(logits)[0], len(self.answer_tokens)
        # In an empty batch, a length of -1 could not be inferred.
        words = ops.reshape(words, (batch, math.prod(ops.shape(words)[1:])))
        column = ops.take(self.columns, ops.minimum(words, len(self.columns) - 1))
        row = ops.broadcast_to(ops.arange(batch, dtype="int32")[:, None], ops.shape(column))
        places = ops.reshape(ops.stack([row, column], axis=-1), (-1, 2))
        absent = ops.full((batch, count + 1), -100.0, dtype=logits.dtype)
        present = ops.zeros_like(places[:, 0], dtype=logits.dtype)
        return logits + ops.scatter_update(absent, places, present)[:, 1:]

    def compute_output_shape(self, logits_shape, words_shape):
        return logits_shape
