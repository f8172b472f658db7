"""The protocol between data, models and text."""

import abc
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from keras_corefmem.preprocessing.answers import best_sequences
from keras_corefmem.preprocessing.graph import (
    GraphNumpy,
    answer_texts,
    assert_valid,
    look_up,
    vocabulary_table,
)
from keras_corefmem.text.tokenizers import get_tokenizer
from keras_corefmem.text.vocabulary import Vocabulary

UNKNOWN_ANSWER = "[unknown]"


class Bucketing(NamedTuple):
    """How `Batches` chooses the lengths that it pads to, in the unit of `Preprocessor.length`.

    Args:
        padding_saved: padding that one more length has to save in an epoch. Compiling a model for
            it takes as long as reading that much for twenty epochs.
        multiple: lengths are rounded up to a multiple of it.
        question_lengths: largest number of lengths of questions.
        inspection_multiple: the same as `multiple` for the few examples that are inspected now and
            then, so that they seldom need another shape.
    """

    padding_saved: int = 40_000
    multiple: int = 8
    question_lengths: int = 3
    inspection_multiple: int = 128


class Preprocessor(abc.ABC):
    """Turns examples and raw text into the features of a model, and its numbers into answers.

    A preprocessor holds everything that a model knows about its language: tokenizer, vocabulary and
    answers. Training, prediction, export and inspection use it through these members alone, so
    that they all see the same features:

    | member | purpose |
    |---|---|
    | `fit(examples, …)` | learns a preprocessor from training examples |
    | `encode(example)`, `encode_text(*strings)` | an example, or raw text, as arrays of ids |
    | `length(encoded)`, `question_length(encoded)` | the sizes that batches are bucketed by |
    | `collate(rows, count, length, question_length, names)` | the padded features of a batch |
    | `batches(encoded, names, …)` | a `Batches` of encoded examples |
    | `answers_of(encoded)` | texts of the answers by number |
    | `unknown_words(*strings)` | words that the vocabulary lacks |
    | `graph_tables()`, `graph_features(…)`, `graph_answers(…)` | the same in a TensorFlow graph |
    | `get_config()`, `from_config(config)` | the arguments of the constructor |

    A subclass is registered with `keras.saving.register_keras_serializable("keras_corefmem")`, so
    that `keras.saving.serialize_keras_object(preprocessor)` belongs into the configuration of a
    model, and `keras_corefmem.preprocessing.get` makes the preprocessor from it again.

    Args:
        words: words of the vocabulary without its two specials.
        answers: answers by number, from 1; number 0 is the unknown answer.
        tokenizer: name of the tokenizer of raw text.
        unknown_types: number of types of unknown words, see `keras_corefmem.text.Vocabulary`.

    Attributes:
        strings: names of the raw texts that it reads, the arguments of `encode_text`.
        feature_names: names of all features that `collate` makes.
        tags: whether each word has an answer of its own, instead of the text.
        local: whether answers are candidates of the text at hand, so that `answers_of` differs
            between examples.
        num_characters: number of character ids, 0 where words are not spelled.
        signals: room for attention targets by the name of their signal.
        bucketing: the `Bucketing` of its batches.
        batches_class: the class of its batches.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> preprocessor = keras_corefmem.preprocessing.StoryPreprocessor.fit(examples)
        >>> config = keras.saving.serialize_keras_object(preprocessor)
        >>> type(keras_corefmem.preprocessing.get(config)).__name__
        'StoryPreprocessor'
    """

    strings: ClassVar[tuple[str, ...]] = ("passage", "question")
    bucketing: ClassVar[Bucketing] = Bucketing()
    batches_class: ClassVar[type]
    # Arguments of the constructor under the names of version 0.1.
    renamed: ClassVar[dict[str, str]] = {}
    tags = local = False
    num_characters = 0

    def __init__(
        self, words: Sequence[str], answers: Sequence[str], tokenizer: str, unknown_types: int = 1
    ) -> None:
        self.tokenizer = get_tokenizer(tokenizer)
        self.vocabulary = Vocabulary(words, unknown_types)
        self.answers = [UNKNOWN_ANSWER, *answers]
        self.answer_numbers = {answer: n for n, answer in enumerate(self.answers)}
        self.signals: dict[str, int] = {}

    @classmethod
    @abc.abstractmethod
    def fit(cls, examples: Sequence, *args: Any, **kwargs: Any) -> "Preprocessor":
        """Learns a preprocessor from training examples."""

    @property
    @abc.abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """Names of all features."""

    @abc.abstractmethod
    def encode(self, example: Any) -> Any:
        """Encodes an example; its `source` stays, for errors."""

    @abc.abstractmethod
    def encode_text(self, *texts: Any, **kwargs: Any) -> Any:
        """Encodes raw `strings`, with answer 0.

        Raises:
            ValueError: if a text is empty or cannot be read.
        """

    def collate(
        self,
        rows: Sequence,
        count: int,
        length: int,
        question_length: int = 0,
        names: Sequence[str] | None = None,
    ) -> dict[str, np.ndarray]:
        """Makes the features of a batch.

        Args:
            rows: what `encode` returned.
            count: rows of the batch; those beyond `rows` are padding.
            length: what passages are padded to.
            question_length: what questions are padded to.
            names: names of the features; `None` for all.

        Returns:
            Dictionary of arrays by name.

        Raises:
            ValueError: if an id lies beyond the vocabulary.
        """
        names = self.feature_names if names is None else names
        features = self._collate(rows, count, (length, question_length), names)
        return {name: features[name] for name in names}

    @abc.abstractmethod
    def _collate(self, rows: Sequence, count: int, lengths: tuple[int, int], names: Any) -> dict:
        """Makes at least the features of `names`, see `collate`."""

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor, ready for JSON."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Preprocessor":
        """Makes a preprocessor from what `get_config` returned, now or in version 0.1."""
        return cls(**{cls.renamed.get(name, name): value for name, value in config.items()})

    @abc.abstractmethod
    def length(self, encoded: Any) -> int:
        """Returns the size that batches are bucketed by first."""

    def question_length(self, encoded: Any) -> int:
        """Returns the size that batches are bucketed by second, 0 without a question."""
        return len(encoded.question)

    def batches(self, encoded: Sequence, names: Sequence[str], **kwargs: Any) -> Any:
        """Makes batches of encoded examples; further arguments are those of `batches_class`."""
        return self.batches_class(encoded, self, names, **kwargs)

    def with_target_room(self, rows: Sequence) -> "Preprocessor":
        """Returns a preprocessor that pads attention targets of these rows alike."""
        return self

    def answers_of(self, encoded: Any) -> Sequence[str]:
        """Returns the texts of the answers to an encoded example by number."""
        return self.answers

    def word_ids(self, words: Sequence[str]) -> np.ndarray:
        """Looks up the ids of words, int32 `(words,)`."""
        return self.vocabulary.encode(words)

    def ids_of_text(self, text: str, name: str = "text") -> np.ndarray:
        """Looks up the ids of the words of a text; `name` tells which in the error if empty."""
        ids = self.word_ids(self.tokenizer(text))
        if not len(ids):
            raise ValueError(f"The {name} is empty: {text!r}. Give at least one word.")
        return ids

    def unknown_words(self, *texts: str) -> tuple[str, ...]:
        """Returns the words of raw texts that the vocabulary lacks, each once."""
        words = self.tokenizer(" ".join(texts))
        unknown = self.vocabulary.is_unknown(self.word_ids(words))
        return tuple(dict.fromkeys(np.array(words, "object")[unknown].tolist()))

    def invalid_rows(
        self, passage: Any, question: Any, xp: Any = np
    ) -> dict[str, tuple[str, np.ndarray]]:
        """Tells which padded ids cannot be read.

        Args:
            passage: int32 `(batch, time)`.
            question: int32 `(batch, question time)`.
            xp: `numpy`, or a `GraphNumpy` inside a graph.

        Returns:
            For `passage` or `question` the problem and bool `(batch,)`, the rows that have it.
        """
        return {}

    def graph_tables(self) -> list:
        """Makes the TensorFlow tables that `graph_features` looks words up in."""
        return [vocabulary_table(self.vocabulary)]

    def graph_features(
        self, tokens: Sequence, tables: Sequence, names: Sequence[str]
    ) -> dict[str, Any]:
        """Makes features inside a TensorFlow graph, as `encode_text` and `collate` do.

        Args:
            tokens: ragged string tensors `(batch, time)`, one for each of the `strings`.
            tables: what `graph_tables` returned.
            names: names of the features.
        """
        passage, question = [
            each.with_values(look_up(tables[0], self.vocabulary, each.values)).to_tensor()
            for each in tokens
        ]
        xp = GraphNumpy()
        invalid = self.invalid_rows(passage, question, xp)
        passage, question = assert_valid(invalid, [passage, question])
        return self.features(passage, question, names, xp)

    def features(
        self, passage: Any, question: Any, names: Sequence[str] | None = None, xp: Any = np
    ) -> dict[str, Any]:
        """Makes the features of padded ids without annotation.

        Args:
            passage: int32 `(batch, time)`.
            question: int32 `(batch, question time)`.
            names: names of the features; `None` for all.
            xp: `numpy`, or a `GraphNumpy` inside a graph.
        """
        names = self.feature_names if names is None else names
        features = self._features(passage, question, names, xp)
        return {name: features[name] for name in names}

    def _features(self, passage: Any, question: Any, names: Any, xp: Any) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} reads more than ids.")

    def graph_answers(self, logits: Any, tokens: Sequence, top: int) -> dict[str, Any]:
        """Decodes logits inside a TensorFlow graph.

        Args:
            logits: float32 `(batch, answers)`, or `(batch, steps, answers)`.
            tokens: as of `graph_features`.
            top: number of answers.

        Returns:
            `answer` and `probability` `(batch,)`, `answers` and `probabilities` `(batch, top)`.
        """
        xp = GraphNumpy()
        sequences, logs = best_sequences(logits, top, xp)
        return ranked(answer_texts(sequences, self.answers), xp.exp(logs))


def ranked(answers: Any, probabilities: Any) -> dict[str, Any]:
    """Names answers and their probabilities `(batch, top)`, and the best of them."""
    return {
        "answer": answers[:, 0],
        "probability": probabilities[:, 0],
        "answers": answers,
        "probabilities": probabilities,
    }
