import numpy as np
import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.preprocessing.sentence_preprocessor import SentencePreprocessor

TAGGED = [
    Sentence(("The", "dog", "barks", "."), ("DT", "NN", "VBZ", ".")),
    Sentence(("Dogs", "the", "the", "bark", "."), ("NNS", "DT", "DT", "VB", ".")),
]
LABELLED = [
    Sentence(("Great", "film"), "positive"),
    Sentence(("film",), "neutral", is_root=False),
    Sentence(("bad", "film"), "negative"),
]


def test_words_and_labels_are_learned_from_sentences():
    preprocessor = SentencePreprocessor.fit(LABELLED)
    assert preprocessor.vocabulary.words[2:] == ["film", "bad", "great"]
    assert preprocessor.answers == ["[unknown]", "negative", "neutral", "positive"]
    encoded = preprocessor.encode(LABELLED[0])
    assert encoded.words.tolist() == [4, 2] and encoded.answer == 3 and encoded.is_root
    assert encoded.characters is None and not preprocessor.tags
    assert preprocessor.encode(Sentence(("new",), "odd")).answer == 0


def test_a_cased_word_falls_back_on_its_lower_case():
    preprocessor = SentencePreprocessor.fit(TAGGED, lower_case=False)
    words = preprocessor.vocabulary.words
    assert {"The", "the", "Dogs"} < set(words) and "dogs" not in words
    ids = preprocessor.word_ids(("THE", "The", "Barks", "Cat"))
    assert [words[i] for i in ids] == ["the", "The", "barks", "[unknown]"]


def test_rare_words_are_unknown():
    preprocessor = SentencePreprocessor.fit(TAGGED, min_count=2)
    assert preprocessor.vocabulary.words[2:] == ["the", "."]
    encoded = preprocessor.encode(TAGGED[0])
    assert encoded.words.tolist() == [2, 1, 1, 3]
    assert [preprocessor.answers[n] for n in encoded.answer] == list(TAGGED[0].answer)


def test_a_special_in_a_text_is_an_unknown_word():
    sentence = Sentence(("[unknown]", "film"), "good")
    preprocessor = SentencePreprocessor.fit([sentence])
    assert preprocessor.encode(sentence).words.tolist() == [1, 2]


def test_words_are_spelt_as_they_are_written():
    preprocessor = SentencePreprocessor.fit(TAGGED, characters=True, word_length=5)
    spelt = preprocessor.spelling(("Dogs", "tagger", "x", "the-end"))
    letters = ["".join(preprocessor.spelling.vocabulary.decode(row)) for row in spelt]
    unknown = "[unknown]"
    known = set("".join(word for sentence in TAGGED for word in sentence.words))
    expected = ("Dogs", "tager", "x", "thend")
    assert letters == ["".join(c if c in known else unknown for c in word) for word in expected]
    assert "D" in known and spelt.shape == (4, 5) and spelt.dtype == np.int32


def test_raw_text_is_cut_into_words():
    preprocessor = SentencePreprocessor.fit(TAGGED)
    encoded = preprocessor.encode_text("The dog doesn't bark.")
    words = preprocessor.vocabulary.decode(encoded.words)
    assert words == ["the", "dog", "[unknown]", "[unknown]", "bark", "."]
    assert encoded.answer.tolist() == [0] * 6
    assert SentencePreprocessor.fit(LABELLED).encode_text("film").answer == 0


@pytest.mark.parametrize(
    "sentences, message",
    [
        ([TAGGED[0], LABELLED[0]], "all sentences a label, or all of them tags"),
        ([Example(("Mary left.",), "Who left?", "Mary")], "Example 0 is a passage with a quest"),
    ],
)
def test_what_it_cannot_learn_from_is_refused(sentences, message):
    with pytest.raises(ValueError, match=message):
        SentencePreprocessor.fit(sentences)


def test_sentences_of_another_preprocessor_are_refused():
    first, other = (
        SentencePreprocessor.fit([Sentence(words, "good")]) for words in (("a",), ("a", "film"))
    )
    row = other.encode_text("a film")
    assert other.collate([row], 1, 2)["words"].tolist() == [[2, 3]]
    with pytest.raises(ValueError, match="words of row 0 holds 3, which the model does not know"):
        first.collate([row], 1, 2)
