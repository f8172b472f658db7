"""Options that several commands share, and the parsing of their values."""

import json
import os
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

from keras_corefmem.utils.names import did_you_mean


def option(metavar: str | None, text: str, *names: str, default: Any = ..., **more: Any) -> Any:
    """Declares an option. Without `default`, it is required or has the default of its argument."""
    return typer.Option(default, *names, metavar=metavar, help=text, **more)


def argument(metavar: str | None, text: str, default: Any = ..., **more: Any) -> Any:
    """Declares a positional argument."""
    return typer.Argument(default, metavar=metavar, help=text, **more)


def one_of(names: Callable[[], Iterable[str]]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        known = list(names())
        for name in (text, text.replace("_", "-")):
            if name in known:
                return name
        choices, hint = ", ".join(known), did_you_mean(text, known)
        raise typer.BadParameter(f"invalid choice: {text!r} (choose from {choices}).{hint}")

    return parse


def _models() -> Iterable[str]:
    from zoo.configs.configurations import models

    return models()


def _task(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def _dataset(text: str) -> str:
    from keras_corefmem.datasets.registry import DATASETS, JSON_LINES

    if text.endswith(JSON_LINES):
        return os.path.abspath(text)
    if re.search(r"[./\\]", text):
        raise typer.BadParameter(
            f"{text!r} is no file of JSON lines, one object a line: end its name in {JSON_LINES}"
        )
    return one_of(lambda: [*DATASETS, f"FILE{JSON_LINES}"])(text)


parse_model = one_of(_models)

MODEL_FILE = Annotated[
    str, argument("MODEL", "path of a .keras file, or a preset: its name, folder or hf://user/name")
]
DATASET = Annotated[
    str | None,
    option(
        "NAME",
        "a data set, see `corefmem list`, or your own, a file of JSON lines, FILE.jsonl; by "
        "default what the model was trained on, or the simulator, with --data-dir bAbI",
        parser=_dataset,
    ),
]
TASK = Annotated[
    Any,
    option(
        "TASK",
        "number of a bAbI task, 1..20, or all; of a fold of emory, 1..5; NE, CN, P, V of cbt; "
        "fine, binary; XPOS, UPOS",
        parser=_task,
    ),
]
DATA_DIR = Annotated[
    str | None, option("DIR", "folder of the files; of bAbI by default what `download babi` got")
]
LANGUAGE = Annotated[
    str | None, option("LANGUAGE", "bAbI's language folder: en-valid, en, en-10k, hn, ...")
]
EPOCHS = Annotated[int | None, option("N", "largest number of epochs")]
SEED = Annotated[int | None, option("N", "0 by default", min=0, max=2**32 - 1)]
LOG_DIR = Annotated[str, option("DIR", "folder of TensorBoard's runs")]
RESULTS = Annotated[str, option("DIR", "folder of results")]
FRESH = Annotated[bool, option(None, "start again instead of continuing an earlier run", "--fresh")]
SETTINGS = Annotated[
    list[str] | None,
    option(
        "NAME=JSON",
        "a setting or an argument of the model, see --help MODEL: --set units=32",
        "--set",
    ),
]
PASSAGE = Annotated[str | None, option("TEXT", "text to read")]
QUESTION = Annotated[str | None, option("TEXT", "question about --passage")]
SENTENCE = Annotated[str | None, option("TEXT", "text of a model of single sentences")]
ANNOTATOR = Annotated[
    str | None,
    option("PIPELINE", "annotates text for a reader of such: exact, a spaCy pipeline or its path"),
]
TRUECASER = Annotated[
    str | None,
    option("FILE", "for --annotator, where text is in lower case: novels, or see truecaser"),
]
QUESTIONS_FILE = Annotated[
    str | None, argument("FILE", "bAbI questions, JSON lines, or a .question of CNN")
]


def parse_settings(assignments: Iterable[str] | None, epochs: int | None = None) -> dict[str, Any]:
    """Reads fields of `zoo.training.Settings` from `NAME=JSON`; other names are arguments."""
    from zoo.training.settings import FIELDS, merge_settings

    values: dict[str, Any] = {}
    arguments: dict[str, Any] = {}
    if epochs is not None:
        values["epochs"] = epochs
    for assignment in assignments or ():
        name, _, value = assignment.partition("=")
        name = name.replace("-", "_")
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            # Words need no quotation marks, except those that Python reads as constants.
            if not re.fullmatch(r"(?!(True|False|None)$)[A-Za-z][\w+.-]*", value):
                raise ValueError(
                    f"--set {assignment}: the value is no JSON; write it as --set NAME=JSON, such "
                    "as --set units=32 or --set answer_head=auto."
                ) from None
        if name != "arguments":
            settings: dict[str, Any] = {name: value}
        elif isinstance(value, dict):
            settings = value
        else:
            raise ValueError(f"--set {assignment}: give an object, or --set NAME=JSON for each.")
        # An argument of a model may have the name of a setting, such as `buckets`.
        known = values if name in FIELDS and name != "arguments" else arguments
        for twice in sorted(settings.keys() & known.keys()):
            raise ValueError(f"--set {assignment}: {twice} is given twice, leave one out.")
        known.update(settings)
    return merge_settings({"arguments": arguments}, values)


def check_settings(models: Iterable[str], dataset: str, settings: dict[str, Any]) -> None:
    """Checks names and values of models' settings, before Keras is imported."""
    from zoo.architectures.listing import check_values
    from zoo.configs import configuration
    from zoo.training.settings import Settings, check_arguments

    for model in models:
        arguments = Settings.of(model, dataset, **settings).arguments
        check_arguments(model, arguments)
        check_values(configuration(model).class_name, arguments)
