"""Sample questions, and questions that a model gets wrong."""

import functools
import pathlib
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from keras_corefmem.corpora.questions import find_annotated, read_part
from keras_corefmem.datasets import Example, registry
from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.preprocessing.encoding.answers import answer_text
from zoo.reading.answers import read_encoded

# Number of questions that are searched for wrong answers; number of simulated samples.
LOOKED_AT = 1000
SIMULATED = 4


class Wrong(NamedTuple):
    """A question with the wrong answer of a model."""

    example: Example
    answer: str
    probability: float


@functools.cache
def _stories() -> dict[int | str, list[Example]]:
    """Reads sample stories by task, and under `"prose"` those for models of other text."""
    path = pathlib.Path(__file__).with_name("stories.toml")
    stories: dict[int | str, list[Example]] = {}
    for story in tomllib.loads(path.read_text(encoding="utf-8"))["story"]:
        texts = story["sentences"], story["question"], story["answer"]
        stories.setdefault(story["task"], []).append(Example(*texts, story.get("facts", ())))
    return stories


def samples(card: Mapping[str, Any]) -> list[Example]:
    """Returns sample questions that fit a model's training data, according to its card."""
    if card.get("dataset", "babi") not in ("babi", "simulator"):
        return _stories()["prose"]
    task = card.get("task", 1)
    examples = list(_stories().get(task, _stories()[1]))
    return examples + (simulator.simulate(task, SIMULATED) if task in simulator.TASKS else [])


def questions(card: Mapping[str, Any], data_dir: str | None) -> tuple[Sequence[Example], str]:
    """Returns questions to search for wrong answers, and their kind.

    In a folder of data, these are the test questions, `"test"`, or annotated records of the part
    that results are reported on, also `"development"`. Without a folder, they are simulated,
    `"simulated"`; of a data set that was downloaded before; or those of `samples`, `"bundled"`.
    There are none for other data sets, or if the model's is unknown.

    Raises:
        FileNotFoundError: if the folder has no files of the model's data set.
        ValueError: if a file is broken.
    """
    name, task = card.get("dataset"), card.get("task", 1)
    if name is None:
        return [], ""
    known = registry.find(name)
    # The folder may belong to another model of the page.
    data_dir = data_dir if known.files else None
    if not data_dir and name in ("babi", "simulator"):
        tasks = simulator.TASKS if task == babi.ALL else {task}.intersection(simulator.TASKS)
        count = LOOKED_AT // max(len(tasks), 1)
        simulated = [each for task in tasks for each in simulator.load(task, test=count).test]
        if simulated:
            return simulated, "simulated"
    examples: Sequence[Example]
    kind, folder = "test", find_annotated(name, data_dir, task)
    if folder is not None and known.from_record:
        # As in `corefmem evaluate`.
        examples, kind = read_part(folder / "test", known.from_record), known.reported
    elif known.published:
        # Only this file is needed, not those for training.
        *_, kind = known.published
        examples = known.published[kind](task, data_dir) if data_dir else []
    elif data_dir or not known.files:
        examples = registry.load(name, task, data_dir, card.get("language")).test
    else:
        examples = _downloaded(name, task, card.get("language")) if known.download else []
    if not examples and name in ("babi", "lambada"):
        return samples(card), "bundled"
    # Spread evenly, so that each task has its share.
    count = min(len(examples), LOOKED_AT)
    return [examples[n * len(examples) // count] for n in range(count)], kind


def _downloaded(name: str, task: int | str, language: str | None) -> Sequence[Example]:
    try:
        return registry.load(name, task, None, language).test
    except FileNotFoundError:
        return []


def how_to_get_questions(card: Mapping[str, Any]) -> str:
    """Returns a message on how to get test questions of a model's data set."""
    name = card.get("dataset")
    if name is None:
        return "It is not on record what this model was trained on: there are no questions to put."
    download = f"run `corefmem download {name}`, or " if registry.find(name).download else ""
    task = f"task {card['task']} of {name}" if registry.find(name).tasks else name
    return (
        f"This page has no test questions of {task}, and simulates none: {download}start it with "
        "their folder, `corefmem demo --data-dir DIR`."
    )


def wrong_answers(model: Any, examples: Sequence[Example]) -> list[Wrong]:
    """Returns the questions that a model gets wrong, the most confident answers first."""
    preprocessor = model.preprocessor
    encoded = preprocessor.encode_all(examples)
    rows = [(example.passage, example.question) for example in examples]
    readings = read_encoded(model, rows, encoded, top=1)
    # Compared by number, as in `corefmem evaluate`: answers may differ only in case.
    right = [
        answer_text(np.ravel(each.answer).tolist(), preprocessor.answers_of(each))
        for each in encoded
    ]
    wrong = [
        Wrong(example, reading.answer, reading.probability)
        for example, reading, answer in zip(examples, readings, right, strict=True)
        if reading.answer != answer
    ]
    return sorted(wrong, key=lambda each: -each.probability)
