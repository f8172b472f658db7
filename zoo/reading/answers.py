"""Answers to questions on raw text."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from keras_corefmem.datasets.annotated import AnnotatedExample, annotate_examples
from keras_corefmem.datasets.conversion import as_examples
from keras_corefmem.datasets.example import UNKNOWN_ANSWER, Example
from keras_corefmem.preprocessing.encoding.answers import (
    END,
    answer_text,
    best_sequences,
    best_tags,
    check_kind,
    present_logits,
)
from keras_corefmem.preprocessing.encoding.edge_table import warn_of_unread_edges
from keras_corefmem.preprocessing.encoding.features import coarse_length
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.preprocessing.reader_preprocessor import LINKS
from keras_corefmem.preprocessing.training_examples import recut
from keras_corefmem.text.tokenizers import has_letters
from keras_corefmem.utils.checks import check_characters, check_sizes
from zoo.reading.readings import Reading, Tagging

# Texts are read in batches of a few sizes, so that only few shapes are compiled.
BATCH_SIZES = 1, 8, 32
# Number of unknown words that a warning names.
SHOWN_WORDS = 20


def preprocessor_of(model: Any) -> Preprocessor:
    """Returns the preprocessor of a reader.

    Raises:
        ValueError: if the model is not a reader, or has no preprocessor.
    """
    if not hasattr(model, "preprocessor"):
        raise ValueError(
            f"{type(model).__name__} is not a reader: pass a model of the zoo, such as "
            "GatedAttentionReader."
        )
    if model.preprocessor is None:
        raise ValueError(
            f"{model.name} has no preprocessor and reads ids alone: build it with "
            "preprocessor=ReaderPreprocessor.fit(examples) to read text."
        )
    return model.preprocessor


def number_of_answers(preprocessor: Preprocessor, top: int) -> int:
    """Returns `top`, or the number of all answers if there are fewer."""
    check_sizes(top=top)
    # Neither the unknown answer nor the end of an answer counts.
    return min(top, len(preprocessor.answers) - 1 - (preprocessor.answers[-1] == END))


def read(
    model: Any,
    *texts: str | Sequence[str],
    top: int = 5,
    annotator: Any = None,
    truecase: Any = None,
    edges: Sequence = (),
    sources: Sequence[str] = (),
) -> Any:
    """Answers questions on passages of raw text, or labels raw sentences.

    Words outside the vocabulary are read as free symbols if the model has these, others as unknown,
    with one warning that names them. There is another warning if the model was trained on annotated
    text and reads without an annotator.

    Args:
        model: a model with a preprocessor.
        *texts: a string or a list of strings for each of `model.preprocessor.strings`: passages and
            questions, or sentences. A single string is combined with each element of a list.
        top: number of answers, at most all that the model knows; a tagger returns one per word.
        annotator: coreference annotator of passages and questions, for a reader of annotated text:
            `"exact"`, a spaCy pipeline or its name or path, or a function from texts to
            annotations, see `keras_corefmem.graphs.annotate`. With `None`, only repeated words are
            linked.
        truecase: truecaser that restores capital letters in lower-case text for the annotator:
            `"novels"`, a `keras_corefmem.text.Truecaser`, or its path.
        edges: a list of typed edges of the text, see `Example`; for lists of texts, a list of such
            lists.
        sources: names of the texts of a list for error messages; numbers by default.

    Returns:
        For strings, a `Reading`, or a `Tagging` from a tagger; for lists, a list of them.

    Raises:
        TypeError: if a text is not a string, or one is missing.
        ValueError: if a text is empty, the lists differ in length, the model has no preprocessor,
            or annotations or edges are passed but the model does not read them.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> model = zoo.EndToEndMemoryNetwork.from_examples(examples)
        >>> zoo.reading.read(model, "Mary went to the kitchen.", "Where is Mary?", top=2).answers
        ('...', '...')
    """
    preprocessor = preprocessor_of(model)
    top = number_of_answers(preprocessor, top)
    if len(texts) != len(preprocessor.strings):
        wanted = " and ".join(preprocessor.strings)
        raise TypeError(f"{model.name} reads a {wanted}: got {len(texts)} texts.")
    for name, text in zip(preprocessor.strings, texts, strict=True):
        check_text(name, text)
    lists = [text for text in texts if not isinstance(text, str)]
    count = len(lists[0]) if lists else 1
    columns = [[text] * count if isinstance(text, str) else text for text in texts]
    if len(set(map(len, columns))) > 1:
        pairs = zip(preprocessor.strings, columns, strict=True)
        numbers = ", but ".join(f"{len(column)} {name}s" for name, column in pairs)
        raise ValueError(f"There are {numbers}.")
    rows = list(zip(*columns, strict=True))
    if not rows:
        return []
    joined = edges if lists and edges else [edges] * count
    if len(joined) != count:
        raise ValueError(f"There are {count} texts, but edges of {len(joined)}: give a list each.")
    _check_edges(model, joined)
    if not sources:
        sources = [f"text {n} of {count}" for n in range(1, count + 1)] if lists else [""]
    if annotator is None and truecase is None:
        warn_of_missing_structure(model, stacklevel=4)
        encoded = list(_encode_texts(preprocessor, rows, sources))
        if any(joined):
            examples = _examples(rows, joined, sources)
            warn_of_unread_edges(examples, edge_types_of(model), stacklevel=4)
            encoded = list(map(preprocessor.with_edges, encoded, examples))
    else:
        _check_annotator(preprocessor, annotator)
        examples = _examples(rows, joined, sources)
        warn_of_unread_edges(examples, edge_types_of(model), stacklevel=4)
        annotated = annotate_for(preprocessor, examples, annotator, truecase)
        encoded = list(map(preprocessor.encode, annotated))
    readings = read_encoded(model, rows, encoded, top)
    return readings if lists else readings[0]


def read_examples(
    model: Any,
    examples: Any,
    top: int = 5,
    annotator: Any = None,
    truecase: Any = None,
) -> list[Reading]:
    """Answers the questions of examples, using their own chains, candidates and edges.

    Args:
        model: a model with a preprocessor.
        examples: the questions, in any form that `keras_corefmem.datasets.as_examples` takes; their
            answers are ignored.
        top, annotator, truecase: as for `read`; an annotator replaces the chains alone.

    Raises:
        ValueError: as for `read`, or if the model reads single sentences.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> model = zoo.EndToEndMemoryNetwork.from_examples(examples)
        >>> len(zoo.reading.read_examples(model, examples[:3]))
        3
    """
    preprocessor = preprocessor_of(model)
    if len(preprocessor.strings) == 1:
        raise ValueError(f"{model.name} reads single sentences: give them to read.")
    examples = as_examples(examples, answers=False)
    if not examples:
        return []
    check_kind(examples, preprocessor.strings)
    examples = recut(examples, preprocessor.tokenizer)
    rows = [(example.passage, example.question) for example in examples]
    _check_edges(model, [example.edges for example in examples])
    if annotator is not None or truecase is not None:
        examples = annotate_for(preprocessor, examples, annotator, truecase)
    elif not all(hasattr(example, "chain_ids") for example in examples):
        warn_of_missing_structure(model, stacklevel=4)
    warn_of_unread_edges(examples, edge_types_of(model), stacklevel=4)
    encoded = list(map(preprocessor.encode, examples))
    return read_encoded(model, rows, encoded, number_of_answers(preprocessor, top))


def _check_edges(model: Any, edges: Sequence) -> None:
    if any(edges) and not model.preprocessor.reads_edges:
        raise ValueError(f"{model.name} reads no edges, leave them out.")


def edge_types_of(model: Any) -> Sequence[str]:
    """Returns the types of edges that a model reads."""
    reads = any(name.endswith(("_antecedents", "_sources")) for name in model.features)
    return model.preprocessor.edge_types if reads else ()


def read_encoded(model: Any, rows: Sequence, encoded: Sequence, top: int) -> list:
    """Answers or tags encoded texts; their `rows` of strings are searched for unknown words."""
    preprocessor = model.preprocessor
    unknown = warn_of_unknown_words(preprocessor, rows, stacklevel=5)
    if any(getattr(row, "is_cut", False) for row in encoded):
        # The same for all texts, so that Python shows it once.
        warnings.warn(
            f"{model.name} chooses among the first {len(preprocessor.answers) - 1} candidates or "
            "words of a passage; some texts have more, which it ignores: shorten them, or make it "
            "with more num_candidates.",
            stacklevel=4,
        )
    logits = _logits_of(model, encoded)
    if preprocessor.tags:
        readings: list = []
        for (sentence,), row, new in zip(rows, logits, unknown, strict=True):
            words = tuple(preprocessor.tokenizer(sentence))
            tags, probabilities = best_tags(row[: len(words)], preprocessor.answers)
            readings.append(Tagging(words, tags, probabilities, new))
        return readings
    return _readings(logits, unknown, list(map(preprocessor.answers_of, encoded)), top)


def _check_annotator(preprocessor: Preprocessor, annotator: Any) -> None:
    if annotator is None:
        raise ValueError("A truecaser is for an annotator: give that one too, or neither.")
    if not preprocessor.local:
        raise ValueError("An annotator is for readers of annotated text, leave it out.")


def _encode_texts(preprocessor: Preprocessor, rows: Sequence, sources: Sequence) -> Iterator[Any]:
    """Encodes raw texts; errors name the source of the text."""
    for row, source in zip(rows, sources, strict=True):
        try:
            yield preprocessor.encode_text(*row)
        except ValueError as error:
            raise ValueError(f"{source}: {error}" if source else str(error)) from None


def _examples(rows: Sequence, edges: Sequence, sources: Sequence) -> list[Example]:
    """Makes examples without an answer from raw texts."""
    return [
        Example((passage,), question, UNKNOWN_ANSWER, source=source, edges=tuple(own))
        for (passage, question), own, source in zip(rows, edges, sources, strict=True)
    ]


def check_text(name: str, text: Any) -> None:
    """Checks that a text to read is a string or a list of strings, of valid characters."""
    if isinstance(text, str):
        check_characters(name, text)
        return
    # Tables and arrays without an axis have `__len__` too, and sets have no order.
    listed = hasattr(text, "__len__") and getattr(text, "ndim", 1) == 1
    if isinstance(text, bytes | Mapping | Set) or not listed:
        raise TypeError(f"{name} must be a string or a list of strings, got {text!r:.80}.")
    for number, each in enumerate(text):
        if not isinstance(each, str):
            raise TypeError(f"{name}[{number}] must be a string, got {each!r:.80}.")
        check_characters(f"{name}[{number}]", each)


def annotate_for(
    preprocessor: Preprocessor,
    examples: Iterable[Example],
    annotator: Any,
    truecase: Any = None,
    tokenizer: Callable[[str], list[str]] | None = None,
    make_example: Callable[..., AnnotatedExample] = AnnotatedExample.from_record,
) -> list[AnnotatedExample]:
    """Annotates questions like a reader's training data, and splits raw text into its tokens.

    Raises:
        ValueError: if the reader reads no annotations, or there is no annotator.
    """
    _check_annotator(preprocessor, annotator)
    cut = tokenizer or preprocessor.tokenizer.cased
    return annotate_examples(examples, annotator, truecase, cut, make_example)


def reads_annotations(model: Any) -> bool:
    """Returns whether a model was trained on annotated text, and reads its chains or edges."""
    return reads_links(model) and bool(model.preprocessor.annotator)


def reads_links(model: Any) -> bool:
    """Returns whether a model reads chains or edges."""
    return any(name.rpartition("_")[2] in LINKS for name in model.features)


def warn_of_missing_structure(model: Any, stacklevel: int = 2) -> None:
    """Warns that a model of annotated text reads without an annotator, if it does."""
    known = model.preprocessor
    if reads_annotations(model):
        behind = f" behind the truecaser {known.truecase}" if known.truecase else ""
        more = " and truecase=" if known.truecase else ""
        warnings.warn(
            f"{model.name} was trained on text that {known.annotator} annotated{behind}; in other "
            f"text it links repeated words alone: give annotator={more} to read, or what "
            "keras_corefmem.datasets.annotate_examples makes of examples, or resolve Docs first.",
            stacklevel=stacklevel,
        )


def warn_of_unknown_words(
    preprocessor: Preprocessor, rows: Iterable[Sequence[str]], stacklevel: int = 2
) -> list[tuple[str, ...]]:
    """Returns the unknown words of each row of texts, and warns of those read as unknown."""
    unknown = [preprocessor.unknown_words(*row) for row in rows]
    words = dict.fromkeys(word for new in unknown for word in unread_words(preprocessor, new))
    if words:
        shown = ", ".join(map(repr, list(words)[:SHOWN_WORDS]))
        more = f" and {len(words) - SHOWN_WORDS:,} more" if len(words) > SHOWN_WORDS else ""
        message = f"The reader does not know these words: {shown}{more}."
        warnings.warn(message, stacklevel=stacklevel)
    return unknown


def unread_words(preprocessor: Preprocessor, unknown: Sequence[str]) -> Sequence[str]:
    """Returns the unknown words of a text without those that are read as free symbols."""
    if not preprocessor.free_symbols:
        return unknown
    return list(filter(has_letters, unknown))[preprocessor.free_symbols :]


def _readings(
    logits: Sequence[np.ndarray], unknown: Sequence, answers: Sequence, top: int
) -> list[Reading]:
    sequences, logs = best_sequences(np.stack(list(map(present_logits, logits, answers))), top)
    readings = []
    for rows, odds, words, known in zip(sequences, np.exp(logs), unknown, answers, strict=True):
        # A passage may have fewer candidates than the model has outputs.
        there = [n for n, row in enumerate(rows) if all(m < len(known) and known[m] for m in row)]
        texts = tuple(answer_text(rows[n], known) for n in there)
        likely = tuple(odds[there].tolist())
        readings.append(Reading(texts[0], odds[0].item(), texts, likely, words))
    return readings


def _logits_of(model: Any, encoded: Sequence) -> list[np.ndarray]:
    """Returns the logits `(…, answers)` of each example, float32, in order."""
    preprocessor = model.preprocessor
    sizes = preprocessor.length, preprocessor.question_length
    lengths, questions = (np.unique(coarse_length(list(map(size, encoded)))) for size in sizes)
    batches = preprocessor.batches(
        encoded,
        model.features,
        buckets=lengths,
        question_length=questions[-1],
        batch_size=next((n for n in BATCH_SIZES if n >= len(encoded)), BATCH_SIZES[-1]),
    )
    inspected: dict[int, np.ndarray] = {}
    for n, (members, *_) in enumerate(batches.batches):
        # The rows after the members of a batch are empty.
        inspected |= zip(members.tolist(), model.inspect(batches[n][0])[0], strict=False)
    return [inspected[n] for n in range(len(encoded))]
