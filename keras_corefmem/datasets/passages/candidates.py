"""Candidates for the answer to a question, and their mentions in the passage."""

import collections
import itertools
from collections.abc import Iterable, Mapping, Sequence

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


def as_in_passage(candidates: list[list[str]], tokens: list[str]) -> list[list[str]]:
    """Returns each candidate in the tokens that spell it in a passage; its own if none do."""
    present = {number for *_, number in find_mentions(candidates, tokens)}
    if len(present) == len(candidates):
        return candidates
    text, ends = "".join(tokens), itertools.accumulate(map(len, tokens), initial=0)
    places = {end: n for n, end in enumerate(ends)}
    return [
        candidate if number in present else _span(text, places, tokens, candidate) or candidate
        for number, candidate in enumerate(candidates, 1)
    ]


def _span(
    text: str, places: Mapping[int, int], tokens: list[str], candidate: list[str]
) -> list[str]:
    """Returns the first tokens that together spell a candidate, none if there are none."""
    spelling = "".join(candidate)
    start = text.find(spelling)
    while start >= 0:
        if {start, end := start + len(spelling)} <= places.keys():
            return tokens[places[start] : places[end]]
        start = text.find(spelling, start + 1)
    return []
