"""Texts for language models."""

import numpy as np
import pytest

from keras_corefmem.datasets import Example, Sentence
from keras_corefmem.preprocessing import LanguagePreprocessor, as_text

TEXTS = [Sentence(("Mary", "saw", "Mary", "."), "one"), Sentence(("mary", "slept", "."), "two")]


def test_the_answer_of_a_word_is_the_word_itself():
    preprocessor = LanguagePreprocessor.fit(TEXTS, word_length=4)
    assert preprocessor.vocabulary.known == ["mary", ".", "saw", "slept"]
    encoded = preprocessor.encode(Sentence(("Mary", "ran", "."), ("any", "tags", "too")))
    answers = [preprocessor.answers[n] for n in encoded.answer]
    assert answers == ["mary", "[rare]", "."] and encoded.characters.shape == (3, 4)
    np.testing.assert_array_equal(encoded.answer, encoded.words)
    copy = LanguagePreprocessor.from_config(preprocessor.get_config())
    assert copy.get_config() == preprocessor.get_config() and copy.answers == preprocessor.answers


@pytest.mark.parametrize("options", [{"max_words": 2}, {"min_count": 2}])
def test_rare_words_are_spelled_but_not_predicted(options):
    preprocessor = LanguagePreprocessor.fit(TEXTS, **options)
    assert preprocessor.vocabulary.known == ["mary", "."]
    assert set("Marymsaw.slept") == set(preprocessor.characters)


def test_texts_of_examples():
    example = Example(("He ran .", "Then"), "he was", "late", source="a:1")
    words = ("he", "ran", ".", "then", "he", "was", "late")
    assert as_text(example) == Sentence(words, words) and as_text(example).source == "a:1"
    assert as_text(TEXTS[0]).answer == TEXTS[0].words
