"""Conversion of CoreNLP's offsets, which count UTF-16 code units, to characters of a text."""

import dataclasses
import unicodedata
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

Tokens = Sequence[dict[str, Any]]

CHARACTERS = "characterOffsetBegin", "characterOffsetEnd"
CODE_POINTS = "codepointOffsetBegin", "codepointOffsetEnd"
ORIGINAL = "originalText"
# Maximum number of characters between tokens, in total, that a file may leave out.
MOST_BETWEEN = 1_000_000


@dataclasses.dataclass(frozen=True)
class _Reading:
    """Offsets at which tokens begin and end, in the units in which `size` measures strings."""

    begins: list[int]
    ends: list[int]
    size: Callable[[str], int]


def units_before(text: str) -> list[int]:
    """Returns the number of UTF-16 code units before each character of a text, and in all of it."""
    return list(accumulate((1 + (c > "\uffff") for c in text), initial=0))


def find_tokens(tokens: Tokens, text: str) -> tuple[list[str], list[int]]:
    """Finds tokens in the text that was annotated.

    Returns:
        The words, and the character offset of each in the text.

    Raises:
        KeyError: if a token has no end offset.
        ValueError: if the text has another word where a token should be.
    """
    if not all(CHARACTERS[1] in token for token in tokens):
        raise KeyError(CHARACTERS[1])
    characters = [n for n, c in enumerate(text) for _ in range(1 + (c > "\uffff"))]
    expected = [token.get(ORIGINAL) or token.get("word") for token in tokens]
    best: tuple[list[str], list[int]] = [], []
    most = -1
    for reading in _readings(tokens):
        begins, ends = reading.begins, reading.ends
        if reading.size is _utf16_length and len(characters) > len(text):
            begins, ends = (_in_text(offsets, characters, text) for offsets in (begins, ends))
        words = [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
        equal = sum(word == other for word, other in zip(words, expected, strict=True))
        if equal > most:
            best, most = (words, begins), equal
    for number, (token, word, begin) in enumerate(zip(tokens, *best, strict=True)):
        original = token.get(ORIGINAL) or word
        if _letters(word) != _letters(original) or (original.strip() and not word.strip()):
            raise ValueError(
                f"token {number}, {original!r:.80}, is not at character {begin} of the text, where "
                f"{word!r:.80} is: pass the text that was annotated, unchanged."
            )
    return best


def put_together(tokens: Tokens) -> tuple[str, list[int]]:
    """Rebuilds a text from its tokens and the text that CoreNLP gives between them.

    Returns:
        The text, and the character offset of each token.

    Raises:
        ValueError: if tokens overlap, or are implausibly far apart.
    """
    reading = max(_readings(tokens), key=lambda reading: _fitting(tokens, reading))
    pieces, starts, length, end, padded = [], [], 0, 0, 0
    for number, (token, begin) in enumerate(zip(tokens, reading.begins, strict=True)):
        before, original = token.get("before", ""), token[ORIGINAL]
        if begin < end:
            raise ValueError(
                f"token {number}, {original!r:.80}, begins at {begin:,} where the token before "
                f"ends at {end:,}: annotate the text again."
            )
        padded += max(begin - end - reading.size(before), 0)
        if padded > MOST_BETWEEN:
            raise ValueError(
                f"{CHARACTERS[0]} is {begin:,} where the token before ends at {end:,}: "
                "correct it, or annotate the text again."
            )
        between = _fill(before, begin - end, reading.size)
        starts.append(length + len(between))
        length = starts[-1] + len(original)
        end = begin + reading.size(original)
        pieces += [between, original]
    return "".join(pieces) + (tokens[-1].get("after", "") if tokens else ""), starts


def _readings(tokens):
    """Returns the possible meanings of the offsets, the likeliest first.

    `characterOffset*` count UTF-16 code units in CoreNLP, and code points in files of other
    programs. `codepointOffset*`, which the property `tokenize.codepoint` adds, count UTF-16 code
    units up to CoreNLP 4.4.0.
    """
    begins = [token[CHARACTERS[0]] for token in tokens]
    ends = [token.get(CHARACTERS[1]) for token in tokens]
    readings = [_Reading(begins, ends, _utf16_length), _Reading(begins, ends, len)]
    if all(key in token for token in tokens for key in CODE_POINTS):
        begins, ends = ([token[key] for token in tokens] for key in CODE_POINTS)
        readings.insert(0, _Reading(begins, ends, len))
    return readings


def _utf16_length(text):
    return units_before(text)[-1]


def _in_text(offsets, characters, text):
    """Converts UTF-16 offsets to characters of the text; `characters` has that of each offset."""
    inside, beyond = range(len(characters)), len(text) - len(characters)
    return [characters[offset] if offset in inside else offset + beyond for offset in offsets]


def _letters(word):
    """Returns the letters and digits of a word, ignoring case and accents."""
    return [c for c in unicodedata.normalize("NFKD", word).casefold() if c.isalnum()]


def _fitting(tokens, reading):
    """Counts the tokens, and the gaps before them, that are as long as their offsets say."""
    fitting, before = 0, 0
    for token, begin, end in zip(tokens, reading.begins, reading.ends, strict=True):
        behind = begin + reading.size(token[ORIGINAL])
        fitting += (end == behind) + (begin == before + reading.size(token.get("before", "")))
        before = behind
    return fitting


def _fill(before, width, size):
    """Cuts the text between two tokens to a width, or pads it with spaces."""
    if size is len:
        between = before[:width]
    else:
        units = before.encode("utf-16-le", "surrogatepass")[: 2 * width]
        between = units.decode("utf-16-le", "ignore")
    return between + " " * (width - size(between))
