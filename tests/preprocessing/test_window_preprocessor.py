import dataclasses
import random

import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.passages import cnn
from keras_corefmem.datasets.passages.cnn import ClozeExample
from keras_corefmem.preprocessing.story_preprocessor import StoryPreprocessor
from keras_corefmem.preprocessing.window_preprocessor import (
    WindowPreprocessor,
    cloze_words,
    fit_sentences,
)


def cloze(sentences, question, answer):
    return ClozeExample(
        sentences, question, answer, candidates=cnn.find_markers(" ".join(sentences))
    )


EXAMPLES = [
    cloze(
        ("( @entity0 ) -- @entity1 met @entity3 .", '" why ?', "\" asked @entity1 's friend"),
        "in may @placeholder talked to @entity3 and @placeholder !",
        "@entity1",
    ),
    cloze(("it was @entity0",), "@placeholder was it", "@entity0"),
    cloze(("rain .", "more rain .", "@entity2 !"), "it rained on @placeholder", "@entity2"),
]
WORDS = sorted({*" ".join(f"{e.passage} {e.question}" for e in EXAMPLES).split()})


@pytest.fixture(scope="module", params=[1, 3])
def preprocessor(request):
    return WindowPreprocessor.fit(EXAMPLES, half_width=request.param, max_windows=4)


def windows(tokens, is_centre, half_width):
    """Windows as lists of strings, `""` beyond the text, straight from their definition."""
    found = []
    for centre in range(len(tokens)):
        if is_centre(tokens[centre]):
            places = range(centre - half_width, centre + half_width + 1)
            found.append([tokens[n] if 0 <= n < len(tokens) else "" for n in places])
    return found


def decoded(preprocessor, rows):
    return [preprocessor.vocabulary.decode(row) for row in rows]


def random_text(rng, length, words):
    return " ".join(rng.choice(words) for _ in range(length))


def test_a_golden_window():
    preprocessor = WindowPreprocessor.fit(EXAMPLES, half_width=2)
    encoded = preprocessor.encode(EXAMPLES[0])
    assert [" ".join(window) for window in decoded(preprocessor, encoded.sentences)] == [
        " ( @entity0 ) --",
        ") -- @entity1 met @entity3",
        '@entity1 met @entity3 . "',
        "\" asked @entity1 's friend",
    ]
    (question,) = decoded(preprocessor, [encoded.question])
    assert question == ["in", "may", "@placeholder", "talked", "to"]
    assert preprocessor.answers[encoded.answer] == "@entity1"
    assert encoded.supporting_facts == ()


def test_windows_of_random_texts(preprocessor):
    rng, lengths = random.Random(0), []
    for length in (1, 2, 5, 9, 40):
        for _ in range(20):
            passage = random_text(rng, length, [*WORDS, "@entity0", "@entity2"]) + " @entity1"
            question = random_text(rng, length, WORDS) + " @placeholder"
            encoded = preprocessor.encode_text(passage, question)
            for text, rows, is_centre, most in (
                (passage, encoded.sentences, lambda word: word.startswith("@entity"), 4),
                (question, [encoded.question], lambda word: word == "@placeholder", 1),
            ):
                wanted = windows(text.split(), is_centre, preprocessor.half_width)[:most]
                assert decoded(preprocessor, rows) == wanted
            lengths.append(len(encoded.sentences))
    assert {1, 2, 3, 4} == set(lengths)


def test_all_numbers_up_to_the_highest_are_words_and_answers():
    words, answers = cloze_words(EXAMPLES[:2])
    assert answers == [f"@entity{number}" for number in range(4)]
    assert words[:5] == ["@placeholder", *answers]
    texts = [text for e in EXAMPLES[:2] for text in (e.passage, e.question)]
    assert set(words) == {*answers, *" ".join(texts).split()}
    assert cloze_words(EXAMPLES, markers=7)[1] == [f"@entity{number}" for number in range(7)]
    assert cloze_words(EXAMPLES, max_words=2)[0][5:] == [".", "it"]


def test_markers_beyond_those_that_are_known_are_unknown_words():
    preprocessor = WindowPreprocessor.fit(EXAMPLES[1:2], half_width=1)
    assert preprocessor.answers[1:] == ["@entity0"]
    encoded = preprocessor.encode(cloze(("@entity9 was @entity0",), "@placeholder", "@entity9"))
    assert decoded(preprocessor, encoded.sentences) == [["was", "@entity0", ""]]
    assert encoded.answer == 0


def test_sentences_are_as_long_as_the_longest_up_to_a_limit():
    preprocessor = fit_sentences(EXAMPLES)
    assert type(preprocessor) is StoryPreprocessor
    assert preprocessor.sentence_length == max(
        len(text.split()) for e in EXAMPLES for text in (*e.sentences, e.question)
    )
    rows = decoded(preprocessor, preprocessor.encode(EXAMPLES[0]).sentences)
    assert [" ".join(row).strip() for row in rows] == list(EXAMPLES[0].sentences)
    short = fit_sentences(EXAMPLES, max_length=3, max_sentences=2, max_words=5)
    encoded = short.encode(EXAMPLES[2])
    assert decoded(short, encoded.sentences)[-1] == ["@entity2", "!", ""]
    assert encoded.sentences.shape == (2, 3) and len(encoded.question) == 3
    assert len(short.vocabulary) == 2 + 5 + 5


def test_the_first_sentences_may_lack_entities(preprocessor):
    told = dataclasses.replace(EXAMPLES[2], sentences=EXAMPLES[2].sentences[:2])
    encoded = preprocessor.encode(told)
    assert encoded.sentences.shape == (1, preprocessor.sentence_length)
    assert not encoded.sentences.any()
    assert encoded.question.any() and preprocessor.answers[encoded.answer] == "@entity2"


@pytest.mark.parametrize(
    "passage, question, message",
    [
        ("rain .", "who met @placeholder", "The passage has no entity that is an answer of the re"),
        ("@entity77 .", "who met @placeholder", "The passage has no entity that is an answer"),
        ("@entity0 .", "who met it", "The question has no @placeholder: write it where the answer"),
    ],
)
def test_texts_that_cannot_be_read_are_refused(preprocessor, passage, question, message):
    with pytest.raises(ValueError, match=message):
        preprocessor.encode_text(passage, question)


def test_bad_arguments_are_refused():
    story = Example(("Mary left.",), "Who left?", "Mary", source="qa1.txt:2")
    with pytest.raises(ValueError, match="'Mary' of qa1.txt:2 is none of the 0 markers @entity0"):
        WindowPreprocessor.fit([story])
    with pytest.raises(ValueError, match="'@entity2' of an example is none of the 2 markers"):
        WindowPreprocessor.fit(EXAMPLES, markers=2)
    with pytest.raises(ValueError, match="question of a.question:5 has no @placeholder"):
        question = Example(("@entity0 left .",), "who left", "@entity0", source="a.question:5")
        WindowPreprocessor.fit(EXAMPLES).encode(question)
    with pytest.raises(ValueError, match="words lacks @placeholder: learn them with"):
        WindowPreprocessor(["@entity0"], ["@entity0"])


def test_real_questions(real_cnn):
    examples = real_cnn[1]
    preprocessor, plain = WindowPreprocessor.fit(examples), fit_sentences(examples)
    assert preprocessor.answers[1:] == [f"@entity{number}" for number in range(34)]
    for example in examples:
        encoded, tokens = preprocessor.encode(example), example.passage.split()
        wanted = windows(tokens, lambda word: word.startswith("@entity"), 4)
        assert decoded(preprocessor, encoded.sentences) == wanted
        assert encoded.question[4] == preprocessor.vocabulary.encode(["@placeholder"])[0]
        assert preprocessor.answers[encoded.answer] == example.answer
        assert isinstance(example, ClozeExample) and len(wanted) >= len(example.candidates)
        rows = decoded(plain, plain.encode(example).sentences)
        assert [" ".join(row).strip() for row in rows] == list(example.sentences)
