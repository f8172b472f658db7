"""Answers to questions on raw text."""

import dataclasses
import warnings

import numpy as np

from keras_corefmem.preprocessing.answers import END, answers_of, best_sequences, join_words

BATCH_SIZE = 32
MULTIPLE = 8


@dataclasses.dataclass(frozen=True)
class Reading:
    """What a reader makes of one question.

    Args:
        answer: the best answer.
        probability: its probability.
        answers: tuple of the best answers, best first.
        probabilities: tuple of their probabilities.
        unknown_words: tuple of the words, of passage and question, that the reader does not know.
    """

    answer: str
    probability: float
    answers: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: tuple[str, ...]


def preprocessor_of(model):
    """The preprocessor of a reader.

    Raises:
        ValueError: if the model is no reader, or has no preprocessor.
    """
    if not hasattr(model, "preprocessor"):
        raise ValueError(
            f"{type(model).__name__} is not a reader: pass a model of the zoo, such as "
            "GatedAttentionReader."
        )
    if model.preprocessor is None:
        raise ValueError(
            f"{model.name} has no preprocessor and reads ids alone: build it with "
            "preprocessor=Preprocessor.fit(examples) to read text."
        )
    return model.preprocessor


def number_of_answers(preprocessor, top):
    """How many answers to give, of `top` that are wanted."""
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top}.")
    # The unknown answer is none, nor is the end of one.
    return min(top, len(preprocessor.answers) - 1 - (preprocessor.answers[-1] == END))


def read(model, passages, questions, top=5):
    """Answers questions on passages of raw text.

    Words outside the vocabulary are read as unknown, with one warning that names them.

    Args:
        model: a reader with a preprocessor.
        passages: a string, or a list of strings.
        questions: as many strings. A single string goes with every element of a list.
        top: how many answers to give, at most all that the reader knows.

    Returns:
        A `Reading` for two strings, otherwise a list of them.

    Raises:
        ValueError: if a passage or question is empty, their numbers differ, or the model has no
            preprocessor.
    """
    preprocessor = preprocessor_of(model)
    top = number_of_answers(preprocessor, top)
    if isinstance(passages, str) and isinstance(questions, str):
        return _read([passages], [questions], model, preprocessor, top)[0]
    if isinstance(passages, str):
        passages = [passages] * len(questions)
    elif isinstance(questions, str):
        questions = [questions] * len(passages)
    if len(passages) != len(questions):
        raise ValueError(f"There are {len(passages)} passages, but {len(questions)} questions.")
    return _read(passages, questions, model, preprocessor, top) if passages else []


def unknown_words(preprocessor, passages, questions, stacklevel=2):
    """The words of each passage and question that a reader does not know; warns of all of them."""
    unknown = []
    for passage, question in zip(passages, questions, strict=True):
        tokens = preprocessor.tokenizer(f"{passage} {question}")
        vocabulary = preprocessor.vocabulary
        unknown.append(without_id(vocabulary, tokens, vocabulary.encode(tokens)))
    warn_of(unknown, stacklevel + 1)
    return unknown


def _read(passages, questions, model, preprocessor, top):
    pairs = zip(passages, questions, strict=True)
    encoded = [preprocessor.encode_text(passage, question) for passage, question in pairs]
    unknown = unknown_words(preprocessor, passages, questions, stacklevel=5)
    answers = [answers_of(each, preprocessor) for each in encoded]
    return readings_of(logits_of(model, encoded), unknown, answers, top)


def readings_of(logits, unknown, answers, top):
    """A list of `Reading`s.

    Args:
        logits: list of logits `(answers,)`, or `(steps, words)`.
        unknown: the unknown words of each.
        answers: the answers by number of each; what has none is left out.
        top: number of answers.
    """
    sequences, logs = best_sequences(np.stack(logits), top)
    readings = []
    for rows, odds, words, known in zip(sequences, np.exp(logs), unknown, answers, strict=True):
        there = [n for n, row in enumerate(rows) if np.max(row) < len(known)]
        texts = tuple(join_words(rows[n], known) for n in there)
        readings.append(
            Reading(texts[0], odds[0].item(), texts, tuple(odds[there].tolist()), words)
        )
    return readings


def without_id(vocabulary, tokens, ids):
    """The tokens that have no id of their own, each once."""
    unknown = vocabulary.is_unknown(ids)
    return tuple(dict.fromkeys(np.array(tokens, "object")[unknown].tolist()))


def warn_of(unknown, stacklevel):
    """Warns of unknown words, tuples of them for each text."""
    if any(unknown):
        words = ", ".join(repr(word) for word in dict.fromkeys(sum(unknown, ())))
        warnings.warn(f"The reader does not know these words: {words}.", stacklevel=stacklevel)


def logits_of(model, encoded):
    """Logits `(…, answers)` of each example, float32, in their order."""
    longest = max(len(example.question) for example in encoded)
    batches = model.BATCHES(
        encoded,
        model.preprocessor,
        model.features,
        question_length=-(-longest // MULTIPLE) * MULTIPLE,
        batch_size=min(BATCH_SIZE, len(encoded)),
    )
    rows = [row for n in range(len(batches)) for row in model.inspect(batches[n][0])[0]]
    return [rows[n] for n in np.argsort(batches.order)]
