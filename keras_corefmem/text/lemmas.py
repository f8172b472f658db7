"""Lemmatizers: one form for "mice" and "mouse"."""

import string
from collections.abc import Callable
from functools import cache
from typing import Any


def get_lemmatizer(name: Any = None) -> Callable[[str], str]:
    """Returns a function from a word to its lemma.

    Args:
        name: `None` or `"none"` leaves words as they are; a language code such as `"en"` looks
            lemmas up with simplemma; a spaCy pipeline gives its `token.lemma_`; any other
            callable from a word to a lemma is taken as it is.

    Returns:
        Callable from a string to a string. Lower-cased words have lower-cased lemmas.

    Raises:
        ValueError: if simplemma does not know the language, or `name` is none of these.

    Example:
        >>> lemmatize = keras_corefmem.text.get_lemmatizer("en")
        >>> lemmatize("mice"), lemmatize("John")
        ('mouse', 'John')
    """
    if name is None or name == "none":
        return str
    if isinstance(name, str):
        return _simplemma_lemmatizer(name)
    if hasattr(name, "pipe_names"):
        return _spacy_lemmatizer(name)
    if callable(name):
        return name
    raise ValueError(
        f"`name` must be None, a language code such as 'en', a spaCy pipeline or a callable; "
        f"got {name!r}."
    )


def _simplemma_lemmatizer(language: str) -> Callable[[str], str]:
    import simplemma

    try:
        simplemma.lemmatize("a", lang=language)
    except ValueError as error:
        raise ValueError(
            f"simplemma has no lemmas for language {language!r}; use a language code such as "
            "'en' or 'de', or None to leave words as they are."
        ) from error

    def lemmatizer(word: str) -> str:
        # bAbI-Mix numbers the words of its second world: "mice2" is "mouse2".
        stem = word.rstrip(string.digits) or word
        lemma = simplemma.lemmatize(stem, lang=language) + word[len(stem) :]
        # simplemma writes names with a capital: "john" becomes "John".
        return lemma.lower() if word.islower() else lemma

    return lemmatizer


def _spacy_lemmatizer(nlp: Any) -> Callable[[str], str]:
    @cache
    def lemmatizer(word: str) -> str:
        lemma = "".join(token.lemma_ or token.text for token in nlp(word))
        return lemma.lower() if word.islower() else lemma

    return lemmatizer
