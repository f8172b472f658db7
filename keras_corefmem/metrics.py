"""Accuracy and loss of answers."""

import keras
from keras import ops

__all__ = ["AnswerAccuracy", "AnswerCrossentropy", "right_answers"]


@keras.saving.register_keras_serializable("keras_corefmem")
def right_answers(answers, logits):
    """Computes whether the most probable answer is right, in all of its words.

    The unknown answer, class 0, is never the most probable one.

    Args:
        answers: int `(batch,)`; or `(batch, words)` for answers of several words, where the last
            class is the end of an answer.
        logits: `(batch, answers)`, or `(batch, words, answers)`.

    Returns:
        float32 `(batch,)`: 1 for right answers, 0 for wrong ones.

    Example:
        >>> logits = np.array([[0.1, 0.9, 0.2], [0.7, 0.3, 0.1]])
        >>> right = keras_corefmem.metrics.right_answers(np.array([1, 2]), logits)
        >>> keras.ops.convert_to_numpy(right).tolist()
        [1.0, 0.0]
    """
    logits = ops.convert_to_tensor(logits)
    answers, known = as_ids(answers, logits), logits[..., 1:]
    # Logits are NaN if training diverged.
    converged = ops.logical_not(ops.any(ops.isnan(known), axis=-1))
    if len(logits.shape) == 2:
        right = ops.equal(1 + ops.argmax(known, axis=-1), answers)
        return ops.cast(right & converged, "float32")
    logs = ops.log_softmax(known, axis=-1)
    words, ends = logs[..., :-1], ops.pad(logs[:, 1:, -1], ((0, 0), (0, 1)))
    # Scores of the best answer of each length; the longest has no room for an end.
    scores = ops.cumsum(ops.max(words, axis=-1), axis=-1) + ends
    in_answer = ops.arange(logits.shape[1]) <= ops.argmax(scores, axis=-1)[:, None]
    best = ops.where(in_answer, 1 + ops.argmax(words, axis=-1), logits.shape[-1] - 1)
    return ops.cast(ops.all(ops.equal(best, answers) & converged, axis=-1), "float32")


def as_ids(answers, logits):
    """Returns answers as int32, without an axis of 1 at the end that Keras' losses ignore too."""
    answers = ops.cast(answers, "int32")
    extra = len(answers.shape) == len(logits.shape) and answers.shape[-1] == 1
    return ops.squeeze(answers, axis=-1) if extra else answers


def _until_end(answers, logits):
    """Returns which words count: all up to and including the first end, the last class."""
    ends = ops.cast(ops.equal(answers, logits.shape[-1] - 1), "int32")
    return ops.equal(ops.cumsum(ends, axis=-1) - ends, 0)


@keras.saving.register_keras_serializable("keras_corefmem")
class AnswerAccuracy(keras.metrics.MeanMetricWrapper):
    """Computes the accuracy of answers, see `right_answers`.

    Args:
        name: string, name of the metric.
        dtype: dtype of the metric.

    Example:
        >>> metric = keras_corefmem.metrics.AnswerAccuracy()
        >>> metric.update_state(np.array([1, 0]), np.array([[0.1, 0.9], [0.2, 0.8]]))
        >>> float(metric.result())
        0.5
    """

    def __init__(self, name="accuracy", dtype=None):
        super().__init__(right_answers, name, dtype)
        # Tells callbacks such as `EarlyStopping` that higher is better.
        self._direction = "up"

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype}


@keras.saving.register_keras_serializable("keras_corefmem")
class AnswerCrossentropy(keras.losses.Loss):
    """Computes the cross-entropy between answers and logits.

    The loss of an answer of several words is the mean over its words and its end. Shapes are those
    of `right_answers`.

    Args:
        reduction: string, reduction over the batch, as in `keras.losses.Loss`.
        name: string, name of the loss.
        dtype: dtype of the loss.

    Example:
        >>> loss = keras_corefmem.metrics.AnswerCrossentropy()
        >>> round(float(loss(np.array([1]), np.array([[0.0, 0.0]]))), 3)
        0.693
    """

    def __init__(self, reduction="sum_over_batch_size", name="answer_crossentropy", dtype=None):
        super().__init__(name=name, reduction=reduction, dtype=dtype)

    def call(self, answers, logits):
        logits = ops.convert_to_tensor(logits)
        answers = as_ids(answers, logits)
        losses = keras.losses.sparse_categorical_crossentropy(answers, logits, from_logits=True)
        if len(losses.shape) == 1:
            return losses
        counted = ops.cast(_until_end(answers, logits), losses.dtype)
        return ops.sum(losses * counted, axis=-1) / ops.sum(counted, axis=-1)
