"""The 20 bAbI tasks, version 1.2: [Weston et al., 2015](https://arxiv.org/abs/1502.05698)."""

import dataclasses
import pathlib
import random
from collections.abc import Callable

from keras_corefmem.datasets.example import group_by_story
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.splits import Splits, hold_out
from keras_corefmem.datasets.stories.babi_download import FOLDER, HOMES, cache_folder
from keras_corefmem.datasets.stories.babi_download import download as download
from keras_corefmem.datasets.stories.babi_format import read_file
from keras_corefmem.datasets.stories.babi_format import write_file as write_file
from keras_corefmem.utils.files import Path

_NAMES = """single-supporting-fact two-supporting-facts three-supporting-facts two-arg-relations
three-arg-relations yes-no-questions counting lists-sets simple-negation indefinite-knowledge
basic-coreference conjunction compound-coreference time-reasoning basic-deduction basic-induction
positional-reasoning size-reasoning path-finding agents-motivations"""
TASKS = dict(enumerate(_NAMES.split(), 1))
ALL = "all"
LANGUAGE = "en-valid"

_VALID_SHARE = 0.1


def load(
    data_dir: Path | None, task: int | str, language: str | None = None, seed: int = 0
) -> Splits:
    """Loads one task in the official layout, or all of them.

    If a folder has no validation file, such as `en`, 10% of its training stories are held out.

    Args:
        data_dir: the folder that holds `tasks_1-20_v1-2`, that folder, or a language folder; `None`
            for where `download` puts them.
        task: task number, 1..20; or `"all"` for all of them, one after the other, with the number
            of its task as the kind of each question.
        language: name of the language folder: `en`, `en-valid`, `en-10k`, `hn`, `shuffled`, ...;
            `None` for `en-valid`, or for whatever language folder `data_dir` is.
        seed: seed of the choice of held-out stories.

    Raises:
        FileNotFoundError: if the folder has no files of the task.
        ValueError: if the task does not exist or a file is broken.
    """
    if task == ALL:
        return load_all(lambda number: load(data_dir, number, language, seed))
    if task not in TASKS:
        raise ValueError(f"There is no bAbI task {task!r}, `task` is a number in 1..20, or 'all'.")
    folder = _find_folder(data_dir or cache_folder(), task, language)
    train, test = (read_file(_find_file(folder, task, part)) for part in ("train", "test"))
    valid_file = _find_file(folder, task, "valid")
    if valid_file:
        return Splits(train, read_file(valid_file), test)
    stories = group_by_story(train)
    groups = [n for n, story in enumerate(stories) for _ in story]
    count = max(1, round(_VALID_SHARE * len(stories)))
    return Splits(*hold_out(train, count, random.Random(seed), groups, source=folder), test)


def load_all(load_task: Callable[[int], Splits]) -> Splits:
    """Joins all tasks, with the number of its task as the kind of each question."""
    parts: tuple[list, list, list] = [], [], []
    for number in TASKS:
        splits = load_task(number)
        for joined, part in zip(parts, (splits.train, splits.valid, splits.test), strict=True):
            joined += (dataclasses.replace(e, kinds=(str(number),)) for e in part)
    return Splits(*parts)


def _find_file(folder, task, part):
    names = (f"qa{task}_{part}.txt", f"qa{task}_{TASKS[task]}_{part}.txt", _any_name(task, part))
    return next((path for name in names for path in sorted(folder.glob(name))), None)


def _any_name(task, part):
    return f"qa{task}_*{part}.txt"


def _find_folder(data_dir, task, language):
    inside = [f"{FOLDER}/{language or LANGUAGE}", language or LANGUAGE]
    if language in (None, pathlib.Path(data_dir).resolve().name):
        inside.append("")
    return find_folder(
        data_dir,
        inside,
        [_any_name(task, part) for part in ("train", "test")],
        "get the data with `corefmem download babi` (in Python: "
        f"`keras_corefmem.datasets.babi.download()`), or unpack {HOMES[0]} and pass its folder",
    )
