"""Probabilities that mean something: a temperature, fitted on validation."""

from typing import Any

import numpy as np
import scipy

from zoo.training.evaluation import predicted_logits

# Temperatures to choose of, as logarithms.
BOUNDS = np.log((0.1, 20.0))
# Log probability below which an answer is one that the model cannot give, at any temperature.
IMPOSSIBLE = -50.0


def calibrate(model: Any, batches: Any) -> float:
    """Fits the temperature `T` of a model, `P = softmax(logits / T)`, to how often it is right.

    It is the one with the lowest cross-entropy of right answers against all others, whose targets
    are those of Platt, `(n + 1) / (n + 2)` for `n` questions: a few without an error do not make a
    model certain. Answers stay what they are, and so does what `predict` returns. `read`, pictures,
    SavedModels and ONNX tell the new probabilities, and the model is saved with its temperature.
    That of a model whose answers are several words stays 1, for another could change these.

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
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for _, logits, answers, weights in predicted_logits(model, batches):
        if answers.ndim > weights.ndim:
            return model.temperature
        # A tagger answers for every word, and number 0 is an unknown answer.
        known = (weights > 0) & (answers > 0)
        parts.append((logits[known], answers[known]))
    logits, answers = map(np.concatenate, zip(*parts, strict=True))
    possible = _answer_logs(logits, answers) > IMPOSSIBLE
    logits, answers = logits[possible], answers[possible]
    smoothed = (len(answers) + 1) / (len(answers) + 2)

    def loss(log_temperature: float) -> float:
        right = _answer_logs(logits / np.exp(log_temperature), answers)
        others = np.log(np.maximum(-np.expm1(right), np.finfo("float32").tiny))
        return -float(np.mean(smoothed * right + (1 - smoothed) * others))

    if len(answers):
        found = scipy.optimize.minimize_scalar(loss, bounds=BOUNDS, method="bounded")
        model.temperature = float(np.exp(found.x))
    return model.temperature


def _answer_logs(logits: np.ndarray, answers: np.ndarray) -> np.ndarray:
    logs = scipy.special.log_softmax(logits[..., 1:].astype("float64"), axis=-1)
    return np.take_along_axis(logs, answers[..., None].astype(int) - 1, axis=-1)[..., 0]
