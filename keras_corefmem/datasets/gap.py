"""GAP's pronouns and pairs of names: [Webster et al., 2018](https://arxiv.org/abs/1810.05201)."""

import dataclasses
import typing
from collections.abc import Iterable, Sequence

from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.graphs.coreference.scores import Score
from keras_corefmem.utils.files import Path, read_text

ORIGIN = "https://github.com/google-research-datasets/gap-coreference"
PARTS = ("development", "validation", "test")
COLUMNS = ("ID Text Pronoun Pronoun-offset A A-offset A-coref B B-offset B-coref URL").split()
MASCULINE = frozenset(("he", "him", "his"))
FEMININE = frozenset(("she", "her", "hers"))

_TRUTHS = {"true": True, "false": False}
_FORM = "GAP .tsv"


class Name(typing.NamedTuple):
    """A name, the character at which it starts, and whether the pronoun refers to it."""

    text: str
    start: int
    coreferent: bool


@dataclasses.dataclass(frozen=True)
class AmbiguousPronoun:
    """A pronoun and two names in its text, each with the character at which it starts.

    Raises:
        ValueError: if the pronoun is not a third person singular, or it or a name is not there.
    """

    id: str
    text: str
    pronoun: str
    start: int
    names: tuple[Name, Name]
    source: str = dataclasses.field(default="", compare=False)

    def __post_init__(self) -> None:
        place = f"{self.source}: " if self.source else ""
        if self.pronoun.lower() not in MASCULINE | FEMININE:
            raise ValueError(f"{place}{self.pronoun!r:.80} is no pronoun such as he or her.")
        for word, start in ((self.pronoun, self.start), *(name[:2] for name in self.names)):
            if start < 0 or not word or not self.text.startswith(word, start):
                raise ValueError(f"{place}{word!r:.80} is not at character {start} of the text.")

    @property
    def feminine(self) -> bool:
        """Whether the pronoun is feminine."""
        return self.pronoun.lower() in FEMININE


def read_gap(path: Path) -> list[AmbiguousPronoun]:
    """Reads a file of the data set, such as `gap-development.tsv`."""
    header, *lines = read_text(path, _FORM).rstrip("\n").split("\n")
    if header.split("\t") != COLUMNS:
        raise ValueError(
            f"{path}:1: the columns are not {', '.join(COLUMNS)}; get the file from {ORIGIN}."
        )
    pronouns = [_read(line, f"{path}:{number}") for number, line in enumerate(lines, 2)]
    if not pronouns:
        raise ValueError(f"{path}: no pronoun in the file, get it from {ORIGIN}.")
    return pronouns


def _read(line, place):
    fields = line.split("\t")
    if len(fields) != len(COLUMNS):
        raise ValueError(
            f"{place}: {len(fields)} columns, expected {len(COLUMNS)}; is the file truncated?"
        )
    row = dict(zip(COLUMNS, fields, strict=True))
    numbers = [row[f"{name}-offset"] for name in ("Pronoun", "A", "B")]
    truths = [row[f"{name}-coref"].lower() for name in "AB"]
    if not all(n.isdecimal() and len(n) < 10 for n in numbers) or not all(
        t in _TRUTHS for t in truths
    ):
        raise ValueError(
            f"{place}: the offsets {', '.join(numbers):.80} must be numbers, and the labels "
            f"{', '.join(truths):.80} TRUE or FALSE."
        )
    start, *starts = map(int, numbers)
    names = zip((row["A"], row["B"]), starts, (_TRUTHS[t] for t in truths), strict=True)
    return AmbiguousPronoun(
        row["ID"], row["Text"], row["Pronoun"], start, tuple(Name(*name) for name in names), place
    )


def answer(example: AmbiguousPronoun, annotation: Annotation) -> tuple[bool, ...]:
    """Returns which names, A and B, have the head of a mention in the chain of the pronoun."""
    if annotation.text != example.text:
        raise ValueError(f"{example.source}: the annotation of {example.id} is of another text.")
    starts, heads = annotation.starts, []
    for chain in annotation.chains:
        places = [starts[mention.head] for mention in chain]
        if example.start in places:
            heads += places
    return tuple(
        any(name.start <= place < name.start + len(name.text) for place in heads)
        for name in example.names
    )


def score(
    examples: Iterable[AmbiguousPronoun], answers: Iterable[Sequence[bool]]
) -> dict[str, Score | float | None]:
    """Computes F1 over the names that pronouns refer to, as the official scorer does.

    Returns:
        Dictionary: `Score`s `"overall"`, `"masculine"` and `"feminine"`, and `"bias"`, the feminine
        F1 over the masculine one, or `None` if the latter is 0.
    """
    counts = {False: [0, 0, 0], True: [0, 0, 0]}
    for example, pair in zip(examples, answers, strict=True):
        for name, predicted in zip(example.names, pair, strict=True):
            hits = (predicted and name.coreferent, predicted, name.coreferent)
            pairs = zip(counts[example.feminine], hits, strict=True)
            counts[example.feminine] = [count + hit for count, hit in pairs]
    groups = {"masculine": counts[False], "feminine": counts[True]}
    groups = {"overall": [sum(pair) for pair in zip(*groups.values(), strict=True)]} | groups
    scores = {
        name: Score(right / max(1, predictions), right / max(1, truths))
        for name, (right, predictions, truths) in groups.items()
    }
    masculine = scores["masculine"].f1
    return scores | {"bias": scores["feminine"].f1 / masculine if masculine else None}
