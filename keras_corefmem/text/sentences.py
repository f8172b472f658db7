"""Sentence boundaries in a list of tokens."""

from collections.abc import Sequence

from keras_corefmem.text.lexicons import ABBREVIATED_TITLES, is_abbreviation

OPENING = frozenset("\"'\u2018\u201c([`") | {"``"}
_CLOSING = frozenset("\"'\u2019\u201d)]") | {"''"}
_ENDS = frozenset(".?!\u2026")


def sentence_starts(tokens: Sequence[str], cased: bool = True) -> list[int]:
    """Finds the first tokens of sentences by punctuation.

    A sentence ends after `.`, `?`, `!` or `…` and any closing quotation marks and brackets, unless
    the full stop is that of an abbreviation (`Mr.`, initials) or, in `cased` text, a word in lower
    case follows (`"Why?" he said`).
    """
    starts, quoted = [0], False
    for index, token in enumerate(tokens[:-1]):
        # A straight quotation mark both opens and closes.
        quoted ^= token == '"'
        before = tokens[index - 1] if index else ""
        if token not in _ENDS or (token == "." and is_abbreviation(before, ABBREVIATED_TITLES)):
            continue
        following, closes = index + 1, _CLOSING if quoted else _CLOSING - {'"'}
        while following < len(tokens) and tokens[following] in (closes | _ENDS):
            closes = closes - {tokens[following]} if tokens[following] == '"' else closes
            following += 1
        if following < len(tokens) and not (cased and tokens[following][:1].islower()):
            starts.append(following)
    return sorted(set(starts))
