"""Data sets by name, each with the function that loads it."""

import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any, Literal

from keras_corefmem.datasets.splits import Splits


@dataclasses.dataclass(frozen=True)
class DataSet:
    """A data set that can be loaded by its name.

    Args:
        line: a line about it.
        load: function from the name of a task and the folder of the files to `Splits`; it may take
            a `language`, or whether its text stays `cased`.
        first_task: the task by default.
        reads: `"questions"` about passages, or single `"sentences"`.
        texts: what it consists of.
        counted: what is counted of it.
        languages: whether it comes in several languages.
        cased: whether its text may keep capital letters, which its readers do without.
        files: whether it is read from files.
        tasks: whether it has several tasks.
        reported: name of the part that is reported.
        download: whether `corefmem download` gets it.
        from_record: function from an `Annotation` and fields to an `AnnotatedExample`, where it is
            real text that `corefmem annotate` annotates.

    Example:
        >>> keras_corefmem.datasets.DATASETS["cbt"].first_task
        'NE'
    """

    line: str
    load: Callable[..., Splits]
    first_task: int | str = 1
    reads: Literal["questions", "sentences"] = "questions"
    texts: str = "questions"
    counted: str = "questions"
    languages: bool = False
    cased: bool = False
    files: bool = True
    tasks: bool = False
    reported: str = "test"
    download: bool = False
    from_record: Callable[..., Any] | None = None


def _simulator(task, data_dir):
    from keras_corefmem.datasets.stories import simulator

    return simulator.load(task)


def _babi(task, data_dir, language=None):
    from keras_corefmem.datasets.stories import babi

    return babi.load(data_dir or babi.cache_folder(), task, language)


def _babi_mix(task, data_dir, language=None):
    from keras_corefmem.datasets.stories import babi, babi_mix

    return babi_mix.load(data_dir or babi.cache_folder(), task, language)


def _cnn(task, data_dir):
    from keras_corefmem.datasets.passages import cnn

    return cnn.load(data_dir)


def _cbt(task, data_dir):
    from keras_corefmem.datasets.passages import cbt

    return cbt.load(data_dir, task)


def _lambada(task, data_dir, cased=False):
    from keras_corefmem.datasets.passages import lambada

    return lambada.load(data_dir, cased)


def _hops(name):
    def load(task, data_dir):
        from keras_corefmem.datasets.passages import wikihop
        from keras_corefmem.text import get_tokenizer

        tokenize = get_tokenizer("penn")
        splits = wikihop.load(data_dir, name)
        return splits.map(lambda e: wikihop.truncate(wikihop.shuffle(e, 0), tokenize))

    return load


def _sst(task, data_dir):
    from keras_corefmem.datasets.sentences import sst

    return _hold_out_sentences(sst.load(data_dir, task))


def _pos(task, data_dir):
    from keras_corefmem.datasets.sentences import pos

    return _hold_out_sentences(pos.load_conllu(data_dir, task))


def _wsj(task, data_dir):
    from keras_corefmem.datasets.sentences import pos

    if task != "PTB":
        raise ValueError(f"There is no task {task!r} of wsj, only PTB.")
    return pos.load_wsj(data_dir)


def _hold_out_sentences(splits):
    """Reports the published development part, and chooses by a part of the training one."""
    from keras_corefmem.datasets.sentences.sentence import hold_out_sentences

    return Splits(*hold_out_sentences(splits.train), splits.valid)


def _question_from_record(annotation, fields):
    from keras_corefmem.datasets.annotated import AnnotatedExample

    return AnnotatedExample.from_record(annotation, fields)


def _lambada_from_record(annotation, fields):
    from keras_corefmem.datasets.passages import lambada_kinds

    return lambada_kinds.from_record(annotation, fields)


def _hop_from_record(annotation, fields):
    from keras_corefmem.datasets.passages import wikihop

    return wikihop.from_record(annotation, fields)


DATASETS = {
    "simulator": DataSet(
        "stories like bAbI's, simulated: nothing to download", _simulator, files=False, tasks=True
    ),
    "babi": DataSet("the 20 bAbI tasks, v1.2", _babi, languages=True, tasks=True, download=True),
    "babi-mix": DataSet(
        "bAbI-Mix: two bAbI stories of two worlds, told at once",
        _babi_mix,
        languages=True,
        tasks=True,
        download=True,
    ),
    "cnn": DataSet("cloze questions about CNN's or the Daily Mail's news", _cnn),
    "lambada": DataSet(
        "LAMBADA: the last word of a passage; trained on `corefmem passages`",
        _lambada,
        cased=True,
        reported="development",
        from_record=_lambada_from_record,
    ),
    "wikihop": DataSet(
        "WikiHop: relations told by several documents together",
        _hops("wikihop"),
        reported="development",
        from_record=_hop_from_record,
    ),
    "medhop": DataSet(
        "MedHop: interactions of drugs, told by several documents together",
        _hops("medhop"),
        reported="development",
        from_record=_hop_from_record,
    ),
    "cbt": DataSet(
        "Children's Book Test, tasks NE, CN, P and V",
        _cbt,
        first_task="NE",
        tasks=True,
        from_record=_question_from_record,
    ),
    "sst": DataSet(
        "Stanford Sentiment Treebank, tasks fine and binary",
        _sst,
        first_task="fine",
        reads="sentences",
        texts="sentences and phrases",
        counted="labels",
        tasks=True,
        reported="development",
    ),
    "pos": DataSet(
        "parts of speech of UD English EWT, tasks UPOS and XPOS",
        _pos,
        first_task="XPOS",
        reads="sentences",
        texts="sentences",
        counted="labels",
        tasks=True,
        reported="development",
    ),
    "wsj": DataSet(
        "parts of speech of the Wall Street Journal, the usual sections of the Penn Treebank",
        _wsj,
        first_task="PTB",
        reads="sentences",
        texts="sentences",
        counted="labels",
        reported="development",
    ),
}


def load(
    name: str,
    task: int | str | None = None,
    data_dir: str | pathlib.Path | None = None,
    language: str | None = None,
    cased: bool = False,
) -> Splits:
    """Loads one task of a data set.

    Args:
        name: one of `DATASETS`.
        task: number of a bAbI task, or name of a task of CBT or of sentences; the others have one.
        data_dir: folder of the files, which may lie in a folder of it that is named for the data
            set; for bAbI by default where `babi.download()` puts them.
        language: bAbI's language folder, see `babi.load`.
        cased: whether text keeps its capital letters where it has some, for annotators.

    Returns:
        The parts. Of sentences, WikiHop, MedHop and LAMBADA, the published development part is the
        one that is reported, `test`; `valid` is held out of the training part to choose by. The
        others have their own parts.

    Raises:
        FileNotFoundError: if the files are not there.
        ValueError: if the data set or task does not exist, or the data set has no languages or no
            files and is given some.

    Example:
        >>> splits = keras_corefmem.datasets.load("simulator", 1)
        >>> len(splits.train)
        900
    """
    if name not in DATASETS:
        raise ValueError(f"There is no data set {name!r}; choose one of {', '.join(DATASETS)}.")
    known, options = DATASETS[name], dict[str, Any]()
    if language and not known.languages:
        having = " and ".join(other for other, each in DATASETS.items() if each.languages)
        raise ValueError(
            f"--language {language}: {name} has no languages, only {having} have. Leave it out, or "
            "give another --dataset."
        )
    if data_dir and not known.files:
        raise ValueError(
            f"--data-dir {data_dir}: the {name} reads no files. Leave it out, or give another "
            "--dataset."
        )
    if data_dir is None and known.files and not known.download:
        raise ValueError(f"{name} has no download: give the folder of its files, --data-dir.")
    if known.languages:
        options["language"] = language
    if known.cased:
        options["cased"] = cased
    return known.load(known.first_task if task is None else task, data_dir, **options)
