"""Data sets by name, each with the function that loads it."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

# These packages import a reader only when it is used.
from keras_corefmem.datasets import passages, sentences, stories
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.utils.files import Path
from keras_corefmem.utils.names import did_you_mean


@dataclasses.dataclass(frozen=True)
class DataSet:
    """A data set that can be loaded by its name.

    Args:
        line: a one-line description.
        load: function from the name of a task and the folder of the files to `Splits`; it may also
            take a `language`, or whether its text stays `cased`.
        first_task: the default task.
        reads: `"questions"` about passages, or single `"sentences"`.
        texts: name of its items.
        counted: name of the answers that are counted.
        languages: whether it comes in several languages.
        cased: whether its text may keep capital letters, which are dropped by default.
        files: whether it is read from files.
        tasks: whether it has several tasks.
        published: functions from a task and a folder to the published parts that are loaded without
            the files to train on, by name; the first is `Splits.test`, if there are any.
        download: whether `corefmem download` gets it.
        from_record: function from an `Annotation` and fields to an `AnnotatedExample`, if it is
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
    published: Mapping[str, Callable[..., list[Any]]] = dataclasses.field(default_factory=dict)
    download: bool = False
    from_record: Callable[..., Any] | None = None

    @property
    def reported(self) -> str:
        """Name of the part that is `Splits.test`, on which results are reported."""
        return next(iter(self.published), "test")


# Ending of the paths of your own data sets.
JSON_LINES = ".jsonl"

_SENTENCES: Any = {"reads": "sentences", "texts": "sentences", "counted": "labels"}


def _published(read):
    """Makes functions for `published` of one that reads a part, given folder, part and task."""
    parts = "development", "test"
    return {part: lambda task, folder, part=part: read(folder, part, task) for part in parts}


def _hold_out_sentences(read, folder, task):
    """Holds `valid` out of the training part; the published development part is `test`."""
    train = sentences.hold_out_sentences(read(folder, "train", task))
    return Splits(*train, read(folder, "development", task))


def _hops(name, title):
    return DataSet(
        f"{title} told by several documents together",
        lambda task, folder: passages.wikihop.load_shuffled(folder, name),
        published={
            "development": lambda task, folder: passages.wikihop.load_development(folder, name)
        },
        from_record=lambda *record: passages.wikihop.from_record(*record),
    )


DATASETS = {
    "simulator": DataSet(
        "stories like bAbI's, simulated: nothing to download",
        lambda task, folder: stories.simulator.load(task),
        files=False,
        tasks=True,
    ),
    "babi": DataSet(
        "the 20 bAbI tasks, v1.2",
        lambda task, folder, language: stories.babi.load(folder, task, language),
        languages=True,
        tasks=True,
        download=True,
    ),
    "babi-mix": DataSet(
        "bAbI-Mix: two bAbI stories of two worlds, told at once",
        lambda task, folder, language: stories.babi_mix.load(folder, task, language),
        languages=True,
        tasks=True,
        download=True,
    ),
    "cnn": DataSet(
        "cloze questions about CNN's or the Daily Mail's news",
        lambda task, folder: passages.cnn.load(folder),
    ),
    "emory": DataSet(
        "cloze questions about dialogues of a television series, in folds 1 to 5",
        lambda task, folder: passages.emory.load(folder, task),
        tasks=True,
    ),
    "lambada": DataSet(
        "LAMBADA: the last word of a passage; trained on `corefmem passages`",
        lambda task, folder, cased: passages.lambada.load(folder, cased),
        cased=True,
        published=_published(lambda folder, part, task: passages.lambada.read_part(folder, part)),
        from_record=lambda *record: passages.lambada_kinds.from_record(*record),
    ),
    "wikihop": _hops("wikihop", "WikiHop: relations"),
    "medhop": _hops("medhop", "MedHop: interactions of drugs,"),
    "cbt": DataSet(
        "Children's Book Test, tasks NE, CN, P and V",
        lambda task, folder: passages.cbt.load(folder, task),
        first_task="NE",
        tasks=True,
        from_record=lambda *record: passages.cbt.from_record(*record),
    ),
    "sst": DataSet(
        "Stanford Sentiment Treebank, tasks fine and binary",
        lambda task, folder: _hold_out_sentences(sentences.sst.read_part, folder, task),
        first_task="fine",
        tasks=True,
        published=_published(lambda *part: sentences.sst.read_part(*part)),
        **_SENTENCES | {"texts": "sentences and phrases"},
    ),
    "pos": DataSet(
        "parts of speech of UD English EWT, tasks UPOS and XPOS",
        lambda task, folder: _hold_out_sentences(sentences.pos.read_part, folder, task),
        first_task="XPOS",
        tasks=True,
        published=_published(lambda *part: sentences.pos.read_part(*part)),
        **_SENTENCES,
    ),
    "wsj": DataSet(
        "parts of speech of the Wall Street Journal, the usual sections of the Penn Treebank",
        lambda task, folder: sentences.pos.load_wsj(folder, task),
        first_task="PTB",
        **_SENTENCES,
    ),
}


def find(name: Path, task: int | str | None = None) -> DataSet:
    """Returns the data set of a name, or of the path of a file of JSON lines, `"my.jsonl"`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if there is no such data set, or it has one task and is given another.
    """
    known = _find(str(name))
    if not known.tasks and task not in (None, known.first_task):
        raise ValueError(f"--task {task}: {name} has one task; leave --task out.")
    return known


def _find(name):
    if name in DATASETS:
        return DATASETS[name]
    if not name.endswith(JSON_LINES):
        raise ValueError(
            f"There is no data set {name!r}; choose one of {', '.join(DATASETS)}, or give the path "
            f"of a file of JSON lines, my{JSON_LINES}.{did_you_mean(name, DATASETS)}"
        )
    # Imports the readers, which listing the data sets does not need.
    from keras_corefmem.datasets import json_lines

    kind = _SENTENCES if json_lines.has_sentences(name) else {}
    return DataSet(
        "a file of JSON lines",
        lambda task, folder: json_lines.load(name),
        files=False,
        **kind,
    )


def load(
    name: Path,
    task: int | str | None = None,
    data_dir: Path | None = None,
    language: str | None = None,
    cased: bool = False,
) -> Splits:
    """Loads one task of a data set.

    Args:
        name: one of `DATASETS`, or the path of a file of JSON lines, see `as_examples`; a tenth of
            its texts is held out as `valid`, and another tenth as `test`.
        task: number of a bAbI task, or `"all"` of these; number of a fold of Emory; or name of a
            task of CBT, SST or POS. Other data sets have one task.
        data_dir: folder of the files, or one with a subfolder for them that is named after the data
            set; for bAbI by default where `babi.download()` puts them.
        language: bAbI's language folder, see `babi.load`.
        cased: whether text keeps the capital letters that it has, for annotators.

    Returns:
        The parts. For SST, POS, WikiHop, MedHop and LAMBADA, `test` is the published development
        part, on which results are reported, and `valid` is held out of the training part. Other
        data sets have their own parts.

    Raises:
        FileNotFoundError: if the files are not there.
        ValueError: if the data set or task does not exist, or the data set has no tasks, languages
            or files and is given some.

    Example:
        >>> splits = keras_corefmem.datasets.load("simulator", 1)
        >>> len(splits.train)
        900
    """
    known, options = find(name, task), dict[str, Any]()
    check_places(name, data_dir, language)
    _check_folder(name, known, data_dir)
    if known.languages:
        options["language"] = language
    if known.cased:
        options["cased"] = cased
    return known.load(known.first_task if task is None else task, data_dir, **options)


def _check_folder(name, known, data_dir):
    if data_dir is None and known.files and not known.download:
        raise ValueError(f"{name} has no download: give the folder of its files, --data-dir.")


def check_places(name: Path, data_dir: Path | None, language: str | None) -> None:
    """Raises a ValueError for a folder or a language that a data set does not have."""
    known = find(name)
    if language and not known.languages:
        having = " and ".join(other for other, each in DATASETS.items() if each.languages)
        raise ValueError(
            f"--language {language}: {name} has no languages, only {having} have. Leave it out, or "
            "give another --dataset."
        )
    if data_dir and not known.files:
        raise ValueError(
            f"--data-dir {data_dir}: {name} reads no files of a folder. Leave it out, or give "
            "another --dataset."
        )


def check_part(name: str, part: str) -> None:
    """Raises a ValueError for a part that a data set does not have or publish."""
    known = find(name)
    parts = ["train", "valid", *(known.published or ["test"])]
    if part not in parts:
        raise ValueError(f"--part {part}: {name} has the parts {', '.join(parts)}; give one.")


def load_published(
    name: str, part: str, task: int | str | None = None, data_dir: Path | None = None
) -> list[Any]:
    """Loads a published part of a data set alone, without the files to train on.

    Args:
        name: one of `DATASETS`.
        part: name of a part of its `published`, such as `"test"`.
        task: name of a task, see `load`.
        data_dir: folder of the files.

    Raises:
        FileNotFoundError: if the file is not there.
        ValueError: if there is no such part.

    Example:
        >>> keras_corefmem.datasets.load_published("sst", "test", data_dir=".")
        Traceback (most recent call last):
        FileNotFoundError: No files test.txt in ...
    """
    known = find(name, task)
    if part not in known.published:
        raise ValueError(f"{name} has no {part} part besides those of datasets.load.")
    _check_folder(name, known, data_dir)
    return known.published[part](known.first_task if task is None else task, data_dir)
