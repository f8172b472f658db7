"""Printed prose as paragraphs, sentences and the tokens of treebanks."""

import re
from collections.abc import Iterator

from keras_corefmem.text.lexicons import ABBREVIATED_TITLES, is_abbreviation
from keras_corefmem.text.tokenizers import CLITIC, CLITICS, ELISIONS, token_pattern

__all__ = ["paragraphs", "sentences", "tokenize"]

_START = re.compile(r"^\*\*\* ?START OF .*?\*\*\*[^\n]*\n", re.MULTILINE)
_END = re.compile(r"^(?:\*\*\* ?END OF .*?\*\*\*|End of (?:the )?Project Gutenberg)", re.MULTILINE)

_NUMERAL = (
    r"(?:the )?(?:\d+|[ivxlc]+|(?:twenty|thirty|forty|fifty)?[- ]?(?:first|second|third|fourth|"
    r"fifth|sixth|seventh|eighth|ninth|(?:one|two|three|four|five|six|seven|eight|nine))|ten(?:th)?"
    r"|eleven(?:th)?|twel(?:ve|fth)|(?:thir|four|fif|six|seven|eigh|nine)teen(?:th)?|"
    r"(?:twent|thirt|fort|fift)(?:y|ieth)|last)\b"
)
_HEADING = re.compile(
    rf"\W*(?:(?:chap(?:ter|\.)?|book|part|phase|vol(?:ume|\.)|letter|canto|act|scene|adventure|"
    rf"section)\s+{_NUMERAL}|(?:the end|finis|contents|preface|prologue|epilogue|introduction)\W*$"
    r"|(?:\d+|[ivxlc]+)\W*$)",
    re.IGNORECASE,
)
# Few headings have more characters.
_LONG = 150
# End of a paragraph of prose, also of one that introduces speech or verse.
_PROSE = re.compile(r"[.!?:;,…–—-][\"'”’)\]_*´]*\s*$")

_BREAK = re.compile(r"(?<![.\s])([.!?])[\"'”’)\]_´]*\s+(?=[\"'“‘`(\[_—-]*[^\W_a-z])")

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("«", "“"),
        **dict.fromkeys("»", "”"),
        **dict.fromkeys("`", "‘"),
        **dict.fromkeys("’´", "'"),
        **dict.fromkeys("–—―", "--"),
        **dict.fromkeys("‐‑", "-"),
        **dict.fromkeys("_\xad", None),
        "…": "...",
    }
)
_PENN = {"“": "``", "”": "''", "‘": "`", "(": "-LRB-", ")": "-RRB-"}
_ELISIONS = ELISIONS.replace(" ", "|")
_OPENS = r"(?:(?<![^\s(\[“‘])|(?<=-)(?=[\"']\w))"
_OPENING = re.compile(_OPENS + '"')
_SINGLE = re.compile(rf"{_OPENS}'(?!\s|(?:{_ELISIONS}|{CLITICS})\b|\d\ds?\b)", re.IGNORECASE)
_LETTER = r"[^\W\d_]"
_CLITIC = re.compile(rf"(?<={_LETTER})({CLITIC})\b")
_TITLES = "|".join(sorted(ABBREVIATED_TITLES))
_TOKEN = re.compile(
    rf"\.(?:\s?\.)+|--+|\b(?:{_TITLES}|(?-i:[A-HJ-Z]))\.(?=\s+\S)"
    rf"|(?:{_LETTER}\.){{2,}}|\d+(?:[.,:]\d+)*(?:{_LETTER}+)?"
    rf"|'(?:{_ELISIONS}|{CLITICS})\b|" + token_pattern(_LETTER, r"\S"),
    re.IGNORECASE,
)


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Finds the paragraphs of a book.

    The text that [Project Gutenberg](https://www.gutenberg.org) adds around a book is left out.

    Args:
        text: the book, with empty lines between paragraphs or, if lines are long, one per line.

    Yields:
        The character at which a paragraph starts, and its text, which is empty for headings of
        chapters and other lines that are not prose.
    """
    start, end = _START.search(text), _END.search(text)
    first, last = start.end() if start else 0, end.start() if end else len(text)
    lines = text[first:last].split("\n")
    filled = sorted(len(line) for line in lines if line.strip())
    by_line = bool(filled) and filled[len(filled) // 2] > 120
    pattern = r"[^\n]+" if by_line else r"[^\n]+(?:\n[^\S\n]*[^\s][^\n]*)*"
    for match in re.compile(pattern).finditer(text, first, last):
        paragraph = match[0]
        if paragraph.strip():
            yield match.start(), paragraph if _is_prose(paragraph) else ""


def _is_prose(paragraph):
    if all(line.startswith("    ") for line in paragraph.split("\n")):
        return False
    heading = not _PROSE.search(paragraph) or paragraph == paragraph.upper()
    named = len(paragraph) < 2 * _LONG and _HEADING.match(paragraph)
    return not named and (len(paragraph) > _LONG or not heading)


def sentences(paragraph: str) -> Iterator[tuple[int, str]]:
    """Splits a paragraph where a sentence ends and the next one begins with a capital letter.

    Closing quotation marks belong to the sentence before; titles such as "Mr.", other
    abbreviations, initials and "..." do not end a sentence.

    Yields:
        The character at which a sentence starts, and its text.
    """
    start = 0
    for match in _BREAK.finditer(paragraph):
        # The last word before the full stop.
        word = re.split(r"[^\w.]+", paragraph[start : match.start()][-12:])[-1]
        if match[1] == "." and is_abbreviation(word):
            continue
        yield start, paragraph[start : match.end()].rstrip()
        start = match.end()
    if paragraph[start:].strip():
        yield start, paragraph[start:].rstrip()


def tokenize(sentence: str) -> list[str]:
    """Splits a sentence into tokens like those of the Penn Treebank and of LAMBADA.

    Quotation marks become the tokens `` and '', or ` and '; `n't`, `'s` and the like are tokens of
    their own; dashes are --, brackets -LRB- and -RRB-; titles, initials and hyphens stay with their
    word.
    """
    text = _OPENING.sub("“", sentence.translate(_PLAIN)).replace('"', "”")
    text = _CLITIC.sub(r" \1", _SINGLE.sub("‘", text))
    return [_penn(token) for token in _TOKEN.findall(text)]


def _penn(token):
    if token[0] == "." and len(token) > 1:
        return "..."
    return "--" if token.startswith("--") else _PENN.get(token, token)
