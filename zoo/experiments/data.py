"""Loading of data sets by name for training."""

import contextlib
import os
import pathlib
import warnings

from keras_corefmem import corpora, datasets
from keras_corefmem.corpora.questions import find_annotated
from keras_corefmem.datasets import json_lines
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.registry import DATASETS, JSON_LINES, check_places, find
from keras_corefmem.datasets.splits import Splits
from zoo.configs import configuration


def check_model(model: str, dataset: str) -> None:
    """Checks that a model reads a data set: sentences, or questions about passages."""
    kind = configuration(model).reads
    reads = "sentences" if kind == "sentences" else "questions"
    if kind != "texts" and find(dataset).reads != reads:
        fitting = ", ".join(name for name, known in DATASETS.items() if known.reads == reads)
        raise ValueError(f"{model} does not read {dataset}; it reads {fitting}.")


def load(
    dataset: str,
    task: int | str | None = None,
    data_dir: str | pathlib.Path | None = None,
    language: str | None = None,
    valid: str | pathlib.Path | None = None,
) -> Splits:
    """Loads one task of a data set, from annotated records if there are any.

    Records are read from `annotated/NAME` in `data_dir`, where the name of CBT includes its task,
    such as `cbt-NE`. Arguments and errors are those of `datasets.load`; `valid` is a file to
    validate on if the data set is a file of JSON lines.
    """
    find(dataset, task)
    if valid is not None and not dataset.endswith(JSON_LINES):
        raise ValueError(f"--valid {valid}: {dataset} has its own validation part; leave it out.")
    if valid is not None:
        check_places(dataset, data_dir, language)
        if os.path.realpath(valid) == os.path.realpath(dataset):
            raise ValueError(f"--valid {valid} is --dataset itself: give other questions, or none.")
        return json_lines.load(dataset, valid)
    folder = find_annotated(dataset, data_dir, task)
    if folder is None:
        return datasets.load(dataset, task, data_dir, language)
    annotated = corpora.read_questions(folder, DATASETS[dataset].from_record)
    # The records suffice if the original files are missing or broken.
    with contextlib.suppress(FileNotFoundError, ValueError):
        now = datasets.load(dataset, task, data_dir, cased=True)
        if changed := corpora.changed_parts(annotated, now):
            warnings.warn(
                f"{folder}: {' and '.join(changed)} changed since they were annotated: remove it "
                f"and give `corefmem annotate --dataset {dataset}` again.",
                stacklevel=2,
            )
    return annotated


def word_vectors(data_dir: str | pathlib.Path) -> pathlib.Path:
    """Finds the only file of pretrained vectors in `glove` of a folder of data, or in itself."""
    pattern, home = "glove*.txt*", "https://nlp.stanford.edu/projects/glove"
    folder = find_folder(data_dir, ("glove", ""), [pattern], f"get one of {home}")
    first, *more = sorted(folder.glob(pattern))
    if more:
        names = ", ".join(path.name for path in (first, *more))
        raise ValueError(f"{folder}: several files of word vectors ({names}), leave one there.")
    return first
