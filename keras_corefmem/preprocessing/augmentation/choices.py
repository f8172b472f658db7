"""Augmentations by name and by kind of question, and their use in an epoch."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from keras_corefmem.datasets.example import Example, group_by_kind
from keras_corefmem.preprocessing.augmentation.longer import LengthenStories
from keras_corefmem.preprocessing.augmentation.renaming import RenameEntities
from keras_corefmem.preprocessing.augmentation.shuffling import ShuffleSentences
from keras_corefmem.preprocessing.augmentation.unseen import UnseenEntities
from keras_corefmem.preprocessing.training_examples import recut
from keras_corefmem.utils.names import did_you_mean

# Key for all kinds of questions that a table does not name, and name for no augmentation.
OTHERS, NONE = "*", "none"
NAMES = {"rename": None, "rename-classes": "classes", "rename-types": "types"}
NAMES |= dict.fromkeys(("unseen", "shuffle", "longer"))


class Augmentation(Protocol):
    """A function from an example and a random generator to an example of the same class.

    It may have an attribute `once`: whether it changes examples once rather than in every epoch.
    """

    def __call__(self, example: Example, random: np.random.Generator) -> Example: ...


class AugmentKinds:
    """Applies different augmentations to each kind of questions; the model is not told the kind.

    Args:
        by_kind: dictionary from a kind, the first of the `kinds` of an example, to augmentations.
            Examples of other kinds stay as they are.
        once: whether they change examples once, rather than in every epoch.

    Example:
        >>> shuffle = keras_corefmem.preprocessing.ShuffleSentences()
        >>> augment = keras_corefmem.preprocessing.AugmentKinds({"19": [shuffle]})
        >>> sentences = "He ran.", "It fell."
        >>> example = keras_corefmem.datasets.Example(sentences, "Who?", "he", kinds=("19",))
        >>> augment(example, np.random.default_rng(3)).passage
        'It fell. He ran.'
    """

    def __init__(self, by_kind: Mapping[str, Sequence[Augmentation]], once: bool = False) -> None:
        self.by_kind, self.once = dict(by_kind), once

    def parts(self) -> list["AugmentKinds"]:
        """Splits the augmentations into those that change examples once and those of each epoch."""
        parts = []
        for once in (True, False):
            chosen = {
                kind: [each for each in augment if is_once(each) == once]
                for kind, augment in self.by_kind.items()
            }
            if any(chosen.values()):
                parts.append(AugmentKinds(chosen, once))
        return parts

    def __call__(self, example: Example, random: np.random.Generator) -> Example:
        for augmentation in self.by_kind.get(next(iter(example.kinds), ""), ()):
            example = augmentation(example, random)
        return example


Names = str | Sequence[str | Augmentation] | Mapping[str, str]


def augmentations(
    names: Names, examples: Sequence[Example], preprocessor: Any
) -> list[Augmentation]:
    """Makes augmentations from their names, in the same order.

    Args:
        names: `"rename"`, `"rename-classes"`, `"rename-types"`, `"unseen"`, `"shuffle"` or
            `"longer"`, or several of them as a list or joined by `+`; a list may hold augmentations
            of your own too. Or a dictionary from the first of the `kinds` of examples to names,
            with `"*"` for all other kinds and `"none"` for no augmentation; augmentations are then
            learned from the examples of their kind alone.
        examples: training examples.
        preprocessor: the preprocessor of a model.

    Raises:
        ValueError: if there is no such augmentation or kind, or it does not fit the examples.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> preprocessor = keras_corefmem.preprocessing.StoryPreprocessor.fit(examples)
        >>> names = "rename-types+shuffle"
        >>> len(keras_corefmem.preprocessing.augmentations(names, examples, preprocessor))
        2
    """
    if names and not all(isinstance(example, Example) for example in examples):
        raise ValueError("augment is for questions about passages: leave it out for others.")
    examples = recut(examples, preprocessor.tokenizer)
    if isinstance(names, Mapping):
        return list(AugmentKinds(_by_kind(names, examples, preprocessor)).parts())
    parts: list[str | Augmentation] = []
    for each in [names] if isinstance(names, str) else names or ():
        parts += split_names(each) if isinstance(each, str) else [each]
    made: list[Augmentation] = []
    for each in parts:
        if not isinstance(each, str):
            made.append(each)
        elif each == "shuffle":
            made.append(ShuffleSentences(preprocessor.tokenizer))
        elif each == "longer":
            stories = [example.sentences for example in examples]
            made.append(LengthenStories(stories, tokenizer=preprocessor.tokenizer))
        elif each == "unseen":
            if not preprocessor.free_symbols:
                raise ValueError(
                    "The augmentation unseen is for models with free symbols: give the model "
                    "free_symbols=32, or leave unseen out."
                )
            made.append(UnseenEntities.fit(examples, preprocessor))
        else:
            made.append(RenameEntities.fit(examples, preprocessor, NAMES[each]))
    return made


def _by_kind(
    table: Mapping[str, str], examples: Sequence[Example], preprocessor: Any
) -> dict[str, list[Augmentation]]:
    groups = group_by_kind(examples)
    for kind in table:
        if kind not in {*groups, OTHERS}:
            known = ", ".join(filter(None, groups)) or "none"
            raise ValueError(
                f"augment: no training example is of the kind {kind!r}; the kinds are {known}."
                f"{did_you_mean(kind, groups)}"
            )
    chosen = {kind: table.get(kind, table.get(OTHERS, NONE)) for kind in groups}
    return {
        kind: augmentations(names, groups[kind], preprocessor)
        for kind, names in chosen.items()
        if names != NONE
    }


def check_names(names: Any) -> None:
    """Checks names of augmentations, or a table of such by kind."""
    for each in names.values() if isinstance(names, Mapping) else [names]:
        if each != NONE:
            split_names(each)


def is_once(augmentation: Augmentation) -> bool:
    """Returns whether an augmentation changes examples once, rather than in every epoch."""
    return getattr(augmentation, "once", False)


def change_once(
    augment: Sequence[Augmentation],
    examples: Sequence[Example],
    encoded: Sequence,
    preprocessor: Any,
    seed: int,
) -> tuple[Sequence[Example], Sequence]:
    """Applies the augmentations that change examples once; returns the examples and `encoded`.

    The examples are in the tokens of the preprocessor. One stays as it is if its answer would
    become unknown.
    """
    examples = recut(examples, preprocessor.tokenizer)
    once = [augmentation for augmentation in augment if is_once(augmentation)]
    if not once:
        return examples, encoded
    changed, rows = list(examples), list(encoded)
    for index, example in enumerate(examples):
        random, new = np.random.default_rng((seed, index, 2)), example
        for augmentation in once:
            new = augmentation(new, random)
        if new is not example and np.all((row := preprocessor.encode(new)).answer):
            changed[index], rows[index] = new, row
    return changed, rows


def draw(
    augment: Sequence[Augmentation],
    example: Example,
    encoded: Any,
    preprocessor: Any,
    seed: Sequence[int],
) -> Any:
    """Augments and encodes an example; returns `encoded` if it grows or its answer is unknown."""
    # Each example has a generator of its own, so that the order of batches does not matter.
    random = np.random.default_rng(seed)
    for augmentation in augment:
        if not is_once(augmentation):
            example = augmentation(example, random)
    other = preprocessor.encode(example)
    sizes = preprocessor.length, preprocessor.question_length
    fits = all(size(other) <= size(encoded) for size in sizes) and np.all(other.answer)
    return other if fits else encoded


def split_names(names: Any) -> list[str]:
    """Splits names of augmentations that `+` joins, and checks them."""
    parts = names.split("+") if isinstance(names, str) else [names]
    for name in parts:
        if not isinstance(name, str) or name not in NAMES:
            hint, known = did_you_mean(str(name), NAMES), ", ".join(NAMES)
            raise ValueError(
                f"There is no augmentation {name!r}: give one of {known}, or several joined by +."
                f"{hint}"
            )
    return parts
