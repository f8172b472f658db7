"""Base class of preprocessors, the interface between data, models and text."""

import abc
import collections
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from keras_corefmem.datasets.example import UNKNOWN_ANSWER, Example
from keras_corefmem.preprocessing.encoding import graph
from keras_corefmem.preprocessing.encoding.answers import ABSENT, END, best_sequences
from keras_corefmem.preprocessing.encoding.features import Spelling
from keras_corefmem.text.tokenizers import get_tokenizer
from keras_corefmem.text.vocabulary import Vocabulary
from keras_corefmem.utils.arguments import check_configuration


class Bucketing(NamedTuple):
    """Settings by which `Batches` chooses padded lengths, in the unit of `Preprocessor.length`."""

    # Padding that a further length has to save in an epoch: compiling for it takes as long as
    # reading that much for twenty epochs.
    padding_saved: int = 40_000
    multiple: int = 8
    question_lengths: int = 3  # At most.


class Preprocessor(abc.ABC):
    """Converts examples and raw text to the features of a model, and its outputs to answers.

    A preprocessor holds everything that a model knows about its language: tokenizer, vocabulary and
    answers. Training, prediction, export and inspection use it through its methods alone, so that
    they all see the same features.

    Subclasses are registered with `keras.saving.register_keras_serializable("keras_corefmem")`;
    `keras_corefmem.preprocessing.get` restores what `keras.saving.serialize_keras_object` saved.

    Args:
        words: words of the vocabulary without its two specials.
        answers: answers by number, from 1; number 0 is the unknown answer.
        tokenizer: name of the tokenizer of raw text.
        unknown_types: number of types of unknown words, see `keras_corefmem.text.Vocabulary`.
        free_symbols: number of free symbols, which stand for the unknown words of a text in the
            order of their first mention; unless answers are local, they are its last answers.

    Attributes:
        strings: names of the raw texts that it reads, the arguments of `encode_text`.
        feature_names: names of all features that `collate` makes.
        tags: whether each word has an answer of its own, instead of the text.
        reads_edges: whether there are models of it that read typed edges.
        local: whether answers are candidates of each text, see `answers_of`.
        num_characters: number of character ids, 0 if words are not spelled.
        answer_length: number of words of the longest answer, including its end; 1 if answers are
            classes.
        word_chains: chain of each word, or `None`.
        signals: room for attention targets, in pairs per token, by the name of their signal.
        annotator: name of the annotator of the training text, or `None`.
        truecase: name of the truecaser that was applied before, or `None`.
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
    # Names of the constructor's arguments in version 0.1, and the present ones.
    renamed: ClassVar[dict[str, str]] = {}
    # Attributes that are further arguments of the constructor.
    arguments: ClassVar[tuple[str, ...]] = ()
    tags = local = reads_edges = False
    # Names of the annotator and the truecaser of the training text, if any.
    annotator: str | None = None
    truecase: str | None = None
    spelling = Spelling("", 1)
    answer_length = 1
    word_chains: np.ndarray | None = None

    def __init__(
        self,
        words: Sequence[str],
        answers: Sequence[str],
        tokenizer: str,
        unknown_types: int = 1,
        free_symbols: int = 0,
    ) -> None:
        self.tokenizer = get_tokenizer(tokenizer)
        self.vocabulary = Vocabulary(words, unknown_types, free_symbols)
        self.free_symbols = free_symbols
        symbols = [] if self.local else self.vocabulary.symbols
        end = len(answers) - (END in answers[-1:])
        self.answers = [UNKNOWN_ANSWER, *answers[:end], *symbols, *answers[end:]]
        # Numbers of the answers that are free symbols.
        self.symbol_answers = range(1 + end, 1 + end + len(symbols))
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
        """Encodes an example in its own tokens, see `Example.recut`; keeps its `source`."""

    def encode_all(self, examples: Sequence, step: int = 1) -> list[Any]:
        """Encodes every `step`th example; errors name examples without a `source` by number."""
        encoded = []
        for number, example in enumerate(examples[::step]):
            try:
                encoded.append(self.encode(example))
            except ValueError as error:
                if example.source:
                    raise
                place = f"example {number * step + 1} of {len(examples)}"
                message = str(error).removeprefix("An example: ")
                raise ValueError(f"{place}: {message}") from None
        return encoded

    @abc.abstractmethod
    def encode_text(self, *texts: Any, **kwargs: Any) -> Any:
        """Encodes raw `strings`, with answer 0."""

    def with_edges(self, encoded: Any, example: Example) -> Any:
        """Returns an encoded example or raw text with the chains and edges of `example`."""
        return encoded

    def collate(
        self,
        rows: Sequence,
        count: int,
        length: int,
        question_length: int = 0,
        names: Sequence[str] | None = None,
    ) -> dict[str, np.ndarray]:
        """Makes the features of a batch of `count` rows; those beyond `rows` are padding."""
        known = self.feature_names
        names = known if names is None else names
        if unknown := [name for name in names if name not in known]:
            raise ValueError(
                f"There is no feature {unknown[0]!r}: the preprocessor makes {', '.join(known)}."
            )
        features = self._collate(rows, count, (length, question_length), names)
        return {name: features[name] for name in names}

    @abc.abstractmethod
    def _collate(self, rows: Sequence, count: int, lengths: tuple[int, int], names: Any) -> dict:
        """Makes at least the features of `names`, see `collate`."""

    @property
    def num_characters(self) -> int:
        return len(self.spelling.vocabulary) if self.spelling else 0

    @property
    def characters(self) -> str:
        return "".join(self.spelling.vocabulary.known)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor, ready for JSON."""
        own = self.symbol_answers
        return {
            "words": self.vocabulary.known,
            "answers": [*self.answers[1 : own.start], *self.answers[own.stop :]],
            "tokenizer": self.tokenizer.name,
            **{name: getattr(self, name) for name in self.arguments},
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Preprocessor":
        """Makes a preprocessor from what `get_config` returned, now or in version 0.1.

        Raises:
            ValueError: if an argument is unknown, or there by its old and its new name.
        """
        if twice := [old for old, new in cls.renamed.items() if {old, new} <= config.keys()]:
            raise ValueError(
                f"{cls.__name__}: {twice[0]} is the old name of {cls.renamed[twice[0]]}, and the "
                "configuration has both; leave one out."
            )
        config = {cls.renamed.get(name, name): value for name, value in config.items()}
        check_configuration(cls, config)
        return cls(**config)

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
        """Returns a preprocessor with enough room for the attention targets of these rows."""
        return self

    def answers_of(self, encoded: Any) -> Sequence[str]:
        """Returns the texts of the answers to an encoded example by number.

        The text of a free symbol is the word that it stands for, empty if there is none.
        """
        if not self.symbol_answers:
            return self.answers
        texts, spelled = list(self.answers), [*encoded.symbols, *[""] * self.free_symbols]
        for number, word in zip(self.symbol_answers, spelled, strict=False):
            texts[number] = word
        return texts

    def number_of_answer(self, answer: str | None, symbols: Sequence[str] = ()) -> int:
        """Returns the number of an answer, which may be a word that a free symbol stands for."""
        if answer is None:
            return 0
        if answer not in self.answer_numbers and answer:
            for number, word in zip(self.symbol_answers, symbols, strict=False):
                if word and self.tokenizer(word) == self.tokenizer(answer):
                    return number
        return self.answer_numbers.get(answer, 0)

    def word_ids(self, words: Sequence[str]) -> np.ndarray:
        """Looks up the ids of words, int32 `(words,)`."""
        return self.vocabulary.encode(words)

    def ids_of_text(self, text: str) -> np.ndarray:
        """Looks up the ids of the words of a text."""
        return self.ids_of_texts([("text", text)])[0][0]

    def ids_of_texts(
        self, texts: Sequence[tuple[str, str]], source: str = ""
    ) -> tuple[list[np.ndarray], tuple[str, ...]]:
        """Looks up the ids of texts that belong together; their names are for errors.

        Returns:
            The ids of each text, and the word that each free symbol stands for, as it is first
            written, `""` if there is none. The words are empty if no word is unknown.
        """
        ids = self.vocabulary.encode_texts(self.cut_texts(texts, source))
        return ids, self.spelled_symbols([text for _, text in texts], ids)

    def cut_texts(self, texts: Sequence[tuple[str, str]], source: str = "") -> list[list[str]]:
        """Splits named texts into words; raises a ValueError that names a text without any."""
        tokens = [self.tokenizer(text) for _, text in texts]
        for (name, text), words in zip(texts, tokens, strict=True):
            if not words:
                raise ValueError(
                    f"The {name}{of_source(source)} is empty: {text!r}. Give at least one word."
                )
        return tokens

    def spelled_symbols(self, texts: Sequence[str], ids: Sequence[np.ndarray]) -> tuple[str, ...]:
        """Returns the words that free symbols stand for, empty if no word is unknown."""
        first = len(self.vocabulary) - self.free_symbols
        if not self.free_symbols or not any(np.any(each >= first) for each in ids):
            return ()
        spelled = [""] * self.free_symbols
        for text, each in zip(texts, ids, strict=True):
            if np.any(each >= first):
                for word, number in zip(self.tokenizer.cased(text), each - first, strict=True):
                    if number >= 0:
                        spelled[number] = spelled[number] or word
        return tuple(spelled)

    def unknown_words(self, *texts: str) -> tuple[str, ...]:
        """Returns the words of raw texts that the vocabulary lacks, each once."""
        words = self.tokenizer(" ".join(texts))
        unknown = self.vocabulary.is_unknown(self.word_ids(words))
        return tuple(dict.fromkeys(np.array(words, "object")[unknown].tolist()))

    def invalid_rows(self, *ids: Any, xp: Any = np) -> dict[str, tuple]:
        """Returns, by the name of a text, what it may lack and which rows of padded ids lack it."""
        return {}

    def graph_tables(self) -> list:
        """Makes the TensorFlow tables that `graph_features` looks words and letters up in."""
        spelled = [self.spelling.vocabulary] if self.spelling else []
        return [graph.vocabulary_table(each) for each in (self.vocabulary, *spelled)]

    def graph_unreadable(self, tokens: Sequence, tables: Sequence) -> Any:
        """Returns which rows of ragged tokens are empty or lack something, see `invalid_rows`."""
        import tensorflow as tf

        ids = self.graph_ids(tokens, tables)
        invalid = self.invalid_rows(*ids, xp=graph.GraphNumpy()).values()
        empty = [each.row_lengths() == 0 for each in tokens]
        return tf.reduce_any(tf.stack([*empty, *(rows for _, rows in invalid)]), axis=0)

    def graph_features(self, tokens: Sequence, tables: Sequence, names: Sequence[str]) -> dict:
        """Makes the features of ragged tokens of `strings` inside a TensorFlow graph."""
        passage, question = self.graph_ids(tokens, tables)
        return self.features(passage, question, names, graph.GraphNumpy())

    def graph_ids(self, tokens: Sequence, tables: Sequence) -> list:
        """Makes the padded ids of ragged tokens inside a TensorFlow graph."""
        ids = [
            graph.padded(each.with_values(graph.look_up(tables[0], self.vocabulary, each.values)))
            for each in tokens
        ]
        if not self.free_symbols:
            return ids
        return graph.number_symbols(ids, list(map(graph.padded, tokens)), self.vocabulary)

    def graph_symbols(self, tokens: Sequence, spelled: Sequence, tables: Sequence) -> Any:
        """Spells the free symbols of ragged tokens inside a TensorFlow graph.

        Args:
            tokens: the tokens of each of the texts.
            spelled: the same tokens as they are written.
            tables: what `graph_tables` made.
        """
        ids, words = self.graph_ids(tokens, tables), list(map(graph.padded, spelled))
        return graph.spelled_symbols(ids, words, self.vocabulary)

    def features(self, passage: Any, question: Any, names: Any = None, xp: Any = np) -> dict:
        """Makes the features of padded ids without annotation."""
        names = self.feature_names if names is None else names
        features = self._features(passage, question, names, xp)
        return {name: features[name] for name in names}

    def _features(self, passage: Any, question: Any, names: Any, xp: Any) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} reads more than ids.")

    def graph_answers(
        self, logits: Any, tokens: Sequence, top: int, symbols: Any = None
    ) -> dict[str, Any]:
        """Decodes logits inside a TensorFlow graph.

        Args:
            logits: logits of the answers.
            tokens: ragged tokens of `strings`.
            top: number of answers.
            symbols: the words from `graph_symbols`, if free symbols are answers.
        """
        import tensorflow as tf

        xp, answers = graph.GraphNumpy(), tf.constant(self.answers)
        if symbols is not None:
            ends, rows = self.symbol_answers, tf.shape(symbols)[:1]
            known = [
                tf.broadcast_to(part, tf.concat([rows, tf.shape(part)], 0))
                for part in (answers[: ends.start], answers[ends.stop :])
            ]
            answers = tf.concat([known[0], symbols, known[1]], axis=1)
            absent = answers == ""
            absent = absent[:, None] if len(logits.shape) == 3 else absent
            logits = tf.where(absent, ABSENT, logits)
        sequences, logs = best_sequences(logits, top, xp)
        texts, odds = graph.answer_texts(sequences, answers), xp.exp(logs)
        return ranked(texts, odds if symbols is None else tf.where(texts == "", 0.0, odds))


def of_source(source: str) -> str:
    """Names the source of an example in errors."""
    return f" of {source}" if source else ""


def count_words(
    examples: Sequence[Example], tokenize: Callable[[str], list[str]]
) -> collections.Counter:
    """Counts the words of passages and questions.

    Args:
        examples: list of `Example`.
        tokenize: a tokenizer.

    Example:
        >>> examples = [keras_corefmem.datasets.Example(("Mary left.",), "Who left?", "Mary")]
        >>> keras_corefmem.preprocessing.count_words(examples, str.split)["left."]
        1
    """
    counts: collections.Counter = collections.Counter()
    for example in examples:
        counts.update(tokenize(f"{example.passage} {example.question}"))
    return counts


def ranked(answers: Any, probabilities: Any) -> dict[str, Any]:
    """Returns answers and their probabilities `(batch, top)`, and the best ones, by name."""
    best = {"answer": answers[:, 0], "probability": probabilities[:, 0]}
    return {**best, "answers": answers, "probabilities": probabilities}
