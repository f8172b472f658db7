"""Questions to begin with, and those that a model gets wrong."""

import functools
import pathlib
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from keras_corefmem.datasets import DATASETS, Example
from keras_corefmem.datasets.stories import simulator
from zoo.reading import read_examples

# Questions of a data set, or of the simulator, among which wrong answers are looked for.
LOOKED_AT = 1000
SIMULATED = 4
# What anyone can ask a model that was trained on text of another kind.
PASSAGE = Example(
    (
        "anna put the letter on the table and called her brother .",
        "`` read it , peter , '' she said .",
        "he shook his head and gave it back to her .",
    ),
    "`` then i will read it myself , '' said",
    "anna",
)


class Wrong(NamedTuple):
    """A question, with what a model answers instead."""

    example: Example
    answer: str
    probability: float


@functools.cache
def _stories() -> dict[int, list[Example]]:
    path = pathlib.Path(__file__).with_name("stories.toml")
    stories: dict[int, list[Example]] = {}
    for story in tomllib.loads(path.read_text(encoding="utf-8"))["story"]:
        example = Example(story["sentences"], story["question"], story["answer"], story["facts"])
        stories.setdefault(story["task"], []).append(example)
    return stories


def samples(card: Mapping[str, Any]) -> list[Example]:
    """Questions that fit what a model was trained on, by the card of its preset."""
    if card.get("dataset", "babi") not in ("babi", "simulator"):
        return [PASSAGE]
    task = card.get("task", 1)
    found = list(_stories().get(task, _stories()[1]))
    return found + (simulator.simulate(task, SIMULATED) if task in simulator.TASKS else [])


def questions(card: Mapping[str, Any], data_dir: str | None) -> Sequence[Example]:
    """The questions of a model's data set that are reported, simulated ones without files.

    Raises:
        ValueError: if there are no files, and nothing to simulate.
    """
    name, task = card.get("dataset", "babi"), card.get("task", 1)
    if data_dir:
        return DATASETS[name].load(task, data_dir).test[:LOOKED_AT]
    if name in ("babi", "simulator") and task in simulator.TASKS:
        return simulator.load(task).test[:LOOKED_AT]
    raise ValueError(f"Give the folder of {name}: corefmem demo --data-dir DIR.")


def wrong_answers(model: Any, examples: Sequence[Example]) -> list[Wrong]:
    """The questions that a model gets wrong, the surest first."""
    readings = read_examples(model, examples, top=1)
    wrong = [
        Wrong(example, reading.answer, reading.probability)
        for example, reading in zip(examples, readings, strict=True)
        if reading.answer != example.answer
    ]
    return sorted(wrong, key=lambda each: -each.probability)
