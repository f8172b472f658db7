"""bAbI's file format: lines of `number text` or `number question<tab>answer<tab>lines of facts`."""

import re
from collections.abc import Iterable

from keras_corefmem.datasets.example import Example, group_by_story
from keras_corefmem.utils.files import Path, read_text, replacing


def _numbered(lines, path):
    """Yields (number of the line in the file, number in its story, text)."""
    previous = 0
    for line_number, line in enumerate(lines, 1):
        match = re.fullmatch(r"(\d{1,9}) +(\S.*)", line.rstrip("\r"), re.ASCII)
        if not match:
            raise ValueError(
                f"{path}:{line_number}: no bAbI line, `number text` is expected; "
                "pass a file in bAbI's format."
            )
        number = int(match[1])
        if number not in (1, previous + 1):
            raise ValueError(
                f"{path}:{line_number}: number {number} does not follow {previous}, "
                "lines are missing; get the file again."
            )
        yield line_number, number, match[2]
        previous = number


def _parse_facts(column, sentence_numbers, place):
    """Returns the supporting facts as numbers of sentences rather than lines."""
    facts = []
    for fact in column.split():
        if not re.fullmatch(r"\d{1,9}", fact, re.ASCII) or int(fact) not in sentence_numbers:
            raise ValueError(
                f"{place}: supporting fact {fact!r:.80} is no earlier line of this story, "
                "write the line number of a sentence."
            )
        if sentence_numbers[int(fact)] is None:
            raise ValueError(
                f"{place}: supporting fact {fact} is a question, "
                "write the line number of a sentence."
            )
        facts.append(sentence_numbers[int(fact)])
    return tuple(facts)


def read_file(path: Path) -> list[Example]:
    """Reads a file in bAbI's format; questions are not part of the passage."""
    return read_lines(read_text(path, "bAbI").rstrip("\r\n ").split("\n"), path)


def read_lines(lines: Iterable[str], path: Path) -> list[Example]:
    """Reads lines in bAbI's format; `path` is for errors and sources."""
    examples: list[Example] = []
    sentences: list[str] = []
    sentence_numbers: dict[int, int | None] = {}
    open_line = None
    for line_number, number, text in _numbered(lines, path):
        place = f"{path}:{line_number}"
        if number == 1:
            if open_line:
                raise ValueError(f"{place}: the story before has no question at its end, add one.")
            sentences, sentence_numbers = [], {}
        columns = text.split("\t")
        if len(columns) == 1 and not text.rstrip().endswith("?"):
            sentences.append(text.strip())
            sentence_numbers[number] = len(sentences)
            open_line = line_number
            continue
        if len(columns) != 3:
            raise ValueError(
                f"{place}: a question line is `question<tab>answer<tab>supporting facts`, but this "
                f"one has {len(columns)} of the 3 columns; is the file truncated?"
            )
        question, answer, facts = (column.strip() for column in columns)
        facts = _parse_facts(facts, sentence_numbers, place)
        examples.append(Example(tuple(sentences), question, answer, facts, place))
        sentence_numbers[number] = None
        open_line = None
    if not examples:
        raise ValueError(
            f"{path}: no question in the file, a question line needs tabs between "
            "question, answer and supporting facts."
        )
    if open_line:
        raise ValueError(
            f"{path}:{open_line}: the last story has no question at its end; is the file truncated?"
        )
    return examples


def write_file(examples: Iterable[Example], path: Path) -> None:
    """Writes examples in bAbI's format; `read_file` gives them back.

    Raises:
        ValueError: if there are none, or one has edges, chains or texts that the format cannot
            represent.
    """
    lines = [line for story in group_by_story(examples) for line in _story_lines(story)]
    if not lines:
        raise ValueError(f"{path}: no examples to write, pass at least one.")
    with replacing(path) as partial:
        partial.write_bytes("".join(f"{line}\n" for line in lines).encode())


def _story_lines(story):
    lines, fact_lines = [], []
    for example in story:
        if example.is_linked:
            raise ValueError(
                f"The story of {example.question!r:.80} has edges or chains, for which bAbI's "
                "format has no place: leave them out."
            )
        for sentence in example.sentences[len(fact_lines) :]:
            _check_text(sentence, example)
            if sentence.endswith("?"):
                raise ValueError(
                    f"{sentence!r:.80} would be read as a question, "
                    "end the sentences of a passage without a question mark."
                )
            lines.append(f"{len(lines) + 1} {sentence}")
            fact_lines.append(len(lines))
        _check_text(example.question, example)
        _check_text(example.answer, example)
        facts = " ".join(str(fact_lines[fact - 1]) for fact in example.supporting_facts)
        lines.append(f"{len(lines) + 1} {example.question}\t{example.answer}\t{facts}")
    return lines


def _check_text(text, example):
    """Raises a ValueError for a text that the format would not give back."""
    if text != text.strip() or re.search(r"[\t\n\r]", text):
        raise ValueError(
            f"{text!r:.80} in the story of {example.question!r:.80} has tabs, line breaks or outer "
            "spaces, strip them before writing."
        )
