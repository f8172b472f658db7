"""The Stanford Sentiment Treebank, [Socher et al., 2013](https://aclanthology.org/D13-1170).

Epochs are those of the [Dynamic Memory Network](https://arxiv.org/abs/1506.07285).
"""

import dataclasses
from collections.abc import Iterable

import numpy as np

from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.sentences.penn import decode, read_trees
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.utils.files import Path

ORIGIN = "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip"
CLASSES = {
    "fine": ("very negative", "negative", "neutral", "positive", "very positive"),
    "binary": ("negative", "positive"),
}

_NEUTRAL = "neutral"
_FILES = {"train": "train.txt", "development": "dev.txt", "test": "test.txt"}


def load(data_dir: Path | None, task: str = "fine") -> Splits:
    """Loads the treebank.

    Args:
        data_dir: the folder that holds `trees`, or the one of `train.txt`, `dev.txt`, `test.txt`.
        task: `"fine"` for 5 classes, or `"binary"` for 2 without the neutral phrases.

    Returns:
        All phrases of the training trees, each sentence followed by its parts, but only whole
        sentences for validation and test. Without a `test.txt`, the test part is empty.
    """
    folder = _find(data_dir, "train", "development")
    has_test = (folder / _FILES["test"]).is_file()
    train, valid = (read_part(folder, part, task) for part in ("train", "development"))
    return Splits(train, valid, read_part(folder, "test", task) if has_test else [])


def read_part(data_dir: Path | None, part: str, task: str = "fine") -> list[Sentence]:
    """Reads the part `train`, `development` or `test` alone, from the folder of `load`."""
    if task not in CLASSES:
        raise ValueError(f"There is no task {task!r}, `task` is one of {sorted(CLASSES)}.")
    phrases = read_file(_find(data_dir, part) / _FILES[part])
    phrases = to_binary(phrases) if task == "binary" else phrases
    return phrases if part == "train" else [phrase for phrase in phrases if phrase.is_root]


def _find(data_dir, *parts):
    remedy, names = f"unpack {ORIGIN} and pass its folder", [_FILES[part] for part in parts]
    return find_folder(data_dir, ("sst/trees", "sst", "trees", ""), names, remedy)


def read_file(path: Path) -> list[Sentence]:
    """Reads a file of trees, one per line: each sentence, then its parts by their first words."""
    phrases = []
    labels = dict(zip("01234", CLASSES["fine"], strict=True))
    for tree in read_trees(path, one_per_line=True):
        words = tuple(map(decode, tree.words))
        root = tree.constituents[0]
        source = f"{path}:{root.line}"
        for part in tree.constituents:
            if part.label not in labels:
                raise ValueError(
                    f"{source}: {part.label!r:.80} is no label of a phrase, pass a file of the "
                    f"treebank with labels 0..{len(labels) - 1}."
                )
            answer = labels[part.label]
            phrases.append(Sentence(words[part.start : part.end], answer, part is root, source))
    return phrases


def to_binary(phrases: Iterable[Sentence]) -> list[Sentence]:
    """Drops neutral phrases, and sentences that are neutral with all their parts."""
    result, in_neutral = [], False
    for phrase in phrases:
        if phrase.is_root:
            in_neutral = phrase.answer == _NEUTRAL
        if not in_neutral and phrase.answer != _NEUTRAL:
            answer = str(phrase.answer).removeprefix("very ")
            result.append(dataclasses.replace(phrase, answer=answer))
    return result


def epoch_phrases(
    phrases: list[Sentence], epoch: int, share: float = 0.5, seed: int = 0
) -> list[Sentence]:
    """Draws the phrases of an epoch: all sentences, and a share of the other phrases.

    Args:
        phrases: phrases and their sentences.
        epoch: number of the epoch, from 0; every epoch draws anew.
        share: share of the phrases other than sentences, 0..1.
        seed: the same seed and epoch choose the same phrases.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"`share` is {share}, but has to lie in 0..1.")
    keep = np.array([phrase.is_root for phrase in phrases], bool)
    others = np.flatnonzero(~keep)
    count = round(share * len(others))
    keep[np.random.default_rng((seed, epoch)).choice(others, count, replace=False)] = True
    return [phrases[i] for i in np.flatnonzero(keep)]
