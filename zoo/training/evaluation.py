"""Scores of a model on a part of the data."""

from typing import Any

import keras
import numpy as np

from keras_corefmem.preprocessing.answers import best_sequences
from zoo.architectures.devices import first_replica


def evaluate(model: Any, batches: Any) -> dict[str, Any]:
    """Scores a compiled model on every question, or on every word that is tagged.

    Args:
        model: a compiled model.
        batches: its `Batches`.

    Returns:
        A dictionary: `accuracy`, `loss` (the mean), `count`, and `wrong`, the indices of the
        answers that are wrong.

    Example:
        >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
        >>> model = zoo.QueryReductionNetwork.from_examples(stories, units=4)
        >>> model.compile(jit_compile=False)
        >>> zoo.training.evaluate(model, model.batches(stories))["count"]
        8
    """
    wrong: list[int] = []
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
            right = (np.argmax(logits, axis=-1) == answers) & (answers > 0)
        count += int(np.count_nonzero(weights))
        total += float(np.sum(losses[weights > 0]))
        wrong += batches.numbers(index)[(weights > 0) & ~right].tolist()
    return {
        "accuracy": 1 - len(wrong) / count,
        "loss": total / count,
        "count": count,
        "wrong": sorted(wrong),
    }
