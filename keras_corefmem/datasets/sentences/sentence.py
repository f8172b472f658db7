"""Single sentences with a label, or with one for each word."""

import dataclasses

import numpy as np

from keras_corefmem.datasets.splits import hold_out


@dataclasses.dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or a phrase of the sentence before it, and its label or tags.

    Args:
        words: tuple of n strings.
        answer: the label, a string; or a tuple of n strings, the tags of the words.
        is_root: whether it is a whole sentence, not a phrase.
        source: where it was read, as `"path:line"`; ignored in comparisons.

    Raises:
        ValueError: if there are no words or they are one string, or not one tag for each word.

    Example:
        >>> sentence = keras_corefmem.datasets.Sentence(("Mary", "left"), ("NNP", "VBD"))
        >>> dict(zip(sentence.words, sentence.answer))
        {'Mary': 'NNP', 'left': 'VBD'}
    """

    words: tuple[str, ...]
    answer: str | tuple[str, ...]
    is_root: bool = True
    source: str = dataclasses.field(default="", compare=False)

    def __post_init__(self) -> None:
        place = f"{self.source}: " if self.source else ""
        if isinstance(self.words, str):
            raise ValueError(f"{place}`words` is one string, pass a tuple of words.")
        if not self.words:
            raise ValueError(f"{place}a sentence has at least one word.")
        if not isinstance(self.answer, str) and len(self.answer) != len(self.words):
            raise ValueError(
                f"{place}{len(self.answer)} tags for {len(self.words)} words, give one a word."
            )


def hold_out_sentences(
    sentences: list[Sentence], share: float = 0.1, seed: int = 0
) -> tuple[list[Sentence], list[Sentence]]:
    """Holds whole sentences out of training, with their phrases.

    Args:
        sentences: sentences, each followed by its phrases.
        share: share of the whole sentences to hold out, between 0 and 1.
        seed: seed of the choice.

    Returns:
        The sentences to train on, with their phrases, and the held-out ones, without.
    """
    groups = np.cumsum([sentence.is_root for sentence in sentences]).tolist()
    train, held = hold_out(sentences, float(share), seed, groups)
    return train, [sentence for sentence in held if sentence.is_root]
