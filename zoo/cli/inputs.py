"""Inputs of commands: models by name, and texts and questions for them."""

import io
import pathlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from keras_corefmem.datasets import Example, Sentence, as_examples
from keras_corefmem.datasets.passages import cnn
from keras_corefmem.datasets.rows import COLUMNS
from keras_corefmem.datasets.stories import babi
from keras_corefmem.utils.checks import check_characters
from keras_corefmem.utils.files import parse_json
from keras_corefmem.utils.processes import import_keras

if TYPE_CHECKING:
    import keras

# Texts that models read: a passage and a question, or a single sentence.
TEXTS = ("passage", "question"), ("sentence",)
# Fields that files of JSON lines may have, see `as_examples`, but not lines of standard input.
STRUCTURE = [n for name in ("candidates", "chain_ids", "edges") for n in (name, *COLUMNS[name])]


def load_model(name: str) -> "keras.Model":
    """Loads a compiled model of text by its name.

    Keras is imported only after a check that the model exists.
    """
    check_model(name)
    import_keras()
    from zoo.architectures.loading import open_model
    from zoo.reading import preprocessor_of

    model = open_model(name)
    try:
        preprocessor_of(model)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if not model.compiled:
        model.compile()
    return model


def check_model(name: str) -> None:
    from zoo.hub.presets import presets, read_preset

    if name.endswith(".keras"):
        if not pathlib.Path(name).is_file():
            raise FileNotFoundError(f"There is no file {name}; `corefmem train` makes one.")
    elif (run := pathlib.Path(name, "model.keras")).is_file():
        raise FileNotFoundError(f"{name} is the folder of a run: give its model, {run}.")
    elif not (name.startswith("hf://") or name in presets() or pathlib.Path(name).exists()):
        # Its error says what is wrong with the name.
        read_preset(name)


def choose_texts(file: str | None, **texts: str | None) -> dict[str, str]:
    chosen = {name: text for name, text in texts.items() if text is not None}
    if file is not None and chosen:
        raise ValueError("Give either a file, or --passage and --question, or --sentence.")
    if chosen and tuple(chosen) not in TEXTS:
        raise ValueError("Give --passage and --question, which go together, or --sentence alone.")
    return chosen


def check_truecaser(annotator: str | None, truecaser: str | None) -> None:
    if truecaser and not annotator:
        raise ValueError(f"--truecaser {truecaser} is for an --annotator: give both, or neither.")


def check_strings(name: str, model: Any, texts: dict[str, Any], place: str = "") -> None:
    strings = tuple(model.TEXTS)
    if tuple(texts) != strings:
        options = " and ".join(f"--{string}" for string in strings)
        raise ValueError(
            f"{place and f'{place}: '}{name} reads {' and '.join(strings)}, not "
            f"{' and '.join(texts)}: give {options}, or the same in JSON."
        )


def read_questions(path: str) -> list[Example]:
    if path.endswith((".csv", ".tsv", ".json")):
        raise ValueError(
            f"{path}: give JSON lines, FILE.jsonl; pandas makes them of a table by "
            '`to_json("FILE.jsonl", orient="records", lines=True)`.'
        )
    if path.endswith(".question"):
        return [cnn.relabel(cnn.read_file(path))]
    if path.endswith(".jsonl"):
        examples = as_examples(path, answers=False)
        if any(isinstance(example, Sentence) for example in examples):
            raise ValueError(f"{path} has single sentences: give one by --sentence, or on stdin.")
        return examples
    return babi.read_file(path)


def read_lines(stream: IO[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the place of each line of JSON and its texts."""
    # Like files, whatever the encoding of the terminal.
    lines = stream.buffer if isinstance(stream, io.TextIOWrapper) else stream
    for number, line in enumerate(lines, 1):
        place = f"standard input, line {number}"
        if isinstance(line, bytes):
            try:
                line = line.decode("utf-8-sig")
            except UnicodeDecodeError:
                raise ValueError(f"{place}: not UTF-8 text, convert the input.") from None
        if line.strip():
            yield place, _parse_line(place, line)


def _parse_line(place: str, line: str) -> dict[str, str]:
    try:
        content = parse_json(line, "standard input")
    except ValueError:
        content = None
    known: dict[str, Any] = content if isinstance(content, dict) else {}
    for name in STRUCTURE:
        if known.get(name):
            raise ValueError(
                f"{place}: {name} are read from a file alone: write the lines to FILE.jsonl and "
                "give that, or leave them out."
            )
    for names in TEXTS:
        texts: dict[str, Any] = {name: known.get(name) for name in names}
        if all(isinstance(text, str) for text in texts.values()):
            for name, text in texts.items():
                check_characters(f"{place}: the {name}", text)
            return texts
    raise ValueError(
        f"{place}: give an object with passage and question, as "
        '{"passage": "Mary went to the kitchen.", "question": "Where is Mary?"}, or with sentence.'
    )
