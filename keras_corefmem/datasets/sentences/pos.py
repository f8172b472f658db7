"""Part-of-speech tagging: Universal Dependencies and the Wall Street Journal's Penn Treebank."""

import pathlib
import re

from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.sentences.penn import decode, read_trees
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.utils.files import Path, read_text

# The split of Collins, 2002 (https://aclanthology.org/W02-1001), the usual one for tagging.
WSJ_SECTIONS = {"train": range(0, 19), "valid": range(19, 22), "test": range(22, 25)}

_NAMES = {"train": "train", "development": "dev", "test": "test"}
_FILES = {part: f"*-ud-{name}.conllu" for part, name in _NAMES.items()}
_COLUMNS = {"UPOS": 3, "XPOS": 4}
_TRACE = "-NONE-"


def load_conllu(data_dir: Path | None, column: str = "UPOS") -> Splits:
    """Loads a treebank of [Universal Dependencies](https://universaldependencies.org).

    Args:
        data_dir: folder of one treebank, `en_ewt-ud-train.conllu` and so on; the test part may be
            missing.
        column: `"UPOS"` for the universal tags, or `"XPOS"` for those of the language.
    """
    folder = _find(data_dir, "train", "development")
    has_test = any(folder.glob(_FILES["test"]))
    train, valid = (read_part(folder, part, column) for part in ("train", "development"))
    return Splits(train, valid, read_part(folder, "test", column) if has_test else [])


def read_part(data_dir: Path | None, part: str, column: str = "UPOS") -> list[Sentence]:
    """Reads the part `train`, `development` or `test` of a treebank alone, see `load_conllu`."""
    folder = _find(data_dir, part)
    path, *others = sorted(folder.glob(_FILES[part]))
    if others:
        names = ", ".join(each.name for each in (path, *others))
        raise ValueError(f"{folder}: several treebanks ({names}), give each its own folder.")
    return read_conllu(path, column)


def _find(data_dir, *parts):
    remedy = "unpack a treebank of https://universaldependencies.org and pass its folder"
    return find_folder(data_dir, ("ud_english_ewt", ""), [_FILES[part] for part in parts], remedy)


def read_conllu(path: Path, column: str = "UPOS") -> list[Sentence]:
    """Reads the words of a CoNLL-U file, neither multi-word tokens nor empty nodes."""
    if column not in _COLUMNS:
        raise ValueError(f"There is no column {column!r}, `column` is one of {sorted(_COLUMNS)}.")
    sentences: list[Sentence] = []
    words: list[str] = []
    tags: list[str] = []
    first_line = None
    *lines, rest = read_text(path, "CoNLL-U").split("\n")
    for line_number, line in enumerate(lines, 1):
        if not line:
            if words:
                source = f"{path}:{first_line}"
                sentences.append(Sentence(tuple(words), tuple(tags), source=source))
            words, tags, first_line = [], [], None
            continue
        first_line = first_line or line_number
        pair = _read_word(line, column, len(words) + 1, f"{path}:{line_number}")
        if pair:
            words.append(pair[0])
            tags.append(pair[1])
    if first_line or rest:
        raise ValueError(
            f"{path}:{first_line or len(lines) + 1}: no empty line ends the sentence that begins "
            "here; is the file truncated?"
        )
    if not sentences:
        raise ValueError(f"{path}: no sentence in the file, pass a CoNLL-U file.")
    return sentences


def _read_word(line, column, number, place):
    """Returns (word, tag), or None if the line is not a word."""
    if line.startswith("#"):
        return None
    fields = line.split("\t")
    if len(fields) != 10:
        raise ValueError(
            f"{place}: {len(fields)} of the 10 columns between tabs, "
            "pass a CoNLL-U file; is it truncated?"
        )
    if re.fullmatch(r"\d+[-.]\d+", fields[0], re.ASCII):
        return None
    if fields[0] != str(number):
        raise ValueError(
            f"{place}: the word is number {fields[0]!r:.80} instead of {number}, words or the "
            "empty line between sentences are missing; get the file again."
        )
    word, tag = fields[1], fields[_COLUMNS[column]]
    if not word or tag in ("", "_"):
        raise ValueError(
            f"{place}: the word {word!r:.80} has no {column} tag, fill it in or read "
            "the other column."
        )
    return word, tag


def load_wsj(data_dir: Path, task: str = "PTB") -> Splits:
    """Loads the Wall Street Journal part of the Penn Treebank (LDC99T42), split for tagging.

    Its files may lie at any depth; the whole treebank has 38,219, 5,527 and 5,462 sentences
    ([Toutanova et al., 2003](https://aclanthology.org/N03-1033)).
    """
    if task != "PTB":
        raise ValueError(f"There is no task {task!r} of wsj, only PTB.")
    sections: dict[int, dict[str, pathlib.Path]] = {
        number: {} for part in WSJ_SECTIONS.values() for number in part
    }
    for path in sorted(pathlib.Path(data_dir).rglob("*")):
        match = re.fullmatch(r"wsj_(\d\d)\d\d\.mrg", path.name.lower(), re.ASCII)
        if not match or int(match[1]) not in sections:
            continue
        other = sections[int(match[1])].setdefault(path.name.lower(), path)
        if other != path:
            raise ValueError(f"{other} and {path} are the same file, pass the folder of one copy.")
    missing = [f"{number:02}" for number, paths in sections.items() if not paths]
    if missing:
        raise FileNotFoundError(
            f"No files wsj_*.mrg of the sections {', '.join(missing)} in {data_dir}; "
            "pass the folder of the whole treebank, LDC99T42 of https://catalog.ldc.upenn.edu."
        )
    parts = (
        [path for n in part for path in sections[n].values()] for part in WSJ_SECTIONS.values()
    )
    return Splits(*([s for path in paths for s in read_penn(path)] for paths in parts))


def read_penn(path: Path) -> list[Sentence]:
    """Reads words and tags of Penn Treebank trees, without traces (`-NONE-`) and escapes."""
    sentences = []
    for tree in read_trees(path):
        leaves = [part for part in tree.constituents if part.is_leaf and part.label != _TRACE]
        if leaves:
            words = tuple(decode(tree.words[leaf.start]) for leaf in leaves)
            tags = tuple(leaf.label for leaf in leaves)
            source = f"{path}:{tree.constituents[0].line}"
            sentences.append(Sentence(words, tags, source=source))
    return sentences
