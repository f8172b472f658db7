"""Single sentences with a label, or with one for each word."""

import dataclasses

import numpy as np

from keras_corefmem.datasets.example import Splits
from keras_corefmem.datasets.sentences.sst import CLASSES

__all__ = ["Sentence", "from_phrases", "from_tagged", "hold_out"]


@dataclasses.dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or a phrase of the sentence before it, and what it is labelled with.

    Args:
        words: Tuple of n strings.
        answer: The label, a string; or a tuple of n strings, the tags of the words.
        is_root: Whether it is a whole sentence, not a phrase.
        source: Where it was read, as `"path:line"`; does not enter comparisons.

    Raises:
        ValueError: If there are no words, or not one tag a word.
    """

    words: tuple[str, ...]
    answer: str | tuple[str, ...]
    is_root: bool = True
    source: str = dataclasses.field(default="", compare=False)

    def __post_init__(self):
        place = f"{self.source}: " if self.source else ""
        if not self.words:
            raise ValueError(f"{place}a sentence has at least one word.")
        if not isinstance(self.answer, str) and len(self.answer) != len(self.words):
            raise ValueError(
                f"{place}{len(self.answer)} tags for {len(self.words)} words, give one a word."
            )


def from_phrases(splits, task="fine"):
    """`Splits` of `Sentence` from those of `sst.load(…, task)`, answers by name."""
    names = CLASSES[task]
    return _each(splits, lambda p: Sentence(p.tokens, names[p.label], p.is_root, p.source))


def from_tagged(splits):
    """`Splits` of `Sentence` from those of `pos`, answers one a word."""
    return _each(splits, lambda s: Sentence(s.words, s.tags, source=s.source))


def _each(splits, function):
    parts = (splits.train, splits.valid, splits.test)
    return Splits(*([function(record) for record in part] for part in parts))


def hold_out(sentences, share=0.1, seed=0):
    """Parts sentences, each with its phrases, in two: one to train on, one to choose by.

    Args:
        sentences: List of `Sentence`, each whole sentence ahead of its phrases.
        share: Share of the whole sentences to hold out, between 0 and 1.
        seed: Seed of the choice.

    Returns:
        The list to train on, with phrases, and the list that is held out, without.

    Raises:
        ValueError: If the share does not lie between 0 and 1, or leaves one of the two empty.
    """
    number = np.cumsum([sentence.is_root for sentence in sentences]) - 1
    total = int(number[-1]) + 1 if len(number) else 0
    count = round(share * total)
    if not 0 < count < total:
        raise ValueError(
            f"`share` is {share}: of {total} sentences it has to leave some to train on and some "
            "to choose by."
        )
    held = np.zeros(total, bool)
    held[np.random.default_rng(seed).choice(total, count, replace=False)] = True
    pairs = list(zip(sentences, held[number], strict=True))
    return [s for s, out in pairs if not out], [s for s, out in pairs if out and s.is_root]
