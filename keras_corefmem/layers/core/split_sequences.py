"""Parts of sequences: splitting two joined ones, and the ends of sentences."""

import keras
from keras import ops

from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.utils.checks import check_sizes, shapes_agree


@keras.saving.register_keras_serializable("keras_corefmem")
class SplitSequences(keras.layers.Layer):
    """Splits the states of two joined sequences, `[first; second]`, along time.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        states: `(batch, time of both, width)`.
        first: the first sequence, any tensor `(batch, time, …)`.

    Returns:
        The states of the first and of the second sequence, without a mask.

    Raises:
        ValueError: if the first sequence is longer than both, or the batches differ.

    Example:
        >>> split = keras_corefmem.layers.SplitSequences()
        >>> first, second = split(np.ones((2, 7, 4)), np.ones((2, 3)))
        >>> tuple(first.shape), tuple(second.shape)
        ((2, 3, 4), (2, 4, 4))
    """

    def call(self, states, first):
        batch, time, _ = states.shape
        shapes = (batch,), tuple(first.shape[:1])
        if not shapes_agree(*shapes) or time is not None and (first.shape[1] or 0) > time:
            raise ValueError(
                f"first must be a part of states, {tuple(states.shape)}; got shape "
                f"{tuple(first.shape)}."
            )
        split = ops.shape(first)[1]
        return states[:, :split], states[:, split:]

    def compute_output_shape(self, states_shape, first_shape):
        batch, time, width = states_shape
        rest = None if None in (time, first_shape[1]) else time - first_shape[1]
        return (batch, first_shape[1], width), (batch, rest, width)

    def compute_mask(self, states, previous_mask):
        return None


@serializable
class SentenceEnds(keras.layers.Layer):
    """Takes the last state of each sentence from the states of all words.

    `y_s = h_{s · length}` for sentence s, counted from 1. Sentences are padded at the end to
    `length` words, and padding keeps the state of the last word.

    Args:
        length: int, number of words of a sentence, padding included.

    Call arguments:
        states: `(batch, sentences · length, units)`.

    Returns:
        `(batch, sentences, units)`; a sentence is masked where all of its words are.

    Raises:
        ValueError: if `length` is less than 1, or the number of words no multiple of it.

    Reference: the input module of [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).

    Example:
        >>> states = np.arange(6.0).reshape(1, 6, 1)
        >>> np.asarray(keras_corefmem.layers.SentenceEnds(3)(states))[..., 0].tolist()
        [[2.0, 5.0]]
    """

    def __init__(self, length, **kwargs):
        super().__init__(**kwargs)
        check_sizes(length=length)
        self.length = length

    def call(self, states):
        words = states.shape[1]
        if words is not None and words % self.length:
            wanted = f"states must be those of sentences of {self.length} words each"
            raise ValueError(f"{wanted}, padding included; got {words} words.")
        return states[:, self.length - 1 :: self.length]

    def compute_output_shape(self, states_shape):
        batch, time, units = states_shape
        return batch, None if time is None else time // self.length, units

    def compute_mask(self, states, previous_mask=None):
        if previous_mask is None:
            return None
        batch, words = ops.shape(states)[0], states.shape[1]
        # In an empty batch, -1 could not be inferred.
        count = -1 if words is None else words // self.length
        by_sentence = ops.reshape(previous_mask, (batch, count, self.length))
        return ops.any(by_sentence, axis=-1)
