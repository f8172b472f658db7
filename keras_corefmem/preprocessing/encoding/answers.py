"""Encoding and decoding of answers: classes, or sequences of words with an end."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keras_corefmem.datasets.example import UNKNOWN_ANSWER, Example
from keras_corefmem.datasets.sentences.sentence import Sentence

SEPARATOR = ","
END = "[end]"
# The answer to a question that its passage does not answer.
NO_ANSWER = "unknown"
# The logit of an answer that a text does not have.
ABSENT = -1e9


def check_kind(examples: Sequence[Example | Sentence], strings: Sequence[str]) -> None:
    """Checks that examples have the texts that a model reads, the `strings` of its preprocessor."""
    is_sentence = tuple(strings) == ("sentence",)
    for number, example in enumerate(examples):
        if isinstance(example, Sentence) == is_sentence:
            continue
        place = example.source or f"Example {number}"
        if is_sentence:
            raise ValueError(
                f"{place} is a passage with a question, but the model reads single sentences: give "
                "`Sentence`s, such as those of sst or pos, or strings."
            )
        raise ValueError(
            f"{place} is a single sentence, but the model answers questions about passages: give a "
            "list of (passage, question, answer), or take a SentenceDynamicMemoryNetwork for "
            "sentences."
        )


def encode_answer(answer: str | None, numbers: Mapping[str, int], length: int) -> np.ndarray:
    """Encodes an answer as the numbers of its words, padded with the end up to `length`."""
    words = [] if answer in (None, UNKNOWN_ANSWER) else answer.split(SEPARATOR)
    if not 0 < len(words) < length:
        return np.zeros(length, "int32")
    ends = [END] * (length - len(words))
    return np.array([numbers.get(word, 0) for word in (*words, *ends)], "int32")


def answer_text(numbers: Sequence[int], answers: Sequence[str]) -> str:
    """Joins the words of an answer up to its end."""
    return SEPARATOR.join(answers[n] for n in numbers if answers[n] != END)


def best_answer(logits: np.ndarray, answers: Sequence[str]) -> tuple[str, float]:
    """Returns the most probable of the answers that a text has, and its probability.

    Args:
        logits: float32 `(answers,)`, or `(steps, words)`.
        answers: texts by number, `""` for those that the text does not have.

    Example:
        >>> best_answer = keras_corefmem.preprocessing.best_answer
        >>> best_answer(np.log([1e-9, 0.25, 0.75]), ["[unknown]", "garden", "kitchen"])
        ('kitchen', 0.7...)
    """
    sequences, logs = best_sequences(present_logits(logits, answers)[None], 1)
    return answer_text(sequences[0, 0], answers), float(np.exp(logs[0, 0]))


def present_logits(logits: np.ndarray, answers: Sequence[str]) -> np.ndarray:
    """Masks the logits of answers that a text does not have, those whose own text is empty."""
    absent = [n for n, answer in enumerate(answers) if not answer]
    if absent:
        logits = logits.copy()
        logits[..., absent] = ABSENT
    return logits


def best_tags(
    logits: np.ndarray, answers: Sequence[str]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Returns the most probable tag of each word, and their probabilities.

    Args:
        logits: float32 `(words, answers)`.
        answers: texts by number.

    Example:
        >>> best_tags = keras_corefmem.preprocessing.best_tags
        >>> best_tags(np.array([[0.0, 9, 1], [0, 1, 9]]), ["[unknown]", "NN", "VB"])[0]
        ('NN', 'VB')
    """
    numbers, logs = best_sequences(logits, 1)
    return tuple(answers[n] for n in numbers[:, 0, 0]), tuple(np.exp(logs[:, 0]).tolist())


def best_sequences(logits: Any, top: int, xp: Any = np) -> tuple[Any, Any]:
    """Finds the most probable answers.

    The probability of an answer of several words is the product of those of its words and its end.
    It has at least one word. A class is an answer of one word without an end.

    Args:
        logits: `(batch, answers)` or `(batch, steps, words)`, the end last; 0 is never chosen.
        top: number of answers.
        xp: `numpy`, or a `GraphNumpy` inside a graph.

    Returns:
        Numbers of the words `(batch, top, steps)` and log probabilities `(batch, top)`, best first.

    Example:
        >>> numbers, logs = keras_corefmem.preprocessing.best_sequences(np.array([[9.0, 1, 2]]), 2)
        >>> numbers[0, :, 0], np.exp(logs[0]).round(2)
        (array([2, 1]), array([0.73, 0.27]))
    """
    several = len(logits.shape) == 3
    logits = logits[..., 1:] if several else logits[:, None, 1:]
    logits = logits - xp.max(logits, axis=-1, keepdims=True)
    logs = logits - xp.log(xp.sum(xp.exp(logits), axis=-1, keepdims=True))
    steps, words = logits.shape[1], logits.shape[2] - several
    scores, chosen = _best(logs[:, 0, :words], top, xp)
    sequences, ended = [chosen], []
    # Steps are independent: the best answers of a length extend the best of the length before.
    for step in range(1, steps):
        end = xp.zeros_like(chosen) + words
        ended.append((scores + logs[:, step, words:], [*sequences, *[end] * (steps - step)]))
        further = scores[..., None] + logs[:, step, None, :words]
        scores, chosen = _best(xp.reshape(further, (-1, top * words)), top, xp)
        parent = chosen // words
        sequences = [xp.take_along_axis(column, parent, axis=1) for column in sequences]
        sequences.append(chosen % words)
    ended.append((scores, sequences))
    scores, order = _best(xp.concatenate([each for each, _ in ended], axis=1), top, xp)
    columns = [
        xp.take_along_axis(xp.concatenate(list(column), axis=1), order, axis=1)
        for column in zip(*(columns for _, columns in ended), strict=True)
    ]
    return xp.stack(columns, axis=-1) + 1, scores


def _best(scores: Any, top: int, xp: Any) -> tuple[Any, Any]:
    """Returns the highest scores of each row, and where they are."""
    order = xp.argsort(-scores, axis=-1, kind="stable")[:, :top]
    return xp.take_along_axis(scores, order, axis=-1), order
