"""Emory's cloze questions about dialogues of a television series, persons written `@ent12`.

From [Ma et al., 2018](https://aclanthology.org/N18-1185). They have the form of CNN's, and are few.
"""

import dataclasses
import re

import numpy as np

from keras_corefmem.datasets.example import most_frequent
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.passages import cnn
from keras_corefmem.datasets.passages.cnn import ClozeExample
from keras_corefmem.datasets.splits import Splits, hold_out
from keras_corefmem.utils.files import Path, load_json

ORIGIN = "https://github.com/emorynlp/reading-comprehension"
FOLDS = 5
# Share of the scenes of training that is held out for validation.
VALID = 0.1

_FILE = "dev.json"
_FORM = "Emory reading-comprehension"
_PERSON = re.compile(r"@ent(\d{1,9})", re.ASCII)
_SPEAKERS = re.compile(r"((?:@entity\d+ )+): ", re.ASCII)


@dataclasses.dataclass
class _Utterance:
    speakers: str
    tokens: str


@dataclasses.dataclass
class _Question:
    scene_id: str
    query: str
    answer: str
    utterances: list[_Utterance]


class DialogueExample(ClozeExample):
    """A `ClozeExample` whose sentences are utterances, each after its speakers and a colon."""

    @property
    def guesses(self) -> dict[str, str | None]:
        turns = (_SPEAKERS.match(sentence) for sentence in self.sentences)
        speakers = (marker for turn in turns if turn for marker in turn[1].split())
        return {**super().guesses, "most frequent speaker": most_frequent(speakers)}


def load(data_dir: Path | None, fold: int | str = 1) -> Splits:
    """Loads a fold of the questions; the scenes are divided at random into five folds.

    Args:
        data_dir: folder of `dev.json`, or the folder that holds it as `emory`.
        fold: number, from 1, of the fold that is `test`. `valid` has a tenth of the other scenes.

    Returns:
        Parts of `DialogueExample`, no two of which share a scene.

    Raises:
        FileNotFoundError: if the file is missing.
        ValueError: if there is no such fold, no folder, or the file is broken.
    """
    if fold not in range(1, FOLDS + 1):
        raise ValueError(f"There is no fold {fold!r} of emory, the folds are 1 to {FOLDS}.")
    folder = find_folder(
        data_dir, ("emory", ""), [_FILE], f"get {_FILE} of {ORIGIN} and pass its folder"
    )
    examples = read_file(folder / _FILE)
    scenes = list(dict.fromkeys(map(_scene, examples)))
    # The same draw for all folds, so that each question is tested in one of them.
    ranks = np.random.default_rng(0).permutation(len(scenes)).tolist()
    folds = {scene: rank % FOLDS + 1 for scene, rank in zip(scenes, ranks, strict=True)}
    rest = [example for example in examples if folds[_scene(example)] != fold]
    parts = hold_out(rest, VALID, groups=list(map(_scene, rest)), source=folder / _FILE)
    return Splits(*parts, [example for example in examples if folds[_scene(example)] == fold])


def read_file(path: Path) -> list[DialogueExample]:
    """Reads questions in the published format.

    A sentence of the passage is an utterance after its speakers, `"@entity0 : hi there ."`, or a
    note. Persons are written and numbered like CNN's entities, see `cnn.relabel`.
    """
    questions = load_json(path, _FORM, f"pass an {_FORM} file.", list[_Question])
    if not questions:
        raise ValueError(f"{path}: no question in the file, pass an {_FORM} file.")
    return [
        _example(question, f"{path}:{n}:{question.scene_id}")
        for n, question in enumerate(questions)
    ]


def _example(question, source):
    if cnn.PLACEHOLDER not in question.query.split():
        raise ValueError(f"{source}: no {cnn.PLACEHOLDER} in the query; pass an {_FORM} file.")
    sentences = tuple(filter(None, map(_sentence, question.utterances)))
    example = DialogueExample(
        sentences,
        _rename(question.query),
        _rename(question.answer),
        source=source,
        candidates=cnn.find_markers(" ".join(sentences)),
    )
    return cnn.relabel(example)


def _sentence(utterance):
    speakers = f"{utterance.speakers.strip()} : " if utterance.speakers.strip() else ""
    return _rename(f"{speakers}{utterance.tokens.strip()}")


def _rename(text):
    return _PERSON.sub(lambda match: f"@entity{int(match[1])}", text)


def _scene(example):
    return example.source.rpartition(":")[2]
