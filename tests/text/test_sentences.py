import pytest

from keras_corefmem.text.sentences import sentence_starts


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("Why ? He left .", [0, 2]),
        ('" Why ? " he said . " No . " He left', [0, 7, 11]),
        ("'' Why ? '' He left", [0, 4]),
        ("J . Smith met Dr . Hall .", [0]),
        ("So do I . He left", [0, 4]),
        ("Why ? ! ?", [0]),
        (".", [0]),
        ("She said no . He left", [0, 4]),
        ("Sgt . Hall left .", [0]),
    ],
)
def test_sentences_end_at_punctuation(text, starts):
    tokens = text.split()
    assert sentence_starts(tokens) == starts


def test_small_letters_may_begin_sentences():
    tokens = "why ? he left . she ran".split()
    assert sentence_starts(tokens) == [0]
    assert sentence_starts(tokens, cased=False) == [0, 2, 5]
