"""Candidates for the answer to a question, and their mentions in the passage."""

import collections
import itertools
from collections.abc import Iterable, Sequence

from keras_corefmem.text.tokenizers import has_letters


def distinct_words(tokens: Iterable[str]) -> tuple[str, ...]:
    """Returns the distinct tokens except punctuation, in the order of their first occurrence."""
    return tuple(dict.fromkeys(filter(has_letters, tokens)))


def find_mentions(
    candidates: Sequence[Sequence[str]], tokens: Sequence[str]
) -> list[tuple[int, int, int]]:
    """Finds mentions of candidates, numbered from 1: `(start, end, number)`, which may overlap."""
    starting = collections.defaultdict(list)
    for number, candidate in enumerate(candidates, 1):
        if candidate:
            starting[candidate[0]].append((candidate, number))
    return [
        (start, start + len(candidate), number)
        for start, token in enumerate(tokens)
        for candidate, number in starting.get(token, ())
        if tokens[start : start + len(candidate)] == candidate
    ]


def as_in_passage(candidate: list[str], tokens: list[str]) -> list[str]:
    """Returns the tokens that spell a candidate which is cut otherwise, or itself without any."""
    if find_mentions([candidate], tokens):
        return candidate
    text, spelling = "".join(tokens), "".join(candidate)
    place = {end: n for n, end in enumerate(itertools.accumulate(map(len, tokens), initial=0))}
    start = text.find(spelling)
    while start >= 0:
        if {start, end := start + len(spelling)} <= place.keys():
            return tokens[place[start] : place[end]]
        start = text.find(spelling, start + 1)
    return candidate
