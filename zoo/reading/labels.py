"""Labels of raw sentences, and tags of their words."""

import dataclasses

from keras_corefmem.preprocessing.answers import best_tags
from zoo.reading.answers import (
    logits_of,
    number_of_answers,
    preprocessor_of,
    readings_of,
    warn_of,
    without_id,
)


@dataclasses.dataclass(frozen=True)
class Tagging:
    """What a tagger makes of one sentence.

    Args:
        words: tuple of its words, as the tokenizer cuts them.
        tags: tuple of the best tag of each word.
        probabilities: tuple of their probabilities.
        unknown_words: tuple of the words that the tagger does not know.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: tuple[str, ...]


def read(model, sentences, top=5):
    """Labels raw sentences, or their words.

    Words outside the vocabulary are read as unknown, with one warning that names them.

    Args:
        model: a model of single sentences, with a preprocessor.
        sentences: a string, or a list of strings.
        top: how many answers to give, at most all that the model knows; a tagger gives one a word.

    Returns:
        For a string a `zoo.Reading`, or a `zoo.Tagging` from a tagger; for a list a list of them.

    Raises:
        ValueError: if a sentence is empty, or the model has no preprocessor.
    """
    preprocessor = preprocessor_of(model)
    top = number_of_answers(preprocessor, top)
    if isinstance(sentences, str):
        return _read([sentences], model, preprocessor, top)[0]
    return _read(sentences, model, preprocessor, top) if len(sentences) else []


def _read(sentences, model, preprocessor, top):
    encoded = [preprocessor.encode_text(sentence) for sentence in sentences]
    tokens = list(map(preprocessor.tokenizer, sentences))
    pairs = zip(tokens, encoded, strict=True)
    unknown = [without_id(preprocessor.vocabulary, words, e.words) for words, e in pairs]
    warn_of(unknown, stacklevel=5)
    logits = logits_of(model, encoded)
    if not preprocessor.tags:
        return readings_of(logits, unknown, [preprocessor.answers] * len(logits), top)
    rows = zip(logits, tokens, unknown, strict=True)
    return [
        Tagging(tuple(words), *best_tags(row[: len(words)], preprocessor.answers), new)
        for row, words, new in rows
    ]
