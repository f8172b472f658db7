"""The Children's Book Test, [Hill et al., 2016](https://arxiv.org/abs/1511.02301)."""

import re

from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.datasets.example import CandidateExample
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.utils.files import Path, read_text

ORIGIN = "https://www.thespermwhale.com/jaseweston/babi/CBTest.tgz"
# Kinds of the word that is left out: named entities, common nouns, prepositions, verbs.
KINDS = ("NE", "CN", "P", "V")
PLACEHOLDER = "XXXXX"
SENTENCES = 20

from_record = AnnotatedExample.from_record

_PARTS = ("train", "valid_2000ex", "test_2500ex")
_FORM = "CBT"


def load(data_dir: Path | None, kind: str = "NE") -> Splits:
    """Loads the questions of a kind.

    Args:
        data_dir: the folder that holds `CBTest`, that one, its `data`, or any other with the files.
        kind: one of `KINDS`.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if there is no such kind, no folder, or a file is broken.
    """
    if kind not in KINDS:
        raise ValueError(f"There is no kind {kind!r} of CBT, choose one of {', '.join(KINDS)}.")
    names = [f"cbtest_{kind}_{part}.txt" for part in _PARTS]
    folder = find_folder(
        data_dir, ("CBTest/data", "data", ""), names, f"unpack {ORIGIN} and pass its folder"
    )
    return Splits(*(read_file(folder / name) for name in names))


def read_file(path: Path) -> list[CandidateExample]:
    """Reads questions in the official format.

    Each is 20 numbered sentences, then, after the number 21, the question with `XXXXX`, a tab, the
    answer, two tabs and the candidates, separated by `|`; duplicates are dropped.
    """
    examples: list[CandidateExample] = []
    sentences: list[str] = []
    for number, line in enumerate(read_text(path, _FORM).split("\n"), 1):
        place = f"{path}:{number}"
        if not line.strip():
            if sentences:
                raise ValueError(
                    f"{place}: the question is missing behind sentence {len(sentences)}; is the "
                    "file truncated?"
                )
            continue
        match = re.fullmatch(r"(\d{1,9}) (.+)", line, re.ASCII)
        if not match or int(match[1]) != len(sentences) + 1:
            raise ValueError(
                f"{place}: the line does not start with the number {len(sentences) + 1} and a "
                f"space, pass a {_FORM} file."
            )
        if len(sentences) < SENTENCES and "\t" in line:
            raise ValueError(
                f"{place}: a question behind {len(sentences)} sentences, it has {SENTENCES} in a "
                f"{_FORM} file."
            )
        if len(sentences) < SENTENCES:
            sentences.append(match[2].strip())
        else:
            examples.append(_question(match[2], sentences, place))
            sentences = []
    if sentences:
        raise ValueError(
            f"{path}:{number}: the file ends behind sentence {len(sentences)}; is it truncated?"
        )
    if not examples:
        raise ValueError(f"{path}: no question in the file, pass a {_FORM} file.")
    return examples


def _question(line, sentences, place):
    fields = line.split("\t")
    if len(fields) != 4 or fields[2] or PLACEHOLDER not in fields[0]:
        raise ValueError(
            f"{place}: not a question with {PLACEHOLDER}, a tab, the answer, two tabs and the "
            f"candidates, pass a {_FORM} file."
        )
    question, answer, _, candidates = (field.strip() for field in fields)
    distinct = tuple(filter(None, dict.fromkeys(map(str.strip, candidates.split("|")))))
    return CandidateExample(tuple(sentences), question, answer, source=place, candidates=distinct)
