"""What counts as a right answer, and how far from it a model is."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("keras_corefmem")
def right_answers(answers, logits):
    """Whether the best answers are the right ones; of several words, all up to their end must be.

    Args:
        answers: int `(batch,)`, or `(batch, words)`, where the last answer is the end of others.
        logits: `(batch, answers)`, or `(batch, words, answers)`.

    Returns:
        1 or 0, float32 `(batch,)`.
    """
    right = ops.equal(ops.argmax(logits, axis=-1), ops.cast(answers, "int32"))
    if len(right.shape) > 1:
        behind = ops.logical_not(until_end(answers, logits))
        right = ops.all(ops.logical_or(right, behind), axis=-1)
    return ops.cast(right, "float32")


def until_end(answers, logits):
    """Which words of answers `(batch, words)` count: all up to the first end, the last class."""
    ends = ops.cast(ops.equal(ops.cast(answers, "int32"), logits.shape[-1] - 1), "int32")
    return ops.equal(ops.cumsum(ends, axis=-1) - ends, 0)


@keras.saving.register_keras_serializable("keras_corefmem")
class AnswerAccuracy(keras.metrics.MeanMetricWrapper):
    """The share of questions whose answer is right, see `right_answers`."""

    def __init__(self, name="accuracy", dtype=None):
        super().__init__(right_answers, name, dtype)
        # What callbacks ask that stop early, or keep the best.
        self._direction = "up"

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype}


@keras.saving.register_keras_serializable("keras_corefmem")
class AnswerCrossentropy(keras.losses.Loss):
    """Cross-entropy of answers from logits; of several words, the mean up to their end.

    Shapes are those of `right_answers`.
    """

    def __init__(self, reduction="sum_over_batch_size", name="answer_crossentropy", dtype=None):
        super().__init__(name=name, reduction=reduction, dtype=dtype)

    def call(self, answers, logits):
        losses = keras.losses.sparse_categorical_crossentropy(answers, logits, from_logits=True)
        if len(losses.shape) == 1:
            return losses
        counted = ops.cast(until_end(answers, logits), losses.dtype)
        return ops.sum(losses * counted, axis=-1) / ops.sum(counted, axis=-1)
