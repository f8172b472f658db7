"""Scores of a model on a part of the data."""

from typing import Any

import keras
import numpy as np

from keras_corefmem.preprocessing.answers import answer_text, best_sequences
from zoo.architectures.devices import first_replica


def evaluate(model: Any, batches: Any, texts: bool = False) -> dict[str, Any]:
    """Scores a compiled model on every question, or on every word that is tagged.

    Args:
        model: a compiled model.
        batches: its `Batches`.
        texts: whether to return the wrong answers too.

    Returns:
        A dictionary: `accuracy`, `loss` (the mean), `count`, and `wrong`, the indices of the
        answers that are wrong; with `texts`, `predicted`, the text of each of these.

    Example:
        >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
        >>> model = zoo.QueryReductionNetwork.from_examples(stories, units=4)
        >>> model.compile(jit_compile=False)
        >>> zoo.training.evaluate(model, model.batches(stories))["count"]
        8
    """
    wrong: dict[int, Any] = {}
    total, count = 0.0, 0
    loss = keras.losses.get(model.loss)
    losses_of = loss.call if isinstance(loss, keras.losses.Loss) else loss
    for index in range(len(batches)):
        features, answers, weights = batches[index]
        logits = first_replica(model.predict_on_batch(features), len(answers))
        losses = keras.ops.convert_to_numpy(losses_of(answers, logits))
        # Number 0 is an unknown answer, or an unknown word of one.
        if answers.ndim > weights.ndim:
            best = best_sequences(logits, 1)[0][:, 0]
            right = ((best == answers) & (answers > 0)).all(axis=-1)
        else:
            best = np.argmax(logits, axis=-1)
            right = (best == answers) & (answers > 0)
        count += int(np.count_nonzero(weights))
        total += float(np.sum(losses[weights > 0]))
        missed = (weights > 0) & ~right
        wrong |= zip(batches.numbers(index)[missed].tolist(), best[missed], strict=True)
    scores: dict[str, Any] = {
        "accuracy": 1 - len(wrong) / count,
        "loss": total / count,
        "count": count,
    }
    scores["wrong"] = sorted(wrong)
    if texts:
        scores["predicted"] = [_text(batches, number, wrong[number]) for number in scores["wrong"]]
    return scores


def _text(batches: Any, number: int, best: Any) -> str:
    """The text of an answer, by the number of the example or, of a tagger, of the word."""
    known = batches.preprocessor.answers
    if not batches.preprocessor.tags:
        known = batches.preprocessor.answers_of(batches.encoded[number])
    # A passage may have fewer candidates than the model has room for.
    return answer_text([n if n < len(known) else 0 for n in np.ravel(best)], known)
