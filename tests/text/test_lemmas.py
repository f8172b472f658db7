import pytest
import spacy

from keras_corefmem.graphs import get_lemmatizer


@pytest.mark.parametrize(
    "word, lemma",
    [
        ("mice", "mouse"),
        ("wolves", "wolf"),
        ("cats", "cat"),
        ("sheep", "sheep"),
        ("gertrude", "gertrude"),
        ("john", "john"),
        ("John", "John"),
        (".", "."),
        *(("mice2", "mouse2"), ("wolves2", "wolf2"), ("2", "2"), ("john2", "john2")),
    ],
)
def test_english_lemmas_keep_numbers(word, lemma):
    assert get_lemmatizer("en")(word) == lemma


def test_spacy_pipeline_gives_its_lemmas(ud_pipeline):
    lemmatizer = get_lemmatizer(ud_pipeline)
    assert [lemmatizer(word) for word in ("mice", "wolves", "sheep")] == ["mouse", "wolf", "sheep"]


@pytest.mark.parametrize(
    ("name", "lemma"),
    [
        (None, "wolves"),
        ("none", "wolves"),
        (spacy.blank("en"), "wolves"),
        (lambda word: word[:2], "wo"),
    ],
)
def test_what_gives_no_lemmas_keeps_words(name, lemma):
    assert get_lemmatizer(name)("wolves") == lemma


@pytest.mark.parametrize("name, message", [("xx", "language 'xx'"), (3, "got 3")])
def test_unknown_names_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        get_lemmatizer(name)
