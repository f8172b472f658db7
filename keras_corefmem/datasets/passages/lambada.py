"""LAMBADA: passages of novels whose last word takes the whole passage to guess.

From [Paperno et al., 2016](https://arxiv.org/abs/1606.06031), read as questions as by
[Chu et al., 2017](https://arxiv.org/abs/1610.08431): the last word of the last sentence is looked
for in those before.
"""

import functools
import json
from collections.abc import Iterable, Sequence
from itertools import pairwise

from keras_corefmem.datasets.example import Example
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.text import prose
from keras_corefmem.text.lexicons import is_abbreviation
from keras_corefmem.text.tokenizers import SENTENCE_ENDS, has_letters, lower
from keras_corefmem.utils.files import BadFileError, Path, read_text

ORIGIN = "https://zenodo.org/records/2630551"
FILES = {part: f"lambada_{part}_plain_text.txt" for part in ("development", "test")}

_CLOSING = ("''", "'", "-rrb-", "-RRB-")
# Marks that are tokens of their own.
_MARKS = (*SENTENCE_ENDS, ",", ":", ";")
_FORM = "LAMBADA passage"


def last_sentence(tokens: Sequence[str]) -> int:
    """Counts the tokens before the last sentence, 0 if it is the only one.

    Closing quotation marks after the end of a sentence belong to it.
    """
    last = len(tokens) - 1
    start = next((i + 1 for i in reversed(range(last)) if tokens[i] in SENTENCE_ENDS), 0)
    while start and start < last and tokens[start] in _CLOSING:
        start += 1
    return start


def _make_example(tokens, start, source=""):
    sentences, ended = [[]], False
    for token in tokens[:start]:
        if ended and token not in (*SENTENCE_ENDS, *_CLOSING):
            sentences.append([])
        sentences[-1].append(token)
        ended = token in SENTENCE_ENDS or (ended and token in _CLOSING)
    context = tuple(map(" ".join, sentences))
    return Example(context, " ".join(tokens[start:-1]), tokens[-1], source=source)


def read_file(path: Path) -> list[Example]:
    """Reads passages as they are published: one per line, lower-cased tokens between spaces."""
    examples = []
    lines = read_text(path, _FORM).rstrip("\n").split("\n")
    for number, line in enumerate(lines, 1):
        if len(line.split()) < 2:
            raise ValueError(
                f"{path}:{number}: no passage on this line, pass a file of LAMBADA with one a line."
            )
        examples.append(read_passage(line, f"{path}:{number}"))
    return list(filter(None, examples))


def read_passage(text: str, source: str = "") -> Example | None:
    """Reads one passage, tokenized or not; returns `None` if it has one sentence only."""
    tokens = text.split()
    tokens = tokens if _is_cut(tokens) else cut(text)
    while tokens and not has_letters(tokens[-1]):
        tokens.pop()
    tokens = list(map(lower, tokens))
    start = last_sentence(tokens)
    return _make_example(tokens, start, source) if 0 < start < len(tokens) - 1 else None


def _is_cut(tokens: Sequence[str]) -> bool:
    """Returns whether marks mostly stand apart from words; dashes and dots in a row always may."""
    apart = sum(one in _MARKS and one != next_one for one, next_one in pairwise([*tokens, ""]))
    ending = (token[:-1] for token in tokens if token.endswith(_MARKS) and has_letters(token))
    joined = sum("." not in word and not is_abbreviation(word) for word in ending)
    return apart > 0 and apart >= joined


def cut(text: str) -> list[str]:
    """Splits a printed passage into tokens, as novels are split."""
    parts = (part for _, part in prose.sentences(" ".join(text.split())))
    return [token for part in parts for token in prose.tokenize(part)]


def read_passages(path: Path, cased: bool = False) -> list[Example]:
    """Reads passages that `novels.build` made; `cased` keeps capital letters, for annotators."""
    examples = []
    lines = read_text(path, "JSON lines").rstrip("\n").split("\n")
    for number, line in enumerate(lines, 1):
        try:
            passage = json.loads(line)
            text = passage["text"] if cased else lower(passage["text"])
            start, length = passage["context_tokens"], passage["query_tokens"]
            tokens = text.split(" ")
            if not 0 < start < start + length == len(tokens) - 1:
                raise ValueError(f"{start} and {length} tokens do not make {len(tokens)} less 1")
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise BadFileError(
                f"{path}:{number}: not the expected JSON ({type(error).__name__}: {error}), "
                "make the file with `corefmem passages`."
            ) from error
        examples.append(_make_example(tokens, start, f"{path}:{number}"))
    return examples


def load(data_dir: Path | None, cased: bool = False) -> Splits:
    """Loads passages of novels to train on, and LAMBADA's own to test on.

    Args:
        data_dir: folder with the output of `novels.build`, or with a subfolder `passages` of it,
            and with LAMBADA's development file, or with a subfolder `lambada` of it.
        cased: whether the passages of novels keep their capital letters, for annotators.

    Returns:
        The built passages to train on, those of held-out novels, and all development passages.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if there is no folder, or a file is broken.
    """
    names = ["train.jsonl", "valid.jsonl"]
    passages = find_folder(data_dir, ("passages", ""), names, "make them with `corefmem passages`")
    published = read_part(data_dir, "development")
    train, valid = (read_passages(passages / name, cased) for name in names)
    return Splits(train, valid, published)


def read_part(data_dir: Path | None, part: str) -> list[Example]:
    """Reads LAMBADA's own `development` or `test` passages alone, from the folder as in `load`."""
    remedy = f"unpack the archive of {ORIGIN} there"
    return read_file(find_folder(data_dir, ("lambada", ""), [FILES[part]], remedy) / FILES[part])


@functools.cache
def stop_words() -> frozenset[str]:
    """Returns spaCy's English stop words, lower-cased."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


def is_answerable(example: Example) -> bool:
    """Returns whether the answer is a token of the passage."""
    return example.answer in example.passage.split(" ")


def trainable(examples: Iterable[Example]) -> list[Example]:
    """Keeps the examples whose passage has the answer, and whose answer is not a stop word."""
    return [e for e in examples if is_word(e.answer) and is_answerable(e)]


def is_word(token: str) -> bool:
    """Returns whether a lower-cased token consists of letters and is not a stop word."""
    return token.isalpha() and token not in stop_words()
