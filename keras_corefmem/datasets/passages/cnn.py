"""CNN and Daily Mail, whose entities are written `@entity12`.

From [Hermann et al., 2015](https://arxiv.org/abs/1506.03340).
"""

import dataclasses
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from keras_corefmem.datasets.example import CandidateExample, most_frequent
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.utils.files import Path, read_text

ORIGIN = "https://cs.nyu.edu/~kcho/DMQA/"
PARTS = ("training", "validation", "test")
PLACEHOLDER = "@placeholder"

_ENTITY = re.compile(r"@entity\d+", re.ASCII)
_FORM = "CNN or Daily Mail question"


@dataclasses.dataclass(frozen=True)
class ClozeExample(CandidateExample):
    """A `CandidateExample` whose question lacks an entity of the passage.

    Its candidates are the entities of the passage in the order of occurrence; `marker_names` are
    pairs of a marker and its name, if the file has them, for people to read.
    """

    marker_names: tuple[tuple[str, str], ...] = dataclasses.field(default=(), compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if PLACEHOLDER not in self.question:
            raise ValueError(
                f"{self._place}no {PLACEHOLDER} in the question, write it where the answer is "
                "missing."
            )

    @property
    def guesses(self) -> dict[str, str | None]:
        """The frequency baselines of Hermann et al.: all entities, or those the question lacks."""
        mentions = _ENTITY.findall(self.passage)
        known = set(find_markers(self.question))
        others = [marker for marker in mentions if marker not in known]
        return {
            "most frequent entity": most_frequent(mentions),
            "… of those the question lacks": most_frequent(others or mentions),
        }


def find_markers(text: str) -> tuple[str, ...]:
    """Finds the markers of entities, such as `@entity12`, each once, in the order of the text."""
    return tuple(dict.fromkeys(_ENTITY.findall(text)))


def number_markers(texts: Iterable[str]) -> list[str]:
    """Lists the markers `@entity0`, `@entity1`, ... up to the last one in some texts."""
    numbers = (int(marker.removeprefix("@entity")) for marker in find_markers(" ".join(texts)))
    return [f"@entity{number}" for number in range(max(numbers, default=-1) + 1)]


def load(data_dir: Path | None) -> Splits:
    """Reads the three parts, entities numbered by first occurrence (`relabel`)."""
    return Splits(*(list(map(relabel, read_part(data_dir, part))) for part in PARTS))


def read_part(data_dir: Path | None, part: str) -> Iterator[ClozeExample]:
    """Reads the `.question` files of a part, one at a time, in the order of their names."""
    if part not in PARTS:
        raise ValueError(f"There is no part {part!r}, `part` is one of {', '.join(PARTS)}.")
    remedy = f"unpack the questions of {ORIGIN} and pass their folder"
    folder = find_folder(data_dir, (f"questions/{part}", part), ["*.question"], remedy)
    return map(read_file, sorted(folder.glob("*.question")))


def read_file(path: Path) -> ClozeExample:
    """Reads a `.question` file: address, passage, question, answer and names of the entities."""
    lines = read_text(path, _FORM).rstrip("\n").split("\n")
    for number, name in enumerate(("address", "passage", "question", "answer")):
        line_number = 2 * number + 1
        if len(lines) < line_number or not lines[line_number - 1].strip():
            raise ValueError(
                f"{path}:{line_number}: no {name} on this line, "
                f"pass a {_FORM} file; is it truncated?"
            )
        if any(lines[line_number : line_number + 1]):
            raise ValueError(
                f"{path}:{line_number + 1}: no empty line behind the {name}, pass a {_FORM} file."
            )
    names = []
    for line_number, line in enumerate(lines[8:], 9):
        entity, colon, name = line.partition(":")
        if not colon or not _ENTITY.fullmatch(entity):
            raise ValueError(
                f"{path}:{line_number}: {line!r:.80} is no `@entityN:name`; is the file truncated?"
            )
        names.append((entity, name))
    passage, question, answer = (lines[i].strip() for i in (2, 4, 6))
    return make_example(passage, question, answer, tuple(names), f"{path}:5")


def make_example(
    passage: str, question: str, answer: str, names: Sequence[tuple[str, str]], source: str
) -> ClozeExample:
    """Makes a question whose candidates are the entities of its passage."""
    sentences = tuple(filter(None, re.split(r"(?<= [.?!]) +", passage)))
    return ClozeExample(
        sentences,
        question,
        answer,
        (),
        source,
        candidates=find_markers(passage),
        marker_names=tuple(names),
    )


def relabel(example: ClozeExample, seed: int | None = None, epoch: int = 0) -> ClozeExample:
    """Renumbers the entities of an example, so that a number tells nothing about the world.

    Args:
        example: the question.
        seed: `None` numbers the n entities 0..n-1 by first occurrence in the passage, then in the
            question. A non-negative integer permutes these numbers, each example in its own way.
        epoch: number of the epoch, from 0; with a seed, every epoch permutes anew.
    """
    markers = find_markers(f"{example.passage} {example.question}")
    numbers: Sequence[int] = range(len(markers))
    if seed is not None:
        text = zlib.crc32(f"{example.passage}\n{example.question}".encode())
        numbers = np.random.default_rng((seed, epoch, text)).permutation(len(markers)).tolist()
    new = {entity: f"@entity{number}" for entity, number in zip(markers, numbers, strict=True)}

    def rename(text):
        return _ENTITY.sub(lambda match: new[match[0]], text)

    return dataclasses.replace(
        example,
        sentences=tuple(map(rename, example.sentences)),
        question=rename(example.question),
        answer=rename(example.answer),
        candidates=tuple(map(rename, example.candidates)),
        marker_names=tuple((new[m], name) for m, name in example.marker_names if m in new),
    )
