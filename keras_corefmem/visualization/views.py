"""Views: records of what a model answers and attends to, ready to be drawn or printed."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from keras_corefmem.datasets.conversion import as_examples
from keras_corefmem.datasets.example import UNKNOWN_ANSWER, Example
from keras_corefmem.preprocessing.encoding.answers import answer_text, best_answer, best_tags
from keras_corefmem.preprocessing.encoding.features import coarse_length
from keras_corefmem.preprocessing.training_examples import recut

INK, PALE, GOOD, BAD = "#1f2430", "#8a90a0", "#18794e", "#c62a2f"
# Models answer in batches of one shape, so that XLA compiles once; a single text is read alone.
BATCH_SIZE = 16

Heading = list[tuple[str, str]]
Inspect = Callable[[dict], tuple[np.ndarray, np.ndarray | None]]


@dataclasses.dataclass(frozen=True)
class TokenView:
    """A passage with the attention that a reader pays to each token.

    Args:
        sentences: tokens of each sentence.
        attention: `(T,)`, the weight of each of their tokens, from 0 to 1.
        chains: `(T,)`, the coreference chain of each of their tokens, 0 = none.
        question: tokens of the question.
        question_chains: the chain of each of them.
        heading: pieces of a line about the answer, each a text and its colour.
        supporting_facts: 1-based numbers of sentences to mark.
        edges: `(source, target, type)` of edges beside those of chains, 1-based positions through
            passage and question.
        edge_shares: mean attention to edges of each type, if the reader weighs them.

    Example:
        >>> view = keras_corefmem.visualization.TokenView(
        ...     [["mary", "left"]], np.array([0.9, 0.1]), np.array([1, 0]), ["who"], np.array([0]))
        >>> view.sentences
        [['mary', 'left']]
    """

    sentences: Sequence[Sequence[str]]
    attention: np.ndarray
    chains: np.ndarray
    question: Sequence[str]
    question_chains: np.ndarray
    heading: Heading = dataclasses.field(default_factory=list)
    supporting_facts: Sequence[int] = ()
    edges: Sequence[tuple[int, int, str]] = ()
    edge_shares: Mapping[str, float] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class TableView:
    """Values from 0 to 1 with a row for each sentence or word: gates, attention or answers.

    Args:
        rows: text of each row.
        values: `(rows, columns)`.
        columns: name of each column.
        question: the question, or the sentence that is read.
        heading: pieces of a line about the answer, each a text and its colour.
        supporting_facts: 1-based numbers of rows to mark.
        right: name of the column to mark.
        max_columns: maximum number of columns to draw, those with the highest values.

    Example:
        >>> view = keras_corefmem.visualization.TableView(
        ...     ["Mary left.", "John slept."], np.array([[0.9], [0.1]]), ["pass 1"], "Who left?")
        >>> view.columns
        ['pass 1']
    """

    rows: Sequence[str]
    values: np.ndarray
    columns: Sequence[str]
    question: str
    heading: Heading = dataclasses.field(default_factory=list)
    supporting_facts: Sequence[int] = ()
    right: str | None = None
    max_columns: int = 24


@dataclasses.dataclass(frozen=True)
class HeadView:
    """A passage with the attention of supervised heads, beside their targets.

    Args:
        words: the T tokens.
        heads: triples of a name, the attention `(T, T)` of each token to the others, from 0 to 1,
            and its targets, bool `(T, T)`.

    Example:
        >>> attention = np.eye(2)
        >>> view = keras_corefmem.visualization.HeadView(
        ...     ["mary", "left"], [("coref_all", attention, attention > 0)])
    """

    words: Sequence[str]
    heads: Sequence[tuple[str, np.ndarray, np.ndarray]]


class Inspection(NamedTuple):
    """Features, logits and attention (or `None`) of examples, as arrays over all of them."""

    features: dict
    logits: Any
    attention: Any


def _read(examples: Any, preprocessor: Any) -> list:
    """Returns examples, or rows as `as_examples` reads them, in the tokens of a preprocessor."""
    return recut(as_examples(examples, answers=False), preprocessor.tokenizer)


def _batches(examples: Sequence, preprocessor: Any) -> tuple[list, dict, list[dict]]:
    """Returns encoded examples, their features, and these by batch; a single one is a batch."""
    encoded = list(map(preprocessor.encode, examples))
    longest = max(map(preprocessor.length, encoded))
    longest_question = max(map(preprocessor.question_length, encoded))
    rows = 1 if len(encoded) == 1 else -(-len(encoded) // BATCH_SIZE) * BATCH_SIZE
    lengths = coarse_length([longest, longest_question])
    features = preprocessor.collate(encoded, rows, *lengths)
    parts = [slice(start, start + BATCH_SIZE) for start in range(0, rows, BATCH_SIZE)]
    return encoded, features, [{k: v[part] for k, v in features.items()} for part in parts]


def inspect_examples(examples: Sequence, preprocessor: Any, inspect: Inspect) -> Inspection:
    """Computes features, logits and attention (or `None`) of examples by `model.inspect`."""
    encoded, features, batches = _batches(examples, preprocessor)
    arrays = (
        None if parts[0] is None else np.concatenate(parts)[: len(encoded)]
        for parts in zip(*map(inspect, batches), strict=True)
    )
    return Inspection(features, *arrays)


def heading(example: Any, logits: np.ndarray, preprocessor: Any) -> Heading:
    """Returns an answer as coloured pieces of a line, judged if the right one is known."""
    best, probability, is_right = predicted_answer(example, logits, preprocessor)
    verdict = f"{best} {probability:.0%}"
    if example.answer == UNKNOWN_ANSWER:
        return [(verdict, INK)]
    if is_right:
        return [(f"✓ {verdict}", GOOD)]
    return [(f"✗ {verdict}", BAD), (f"right: {example.answer}", INK)]


def predicted_answer(
    example: Any, logits: np.ndarray, preprocessor: Any
) -> tuple[str, float, bool]:
    """Returns a model's best answer: its text, its probability, and whether it is right."""
    encoded = preprocessor.encode(example)
    known = preprocessor.answers_of(encoded)
    best, probability = best_answer(logits, known)
    return best, probability, best == answer_text(np.ravel(encoded.answer).tolist(), known)


def edge_shares(examples: Sequence, preprocessor: Any, attend: Callable) -> dict[str, float]:
    """Computes the mean attention to edges of each type, by `model.attend_to_edges`."""
    encoded, features, _ = _batches(examples, preprocessor)
    return attend(features, len(encoded))


def token_views(
    examples: Sequence, preprocessor: Any, inspect: Inspect, attend: Callable | None = None
) -> Iterator[TokenView]:
    """Yields the view of each passage, from attention `(batch, time)`.

    With `attend`, `model.attend_to_edges`, views have the attention to edges too.
    """
    examples = _read(examples, preprocessor)
    features, logits, attention = inspect_examples(examples, preprocessor, inspect)
    for n, example in enumerate(examples):
        sentences = example.cut_sentences(preprocessor.tokenizer)
        question = example.cut(example.question, preprocessor.tokenizer)
        length = sum(map(len, sentences))
        yield TokenView(
            sentences,
            attention[n, :length],
            features["passage_chains"][n, :length],
            question,
            # Read separately, passage and question number their chains independently.
            features["question_chains"][n, : len(question)] * preprocessor.joint,
            heading(example, logits[n], preprocessor),
            example.supporting_facts,
            preprocessor.typed_edges(preprocessor.encode(example)),
            edge_shares([example], preprocessor, attend) if attend else {},
        )


def head_views(examples: Sequence, preprocessor: Any, look: Callable) -> Iterator[HeadView]:
    """Yields the view of the supervised heads on each passage, by `model.look`."""
    examples = _read(examples, preprocessor)
    encoded, _, batches = _batches(examples, preprocessor)
    attention = [look(batch) for batch in batches]
    for n, (example, row) in enumerate(zip(examples, encoded, strict=True)):
        words, heads = example.tokens(example.passage, preprocessor.tokenizer), []
        count = len(words)
        for signal, batch in attention[n // BATCH_SIZE].items():
            targets = np.zeros((count, count), bool)
            for target in row.targets.get(signal, ()):
                targets[tuple(target - 1)] = True
            heads.append((signal, batch[n % BATCH_SIZE, :count, :count], targets))
        yield HeadView(words, heads)


def sentence_views(
    examples: Sequence, preprocessor: Any, inspect: Inspect, columns: Sequence[str]
) -> Iterator[TableView]:
    """Yields the view of each story, from attention `(batch, sentences, columns)`.

    A further row after the sentences is the fact that ends the passes.
    """
    examples = _read(examples, preprocessor)
    features, logits, attention = inspect_examples(examples, preprocessor, inspect)
    for n, example in enumerate(examples):
        encoded = preprocessor.encode(example)
        sentences = preprocessor.row_texts(example, encoded)
        end = attention[n, features["sentences"].shape[1] :]
        yield TableView(
            [*sentences, *["(end of passes)"] * len(end)],
            np.concatenate([attention[n, : len(sentences)], end]),
            columns,
            example.question,
            heading(example, logits[n], preprocessor),
            encoded.supporting_facts,
        )


def softmax(logits: np.ndarray) -> np.ndarray:
    """Computes probabilities over the last axis."""
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


def logits_of_beginnings(example: Example, preprocessor: Any, inspect: Inspect) -> np.ndarray:
    """Computes logits `(sentences, answers)` after the first sentence, the first two, and so on."""
    counts = range(1, len(example.sentences) + 1)
    beginnings = [example.beginning(count, preprocessor.tokenizer) for count in counts]
    return inspect_examples(beginnings, preprocessor, inspect).logits


def beginning_views(
    examples: Sequence[Example], preprocessor: Any, inspect: Inspect
) -> Iterator[TableView]:
    """Yields the view of each question's answers after each sentence, with a reading for each.

    Answers have to be classes.
    """
    examples = _read(examples, preprocessor)
    for example in examples:
        logits = logits_of_beginnings(example, preprocessor, inspect)
        verdict = heading(example, logits[-1], preprocessor)
        answers = preprocessor.answers
        yield _answers_view(example, softmax(logits), answers, verdict, "each beginning read anew")


def reading_views(
    examples: Sequence[Example], preprocessor: Any, follow: Callable
) -> Iterator[TableView]:
    """Yields the view of each question's answers at the end of each sentence of one reading.

    Args:
        examples: the questions.
        preprocessor: the model's preprocessor.
        follow: function from features and the positions where sentences end, `(batch, sentences)`,
            to probabilities `(batch, sentences, answers)`: `model.follow`.
    """
    examples = _read(examples, preprocessor)
    encoded, features, batches = _batches(examples, preprocessor)
    rows = len(next(iter(features.values())))
    ends = np.zeros((rows, max(len(example.sentences) for example in examples)), int)
    for n, example in enumerate(examples):
        lengths = list(map(len, example.cut_sentences(preprocessor.tokenizer)))
        ends[n, : len(lengths)] = np.cumsum(lengths)
    starts = range(0, rows, BATCH_SIZE)
    parts = [
        follow(batch, ends[n : n + BATCH_SIZE]) for n, batch in zip(starts, batches, strict=True)
    ]
    odds_of = np.concatenate(parts)[: len(encoded)]
    for example, row, odds in zip(examples, encoded, odds_of, strict=True):
        answers, odds = preprocessor.answers_of(row), odds[: len(example.sentences)]
        last = np.log(np.maximum(odds[-1, : len(answers)], np.finfo("float32").tiny))
        verdict = heading(example, last, preprocessor)
        yield _answers_view(example, odds, answers, verdict, "from the states of one reading")


def _answers_view(
    example: Example, odds: np.ndarray, answers: Sequence[str], verdict: Heading, note: str
) -> TableView:
    """Returns the view of probabilities `(sentences, answers)`, most probable answers only."""
    return TableView(
        example.sentences,
        odds[:, 1 : len(answers)],
        answers[1:],
        example.question,
        [*verdict, (note, PALE)],
        example.supporting_facts,
        right=example.answer,
        max_columns=10,
    )


def word_views(sentences: Sequence, preprocessor: Any, inspect: Inspect) -> Iterator[TableView]:
    """Yields the view of each sentence, with a row for each word and a column for each pass.

    For a tagger, a row is a word with its tag, and a column a word that its last pass attends to.
    The attention is `(batch, words, passes)`, for tags `(batch, words, facts, passes)`, or `None`.
    """
    sentences = as_examples(sentences, answers=False)
    _, logits, attention = inspect_examples(sentences, preprocessor, inspect)
    for n, sentence in enumerate(sentences):
        words = list(sentence.words)
        values = np.zeros((len(words), 0)) if attention is None else attention[n, : len(words)]
        columns = [f"pass {k}" for k in range(1, values.shape[-1] + 1)]
        if preprocessor.tags:
            tags, _ = best_tags(logits[n, : len(words)], preprocessor.answers)
            verdict = _tags_heading(sentence, tags)
            if columns:
                values, columns = values[:, : len(words), -1], words
            words = [f"{word} {tag}" for word, tag in zip(words, tags, strict=True)]
        else:
            verdict = heading(sentence, logits[n], preprocessor)
        yield TableView(words, values, columns, " ".join(sentence.words), verdict)


def _tags_heading(sentence: Any, tags: Sequence[str]) -> Heading:
    """Returns how many tags are right and which are wrong; nothing if that is unknown."""
    if UNKNOWN_ANSWER in sentence.answer:
        return []
    triples = zip(sentence.words, tags, sentence.answer, strict=True)
    wrong = [(f"{word} {tag}, right: {right}", INK) for word, tag, right in triples if tag != right]
    count = len(tags)
    return [(f"{count - len(wrong)} of {count} tags right", BAD if wrong else GOOD), *wrong]
