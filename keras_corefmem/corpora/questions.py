"""Conversion of questions to texts to annotate, and of their records back to questions."""

import json
import pathlib
from collections.abc import Callable

from keras_corefmem.corpora.index import REMEDY, read_index
from keras_corefmem.datasets.annotated import AnnotatedExample, to_text
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.registry import DATASETS
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.utils.files import Path, naming_damage, replacing

PARTS = ("train", "valid", "test")
MISFIT = f"{REMEDY.removesuffix('.')}, or pass the make_example that fits it."


def write_questions(splits: Splits, folder: Path) -> dict[str, pathlib.Path]:
    """Writes questions as texts to annotate, JSON lines for `annotate_files`.

    Args:
        splits: the parts of a data set, of `Example`. If they have `edges`, their tokens must be
            joined by spaces, and the texts annotated by `TextAnnotator(tokenized=True)`.
        folder: folder to write `train.jsonl`, `valid.jsonl` and `test.jsonl` to.

    Returns:
        The paths of these files by the name of the part.

    Example:
        >>> splits = keras_corefmem.datasets.simulator.load(1, train=5, valid=5, test=5)
        >>> list(keras_corefmem.corpora.write_questions(splits, "questions"))
        ['train', 'valid', 'test']
    """
    paths = {part: pathlib.Path(folder, f"{part}.jsonl") for part in PARTS}
    for part, path in paths.items():
        with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:
            for text, fields in map(to_text, getattr(splits, part)):
                file.write(json.dumps({"text": text, **fields}, ensure_ascii=False) + "\n")
    return paths


def read_questions(
    folder: Path, make_example: Callable[..., AnnotatedExample] = AnnotatedExample.from_record
) -> Splits:
    """Reads the questions whose texts were annotated, see `write_questions`.

    Args:
        folder: folder that holds the shards of the three parts, `train`, `valid` and `test`.
        make_example: function from an `Annotation` and a dictionary of fields to an example.

    Returns:
        `Splits` of `AnnotatedExample`.

    Raises:
        FileNotFoundError: if the shards of a part are missing.
        ValueError: if a record is broken, or not one of a question.

    Example:
        >>> corpora, examples = keras_corefmem.corpora, keras_corefmem.datasets.simulator
        >>> splits = examples.load(1, train=5, valid=1, test=1)
        >>> for part, path in corpora.write_questions(splits, "all").items():
        ...     _ = corpora.annotate_files([str(path)], path.with_suffix(""), processes=0)
        >>> corpora.read_questions("all").train[0].answer == splits.train[0].answer
        True
    """
    return Splits(*(read_part(pathlib.Path(folder, part), make_example) for part in PARTS))


def read_part(
    folder: pathlib.Path,
    make_example: Callable[..., AnnotatedExample] = AnnotatedExample.from_record,
) -> list[AnnotatedExample]:
    """Reads one of the parts of `read_questions`, from the folder of its shards."""
    # Imports TensorFlow, which writing does not need.
    from keras_corefmem.corpora.records import read_shards

    index, records, examples = read_index(folder), read_shards(folder), []
    made_by = {k: index[k]["name"] for k in ("annotator", "truecaser") if index.get(k)}
    for number, (annotation, fields) in enumerate(records, 1):
        with naming_damage(f"{folder}: record {number}", MISFIT):
            examples.append(make_example(annotation, {**fields, **made_by}))
    return examples


def find_annotated(
    dataset: str, data_dir: Path | None, task: int | str | None = None
) -> pathlib.Path | None:
    """Finds the records that `corefmem annotate --dataset` wrote; `None` if there are none."""
    known = DATASETS.get(dataset)
    if data_dir is None or known is None or known.from_record is None:
        return None
    name = f"{dataset}-{task or known.first_task}" if known.tasks else dataset
    try:
        return find_folder(data_dir, (f"annotated/{name}", ""), ["train/index.json"], "")
    except FileNotFoundError:
        return None


def changed_parts(annotated: Splits, splits: Splits) -> list[str]:
    """Names the parts of a data set that have changed since they were annotated.

    Args:
        annotated: the questions that `read_questions` returned.
        splits: the data set as it is now, loaded as for `write_questions`.

    Returns:
        Those of `train`, `valid` and `test` whose texts or answers differ.

    Example:
        >>> corpora, examples = keras_corefmem.corpora, keras_corefmem.datasets.simulator
        >>> import dataclasses
        >>> splits = examples.load(1, train=5, valid=1, test=1)
        >>> for part, path in corpora.write_questions(splits, "once").items():
        ...     _ = corpora.annotate_files([str(path)], path.with_suffix(""), processes=0)
        >>> now = dataclasses.replace(splits, train=splits.train[1:])
        >>> corpora.changed_parts(corpora.read_questions("once"), now)
        ['train']
    """
    return [part for part in PARTS if _differ(getattr(annotated, part), getattr(splits, part))]


def _differ(annotated, examples):
    if len(annotated) != len(examples):
        return True
    pairs = zip(annotated, examples, strict=True)
    return any(a.answer != b.answer or _reads_otherwise(_text(a), _text(b)) for a, b in pairs)


def _text(example):
    return " ".join((*example.sentences, example.question))


def _reads_otherwise(text, other):
    # An annotator puts spaces between tokens, which most texts have already.
    return text != other and "".join(text.split()) != "".join(other.split())
