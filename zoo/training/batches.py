"""Batches of the parts of a data set."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.preprocessing.augmentation import RemoveEvidence
from keras_corefmem.preprocessing.batching.batches import common_lengths
from zoo.training.ablation import check_reads_mentions, encode_examples
from zoo.training.settings import Settings

PARTS = ("train", "valid", "test")


def make_batches(model: Any, examples: Sequence, **kwargs: Any) -> Any:
    """Makes batches of examples for a model. Deprecated: use `model.batches(examples)`.

    Args:
        model: a model with a preprocessor.
        examples: list of examples.
        **kwargs: further arguments of `model.batches`.

    Example:
        >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
        >>> model = zoo.QueryReductionNetwork.from_examples(stories, units=4)
        >>> len(zoo.training.make_batches(model, stories, batch_size=4))
        2
    """
    message = "make_batches(model, …) is now model.batches(…)."
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return model.batches(examples, **kwargs)


def draw_parts(splits: Any, settings: Settings) -> tuple[list, list, list]:
    """Returns the training, validation and test examples of a run.

    Training examples are reduced to `train_size`. With `unanswerable`, questions without an answer
    are added to the training and validation examples.

    Args:
        splits: a `Splits`.
        settings: the settings.

    Raises:
        ValueError: if the settings ask for more training questions than there are, or for
            unanswerable questions that cannot be made from the examples.

    Example:
        >>> splits = keras_corefmem.datasets.simulator.load(1)
        >>> train, *_ = zoo.training.draw_parts(splits, zoo.training.Settings(train_size=9))
        >>> len(train)
        9
    """
    train = draw_examples(splits.train, settings.train_size, settings.seed)
    if settings.unanswerable is None:
        return train, splits.valid, splits.test
    if not all(isinstance(example, Example) for example in train):
        raise ValueError("unanswerable is for questions about passages: leave it out for others.")
    removals = fit_removals(train)
    before, drawn = len(train), (settings.unanswerable, settings.seed)
    train, valid = (add_unanswerable(part, removals, *drawn) for part in (train, splits.valid))
    if len(train) == before:
        raise ValueError(
            "unanswerable: no question says by its supporting facts what it asks about, so that "
            "nothing can be taken out: leave the setting out."
        )
    return train, valid, splits.test


def calibration_examples(splits: Any, settings: Settings) -> list:
    """Returns the examples that `calibrate` fits probabilities to: those of validation.

    With `unanswerable`, each question is repeated without its evidence where that can be removed,
    because validation has too few such questions to fit the probability of "unknown".

    Args:
        splits: a `Splits`.
        settings: the settings.

    Example:
        >>> splits = keras_corefmem.datasets.simulator.load(1, train=50, valid=10)
        >>> settings = zoo.training.Settings(unanswerable=0.2)
        >>> len(zoo.training.calibration_examples(splits, settings))
        20
    """
    if settings.unanswerable is None:
        return splits.valid
    train = draw_examples(splits.train, settings.train_size, settings.seed)
    return add_unanswerable(splits.valid, fit_removals(train), 1.0, settings.seed)


def fit_removals(train: list) -> list[RemoveEvidence]:
    """Fits two augmentations to training examples that remove all of the evidence, or half."""
    remove = RemoveEvidence.fit(train)
    return [remove, RemoveEvidence(remove.entities, remove.tokenizer, half=True)]


def add_unanswerable(
    examples: list, removals: Sequence[RemoveEvidence], share: float, seed: int
) -> list:
    """Adds copies of a share of the examples as questions without an answer.

    The removals alternate; where one changes nothing, the next is tried.
    """
    removed = []
    for number, old in enumerate(examples):
        first = number % len(removals)
        changed = (remove(old) for remove in (*removals[first:], *removals[:first]))
        removed.append(next((new for new in changed if new is not old), None))
    removed = list(filter(None, removed))
    return [*examples, *draw_examples(removed, math.ceil(share * len(removed)), seed)]


def draw_examples(examples: list, count: int | None, seed: int) -> list:
    """Draws examples and keeps their order; a smaller count draws a subset of a larger one's."""
    if count is None:
        return examples
    if count > len(examples):
        raise ValueError(
            f"train_size={count}: there are {len(examples)} training questions; give no more."
        )
    chosen = np.argsort(np.random.default_rng(seed).random(len(examples)), kind="stable")[:count]
    return [examples[n] for n in np.sort(chosen)]


def batch_parts(model: Any, parts: Sequence[list], settings: Settings) -> dict[str, Any]:
    """Makes batches of all parts of a data set, with few distinct shapes.

    Args:
        model: a model with a preprocessor.
        parts: training, validation and test examples.
        settings: the settings.

    Returns:
        `Batches` by name of the part, without empty parts.

    Raises:
        ValueError: if the settings have a share of mentions but the model reads none, or if their
            augmentations do not fit the examples.

    Example:
        >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
        >>> model = zoo.QueryReductionNetwork.from_examples(stories, units=4)
        >>> parts = stories, stories[:2], []
        >>> list(zoo.training.batch_parts(model, parts, zoo.training.Settings()))
        ['train', 'valid']
    """
    preprocessor = model.preprocessor
    if settings.mentions is not None:
        check_reads_mentions(model, settings.model)
    encoded = {
        part: encode_examples(examples, preprocessor, settings.mentions, settings.seed)
        for part, examples in zip(PARTS, parts, strict=True)
    }
    everything = [example for examples in encoded.values() for example in examples]
    lengths = common_lengths(preprocessor, everything, settings.buckets)
    augmented = {"augment": settings.augment, "examples": parts[0]} if settings.augment else {}
    return {
        part: preprocessor.batches(
            examples,
            model.features,
            **lengths,
            batch_size=settings.batch_size,
            shuffle=part == "train",
            seed=settings.seed,
            **(augmented if part == "train" else {}),
        )
        for part, examples in encoded.items()
        if examples
    }
