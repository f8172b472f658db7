"""LAMBADA: passages of novels whose last word takes the whole passage to guess.

From [Paperno et al., 2016](https://arxiv.org/abs/1606.06031), read as questions as by
[Chu et al., 2017](https://arxiv.org/abs/1610.08431): the context is the passage but for its last
sentence, the question is that sentence without its last word, and the answer this word, which a
reader looks for in the context.
"""

import dataclasses
import functools
import json

from keras_corefmem.datasets.example import Example
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.passages.candidates import distinct_words
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.text.tokenizers import SENTENCE_ENDS
from keras_corefmem.utils.files import read_text

__all__ = [
    "DEVELOPMENT",
    "ORIGIN",
    "Passages",
    "candidates",
    "cut",
    "is_answerable",
    "is_word",
    "load",
    "read_file",
    "read_passages",
    "stop_words",
    "trainable",
]

ORIGIN = "https://zenodo.org/records/2630551"
DEVELOPMENT = "lambada_development_plain_text.txt"

_CLOSING = ("''", "'", "-rrb-", "-RRB-")
_FORM = "LAMBADA passage"


@dataclasses.dataclass(frozen=True)
class Passages:
    """What a file of passages holds.

    Args:
        examples: List of `Example`, of the passages that have a context and a question.
        count: Number of all passages.
    """

    examples: list[Example]
    count: int

    @property
    def answerable(self):
        """Number of passages whose answer occurs in the context."""
        return sum(map(is_answerable, self.examples))

    @property
    def correction(self):
        """`answerable / count`: what turns accuracy on those passages into accuracy on all."""
        return self.answerable / self.count


def cut(tokens, ends=SENTENCE_ENDS):
    """Where the last sentence of a passage begins.

    Args:
        tokens: List of strings, the passage with its last word.
        ends: Tokens at which a sentence ends; closing quotation marks behind it belong to it.

    Returns:
        Number of tokens before the last sentence, 0 where there is one sentence alone.
    """
    last = len(tokens) - 1
    start = next((i + 1 for i in reversed(range(last)) if tokens[i] in ends), 0)
    while start and start < last and tokens[start] in _CLOSING:
        start += 1
    return start


def make_example(tokens, start, source=""):
    """An `Example` from the tokens of a passage, the last sentence of which begins at `start`."""
    sentences, ended = [[]], False
    for token in tokens[:start]:
        if ended and token not in (*SENTENCE_ENDS, *_CLOSING):
            sentences.append([])
        sentences[-1].append(token)
        ended = token in SENTENCE_ENDS or (ended and token in _CLOSING)
    context = tuple(map(" ".join, sentences))
    return Example(context, " ".join(tokens[start:-1]), tokens[-1], source=source)


def read_file(path, ends=SENTENCE_ENDS):
    """Reads passages as they are published: one a line, lower-cased tokens between spaces.

    Args:
        path: Path of the file.
        ends: Tokens at which the last sentence may be cut off: `(".",)` leaves 3,950 of the 4,869
            development passages answerable (81.1%), `(".", "!", "?")` 4,039 (83.0%).

    Returns:
        `Passages`.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If a line has fewer than two tokens, or there is none.
    """
    lines = read_text(path, _FORM).rstrip("\n").split("\n")
    examples = []
    for number, line in enumerate(lines, 1):
        tokens, source = line.lower().split(), f"{path}:{number}"
        if len(tokens) < 2:
            raise ValueError(
                f"{source}: no passage on this line, pass a file of LAMBADA with one a line."
            )
        start = cut(tokens, ends)
        if 0 < start < len(tokens) - 1:
            examples.append(make_example(tokens, start, source))
    return Passages(examples, len(lines))


def read_passages(path, cased=False):
    """Reads passages that `novels.build` made.

    Args:
        path: Path of the file, JSON lines.
        cased: Whether to keep capital letters, for annotators.

    Returns:
        List of `Example`.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If a line is no such passage, or there is none.
    """
    examples = []
    lines = read_text(path, "JSON lines").rstrip("\n").split("\n")
    for number, line in enumerate(lines, 1):
        try:
            passage = json.loads(line)
            text = passage["text"] if cased else passage["text"].lower()
            start, length = passage["context_tokens"], passage["query_tokens"]
            tokens = text.split(" ")
            if not 0 < start < start + length == len(tokens) - 1:
                raise ValueError(f"{start} and {length} tokens do not make {len(tokens)} less 1")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{path}:{number}: not the expected JSON ({type(error).__name__}: {error}), "
                "make the file with `corefmem passages`."
            ) from error
        examples.append(make_example(tokens, start, f"{path}:{number}"))
    return examples


def load(data_dir, cased=False):
    """Loads passages of novels to train on, and LAMBADA's own to test on.

    Args:
        data_dir: Folder of what `novels.build` wrote and of LAMBADA's development file; the former
            may lie in a folder `passages` there, the latter in one named `lambada`.
        cased: Whether the passages of novels keep their capital letters, for annotators.

    Returns:
        `Splits` of `Example`: the built passages, those of the novels that were held out, and all
        development passages, whether the context has their answer or not.

    Raises:
        FileNotFoundError: If a file is missing.
        ValueError: If there is no folder, or a file is broken.
    """
    names = ["train.jsonl", "valid.jsonl"]
    passages = find_folder(
        data_dir,
        ("passages", ""),
        names,
        "make them with `corefmem passages`",
    )
    published = find_folder(
        data_dir, ("lambada", ""), [DEVELOPMENT], f"unpack the archive of {ORIGIN} there"
    )
    train, valid = (read_passages(passages / name, cased) for name in names)
    return Splits(train, valid, read_file(published / DEVELOPMENT).examples)


@functools.cache
def stop_words():
    """spaCy's English stop words, a set of lower-cased strings."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


def is_answerable(example):
    """Whether the answer of an `Example` is a token of its passage."""
    return example.answer in example.passage.split(" ")


def trainable(examples):
    """The examples to train on: answers that the context has, but no stop words or punctuation.

    Args:
        examples: Iterable of `Example`.

    Returns:
        List of `Example`.
    """
    return [e for e in examples if is_word(e.answer) and is_answerable(e)]


def is_word(token):
    """Whether a lower-cased token consists of letters and is no stop word."""
    return token.isalpha() and token not in stop_words()


def candidates(example):
    """What may be the answer: the words of the passage, see `distinct_words`."""
    return distinct_words(example.passage.split(" "))
