"""The published experiments as data: which models, tasks and settings, and the papers' rows."""

import typing

from zoo.configs.models import BIDAF_MODELS
from zoo.experiments.data import ALL

BABI_READERS = (
    "ga-mage-gru",
    "ga-coref-gru",
    "ga-gru",
    "ga-one-hot",
    "ga-dag-rnn",
    "as-gru",
    "as-mage-gru",
    "as-coref-gru",
)
BABI_MEMORY_NETWORKS = (
    "qdren",
    "ren",
    "dmn-supervised",
    "dmn",
    "dmn-plus",
    "qrn",
    "memn2n",
    "lstm",
    "ngram",
)
TASKS = tuple(range(1, 21))


class Task(typing.NamedTuple):
    """What is trained for one row of a study's table.

    Args:
        label: name of the row; bAbI's own name is added to a number.
        data: task of the data set.
        group: name of the rows that differ in what the study varies alone, `""` for none; where
            that is an argument of the model, the best of them is reported too.
        arguments: arguments of the model.
        settings: fields of `zoo.training.Settings`.
        models: names of the models that it is for; those of the study where there are none.
    """

    label: str
    data: int | str
    group: str = ""
    arguments: dict = {}
    settings: dict = {}
    models: tuple = ()


# LAMBADA, as all its readers are trained, far below the published sizes, which train for days.
LAMBADA = {"learning_rate": 0.002, "epochs": 2, "patience": 2, "buckets": 3}
LAMBADA_WORDS = {"embedding_dim": 64, "min_count": 20, "unknown_types": 100}
LAMBADA_GA = {
    **LAMBADA,
    "batch_size": 32,
    "halve_every": 4000,
    "arguments": {**LAMBADA_WORDS, "units": 64, "edge_units": 16, "layers": 2},
}
LAMBADA_BIDAF = {
    **LAMBADA,
    "batch_size": 40,
    "halve_every": 3200,
    "arguments": {
        **LAMBADA_WORDS,
        "units": 32,
        "inner_units": 128,
        "dropout": 0.0,
        "characters": False,
    },
}
# Kinds of passages, by what the annotator says of their answers.
LAMBADA_KINDS = {
    "answerable": "with the answer in the context",
    "pronoun": "… and a pronoun for it",
    "person": "… the name of a person",
    "name": "… any name",
    "noun": "… a noun",
    "verb": "… a verb",
    "other": "… another word",
}


def tasks_by_passes(groups, numbers=range(4)):
    """Tasks for several numbers of passes.

    Args:
        groups: task of the data set and arguments of the model, by group.
        numbers: the numbers.
    """
    return {
        f"{group}-{passes}": Task(
            f"{group}, {passes} {'pass' if passes == 1 else 'passes'}",
            data,
            group,
            {**arguments, "passes": passes},
        )
        for group, (data, arguments) in groups.items()
        for passes in numbers
    }


def tasks_by_size(groups, sizes, epochs=60, patience=20):
    """Tasks for several numbers of training questions.

    Fewer questions are read as much more often, so that there are as many updates.

    Args:
        groups: task of the data set, by group.
        sizes: the numbers of questions.
        epochs: how often the largest number of questions is read.
        patience: after how many epochs without a gain training on these ends.
    """
    return {
        f"{group}-{size}": Task(
            f"{group.replace('-', ' ')}, {size} questions",
            data,
            group,
            settings={
                "train_size": size,
                "epochs": epochs * max(sizes) // size,
                "patience": patience * max(sizes) // size,
            },
        )
        for group, data in groups.items()
        for size in sizes
    }


def tasks_by_mentions(number, shares=(1.0, 0.8, 0.6, 0.4, 0.2, 0.0), model="ga-coref-gru"):
    """A bAbI task with shares of its mentions, with random ones, and for a baseline without.

    Args:
        number: number of the bAbI task.
        shares: the shares.
        model: name of the model that reads mentions.
    """
    group = f"task-{number}"

    def make(label, mentions):
        return Task(label, number, group, settings={"mentions": mentions}, models=(model,))

    return {
        **{
            f"kept-{100 * share:.0f}": make(f"{share:.0%} of the mentions", share)
            for share in shares
        },
        "random": make("random tokens as mentions", "random"),
        "plain": Task("without mentions", number, group, models=("ga-gru",)),
    }


BABI_TASKS = {number: Task(str(number), number) for number in TASKS}
# What the table counts: the share of answers to the test part that are wrong, or right.
ERROR, ACCURACY, DEV_ACCURACY = "test error in %", "test accuracy in %", "dev accuracy in %"

# How LAMBADA's passages are read, whatever the number of epochs.
PASSAGES = {
    "dataset": "lambada",
    "annotated": True,
    "tasks": {"passages": Task("all passages", 1)},
    "measure": DEV_ACCURACY,
    "kinds": LAMBADA_KINDS,
}

# What a study varies: an argument or a setting, and what it is.
PASSES = ("passes", "number of passes")
TRAIN_SIZE = ("train_size", "number of training questions")

STUDIES = {
    "babi-1k": {
        "description": "bAbI v1.2, 900 training, 100 validation and 1000 test questions a task",
        "models": (*BABI_READERS, *BABI_MEMORY_NETWORKS),
        "dataset": "babi",
        "language": "en-valid",
        "tasks": BABI_TASKS,
        "measure": ERROR,
    },
    "babi-mix": {
        "description": "bAbI-Mix: two interleaved stories in two worlds, made from bAbI-1k",
        "models": ("ga-mage-gru",),
        "dataset": "babi-mix",
        "language": "en-valid",
        "tasks": BABI_TASKS,
        "measure": ERROR,
    },
    "babi-passes": {
        "description": "bAbI-1k tasks that need several facts, with 1, 2, 3 and 5 passes",
        "models": ("dmn-supervised",),
        "dataset": "babi",
        "language": "en-valid",
        "tasks": tasks_by_passes({f"task-{n}": (n, {}) for n in (3, 7, 8)}, (1, 2, 3, 5)),
        "by": PASSES,
        "measure": ACCURACY,
    },
    "babi-mentions": {
        "description": "bAbI-1k task 3 with fewer and fewer mentions, and with random ones",
        "models": ("ga-coref-gru", "ga-gru"),
        "dataset": "babi",
        "language": "en-valid",
        "tasks": tasks_by_mentions(3),
        "by": ("mentions", "share of mentions kept"),
        "measure": ACCURACY,
    },
    "babi-train-size": {
        "description": "bAbI-1k tasks 1 and 2 with 100, 300 and 900 training questions",
        "models": ("ga-mage-gru", "ga-coref-gru", "ga-gru"),
        "dataset": "babi",
        "language": "en-valid",
        "tasks": tasks_by_size({f"task-{number}": number for number in (1, 2)}, (100, 300, 900)),
        "by": TRAIN_SIZE,
        "measure": ACCURACY,
    },
    "lambada-train-size": {
        "description": "LAMBADA development passages, after 1,000 and 5,000 passages of novels",
        "models": ("ga-coref-gru", "ga-gru"),
        "dataset": "lambada",
        "annotated": True,
        "tasks": tasks_by_size({"lambada": 1}, (1000, 5000), epochs=10, patience=3),
        "by": TRAIN_SIZE,
        "measure": DEV_ACCURACY,
        "settings": {**LAMBADA_GA, "halve_every": 500},
    },
    "wikihop-train-size": {
        "description": "WikiHop's development questions, after 1,000 and 5,000 training questions",
        "models": ("ga-coref-gru", "ga-gru"),
        "dataset": "wikihop",
        "tasks": tasks_by_size({"wikihop": 1}, (1000, 5000), epochs=20, patience=6),
        "by": TRAIN_SIZE,
        "measure": DEV_ACCURACY,
    },
    "sst": {
        "description": "Stanford Sentiment Treebank: sentences of 5 classes, and of 2",
        "models": ("dmn-sentiment",),
        "dataset": "sst",
        "tasks": tasks_by_passes({"fine": ("fine", {}), "binary": ("binary", {})}),
        "by": PASSES,
        "measure": DEV_ACCURACY,
        "word_vectors": True,
    },
    "pos": {
        "description": "parts of speech (XPOS) of UD English EWT, from words and from characters",
        "models": ("dmn-tagger",),
        "dataset": "pos",
        "tasks": tasks_by_passes(
            {
                "words": ("XPOS", {"characters": False}),
                "characters": ("XPOS", {"characters": True}),
            }
        ),
        "by": PASSES,
        "measure": DEV_ACCURACY,
        "word_vectors": True,
    },
    "lambada": {
        "description": "LAMBADA development passages, read after passages of novels, annotated",
        "models": ("ga-coref-gru", "ga-mage-gru", "ga-one-hot", "ga-gru", *BIDAF_MODELS),
        **PASSAGES,
        "families": {
            "ga": LAMBADA_GA,
            "bidaf": LAMBADA_BIDAF,
        },
    },
    "lambada-epochs": {
        "description": "LAMBADA development passages, read after 4 epochs instead of 2",
        "models": ("bidaf", "bidaf-sa-early"),
        **PASSAGES,
        "settings": {**LAMBADA_BIDAF, "epochs": 4, "halve_every": 6400},
    },
}


def settings_of(study, model):
    """What the runs of a model in a study differ in from how it is trained otherwise.

    Args:
        study: name of the study.
        model: name of the model.

    Returns:
        Dictionary of fields of `zoo.training.Settings`.
    """
    content = STUDIES[study]
    return content.get("families", {}).get(model.partition("-")[0], content.get("settings", {}))


def needs_folder(study):
    """Whether the data of a study are in a folder of the user, rather than downloaded."""
    return not ALL[STUDIES[study]["dataset"]].download
