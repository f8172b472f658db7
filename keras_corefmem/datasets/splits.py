"""The parts of a data set, and a function that holds one out of another."""

import dataclasses
import random
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")


@dataclasses.dataclass(frozen=True)
class Splits:
    """The three parts of a data set.

    Args:
        train: list of `Example`, or of `Sentence` if the data set has single sentences.
        valid: such a list, for model selection.
        test: such a list, for the reported results.

    Example:
        >>> splits = keras_corefmem.datasets.simulator.load(1, train=20, valid=5, test=10)
        >>> len(splits.train), len(splits.valid), len(splits.test)
        (20, 5, 10)
    """

    train: list[Any]
    valid: list[Any]
    test: list[Any]

    def map(self, function: Callable[[Any], Any]) -> "Splits":
        """Applies a function to each example of all parts."""
        return Splits(*(list(map(function, part)) for part in (self.train, self.valid, self.test)))


def hold_out(
    examples: Sequence[Item],
    share: float | int,
    seed: int | random.Random = 0,
    groups: Sequence[Hashable] | None = None,
    source: object = "",
) -> tuple[list[Item], list[Item]]:
    """Holds a random part of examples out of training.

    Args:
        examples: the items to split in two.
        share: share of the groups to hold out; or their number, an integer.
        seed: seed of a NumPy generator; or a `random.Random` to draw with.
        groups: the group of each example; a group stays in one part. By default, each example is a
            group of its own.
        source: where the examples come from, for errors.

    Returns:
        The examples to train on and the held-out ones, each in the order of `examples`.

    Raises:
        ValueError: if nothing would be held out, or nothing left.

    Example:
        >>> keras_corefmem.datasets.hold_out("abcdef", 0.3, groups=[1, 1, 2, 2, 3, 3])
        (['a', 'b', 'c', 'd'], ['e', 'f'])
    """
    groups = range(len(examples)) if groups is None else groups
    names = list(dict.fromkeys(groups))
    count = share if isinstance(share, int) else round(share * len(names))
    if not 0 < count < len(names):
        raise ValueError(
            f"{f'{source}: ' if source else ''}a share of {share} cannot be held out of "
            f"{len(names)}: give more examples, or a share that leaves some for each part."
        )
    if isinstance(seed, random.Random):
        chosen = seed.sample(range(len(names)), count)
    else:
        # Listing data sets does not need NumPy.
        import numpy as np

        chosen = np.random.default_rng(seed).choice(len(names), count, replace=False).tolist()
    held = {names[n] for n in chosen}
    parts: tuple[list[Item], list[Item]] = ([], [])
    for example, group in zip(examples, groups, strict=True):
        parts[group in held].append(example)
    return parts
