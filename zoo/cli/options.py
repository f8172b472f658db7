"""Options that several commands share, and how their values are read."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

SETTING_HELP = "write it as --set NAME=JSON, such as --set units=32 or --set head='\"auto\"'."


def one_of(names: Callable[[], Iterable[str]]) -> Callable[[str], str]:
    """Makes a parser that accepts some names, which are only looked up when it is called."""

    def parse(text: str) -> str:
        known = list(names())
        if text not in known:
            raise typer.BadParameter(f"invalid choice: {text!r} (choose from {', '.join(known)})")
        return text

    return parse


def _datasets() -> Iterable[str]:
    from keras_corefmem.datasets import DATASETS

    return DATASETS


def _models() -> Iterable[str]:
    from zoo.configs.configurations import models

    return models()


def _task(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


parse_model = one_of(_models)

MODEL_FILE = Annotated[
    str, typer.Argument(metavar="MODEL", help="path of a .keras file, or a preset's name")
]
DATASET = Annotated[
    str | None,
    typer.Option(
        parser=one_of(_datasets),
        metavar="NAME",
        help="a data set, see `corefmem list`; the simulator by default, bAbI where there is a "
        "--data-dir",
    ),
]
TASK = Annotated[
    Any,
    typer.Option(
        parser=_task,
        metavar="TASK",
        help="number of a bAbI task, 1..20; NE, CN, P, V of cbt; fine, binary; XPOS, UPOS",
    ),
]
DATA_DIR = Annotated[
    str | None,
    typer.Option(
        metavar="DIR", help="folder of the files; of bAbI by default what `download babi` got"
    ),
]
LANGUAGE = Annotated[
    str | None,
    typer.Option(metavar="LANGUAGE", help="bAbI's language folder: en-valid, en, en-10k, hn, ..."),
]
EPOCHS = Annotated[int | None, typer.Option(metavar="N", help="largest number of epochs")]
LOG_DIR = Annotated[str, typer.Option(metavar="DIR", help="folder of TensorBoard's runs")]
RESULTS = Annotated[str, typer.Option(metavar="DIR", help="folder of results")]
FRESH = Annotated[
    bool, typer.Option("--fresh", help="start again instead of continuing an earlier run")
]
SETTINGS = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=JSON",
        help="a field of zoo.training.Settings, or an argument of the model: --set units=32",
    ),
]
PASSAGE = Annotated[str | None, typer.Option(metavar="TEXT", help="text to read")]
QUESTION = Annotated[str | None, typer.Option(metavar="TEXT", help="question about --passage")]
SENTENCE = Annotated[
    str | None, typer.Option(metavar="TEXT", help="text of a model of single sentences")
]
QUESTIONS_FILE = Annotated[
    str | None, typer.Argument(metavar="FILE", help="bAbI questions, or a .question of CNN")
]


def parse_settings(assignments: Iterable[str] | None) -> dict[str, Any]:
    """Reads fields of `zoo.training.Settings` from `NAME=JSON`; other names are arguments.

    Args:
        assignments: values of `--set`.

    Raises:
        ValueError: if a value is not JSON.
    """
    from zoo.training import merge_settings, split_settings

    values, arguments = {}, {}
    for assignment in assignments or ():
        name, _, value = assignment.partition("=")
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            raise ValueError(f"--set {assignment}: the value is no JSON; {SETTING_HELP}") from None
        if name != "arguments":
            values[name] = value
        elif isinstance(value, dict):
            arguments.update(value)
        else:
            raise ValueError(f"--set {assignment}: give an object, or --set NAME=JSON for each.")
    return merge_settings({"arguments": arguments}, split_settings(values))
