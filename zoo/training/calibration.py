"""Probabilities that mean something: a temperature, fitted on validation."""

from typing import Any

import numpy as np
import scipy

from zoo.training.evaluation import predicted_logits

# Temperatures to choose of, as logarithms.
BOUNDS = np.log((0.1, 20.0))


def calibrate(model: Any, batches: Any) -> float:
    """Fits the temperature `T` of a model, `P = softmax(logits / T)`, to how often it is right.

    It is the one with the lowest cross-entropy of right answers against all others, whose targets
    are those of Platt, `(n + 1) / (n + 2)` for `n` questions: a few without an error do not make a
    model certain. Answers stay what they are. `read`, pictures and SavedModels tell the new
    probabilities, and the model is saved with its temperature; its logits are what they were.

    Args:
        model: a compiled model.
        batches: its `Batches` of validation questions.

    Returns:
        The temperature, which is `model.temperature` from now on.

    Reference: temperature scaling of [Guo et al., 2017](https://arxiv.org/abs/1706.04599).

    Example:
        >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
        >>> model = zoo.QueryReductionNetwork.from_examples(stories, units=4)
        >>> model.compile(jit_compile=False)
        >>> zoo.training.calibrate(model, model.batches(stories)) == model.temperature
        True
    """
    parts = []
    for _, logits, answers, weights in predicted_logits(model, batches):
        # A tagger answers for every word, and number 0 is an unknown answer.
        known = (weights > 0) & (answers.reshape(*weights.shape, -1) > 0).all(axis=-1)
        parts.append((logits[known], answers[known]))
    count = sum(len(answers) for _, answers in parts)
    target = (count + 1) / (count + 2)

    def loss(log_temperature: float) -> float:
        scaled = (answer_logs(logits / np.exp(log_temperature), n) for logits, n in parts)
        logs = np.concatenate(list(scaled))
        others = np.log(np.maximum(-np.expm1(logs), np.finfo("float32").tiny))
        return -float(np.mean(target * logs + (1 - target) * others))

    if count:
        found = scipy.optimize.minimize_scalar(loss, bounds=BOUNDS, method="bounded")
        model.temperature = float(np.exp(found.x))
    return model.temperature


def answer_logs(logits: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Log probabilities of answers, of those of several words up to their end."""
    logs = scipy.special.log_softmax(logits[..., 1:].astype("float64"), axis=-1)
    logs = np.take_along_axis(logs, answers[..., None].astype(int) - 1, axis=-1)[..., 0]
    if answers.ndim == 1:
        return logs
    ends = answers == logits.shape[-1] - 1
    return np.sum(logs * (np.cumsum(ends, axis=-1) - ends == 0), axis=-1)
