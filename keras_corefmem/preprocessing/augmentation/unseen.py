"""Augmentation that gives entities invented names."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.preprocessing.augmentation.renaming import RenameEntities
from keras_corefmem.utils.checks import check_shares

CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
SYLLABLES = 3


class UnseenEntities(RenameEntities):
    """Gives entities invented names, consistently in all texts of an example.

    A reader sees such names as free symbols, and so learns to read texts about persons and things
    that it has never seen. By default, each example draws the share of its entities to rename, so
    that known and unknown ones occur together. Entities with several word forms keep their names,
    since nothing would tell that unknown forms belong to one word.

    Args:
        classes: entities, by class, see `RenameEntities`.
        tokenizer: the tokenizer of the texts, or its name.
        known: words that must not become new names.
        share: share of the entities to rename; `None` draws it for each example.

    Raises:
        ValueError: if a word is in the classes twice, or the share is not from 0 to 1.

    Example:
        >>> classes = [["Mary", "John"], ["hall", "den"]]
        >>> unseen = keras_corefmem.preprocessing.UnseenEntities(classes, share=1.0)
        >>> example = keras_corefmem.datasets.Example(("Mary is in the hall.",), "Where?", "hall")
        >>> renamed = unseen(example, np.random.default_rng(0))
        >>> renamed.passage, renamed.answer
        ('Runozo is in the nekada.', 'nekada')
    """

    def __init__(
        self,
        classes: Iterable[Iterable[str | Sequence[str]]],
        tokenizer: Any = "words",
        known: Iterable[str] = (),
        share: float | None = None,
    ) -> None:
        super().__init__(classes, tokenizer)
        check_shares(share=0.0 if share is None else share)
        self.known, self.share = {*known, *self.place}, share

    @classmethod
    def fit(cls, examples: Sequence[Example], preprocessor: Any, within: str | None = None) -> Self:
        """Learns which words to rename, as `RenameEntities.fit` does.

        Raises:
            ValueError: as in `RenameEntities.fit`.
        """
        learned = RenameEntities.fit(examples, preprocessor, within)
        return cls(learned.groups, preprocessor.tokenizer, preprocessor.vocabulary.known)

    def new_names(
        self, words: Iterable[str], random: np.random.Generator
    ) -> dict[str, tuple[str, str]]:
        share = random.random() if self.share is None else self.share
        names: dict[str, tuple[str, str]] = {}
        new: set[str] = set()
        for word in words:
            number, member = self.place[word]
            forms = self.groups[number][member]
            if len(forms) > 1 or random.random() >= share:
                continue
            name = _invent(random)
            while name in self.known or name in new:
                name = _invent(random)
            new.add(name)
            names[word] = forms[0], name.capitalize() if forms[0][:1].isupper() else name
        return names


def _invent(random: np.random.Generator) -> str:
    pairs = random.integers((len(CONSONANTS), len(VOWELS)), size=(SYLLABLES, 2)).tolist()
    return "".join(CONSONANTS[first] + VOWELS[second] for first, second in pairs)
