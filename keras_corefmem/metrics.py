"""What counts as a right answer, and how far from it a model is."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("keras_corefmem")
def right_answers(answers, logits):
    """Whether the best answers are the right ones; of several words, all must be.

    Args:
        answers: int `(batch,)`, or `(batch, words)`.
        logits: `(batch, answers)`, or `(batch, words, answers)`.

    Returns:
        1 or 0, float32 `(batch,)`.
    """
    right = ops.equal(ops.argmax(logits, axis=-1), ops.cast(answers, "int32"))
    if len(right.shape) > 1:
        right = ops.all(right, axis=-1)
    return ops.cast(right, "float32")


@keras.saving.register_keras_serializable("keras_corefmem")
class AnswerAccuracy(keras.metrics.MeanMetricWrapper):
    """The share of questions whose answer is right, see `right_answers`."""

    def __init__(self, name="accuracy", dtype=None):
        super().__init__(right_answers, name, dtype)

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype}


@keras.saving.register_keras_serializable("keras_corefmem")
class AnswerCrossentropy(keras.losses.Loss):
    """Cross-entropy of answers from logits; of several words, the mean over them.

    Shapes are those of `right_answers`.
    """

    def __init__(self, reduction="sum_over_batch_size", name="answer_crossentropy", dtype=None):
        super().__init__(name=name, reduction=reduction, dtype=dtype)

    def call(self, answers, logits):
        losses = keras.losses.sparse_categorical_crossentropy(answers, logits, from_logits=True)
        return losses if len(losses.shape) == 1 else ops.mean(losses, axis=-1)
