"""Data sets by name, for the command line and the studies."""

import pathlib
import typing

from zoo.configs import configuration


class DataSet(typing.NamedTuple):
    """What a data set is.

    Args:
        line: a line about it.
        first_task: the task by default.
        texts: what it consists of.
        counted: what is counted of it.
        languages: whether it comes in several languages.
        files: whether it is read from files.
        tasks: whether it has several tasks.
        reported: name of the part that is reported.
        download: whether `corefmem download` gets it.
    """

    line: str
    first_task: int | str = 1
    texts: str = "questions"
    counted: str = "questions"
    languages: bool = False
    files: bool = True
    tasks: bool = False
    reported: str = "test"
    download: bool = False


DATASETS = {
    "simulator": DataSet(
        "stories like bAbI's, simulated: nothing to download", files=False, tasks=True
    ),
    "babi": DataSet("the 20 bAbI tasks, v1.2", languages=True, tasks=True, download=True),
    "babi-mix": DataSet(
        "bAbI-Mix: two bAbI stories of two worlds, told at once",
        languages=True,
        tasks=True,
        download=True,
    ),
    "cnn": DataSet("cloze questions about CNN's or the Daily Mail's news"),
    "lambada": DataSet(
        "LAMBADA: the last word of a passage; trained on `corefmem passages`",
        reported="development",
    ),
    "wikihop": DataSet(
        "WikiHop: relations told by several documents together", reported="development"
    ),
    "medhop": DataSet(
        "MedHop: interactions of drugs, told by several documents together",
        reported="development",
    ),
    "cbt": DataSet("Children's Book Test, tasks NE, CN, P and V", first_task="NE", tasks=True),
}
SENTENCES = {
    "sst": DataSet(
        "Stanford Sentiment Treebank, tasks fine and binary",
        first_task="fine",
        tasks=True,
        reported="development",
        texts="sentences and phrases",
        counted="labels",
    ),
    "pos": DataSet(
        "parts of speech of UD English EWT, tasks UPOS and XPOS",
        first_task="XPOS",
        tasks=True,
        reported="development",
        texts="sentences",
        counted="labels",
    ),
    "wsj": DataSet(
        "parts of speech of the Wall Street Journal, the usual sections of the Penn Treebank",
        first_task="PTB",
        reported="development",
        texts="sentences",
        counted="labels",
    ),
}
ALL = {**DATASETS, **SENTENCES}
# Real text, whose questions `corefmem annotate` annotates.
ANNOTATED = ("lambada", "wikihop", "medhop", "cbt")


def check_model(model, dataset):
    """Refuses a model of single sentences on questions, and a reader of passages on sentences.

    Raises:
        ValueError: naming the data sets that the model reads.
    """
    sentences = configuration(model).reads == "sentences"
    if sentences != (dataset in SENTENCES):
        fitting = ", ".join(SENTENCES if sentences else DATASETS)
        raise ValueError(f"{model} does not read {dataset}; it reads {fitting}.")


def load(dataset, task, data_dir=None, language=None):
    """Loads one task of a data set.

    Args:
        dataset: one of `DATASETS` or `SENTENCES`.
        task: number of a bAbI task, or name of a task of CBT or of sentences; the others have one.
        data_dir: folder of the files; for bAbI by default where `babi.download()` puts them. The
            folder `sst`, `ud_english_ewt`, `lambada`, `passages`, `wikihop` or `medhop` may lie in
            it. Of real text, the records in `annotated` and the name of the data set there (for CBT
            `cbt-NE`, say) are read, if there are some.
        language: bAbI's language folder, see `babi.load`.

    Returns:
        `Splits`. Of sentences, WikiHop, MedHop and LAMBADA, the published development part is the
        one that is reported, `test`; `valid` is held out of the training part to choose by. The
        others have their own parts.

    Raises:
        ValueError: if the data set or task does not exist, or the data set has no languages or
            no files and is given some.
        FileNotFoundError: if the files are not there.
    """
    from keras_corefmem.datasets import Splits
    from keras_corefmem.datasets.passages import cnn
    from keras_corefmem.datasets.stories import babi, simulator
    from keras_corefmem.datasets.stories.mix import mix
    from keras_corefmem.graphs import learn_entity_words
    from keras_corefmem.text import get_tokenizer

    if dataset not in ALL:
        raise ValueError(f"There is no data set {dataset!r}; choose one of {', '.join(ALL)}.")
    if language and not ALL[dataset].languages:
        having = " and ".join(name for name, known in ALL.items() if known.languages)
        raise ValueError(
            f"--language {language}: {dataset} has no languages, only {having} have. Leave it out, "
            "or give another --dataset."
        )
    if data_dir and not ALL[dataset].files:
        raise ValueError(
            f"--data-dir {data_dir}: the {dataset} reads no files. Leave it out, or give another "
            "--dataset."
        )
    if dataset in SENTENCES:
        return load_sentences(dataset, task, data_dir)
    if dataset == "simulator":
        return simulator.load(task)
    if dataset in ANNOTATED:
        # Records of CBT are those of one task.
        name = f"cbt-{task}" if dataset == "cbt" else dataset
        return load_annotated(name, data_dir) or load_questions(dataset, data_dir, task, False)
    if dataset == "cnn":
        return cnn.load(data_dir)
    splits = babi.load(data_dir or babi.cache_folder(), task, language)
    if dataset == "babi":
        return splits
    entities = learn_entity_words(splits.train, get_tokenizer("words"))
    parts = (splits.train, splits.valid, splits.test)
    return Splits(*(mix(part, entities, seed=n) for n, part in enumerate(parts)))


def load_questions(dataset, data_dir, task="NE", cased=True):
    """Loads questions about real text.

    Args:
        dataset: one of `ANNOTATED`.
        data_dir: folder of the files.
        task: name of a task of CBT.
        cased: whether text keeps its capital letters where it has some, for annotators; all is
            tokens between spaces then.
    """
    from keras_corefmem.datasets import Splits
    from keras_corefmem.datasets.passages import cbt, lambada, wikihop
    from keras_corefmem.text import get_tokenizer

    if dataset == "cbt":
        return cbt.load(data_dir, task)
    if dataset == "lambada":
        return lambada.load(data_dir, cased)
    splits, tokenize = wikihop.load(data_dir, dataset), get_tokenizer("penn")
    parts = (splits.train, splits.valid, splits.test)
    return Splits(
        *([wikihop.truncate(wikihop.shuffle(e, 0), tokenize) for e in part] for part in parts)
    )


def find_annotated(dataset, data_dir):
    """The folder of records that `corefmem annotate --dataset` wrote, `None` where there is none.

    Args:
        dataset: name of the data set, for CBT with its task, such as `cbt-NE`.
        data_dir: folder of the records, or one in which they lie in `annotated/` and the name of
            the data set.
    """
    if data_dir is None:
        return None
    folders = [pathlib.Path(data_dir, *inside) for inside in (("annotated", dataset), ())]
    return next((f for f in folders if (f / "train" / "index.json").is_file()), None)


def load_annotated(dataset, data_dir):
    """Loads the questions of `find_annotated`, `None` where there are none."""
    folder = find_annotated(dataset, data_dir)
    if folder is None:
        return None
    from keras_corefmem import corpora
    from keras_corefmem.datasets.annotated import AnnotatedExample
    from keras_corefmem.datasets.passages import lambada_kinds, wikihop

    makers = {
        "lambada": lambada_kinds.from_record,
        **dict.fromkeys(wikihop.NAMES, wikihop.from_record),
    }
    return corpora.read_questions(folder, makers.get(dataset, AnnotatedExample.from_record))


def load_sentences(dataset, task, data_dir):
    """Loads single sentences, see `load`."""
    from keras_corefmem.datasets import Splits
    from keras_corefmem.datasets.sentences import pos, sst
    from keras_corefmem.datasets.sentences.sentence import from_phrases, from_tagged, hold_out

    if data_dir is None:
        raise ValueError(f"{dataset} has no download: give the folder of its files, --data-dir.")
    if dataset == "wsj":
        if task != "PTB":
            raise ValueError(f"There is no task {task!r} of wsj, only PTB.")
        return from_tagged(pos.load_wsj(data_dir))
    if dataset == "sst":
        splits = from_phrases(sst.load(_inside(data_dir, "sst"), task), task)
    else:
        splits = from_tagged(pos.load_conllu(_inside(data_dir, "ud_english_ewt"), task))
    return Splits(*hold_out(splits.train), splits.valid)


def word_vectors(data_dir):
    """The one file of pretrained vectors in a folder of data, or in `glove` there.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if there are several.
    """
    folder = _inside(data_dir, "glove")
    found = sorted(path for path in folder.glob("glove*.txt*") if path.is_file())
    if not found:
        raise FileNotFoundError(
            f"No file glove*.txt in {folder}; put one of https://nlp.stanford.edu/projects/glove "
            "there."
        )
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ValueError(f"{folder}: several files of word vectors ({names}), leave one there.")
    return found[0]


def _inside(data_dir, name):
    folder = pathlib.Path(data_dir)
    return folder / name if (folder / name).is_dir() else folder
