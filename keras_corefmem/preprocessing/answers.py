"""Answers as numbers, and back: classes, or sequences of words with an end."""

import numpy as np

SEPARATOR = ","
END = "[end]"


def encode_words(answer, numbers, length):
    """An answer as the numbers of its words and, up to `length`, the end.

    Args:
        answer: words, joined by commas; `None` for an unknown one.
        numbers: dictionary from words to numbers, `END` among them. Number 0 is an unknown word.
        length: largest number of words, with the end.

    Returns:
        int32 `(length,)`; all 0 where the answer is unknown or too long.
    """
    words = [] if answer is None else answer.split(SEPARATOR)
    if not 0 < len(words) < length:
        return np.zeros(length, "int32")
    ends = [END] * (length - len(words))
    return np.array([numbers.get(word, 0) for word in (*words, *ends)], "int32")


def join_words(row, answers):
    """The text of an answer from the numbers of its words; the end says nothing."""
    return SEPARATOR.join(answers[n] for n in row if answers[n] != END)


def answers_of(encoded, preprocessor):
    """Texts of the answers by number to one question.

    Args:
        encoded: the question, as the preprocessor encodes it. Where it has `candidates` of its own,
            its answers are the unknown one and these.
        preprocessor: its preprocessor.
    """
    candidates = getattr(encoded, "candidates", None)
    return preprocessor.answers if candidates is None else [preprocessor.answers[0], *candidates]


def best_answer(logits, answers):
    """The text of the best answer and its probability.

    Args:
        logits: float32 `(answers,)`, or `(steps, words)`.
        answers: texts by number.
    """
    sequences, logs = best_sequences(logits[None], 1)
    return join_words(sequences[0, 0], answers), float(np.exp(logs[0, 0]))


def best_tags(logits, answers):
    """The text of the best answer for each word, and their probabilities.

    Args:
        logits: float32 `(words, answers)`.
        answers: texts by number.
    """
    numbers, logs = best_sequences(logits, 1)
    return tuple(answers[n] for n in numbers[:, 0, 0]), tuple(np.exp(logs[:, 0]).tolist())


def best_sequences(logits, top, xp=np):
    """The most probable answers.

    An answer of several words is as probable as its words and its end together. It has at least
    one word. A class is an answer of one word without an end.

    Args:
        logits: float32 `(batch, answers)`, or `(batch, steps, words)` whose last word is the end.
            Number 0 is unknown and never chosen.
        top: number of answers.
        xp: `numpy`, or `tensorflow.experimental.numpy` inside a SavedModel.

    Returns:
        Numbers of the words `(batch, top, steps)`, and the logarithms of the probabilities of the
        answers `(batch, top)`, best first.
    """
    several = len(logits.shape) == 3
    logits = logits[..., 1:] if several else logits[:, None, 1:]
    logits = logits - xp.max(logits, axis=-1, keepdims=True)
    logs = logits - xp.log(xp.sum(xp.exp(logits), axis=-1, keepdims=True))
    steps, words = logits.shape[1], logits.shape[2] - several
    scores, chosen = _best(logs[:, 0, :words], top, xp)
    sequences, ended = [chosen], []
    # Steps do not depend on what was chosen before: the best answers of a length go on from the
    # best ones of the length before.
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
    columns = zip(*(columns for _, columns in ended), strict=True)
    columns = [xp.concatenate(list(column), axis=1) for column in columns]
    columns = [xp.take_along_axis(column, order, axis=1) for column in columns]
    return xp.stack(columns, axis=-1) + 1, scores


def _best(scores, top, xp):
    """The highest scores of each row, and where they are."""
    order = xp.argsort(-scores, axis=-1, kind="stable")[:, :top]
    return xp.take_along_axis(scores, order, axis=-1), order
