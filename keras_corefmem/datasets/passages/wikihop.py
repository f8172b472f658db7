"""WikiHop and MedHop: [Welbl et al., 2018](https://arxiv.org/abs/1710.06481).

The order of documents and the choice of coreference chains are those of
[Dhingra et al., 2018](https://arxiv.org/abs/1804.05922).
"""

import dataclasses
import zlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.datasets.example import CandidateExample
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.passages.candidates import find_mentions
from keras_corefmem.datasets.splits import Splits, hold_out
from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.text.tokenizers import get_tokenizer, lower
from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.files import Path, check_content, load_json

ORIGIN = "https://qangaroo.cs.ucl.ac.uk"
NAMES = ("wikihop", "medhop")
MAX_TOKENS = 2200
KINDS = ("follows", "single", "multiple")


@dataclasses.dataclass
class _Question:
    id: str
    query: str
    supports: list[str]
    candidates: list[str]
    answer: str | None = None
    annotations: list[list[str]] = dataclasses.field(default_factory=list)


def load(data_dir: Path | None, name: str = "wikihop") -> Splits:
    """Loads the official files. There is no public test part: the development part is `test`.

    Args:
        data_dir: folder of `train.json` and `dev.json`, of `name`, or of `qangaroo_v1.1/name`.
        name: `"wikihop"` or `"medhop"`.

    Returns:
        Parts of `CandidateExample`; `valid` is a twentieth of the training questions, held out.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if there is no such data set, no folder, too few questions, or a file is broken.
    """
    paths = _find(data_dir, name, "train.json", "dev.json")
    train, dev = map(read_file, paths)
    return Splits(*hold_out(train, max(1, len(train) // 20), source=paths[0]), dev)


def load_shuffled(data_dir: Path | None, name: str = "wikihop") -> Splits:
    """Loads the official files as readers are trained on them, see `shuffle` and `truncate`."""
    return load(data_dir, name).map(_shuffled)


def load_development(data_dir: Path | None, name: str = "wikihop") -> list[CandidateExample]:
    """Loads the development part alone, as `load_shuffled` does."""
    (path,) = _find(data_dir, name, "dev.json")
    return list(map(_shuffled, read_file(path)))


def _find(data_dir, name, *files):
    if name not in NAMES:
        raise ValueError(f"There is no data set {name!r}, choose one of {', '.join(NAMES)}.")
    folders, remedy = (f"qangaroo_v1.1/{name}", name, ""), f"unpack {ORIGIN} and pass its folder"
    folder = find_folder(data_dir, folders, files, remedy)
    return [folder / file for file in files]


def _shuffled(example):
    return truncate(shuffle(example, 0), get_tokenizer("penn"))


def read_file(path: Path) -> list[CandidateExample]:
    """Reads questions in the official format.

    The `kinds` of a question are what most of its annotators say, if there are any: `follows` if
    the answer follows from the documents, and then also `single` or `multiple` if it follows from
    one document or from several.
    """
    remedy = f"pass a file of {' or '.join(NAMES)}."
    questions = check_content(path, load_json(path), list[_Question], remedy)
    if not questions:
        raise ValueError(f"{path}: no question in the file, {remedy}")
    return [_example(question, f"{path}:{n}:{question.id}") for n, question in enumerate(questions)]


def _example(question, source):
    if question.answer is None:
        raise ValueError(f"{source}: no answer, it is masked; pass a part that has answers.")
    return CandidateExample(
        tuple(filter(None, map(str.strip, question.supports))),
        question.query.strip(),
        question.answer.strip(),
        source=source,
        candidates=tuple(dict.fromkeys(map(str.strip, question.candidates))),
        kinds=_kinds(question.annotations),
    )


def _kinds(annotations):
    def most_say(kind):
        return 2 * sum(kind in annotation for annotation in annotations) > len(annotations)

    return tuple(filter(most_say, KINDS)) if most_say(KINDS[0]) else ()


def shuffle(example: CandidateExample, seed: int, epoch: int = 0) -> CandidateExample:
    """Shuffles the documents, differently for each example and in each epoch."""
    remedy = "shuffle it with keras_corefmem.preprocessing.ShuffleSentences"
    example.check_unlinked("shuffling", remedy)
    own = zlib.crc32(f"{example.question}\n{example.source.rpartition(':')[2]}".encode())
    order = np.random.default_rng((seed, epoch, own)).permutation(len(example.sentences))
    return dataclasses.replace(example, sentences=tuple(example.sentences[i] for i in order))


def truncate(
    example: CandidateExample, tokenize: Callable[[str], list[str]], max_tokens: int = MAX_TOKENS
) -> CandidateExample:
    """Keeps the first `max_tokens` tokens of the documents.

    The tokens of documents and question are joined by spaces, as annotators take them.
    """
    check_sizes(max_tokens=max_tokens)
    example.check_unlinked("cutting")
    documents, left = [], max_tokens
    for document in example.sentences:
        tokens = tokenize(document)[:left] if left else []
        left -= len(tokens)
        if tokens:
            documents.append(" ".join(tokens))
    question = " ".join(tokenize(example.question))
    return dataclasses.replace(example, sentences=tuple(documents), question=question)


def candidate_positions(
    tokens: Sequence[str],
    candidates: Iterable[str],
    tokenize: Callable[[str], list[str]] = str.split,
) -> dict[str, list[tuple[int, int]]]:
    """Finds the `(start, end)` of each candidate's mentions, which may overlap, ignoring case."""
    names = list(candidates)
    words = [[lower(word) for word in tokenize(name)] for name in names]
    positions: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
    for start, end, number in find_mentions(words, [lower(token) for token in tokens]):
        positions[names[number - 1]].append((start, end))
    return positions


def keep_chains(
    annotation: Annotation,
    candidates: Iterable[str],
    subject: str,
    tokenize: Callable[[str], list[str]] = str.split,
) -> Annotation:
    """Keeps the coreference chains that may help to answer.

    These are the chains with a mention that overlaps a candidate, and those with a mention in a
    sentence in which the subject of the question, or a chain that mentions it, occurs too.
    """
    spans = candidate_positions(annotation.tokens, [*candidates, subject], tokenize)
    answers = _covered(annotation, (span for name in candidates for span in spans[name]))
    subjects = _covered(annotation, spans[subject])
    numbers = annotation.sentence_numbers

    def touches(chain, tokens):
        return any(tokens[mention.start : mention.end].any() for mention in chain)

    near = set(numbers[subjects].tolist())
    for chain in annotation.chains:
        if touches(chain, subjects):
            near.update(numbers[mention.head] for mention in chain)
    kept = tuple(
        chain
        for chain in annotation.chains
        if touches(chain, answers) or any(numbers[mention.head] in near for mention in chain)
    )
    return dataclasses.replace(annotation, chains=kept)


def from_record(annotation: Annotation, fields: dict) -> AnnotatedExample:
    """Makes an `AnnotatedExample` from a record, with the chains that `keep_chains` keeps."""
    subject = annotation.text[fields["question_start"] :].partition(" ")[2]
    penn = get_tokenizer("penn")
    kept = keep_chains(annotation, fields["candidates"], subject, penn)
    return AnnotatedExample.from_record(kept, fields)


def _covered(annotation, spans):
    covered = np.zeros(len(annotation), bool)
    for start, end in spans:
        covered[start:end] = True
    return covered
