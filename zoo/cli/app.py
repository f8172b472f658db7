"""The command line, `corefmem`: arguments and errors."""

import argparse
import importlib
import os
import re
import sys
import warnings

from keras_corefmem.utils.processes import import_quietly
from zoo.configs import models
from zoo.experiments import data
from zoo.experiments.studies import STUDIES

DATA_DIR = "folder of the files; of bAbI by default what `download babi` got"

# Command, its help, and the function that runs it. Keras is imported only once a command runs.
COMMANDS = {
    "train": (
        "train a reader, on simulated stories unless --data-dir is given",
        "zoo.cli.train:train",
    ),
    "evaluate": ("accuracy of a trained reader on a data set", "zoo.cli.commands:evaluate"),
    "predict": ("answer questions, one line of JSON each", "zoo.cli.commands:predict"),
    "explain": ("show where a reader looks to answer a question", "zoo.cli.explain:explain"),
    "export": ("write a reader as a SavedModel that answers text", "zoo.cli.commands:export"),
    "annotate": ("find the linguistic structure of texts", "zoo.cli.annotate:annotate"),
    "passages": ("make passages like LAMBADA's of novels", "zoo.cli.passages:passages"),
    "search": ("find hyper-parameters by validation", "tuning.command:search"),
    "list": ("list models, presets, data sets, studies, search spaces", "tuning.listing:show"),
    "download": ("get a data set from its official home", "zoo.cli.commands:download"),
    "reproduce": ("train every reader of a published experiment", "zoo.cli.commands:reproduce"),
    "truecaser": ("learn capital letters, for texts in lower case", "zoo.cli.truecaser:learn"),
    "score": ("score coreference resolution on LitBank or GAP", "zoo.cli.score:score"),
    "report": ("print the tables of measured results", "zoo.cli.commands:show_report"),
}
# What they import first; Keras seeds TensorFlow's random numbers on every backend.
NEEDED = {
    **dict.fromkeys(("evaluate", "predict", "explain", "export"), ("keras",)),
    "train": ("keras", "tensorflow"),
    "search": ("keras_tuner", "tensorflow"),
}


def build_parser():
    """The parser of every command."""
    parser = argparse.ArgumentParser(
        prog="corefmem", description="Reading models that use linguistic structure as memory."
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands = {
        name: subparsers.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        for name, (text, _) in COMMANDS.items()
    }
    add_train(commands["train"])
    add_search(commands["search"])
    evaluate, predict = commands["evaluate"], commands["predict"]
    add_model(evaluate)
    add_data(evaluate)
    evaluate.add_argument("--part", choices=("train", "valid", "test"), default="test")
    add_questions(predict)
    predict.epilog = (
        "Without a file or a passage, reads lines of JSON from standard input, each an object with "
        '"passage" and "question", or "sentence".'
    )
    add_explain(commands["explain"])
    add_annotate(commands["annotate"])
    add_passages(commands["passages"])
    add_model(commands["export"])
    commands["export"].add_argument("folder", metavar="FOLDER", help="folder to write")
    download = commands["download"]
    download.add_argument("dataset", choices=("babi",))
    download.add_argument("--cache-dir", metavar="DIR", help="instead of Keras' cache folder")
    add_reproduce(commands["reproduce"])
    add_score(commands["score"])
    truecaser = commands["truecaser"]
    truecaser.add_argument(
        "inputs", nargs="+", metavar="FILE", help="plain text with its capitals, or folders of .txt"
    )
    truecaser.add_argument("--output", required=True, metavar="FILE.json")
    add_report(commands["report"])
    return parser


def add_model(parser):
    parser.add_argument("model", metavar="MODEL", help="path of a .keras file, or a preset's name")


def add_questions(parser):
    add_model(parser)
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="bAbI questions, or a .question of CNN"
    )
    parser.add_argument("--passage", help="text to read")
    parser.add_argument("--question", help="question about --passage")
    parser.add_argument("--sentence", help="text of a model of single sentences")


def add_explain(parser):
    add_questions(parser)
    parser.add_argument(
        "--number", type=int, metavar="N", help="question of the file, 1 by default"
    )
    parser.add_argument("--output", metavar="FILE.png", help="write the picture of TensorBoard too")
    parser.add_argument(
        "--annotator",
        metavar="PIPELINE",
        help="path or name of a spaCy pipeline that finds chains and the targets of heads",
    )


def add_annotate(parser):
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="TEXT",
        help="a text, a .txt file of one a line, a .jsonl file of objects with a text; - for "
        "standard input",
    )
    parser.add_argument(
        "--dataset",
        choices=[n for n, known in data.DATASETS.items() if known.from_record],
        help="questions of a data set instead, all its parts",
    )
    parser.add_argument("--task", default="NE", help="of the Children's Book Test, NE by default")
    parser.add_argument("--data-dir", metavar="DIR", help="folder of the data set's files")
    parser.add_argument("--output", metavar="FOLDER", help="write records instead of printing")
    parser.add_argument(
        "--annotator",
        default="exact",
        metavar="PIPELINE",
        help="path or name of a spaCy pipeline; exact, the default, needs none",
    )
    parser.add_argument("--whole", action="store_true", help="a .txt file is one text")
    parser.add_argument("--tokenized", action="store_true", help="spaces separate the tokens")
    parser.add_argument("--truecaser", metavar="FILE", help="for texts in lower case")
    parser.add_argument("--json", action="store_true", help="print lines of JSON")
    parser.add_argument("--shard-size", type=int, default=2000, metavar="N", help="texts in a file")
    parser.add_argument("--processes", type=int, metavar="N", help="one a core by default")
    parser.add_argument("--runner", help="run on Apache Beam: DirectRunner, DataflowRunner, ...")
    parser.epilog = (
        "Killed and started again with the same arguments, it continues. keras_corefmem.corpora."
        "records reads the records and describes their features."
    )


def add_passages(parser):
    parser.add_argument("folder", metavar="FOLDER", help="folder of novels, files *.txt")
    parser.add_argument("--output", required=True, metavar="FOLDER", help="folder to write")
    parser.add_argument(
        "--evaluation",
        nargs="+",
        default=[],
        metavar="FILE",
        help="passages to evaluate on, one a line: none of the new ones shares 8 words in a row",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="largest number of passages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--targets",
        default="words",
        metavar="PLACES",
        help="where answers stand: sentences (at their ends, as in LAMBADA), clauses too, or words "
        "too, the default",
    )
    parser.add_argument(
        "--validation",
        type=float,
        default=0.05,
        metavar="SHARE",
        help="share of the novels to hold out, 0.05 by default",
    )


def add_score(parser):
    parser.add_argument("dataset", choices=("litbank", "gap"))
    parser.add_argument("--data-dir", metavar="DIR", required=True, help="folder of the files")
    parser.add_argument(
        "--annotator", metavar="PIPELINE", required=True, help="path or name of a spaCy pipeline"
    )
    parser.add_argument(
        "--mentions",
        choices=("predicted", "gold"),
        default="predicted",
        help="of LitBank: find mentions, or only link the annotated ones",
    )
    parser.add_argument(
        "--part",
        choices=("development", "validation", "test"),
        default="development",
        help="of GAP",
    )
    parser.add_argument("--results", default="results", metavar="DIR", help="folder of results")


def task(text):
    """A number, or the name of a task of sentences."""
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def add_data(parser):
    """Options that choose a data set; the command chooses what is left out."""
    parser.add_argument(
        "--dataset",
        choices=tuple(data.DATASETS),
        help="the simulator by default, bAbI where there is a --data-dir",
    )
    parser.add_argument(
        "--task",
        type=task,
        help="number of a bAbI task, 1..20; NE, CN, P, V of cbt; fine, binary; XPOS, UPOS",
    )
    parser.add_argument("--data-dir", metavar="DIR", help=DATA_DIR)
    parser.add_argument("--language", help="bAbI's language folder: en-valid, en, en-10k, hn, ...")


def add_settings(parser):
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=JSON",
        help="a field of zoo.training.Settings, or an argument of the model: --set units=32",
    )


def add_train(parser):
    parser.add_argument(
        "--model", choices=models(), metavar="MODEL", help="ga-coref-gru by default"
    )
    add_run(parser)
    parser.add_argument("--output", default="models", metavar="DIR", help="folder of the runs")
    parser.add_argument(
        "--devices", type=int, default=1, metavar="N", help="devices that share each batch"
    )
    parser.add_argument(
        "--preset",
        metavar="FILE",
        help="model, data and settings that `corefmem search` found best",
    )


def add_run(parser):
    """Options of what trains: on what, how long, where to."""
    add_data(parser)
    parser.add_argument("--epochs", type=int, help="largest number of epochs")
    parser.add_argument("--seed", type=int, help="0 by default")
    parser.add_argument("--log-dir", default="tensorboard_logs", metavar="DIR")
    add_settings(parser)
    parser.add_argument(
        "--fresh", action="store_true", help="start again instead of continuing an earlier run"
    )


def add_search(parser):
    parser.add_argument("--model", default="qdren", choices=models(), metavar="MODEL")
    add_run(parser)
    parser.add_argument("--output", default="searches", metavar="DIR", help="folder of searches")
    parser.add_argument(
        "--space",
        metavar="NAME",
        help="a named search space, see `corefmem list`, or a .json file of lists and ranges by "
        "hyper-parameter; the first one for the model by default",
    )
    parser.add_argument(
        "--tuner", choices=("random", "bayesian", "hyperband", "grid"), default="random"
    )
    parser.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="12 by default, the whole grid of --tuner grid; hyperband goes by --epochs",
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes, 1 a core")
    parser.add_argument("--results", default="results", metavar="DIR", help="folder of results")
    parser.epilog = (
        "Killed and started again with the same arguments, it continues. On several machines that "
        "share the folder of --output, start it on each with KERASTUNER_ORACLE_IP and "
        "KERASTUNER_ORACLE_PORT of the first, whose KERASTUNER_TUNER_ID is chief, and a name for "
        "each other."
    )


def seed_range(text):
    """The numbers of a seed, or of a range with both its ends: `3`, `0-9`."""
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    numbers = range(int(found[1]), int(found[2] or found[1]) + 1) if found else ()
    if not numbers:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a seed, such as 3, nor a range of seeds, such as 0-9"
        )
    return numbers


class Joined(argparse.Action):
    """Makes one list of several ranges, each number once."""

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, list(dict.fromkeys(n for part in values for n in part)))


def add_reproduce(parser):
    parser.add_argument("study", choices=tuple(STUDIES))
    parser.add_argument("--models", nargs="+", metavar="MODEL", help="the study's by default")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="all by default")
    parser.add_argument(
        "--seeds",
        nargs="+",
        type=seed_range,
        action=Joined,
        default=[0],
        metavar="N",
        help="seed numbers or ranges, such as 0-4 7; 0 by default",
    )
    parser.add_argument("--data-dir", metavar="DIR", help=DATA_DIR)
    parser.add_argument("--jobs", type=int, help="runs side by side; one a core by default")
    parser.add_argument(
        "--resume", action="store_true", help="skip what is done and continue the rest, as always"
    )
    add_settings(parser)
    parser.add_argument(
        "--tag", default="", help="name of these settings, in the names of the runs"
    )
    parser.add_argument("--results", default="results", metavar="DIR", help="folder of results")
    parser.add_argument("--runs", default="runs", metavar="DIR", help="folder of training states")
    parser.add_argument(
        "--presets",
        nargs="?",
        const="",
        metavar="DIR",
        help="then make presets of the best runs by validation, in the package or in DIR",
    )


def add_report(parser):
    parser.add_argument("study", nargs="?", choices=tuple(STUDIES), help="all studies by default")
    parser.add_argument("--results", default="results", metavar="DIR", help="folder of results")
    parser.add_argument(
        "--write", nargs="+", metavar="FILE", help="put the tables into Markdown files"
    )
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar="MODEL",
        help="test whether two models of a study differ by more than chance",
    )
    parser.add_argument("--plots", metavar="DIR", help="draw the results, as PNG and SVG")
    parser.add_argument(
        "--by", metavar="NAME", help="with --plots: curves against an argument, such as l2"
    )
    parser.add_argument(
        "--search", metavar="NAME", help="the trials of a search, in place of studies"
    )


def main(argv=None):
    """Runs a command and returns its exit status: 2 where the input is wrong."""
    args = build_parser().parse_args(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.formatwarning = lambda message, *_: f"corefmem: warning: {message}\n"
    module, function = COMMANDS[args.command][1].split(":")
    try:
        import_quietly(*NEEDED.get(args.command, ()))
        return getattr(importlib.import_module(module), function)(args) or 0
    except ModuleNotFoundError as error:
        backend = os.environ.get("KERAS_BACKEND", "tensorflow")
        if error.name != backend:
            raise
        advice = f"KERAS_BACKEND is {backend}, which is not installed: pip install {backend}"
        print("corefmem: error:", advice, file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Who reads has seen enough; what is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError) as error:
        print("corefmem: error:", " ".join(str(error).split()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("corefmem: interrupted; the same command continues.", file=sys.stderr)
        return 130
