"""Texts read one at a time: lines of text, JSON lines, whole files, standard input."""

import contextlib
import hashlib
import json
import os
import pathlib
import sys
import typing
from collections.abc import Iterable, Iterator

from keras_corefmem.utils.files import BadFileError, Path, digest_of, parse_json, read_text

STANDARD_INPUT = "standard input"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Text(typing.NamedTuple):
    """A text to annotate.

    Args:
        text: the text, not blank.
        fields: further facts about it, as JSON can hold them.
        place: where it was read, as `"path:line"`, for errors.

    Example:
        >>> keras_corefmem.corpora.Text("Mary left.", {"year": 1813}, "novels.txt:3").fields
        {'year': 1813}
    """

    text: str
    fields: dict
    place: str


class TextReader:
    """Reads the texts of files in order, with never more than one in memory.

    In a `.txt` file, each line that is not blank is a text, whose field `source` is the name of the
    file and the line. In a `.jsonl` file, each line is an object with `text` and further fields.
    Standard input has JSON lines if its first text starts with `{`, otherwise lines of text.

    Args:
        inputs: paths; `"-"` for standard input.
        whole: whether each input is one text.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if `inputs` is a single path, names standard input twice, or has a name with
            another ending; while reading, if a line is not UTF-8, is not an object with a text, or
            has a number that is not finite.

    Attributes:
        bytes_read: number of bytes of the inputs up to the end of the last text.

    Example:
        >>> with open("a.txt", "w") as file:
        ...     _ = file.write("Mary left.\\nJohn slept.\\n")
        >>> [text.text for text in keras_corefmem.corpora.TextReader(["a.txt"])]
        ['Mary left.', 'John slept.']
    """

    def __init__(self, inputs: Iterable[Path], whole: bool = False) -> None:
        if isinstance(inputs, str | os.PathLike):
            raise ValueError(f"{inputs}: give a list of paths, even of one.")
        self.inputs, self.whole = [os.fspath(path) for path in inputs], whole
        self.bytes_read = self._standard_bytes = 0
        self._standard_hash = hashlib.sha256()
        if self.inputs.count("-") > 1:
            raise ValueError("Standard input can be read once: give - once.")
        suffixes = (".txt",) if whole else (".txt", ".jsonl")
        for path in self.inputs:
            if path == "-":
                continue
            if not pathlib.Path(path).is_file():
                missing = "a folder" if pathlib.Path(path).is_dir() else "no such file"
                raise FileNotFoundError(f"{path}: {missing}, pass a file of texts.")
            if pathlib.Path(path).suffix not in suffixes:
                kind = "whole texts" if whole else "texts or of JSON lines"
                raise ValueError(
                    f"{path}: give a file of {kind} whose name ends in {' or '.join(suffixes)}."
                )

    @property
    def size(self) -> int | None:
        """Bytes of the inputs, or `None` if one of them is standard input."""
        if "-" in self.inputs:
            return None
        return sum(pathlib.Path(path).stat().st_size for path in self.inputs)

    def describe(self) -> list[dict]:
        """Returns name, bytes and SHA-256 of each input; of standard input as far as it is read."""
        digest, size = self._standard_hash.hexdigest(), self._standard_bytes
        standard = {"name": STANDARD_INPUT, "bytes": size, "sha256": digest}
        return [standard if path == "-" else describe_file(path) for path in self.inputs]

    def __iter__(self) -> Iterator[Text]:
        for path in self.inputs:
            name = STANDARD_INPUT if path == "-" else path
            if self.whole:
                yield self._whole(path, name)
                continue
            parse = _parse_json if path.endswith(".jsonl") else _parse_text
            is_open = path == "-"
            for number, line in enumerate(self._lines(path), 1):
                place = f"{name}:{number}"
                if number == 1:
                    line = line.removeprefix(_BYTE_ORDER_MARK)
                content = _decode(line, place)
                if content.strip():
                    if is_open and content.startswith("{"):
                        parse = _parse_json
                    is_open = False
                    yield parse(content, place)

    def _lines(self, path):
        stream = contextlib.nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb")
        with stream as file:
            for line in file:
                self.bytes_read += len(line)
                if path == "-":
                    self._standard_hash.update(line)
                    self._standard_bytes += len(line)
                yield line

    def _whole(self, path, name):
        if path == "-":
            content = b"".join(self._lines(path)).removeprefix(_BYTE_ORDER_MARK)
            text = _decode(content, name).replace("\r\n", "\n")
        else:
            text = read_text(path, "text")
            self.bytes_read += pathlib.Path(path).stat().st_size
        if not text.strip():
            raise BadFileError(f"{name}: no text in the file, leave it out.")
        return Text(text, {"source": pathlib.Path(name).name}, name)


def describe_file(path: Path) -> dict:
    """Returns name, bytes and SHA-256 of a file."""
    path = pathlib.Path(path)
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest_of(path)}


def _decode(line, place):
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise BadFileError(f"{place}: no UTF-8 text, convert the file to UTF-8.") from None


def _parse_text(line, place):
    return Text(line.strip(), {"source": pathlib.Path(place).name}, place)


def _parse_json(line, place):
    fields = parse_json(line, place)
    text = fields.pop("text", None) if isinstance(fields, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise BadFileError(f'{place}: give an object with a text, as {{"text": "Mary left."}}.')
    try:
        json.dumps(fields, allow_nan=False)
    except ValueError:
        raise BadFileError(f"{place}: NaN and infinity are no JSON, write null.") from None
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadFileError(f"{place}: half of a surrogate pair in the text, correct it.") from None
    return Text(text, fields, place)
