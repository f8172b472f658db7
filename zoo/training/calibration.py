"""Calibration of probabilities by a temperature that is fitted on validation."""

from typing import Any

import numpy as np
import scipy

from zoo.training.evaluation import as_batches, predicted_logits

# Logarithms of the lowest and the highest temperature.
BOUNDS = np.log((0.1, 20.0))
# Log probability below which the model cannot give an answer at any temperature.
IMPOSSIBLE = -50.0


def calibrate(model: Any, batches: Any) -> float:
    """Fits the temperature `T` of a model, `P = softmax(logits / T)`, to how often it is right.

    `T` minimizes the cross-entropy of the right answer against all others. Targets are those of
    Platt, `(n + 1) / (n + 2)` for `n` questions, so that a model is not certain after a few
    questions without an error. The answers and the output of `predict` do not change; `read`,
    pictures, SavedModels and ONNX report the new probabilities, and the temperature is saved with
    the model. It stays 1 if answers have several words, since another `T` could change these.

    Args:
        model: a compiled model.
        batches: its `Batches` of validation questions, or a list of these.

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
    batches = as_batches(model, batches)
    for _, logits, answers, weights in predicted_logits(model, batches):
        if answers.ndim > weights.ndim:
            return model.temperature
        # A tagger answers for every word; answer 0 is unknown.
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
        optimum = scipy.optimize.minimize_scalar(loss, bounds=BOUNDS, method="bounded")
        model.temperature = float(np.exp(optimum.x))
    return model.temperature


def _answer_logs(logits: np.ndarray, answers: np.ndarray) -> np.ndarray:
    logs = scipy.special.log_softmax(logits[..., 1:].astype("float64"), axis=-1)
    return np.take_along_axis(logs, answers[..., None].astype(int) - 1, axis=-1)[..., 0]
