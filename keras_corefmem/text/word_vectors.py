"""Pretrained word vectors: GloVe and word2vec.

From [Pennington et al., 2014](https://aclanthology.org/D14-1162) and
[Mikolov et al., 2013](https://arxiv.org/abs/1301.3781).
"""

import codecs
import contextlib
import dataclasses
import gzip
import re
import zlib
from collections.abc import Mapping

import numpy as np

from keras_corefmem.text.tokenizers import lower
from keras_corefmem.text.vocabulary import PADDING, UNKNOWN, Vocabulary
from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.files import Path

_GLOVE = "https://nlp.stanford.edu/projects/glove"
# Maximum width of a vector.
WIDEST = 10_000


@dataclasses.dataclass(frozen=True)
class Coverage:
    """How much of a vocabulary has a pretrained vector.

    Args:
        words: Number of words of the vocabulary, the specials left out.
        missing: Tuple of the words without a vector, in the order of their ids.
        lower_cased: Number of words that have the vector of their lower case.
        missing_tokens: Share of token occurrences without a vector, 0..1; words outside the
            vocabulary have none. `None` without counts.

    Example:
        >>> print(keras_corefmem.text.Coverage(words=3, missing=("xyzzy",)))
        2 of 3 words have a vector
    """

    words: int
    missing: tuple[str, ...]
    lower_cased: int = 0
    missing_tokens: float | None = None

    def __str__(self) -> str:
        covered = self.words - len(self.missing)
        text = f"{covered} of {self.words} words have a vector"
        if self.lower_cased:
            text += f" ({self.lower_cased} of their lower case)"
        if self.missing_tokens is not None:
            text += f"; {self.missing_tokens:.2%} of the tokens have none"
        return text


def load_word_vectors(
    path: Path,
    vocabulary: Vocabulary,
    width: int | None = None,
    lower_case: bool = False,
    std: float = 0.1,
    seed: int = 0,
    counts: Mapping[str, int] | None = None,
) -> tuple[np.ndarray, Coverage]:
    """Reads the vectors of a vocabulary's words.

    The file is streamed, plain or compressed by gzip. It is GloVe's text, `word v1 v2 ...`, or
    word2vec's, which has `count width` on its first line. Words may contain spaces, as those of
    GloVe 840B do. The first vector of a repeated word counts.

    Args:
        path: Path of the file.
        vocabulary: `Vocabulary` of n words, the specials included.
        width: Width d of the vectors; `None` takes it from the first line.
        lower_case: Whether a word that the file lacks takes the vector of its lower case.
        std: Standard deviation of the normal distribution that the vectors of the unknown word
            and of missing words are drawn from.
        seed: Non-negative integer; the same seed and vocabulary draw the same vectors.
        counts: Mapping of tokens to their number in a text, for the report; `None` for no share.

    Returns:
        A float32 matrix of shape `(n, d)`, of zeros for padding, and its `Coverage`.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is truncated, compressed in another way or binary, a line has fewer
            or more than d numbers, one of them is not finite, or `width` is less than 1.

    Example:
        >>> with open("vectors.txt", "w") as file:
        ...     _ = file.write("mary 0.5 1.0\\n")
        >>> vocabulary = keras_corefmem.text.Vocabulary(["mary"])
        >>> matrix, coverage = keras_corefmem.text.load_word_vectors("vectors.txt", vocabulary)
        >>> matrix.shape, matrix[2].tolist()
        ((3, 2), [0.5, 1.0])
    """
    if width is not None:
        check_sizes(width=width)
    ids = {word.encode(): i for i, word in enumerate(vocabulary.known, UNKNOWN + 1)}
    lowered: dict[bytes, list[int]] = {}
    for word, i in ids.items() if lower_case else ():
        lowered.setdefault(lower(word.decode()).encode(), []).append(i)
    exact, borrowed = (np.zeros(len(vocabulary), bool) for _ in range(2))
    matrix = np.zeros((0, 0), "float32")
    for line_number, word, line, file_width in _lines(path, width):
        first = not len(matrix)
        if first:
            drawn = np.random.default_rng(seed).normal(0, std, (len(vocabulary), file_width))
            matrix = drawn.astype("float32")
            matrix[PADDING] = 0
        rows = [i for i in lowered.get(word, ()) if not (exact[i] or borrowed[i])]
        borrowed[rows] = True
        if word in ids and not exact[ids[word]]:
            rows.append(ids[word])
            exact[ids[word]] = True
        if rows or first:
            matrix[rows] = _numbers(line[len(word) + 1 :], f"{path}:{line_number}")
    covered = {word.decode() for word, i in ids.items() if exact[i] or borrowed[i]}
    coverage = Coverage(
        len(ids),
        tuple(word for word in map(bytes.decode, ids) if word not in covered),
        int(np.sum(borrowed & ~exact)),
        None if counts is None else _missing_share(counts, covered),
    )
    return matrix, coverage


def _missing_share(counts, covered):
    total = sum(counts.values())
    return sum(count for word, count in counts.items() if word not in covered) / max(total, 1)


@contextlib.contextmanager
def _opened(path):
    try:
        with open(path, "rb") as stream:
            magic = stream.read(4)
    except (FileNotFoundError, IsADirectoryError):
        raise FileNotFoundError(
            f"{path}: no such file, pass a text file of vectors: {_GLOVE}, for instance."
        ) from None
    if magic == b"PK\x03\x04":
        raise ValueError(f"{path}: a zip archive, unpack it and pass one of its files.")
    try:
        with (gzip.open if magic[:2] == b"\x1f\x8b" else open)(path, "rb") as stream:
            yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{path}: the compressed file is truncated or broken ({error}), get it again."
        ) from error


def _lines(path, width):
    """Yields (line number, word, line, width) as an integer, bytes, bytes and an integer."""
    count, line_number = None, 0
    with _opened(path) as stream:
        for line_number, line in enumerate(stream, 1):
            place = f"{path}:{line_number}"
            line = line.rstrip(b" \r\n")
            spaces = line.count(b" ")
            if line_number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
                header = re.fullmatch(rb"(\d+) (\d+)", line)
                if header and width in (None, int(header[2])):
                    count, width = (int(number) for number in header.groups())
                    continue
                width = width or spaces
                if width > WIDEST:
                    raise ValueError(f"{place}: {width:,} numbers, a vector may have {WIDEST:,}.")
            if not width or spaces < width:
                raise ValueError(
                    f"{place}: {spaces} numbers instead of {width or 'a vector'}, pass "
                    "text in the format of GloVe or word2vec; is the file truncated?"
                )
            word = line.split(b" ", 1)[0] if spaces == width else line.rsplit(b" ", width)[0]
            if spaces > width and _is_number(word.rsplit(b" ", 1)[-1]):
                raise ValueError(
                    f"{place}: more than {width} numbers, pass vectors of one width, and this "
                    "width as `width`."
                )
            yield line_number, word, line, width
    read = line_number - (count is not None)
    if not read or read != (count or read):
        raise ValueError(
            f"{path}:{line_number}: {read} vectors in the file instead of {count or 'some'}, "
            "is it truncated? Get it again."
        )


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(text, place):
    parts = text.split(b" ")
    vector = np.array([float(part) if _is_number(part) else np.nan for part in parts])
    if not np.isfinite(vector).all():
        bad = parts[int(np.argmin(np.isfinite(vector)))]
        raise ValueError(
            f"{place}: {bad.decode(errors='replace')!r:.80} is no finite number, pass text in the "
            "format of GloVe or word2vec; where the first word has spaces, pass `width` too."
        )
    return vector
