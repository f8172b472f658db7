"""Conversion of tuples, dictionaries, files, data frames and data sets to examples."""

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.datasets.rows import COLUMNS, is_doc, read_row
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.utils.files import TRUNCATED, parse_json, read_text

# Columns that have a list in each row.
_LISTS = {"sentences", "candidates", "supporting_facts", "chain_ids", "words", "tags", "edges"}
_LISTS |= {other for name in _LISTS for other in COLUMNS[name]}
_INFINITE = -1  # tf.data.INFINITE_CARDINALITY
# Columns that are alternatives to each other.
_ALTERNATIVES = {"passage", "sentences", "text", "sentence", "words"}, {"answer", "tags"}


def as_examples(
    data: Any, *, columns: Mapping[str, str] | None = None, answers: bool = True
) -> list[Any]:
    """Converts any data that holds texts to a list of examples.

    - Examples of every kind, and `Sentence`s, are kept as they are.
    - Tuples are `(passage, question, answer)`; a list of strings might be words or sentences, and
      is refused.
    - A dictionary is a row, or has columns as values: lists, or a string for all rows.
    - A path is that of JSON lines, `my.jsonl`, with an object on each line.
    - Data frames of pandas or polars, and data sets of `datasets` and `tf.data`, have dictionaries
      as rows.
    - Docs of spaCy may be passages and questions in tuples and dictionaries, come with a dictionary
      as in `(doc, {"question": …, "answer": …})`, or have these fields in their `user_data`. Their
      clusters become chains, to which the same words in a question belong too. Their edges count
      the tokens of the Doc except whitespace, and then those of the question as the tokenizer
      `"penn"` cuts it. Examples have these tokens, from which readers move everything to their own.

    Columns of questions are `passage`, a string or a list of sentences, `question` and `answer`;
    further ones are `candidates`, `supporting_facts` (numbers of sentences from 1), `chain_ids`
    (one per space-separated token), `edges` (as in `Example`, or dictionaries of `source`,
    `target` and `type`, which Arrow can hold) and `source`. `text` and `question_start`, the
    character at which the question starts, may replace passage and question. Columns of single
    sentences are `sentence`, a string, or `words`, a list, and `answer` or `tags`. The columns of
    bAbI, CBT, CNN, LAMBADA, SQuAD, SST, Universal Dependencies and WikiHop on the Hub are known.

    An answer is one string; the items of a list are joined by commas, `"apple,milk"`. If several
    answers are right, give one of them; for SQuAD, the first is taken.

    Args:
        data: the data.
        columns: dictionary from columns with other names to the names above,
            `{"context": "passage"}`; it takes precedence over a column that has such a name.
        answers: whether answers are required.

    Returns:
        List of `Example`s, of a subclass if there are candidates or chains, or of `Sentence`s.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a row is none of these, or lacks a column; the error names line or row.

    Example:
        >>> rows = {"context": ["Mary left. John slept."], "question": ["Who left?"],
        ...         "answer": ["Mary"]}
        >>> (example,) = keras_corefmem.datasets.as_examples(rows)
        >>> example.sentences, example.answer
        (('Mary left.', 'John slept.'), 'Mary')
    """
    return list(iterate(data, columns or {}, answers))


def iterate(
    data: Any, columns: Mapping[str, str] = MappingProxyType({}), answers: bool = True
) -> Iterator[Any]:
    """Yields what `as_examples` returns, one at a time."""
    if not isinstance(columns, Mapping):
        raise ValueError(f'columns must be such as {{"context": "passage"}}, got {columns!r:.80}.')
    unknown = set(columns.values()) - COLUMNS.keys()
    if unknown:
        raise ValueError(
            f"columns: there is no {', '.join(sorted(unknown))}; choose of {', '.join(COLUMNS)}."
        )
    if len(set(columns.values())) < len(columns):
        raise ValueError(f"columns: two columns have one name in {dict(columns)}; leave one out.")
    for row, place in _rows(data, columns):
        yield from _convert(row, place, columns, answers)


def _convert(row, place, columns, answers):
    if isinstance(row, Example | Sentence):
        return [row]
    if is_doc(row):
        row = {**row.user_data, "passage": row}
    elif isinstance(row, str):
        row = {"sentence": row}
    elif isinstance(row, tuple | list) and len(row) == 2 and isinstance(row[1], Mapping):
        row = {**row[1], "passage": row[0]}
    elif isinstance(row, tuple | list) and len(row) == 2 and isinstance(row[0], Mapping):
        row = {**row[0], "answer": row[1]}
    elif isinstance(row, tuple | list) and len(row) in (2, 3) and not _is_words(row):
        row = dict(zip(("passage", "question", "answer"), row, strict=False))
    if not isinstance(row, Mapping):
        raise ValueError(
            f"{place}: give an Example, a tuple (passage, question, answer), a dictionary, as of "
            f"passage or words, a spaCy Doc, or a string for a sentence instead of {row!r:.80}."
        )
    try:
        row = {name: _plain(value) for name, value in row.items()}
    except UnicodeDecodeError:
        raise ValueError(f"{place}: a column is no UTF-8 text, decode it.") from None
    missing = [name for name in columns if name not in row]
    if missing:
        raise ValueError(f"{place}: no column {missing[0]}, only {', '.join(map(str, row))}.")
    return read_row(_renamed(row, columns), place, answers)


def _is_words(row):
    return isinstance(row, list) and all(isinstance(each, str) for each in row)


def _renamed(row, columns):
    """Renames the columns of a row, and drops the alternatives to them."""
    named = set(columns.values())
    replaced = named.union(*(names for names in _ALTERNATIVES if names & named))
    replaced |= {other for name in replaced for other in COLUMNS[name]}
    kept = {name: row[name] for name in row if name not in replaced and name not in columns}
    return kept | {ours: row[name] for name, ours in columns.items()}


def _rows(data: Any, columns: Mapping[str, str]) -> Iterator[tuple[Any, str]]:
    """Yields rows, each with its place for errors."""
    if isinstance(data, str | os.PathLike):
        yield from _json_lines(data)
    elif hasattr(data, "as_numpy_iterator"):
        if int(data.cardinality()) == _INFINITE:
            raise ValueError("The tf.data.Dataset has no end: give data.take(n), without repeat().")
        yield from _numbered(row for batch in data.as_numpy_iterator() for row in _unbatched(batch))
    elif isinstance(data, Mapping):
        yield from _numbered(_transposed(data, columns))
    elif hasattr(data, "to_dicts"):
        yield from _numbered(data.to_dicts())
    elif hasattr(data, "to_dict") and hasattr(data, "columns"):
        rows = zip(data.to_dict("records"), data.index, strict=True)
        yield from ((row, f"row {index}") for row, index in rows)
    elif hasattr(data, "features") and hasattr(data, "with_format"):
        labels = {name: _label_names(kind) for name, kind in (data.features or {}).items()}
        labels = {name: names for name, names in labels.items() if names}
        rows = data.with_format(None)
        yield from _numbered({**row, **_named(row, labels)} for row in rows)
    elif is_doc(data) or isinstance(data, Example | Sentence):
        yield data, "example 0"
    else:
        try:
            iterator = iter(data)
        except TypeError:
            raise ValueError(
                f"Examples cannot be made of {type(data).__name__}: give a list, a dictionary of "
                "columns, the path of JSON lines, or a data set."
            ) from None
        yield from _numbered(iterator)


def _numbered(rows):
    return ((row, f"example {number}") for number, row in enumerate(rows))


def _json_lines(path):
    if not os.fspath(path).endswith(".jsonl"):
        raise ValueError(f"{path}: give the path of a file of JSON lines that ends in .jsonl.")
    empty = True
    for number, line in enumerate(read_text(path, "JSON lines").split("\n"), 1):
        if not line.strip():
            continue
        empty, place = False, f"{path}:{number}"
        row = parse_json(line, place, f"write each object on one line; {TRUNCATED}")
        if not isinstance(row, dict):
            raise ValueError(f"{place}: give an object with passage, question and answer.")
        yield row, place
    if empty:
        raise ValueError(f"{path}: no example in the file, write an object on each line.")


def _transposed(data, columns):
    """Returns the rows of a dictionary of columns, or the dictionary itself if it is one row."""
    if any(hasattr(values, "features") for values in data.values()):
        raise ValueError(f"This has several parts, pass one of them: {', '.join(data)}.")
    lists = {name: list(values) for name, values in data.items() if _is_column(values)}
    scalars = [name for name in lists if columns.get(name, name) not in _LISTS]
    nested = [name for name in lists if name not in scalars and _is_nested(lists[name])]
    # The edges of one row are nested too.
    nested = [n for n in nested if columns.get(n, n) != "edges" or _is_nested(lists[n][0])]
    if not scalars and not nested:
        return [data]
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{count} of {name}" for name, count in lengths.items())
        raise ValueError(f"The columns differ in length: {counts}.")
    count = next(iter(lengths.values()))
    whole = {name: lists.get(name, [value] * count) for name, value in data.items()}
    return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]


def _is_column(values):
    one = isinstance(values, str | bytes | Mapping) or is_doc(values)
    return not one and hasattr(values, "__len__") and getattr(values, "ndim", 1) > 0


def _is_nested(values):
    if isinstance(values, Mapping):
        return False
    return bool(values) and not isinstance(values[0], str | bytes | int | np.integer)


def _unbatched(element):
    """Returns the rows of an element of `tf.data`, which may be a batch."""
    parts = element if isinstance(element, tuple) else (element,)
    if isinstance(parts[0], Mapping):
        return _transposed({**parts[0], **dict(zip(("answer",), parts[1:], strict=False))}, {})
    names = ("passage", "question", "answer") if len(parts) > 1 else ("sentence",)
    return _transposed(dict(zip(names, parts, strict=False)), {})


def _plain(value):
    """Converts bytes to strings, and arrays to lists."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.decode() if isinstance(value, bytes) else value


def _label_names(kind):
    """Returns the names of the classes in a column of `datasets`, or `None` if it has none."""
    return getattr(kind, "names", None) or getattr(getattr(kind, "feature", None), "names", None)


def _named(row, labels):
    """Returns the columns of a row that hold classes, with names instead of numbers."""

    def name(value, names):
        if isinstance(value, list):
            return [name(each, names) for each in value]
        if not isinstance(value, int):
            return value
        # Unlabelled rows have the number -1.
        return names[value] if value >= 0 else None

    return {column: name(row[column], names) for column, names in labels.items()}
