"""Passages of a novel in which a word of the last sentence occurs in the sentences before."""

import collections
import hashlib
import pathlib
import random
import re
from collections.abc import Collection, Iterable, Iterator

from keras_corefmem.datasets.passages import lambada
from keras_corefmem.text import prose
from keras_corefmem.text.tokenizers import SENTENCE_ENDS, has_letters
from keras_corefmem.utils.files import Path, parse_json, read_text

TARGETS = ("sentences", "clauses", "words")
WORD = TARGETS.index("words")
# LAMBADA's contexts have 50 tokens or a little more, its questions 7 or more, and its longest
# passage 203.
CONTEXT_TOKENS, CONTEXT_SENTENCES, QUESTION_TOKENS, LONGEST = 50, 3, 7, 203
# Words in a row that no passage shares with the evaluation text.
OVERLAP = 8
# Words in a row that no passage to train on shares with one to validate with: different novels
# share set phrases of up to ten words.
COPIED = 16

_WHOLE = re.compile(r"[.!?…][\"'”’)\]_´]*$")
_CLAUSES = {";", ":", ",", "--", "...", *SENTENCE_ENDS}


def chapters(text: str) -> Iterator[list[tuple[int, list[str]]]]:
    """Yields the prose between headings: pairs of a sentence's first character and its tokens."""
    chapter: list[tuple[int, list[str]]] = []
    whole = True
    for place, paragraph in prose.paragraphs(text):
        if not paragraph:
            if chapter:
                yield chapter
            chapter, whole = [], True
        for start, sentence in prose.sentences(paragraph):
            tokens = prose.tokenize(sentence)
            if whole:
                chapter.append((place + start, tokens))
            else:
                chapter[-1][1].extend(tokens)
            whole = _WHOLE.search(sentence) is not None
    if chapter:
        yield chapter


def find_passages(
    text: str,
    targets: str = "words",
    chooser: random.Random | None = None,
    counts: collections.Counter | None = None,
    known: Collection[tuple[str, ...]] = frozenset(),
    seen: set[bytes] | None = None,
) -> Iterator[tuple[int, dict]]:
    """Yields the passages of a novel, each with the index in `TARGETS` of its answer's place.

    The context has as few whole sentences as possible, but at least 50 tokens and three sentences;
    it ends where a reader would split off the last sentence (`lambada.last_sentence`). Passages
    that have `known` runs of words or were `seen` before are left out; `counts` says why.
    """
    chooser = random.Random(0) if chooser is None else chooser
    counts = collections.Counter() if counts is None else counts
    seen = set() if seen is None else seen
    for chapter in chapters(text):
        counts["sentences"] += len(chapter)
        lowered = [[token.lower() for token in tokens] for _, tokens in chapter]
        for last in range(1, len(chapter)):
            first = _context(lowered, last)
            if first is None:
                counts["near the start of a chapter"] += 1
                continue
            context = [token for tokens in lowered[first:last] for token in tokens]
            cased, words, accepted = None, set(context), False
            for rank, end in _places(chapter[last][1], targets, chooser):
                if rank == WORD and accepted:
                    break
                counts["targets"] += 1
                if lowered[last][end - 1] not in words:
                    counts["not in the context"] += 1
                    continue
                tokens = context + lowered[last][:end]
                start = lambada.last_sentence(tokens)
                reason = _why_rejected(tokens, start, known, seen)
                if reason:
                    counts[reason] += 1
                    continue
                accepted = True
                cased = cased or [token for _, part in chapter[first:last] for token in part]
                yield (
                    rank,
                    {
                        "text": " ".join(cased + chapter[last][1][:end]),
                        "context_tokens": start,
                        "query_tokens": len(tokens) - start - 1,
                        "answer": chapter[last][1][end - 1],
                        "end": "" if rank == WORD else lowered[last][end],
                        "source": chapter[first][0],
                    },
                )


def _context(sentences, last):
    """Returns the first sentence of the context of sentence `last`; `None` if too few precede."""
    first, length = last, 0
    while length < CONTEXT_TOKENS or last - first < CONTEXT_SENTENCES:
        if not first:
            return None
        first -= 1
        length += len(sentences[first])
    return first


def _places(cased, targets, chooser):
    """Returns pairs of rank and number of the token after an answer, preferred ones first."""
    tokens = [token.lower() for token in cased]
    inner = range(QUESTION_TOKENS + 1, len(tokens))
    words = [i for i in inner if lambada.is_word(tokens[i - 1])]
    last = max((i for i, token in enumerate(tokens, 1) if has_letters(token)), default=0)
    places = [(TARGETS.index("sentences"), i) for i in words if i == last]
    if targets != "sentences":
        ends = [i for i in words if i != last and tokens[i] in _CLAUSES]
        places += [(TARGETS.index("clauses"), i) for i in ends]
    if targets == "words":
        rest = [i for i in words if i != last and tokens[i] not in _CLAUSES]
        chooser.shuffle(rest)
        # Names first: "Mary", in "Aunt Mary" too, but not "Aunt".
        rest.sort(key=lambda i: not cased[i - 1][0].isupper() or cased[i][0].isupper())
        places += [(WORD, i) for i in rest]
    return places


def _why_rejected(tokens, start, known, seen):
    """Returns why a passage is rejected; adds an accepted one to `seen` and returns `None`."""
    if len(tokens) > LONGEST:
        return "too long"
    if start < CONTEXT_TOKENS:
        return "without a context"
    if len(tokens) - 1 - start < QUESTION_TOKENS:
        return "without a question"
    if tokens[-1] not in tokens[:start]:
        return "not in the context"
    words = list(filter(has_letters, tokens))
    digest = hashlib.blake2b(" ".join(words).encode(), digest_size=12).digest()
    if digest in seen:
        return "duplicates"
    if known and not known.isdisjoint(passage_grams(words)):
        return "in the evaluation text"
    seen.add(digest)
    return None


def passage_grams(tokens: Iterable[str], length: int = OVERLAP) -> Iterator[tuple[str, ...]]:
    """Yields the runs of `length` words of a passage, without case and punctuation."""
    words = [token.lower() for token in tokens if has_letters(token)]
    return zip(*(words[i:] for i in range(length)), strict=False)


def file_grams(path: Path) -> Iterator[tuple[str, ...]]:
    """Yields the runs of words of an evaluation file.

    A `.jsonl` file has an object per line, with a `text` or with `passage`, `question` and
    `answer`; others have a passage per line. Each line is read both as tokens between spaces and as
    printed text.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is JSON of another form, or no UTF-8 text.
    """
    suffix = pathlib.Path(path).suffix
    if suffix == ".json":
        raise ValueError(
            f"{path}: give evaluation text as JSON lines, .jsonl, or a passage a line."
        )
    for number, line in enumerate(read_text(path, "evaluation").split("\n"), 1):
        if suffix == ".jsonl" and line.strip():
            line = _json_passage(line, f"{path}:{number}")
        for tokens in (line.split(), lambada.cut(line)):
            yield from passage_grams(tokens)


def _json_passage(line, place):
    """Returns the text of a JSON object: its `text`, or passage, question and answer."""
    row = parse_json(line, place)
    row = row if isinstance(row, dict) else {}
    parts = [row["text"]] if "text" in row else [row.get("passage"), row.get("question")]
    if "text" not in row and isinstance(row.get("answer"), str):
        parts.append(row["answer"])
    if not all(isinstance(part, str) for part in parts):
        raise ValueError(
            f"{place}: give an object with a text, or with passage, question and answer."
        )
    return " ".join(parts)
