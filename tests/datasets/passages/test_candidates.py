import pytest

from keras_corefmem.datasets.passages.candidates import (
    as_in_passage,
    distinct_words,
    find_mentions,
)
from keras_corefmem.text.tokenizers import has_letters


def test_find_mentions_that_overlap():
    tokens = "new york city in new york".split()
    candidates = [["new", "york"], ["york", "city"], ["york"], [], ["boston"]]
    assert find_mentions(candidates, tokens) == [
        (0, 2, 1),
        (1, 3, 2),
        (1, 2, 3),
        (4, 6, 1),
        (5, 6, 3),
    ]


@pytest.mark.parametrize(
    ("token", "expected"),
    [("don't", True), ("7", True), ("é", True), ("``", False), (".", False), ("—", False)],
)
def test_has_letters(token, expected):
    assert has_letters(token) is expected


def test_distinct_words():
    assert distinct_words("so , so it was ; it".split()) == ("so", "it", "was")
    assert distinct_words([]) == ()


def test_candidates_are_found_however_they_are_cut():
    tokens = "the well-known o'brien met a known man".split()
    candidates = ["well - known o'brien".split(), ["o", "'", "brien"]]
    assert as_in_passage(candidates, tokens) == [tokens[1:3], ["o'brien"]]
    for absent in (["own"], ["well", "-"], ["known"], []):
        assert as_in_passage([absent], tokens) == [absent]
        assert as_in_passage([*candidates, absent], tokens) == [tokens[1:3], ["o'brien"], absent]
