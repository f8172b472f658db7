"""Scores of a model on a part of the data."""

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import scipy

from keras_corefmem.preprocessing.encoding.answers import (
    answer_text,
    best_sequences,
    present_logits,
)
from zoo.architectures.devices import first_replica


def evaluate(model: Any, batches: Any, texts: bool = False) -> dict[str, Any]:
    """Scores a compiled model on all questions, or on all tagged words.

    Args:
        model: a compiled model.
        batches: its `Batches`, or a list of examples.
        texts: whether to return the texts of wrong answers too.

    Returns:
        A dictionary: `accuracy`, `loss` (the mean over the answers that the model knows; others
        have no probability and count as wrong), `count`, `calibration_error` of the probabilities
        at the model's temperature, and `wrong`, the indices of wrong answers; with `texts`, also
        `predicted`, their texts.

    Example:
        >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
        >>> model = zoo.QueryReductionNetwork.from_examples(stories, units=4)
        >>> model.compile(jit_compile=False)
        >>> zoo.training.evaluate(model, model.batches(stories))["count"]
        8
    """
    batches = as_batches(model, batches)
    wrong: dict[int, Any] = {}
    total, known = 0.0, 0
    # Models may be compiled with a list or dictionary of their only loss.
    loss = keras.losses.get(keras.tree.flatten(model.loss)[0])
    losses_of = loss.call if isinstance(loss, keras.losses.Loss) else loss
    probabilities, hits = [], []
    for index, logits, answers, weights in predicted_logits(model, batches):
        losses = keras.ops.convert_to_numpy(losses_of(answers, logits))
        scaled = logits / getattr(model, "temperature", 1.0)
        # 0 is an unknown answer, or an unknown word of an answer, and never the best.
        if answers.ndim > weights.ndim:
            best, logs = (each[:, 0] for each in best_sequences(scaled, 1))
            right = (best == answers).all(axis=-1)
        else:
            best = 1 + np.argmax(logits[..., 1:], axis=-1)
            logs = scipy.special.log_softmax(scaled[..., 1:], axis=-1).max(axis=-1)
            right = best == answers
        # Logits are NaN if training diverged.
        right &= ~np.isnan(logs)
        counts = weights > 0
        probabilities.append(np.exp(logs[counts]))
        hits.append(right[counts])
        learned = counts & (answers > 0).reshape(*weights.shape, -1).all(axis=-1)
        known += int(np.count_nonzero(learned))
        total += float(np.sum(losses[learned]))
        missed = counts & ~right
        wrong |= zip(batches.numbers(index)[missed].tolist(), best[missed], strict=True)
    told = np.concatenate(probabilities), np.concatenate(hits)
    count = len(told[0])
    scores: dict[str, Any] = {
        "accuracy": 1 - len(wrong) / count,
        "loss": total / max(known, 1),
        "count": count,
        "calibration_error": expected_calibration_error(*told),
        "wrong": sorted(wrong),
    }
    if texts:
        scores["predicted"] = [_text(batches, number, wrong[number]) for number in scores["wrong"]]
    return scores


def expected_calibration_error(
    probabilities: np.ndarray, right: np.ndarray, bins: int = 15
) -> float:
    """Computes the expected calibration error, `Σ_b |b| / n · |acc_b − conf_b|`.

    Args:
        probabilities: probabilities of the best answers, `(questions,)`.
        right: whether these are right.
        bins: number of bins of equal width for the probabilities.

    Reference: [Naeini et al., AAAI 2015](https://doi.org/10.1609/aaai.v29i1.9602).

    Example:
        >>> round(zoo.training.expected_calibration_error([0.9, 0.9, 0.6], [True, False, True]), 3)
        0.4
    """
    # Probabilities are NaN if training diverged.
    probabilities = np.nan_to_num(np.asarray(probabilities, "float64"))
    bin_of = np.minimum((probabilities * bins).astype(int), bins - 1)
    gaps = np.bincount(bin_of, np.asarray(right) - probabilities, bins)
    return float(np.abs(gaps).sum() / max(len(probabilities), 1))


def as_batches(model: Any, examples: Any) -> Any:
    """Returns `Batches` as they are, and those of a list of examples."""
    return model.batches(examples) if isinstance(examples, list | tuple) else examples


def predicted_logits(model: Any, batches: Any) -> Iterator[tuple[int, Any, Any, Any]]:
    """Yields the index of each batch, its logits, answers and weights."""
    for index in range(len(batches)):
        features, answers, weights = batches[index]
        logits = first_replica(model.predict_on_batch(features), len(answers))
        yield index, _present(logits, batches, index), answers, weights


def _present(logits: np.ndarray, batches: Any, index: int) -> np.ndarray:
    """Masks the logits of free symbols that are no word of their text, as `read` does."""
    known: Any = getattr(batches, "preprocessor", None)
    if not getattr(known, "symbol_answers", ()):
        return logits
    rows = [batches.encoded[number] for number in batches.batches[index][0]]
    pairs = zip(logits[: len(rows)], map(known.answers_of, rows), strict=True)
    present = [present_logits(*pair) for pair in pairs]
    return np.concatenate([present, logits[len(rows) :]])


def _text(batches: Any, number: int, best: Any) -> str:
    """Returns the text of an answer by the number of its example or, for a tagger, its word."""
    known = batches.preprocessor.answers
    if not batches.preprocessor.tags:
        known = batches.preprocessor.answers_of(batches.encoded[number])
    # A passage may have fewer candidates than the model has outputs.
    return answer_text([n if n < len(known) else 0 for n in np.ravel(best)], known)
