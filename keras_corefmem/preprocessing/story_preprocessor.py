"""Stories as matrices of sentences, for the memory networks."""

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

import keras
import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.preprocessing.batching.batches import Batches
from keras_corefmem.preprocessing.encoding.answers import END, SEPARATOR, encode_answer
from keras_corefmem.preprocessing.encoding.edge_table import warn_of_unread_edges
from keras_corefmem.preprocessing.encoding.features import check_ids, pad
from keras_corefmem.preprocessing.preprocessor import Bucketing, Preprocessor, of_source
from keras_corefmem.preprocessing.training_examples import check_examples, recut
from keras_corefmem.text.tokenizers import SENTENCE_ENDS, get_tokenizer
from keras_corefmem.text.vocabulary import Vocabulary
from keras_corefmem.utils.checks import check_sizes

FEATURES = ("sentences", "question", "supporting_facts")


@dataclasses.dataclass(frozen=True)
class EncodedStory:
    """A story as ids."""

    sentences: np.ndarray  # int32 (S, L)
    question: np.ndarray  # int32, at most (L,)
    answer: int | np.ndarray  # Number, 0 = unknown; or numbers of words, padded with ends.
    supporting_facts: tuple[int, ...] = ()  # Rows of sentences that are read, from 1.
    source: str = ""
    # The word that each free symbol stands for, or ""; empty if no word is unknown.
    symbols: tuple[str, ...] = ()


@keras.saving.register_keras_serializable("keras_corefmem")
class StoryPreprocessor(Preprocessor):
    """Preprocessing of a memory network that reads a story sentence by sentence.

    Each sentence of an example is a row; raw text is cut after each `.`, `?` and `!`. Those of the
    three that the vocabulary lacks are read as one that it has.

    Features, int32: `sentences` `(batch, S, sentence_length)`, `question` `(batch,
    sentence_length)` and `supporting_facts` `(batch, max_facts)`, 0 for raw text.

    Args:
        words: words of the vocabulary without its two specials.
        answers: answers by number, from 1; number 0 is an unknown answer.
        sentence_length: L, maximum number of words read of a sentence or question, the first ones.
        max_sentences: maximum number of sentences read of a passage, the last ones.
        tokenizer: name of the tokenizer.
        answer_length: maximum number of words of an answer, including its end; 1 if `answers` are
            whole answers.
        max_facts: maximum number of supporting facts of a question.
        read_ends: whether the `.`, `?` or `!` that ends a sentence or question is one of its words.
        free_symbols: number of free symbols, which are answers too, see `Preprocessor`.

    Raises:
        ValueError: if a size is less than 1.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> preprocessor = keras_corefmem.preprocessing.StoryPreprocessor.fit(examples)
        >>> preprocessor.encode_text("Mary left. John slept.", "Where is Mary?").sentences.shape
        (2, 7)
    """

    batches_class = Batches
    arguments: ClassVar[tuple[str, ...]] = (
        "sentence_length",
        "max_sentences",
        "answer_length",
        "max_facts",
        "read_ends",
        "free_symbols",
    )
    bucketing = Bucketing(5_000, 8, 1)

    def __init__(
        self,
        words: Sequence[str],
        answers: Sequence[str],
        sentence_length: int,
        max_sentences: int = 70,
        tokenizer: str = "words",
        answer_length: int = 1,
        max_facts: int = 1,
        read_ends: bool = True,
        free_symbols: int = 0,
    ) -> None:
        check_sizes(sentence_length=sentence_length, max_sentences=max_sentences)
        check_sizes(answer_length=answer_length, max_facts=max_facts)
        known = [*answers, END] if answer_length > 1 else answers
        super().__init__(words, known, tokenizer, free_symbols=free_symbols)
        self.sentence_length, self.max_sentences = sentence_length, max_sentences
        self.answer_length, self.max_facts = answer_length, max_facts
        self.read_ends = read_ends
        self.vocabulary.read_alike(SENTENCE_ENDS)
        self.ends = np.isin(self.vocabulary.words, SENTENCE_ENDS).astype("int32")

    @classmethod
    def fit(
        cls,
        examples: Sequence[Example],
        *,
        tokenizer: str = "words",
        answer_words: bool = False,
        read_ends: bool = True,
        **kwargs: Any,
    ) -> "StoryPreprocessor":
        """Learns vocabulary, answers and the longest sentence from training examples.

        With `answer_words`, answers are sequences of words, rather than one class each. Further
        arguments are those of the constructor.
        """
        check_examples(examples)
        warn_of_unread_edges(examples)
        tokenize = get_tokenizer(tokenizer)
        examples = recut(examples, tokenize)
        texts = dict.fromkeys(text for e in examples for text in (*e.sentences, e.question))
        tokens = [tokenize(text) for text in texts]
        sentences = itertools.chain.from_iterable(e.sentences for e in examples)
        if not any(end in words for words in map(tokenize, sentences) for end in SENTENCE_ENDS):
            # Raw text has ends even if the examples have none.
            read_ends, tokens = False, [*tokens, list(SENTENCE_ENDS)]
        ignored = () if read_ends else SENTENCE_ENDS
        # Ends keep their place in a row, since one may be within a sentence: "Mr. Smith left."
        lengths = [n for words in tokens for n, word in enumerate(words, 1) if word not in ignored]
        answers = [e.answer.split(SEPARATOR) if answer_words else [e.answer] for e in examples]
        return cls(
            Vocabulary.from_tokens(tokens).known,
            sorted({word for words in answers for word in words}),
            max(lengths, default=1),
            tokenizer=tokenizer,
            read_ends=read_ends,
            answer_length=max(map(len, answers)) + answer_words,
            max_facts=max(1, *(len(e.supporting_facts) for e in examples)),
            **kwargs,
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        return FEATURES

    def encode(self, example: Example) -> EncodedStory:
        example = example.recut(self.tokenizer.cased)
        if example.is_raw:
            return self._encode(example.passage, example.question, example.answer, example.source)
        dropped = max(len(example.sentences) - self.max_sentences, 0)
        texts = [("passage", sentence) for sentence in example.sentences]
        ids, symbols = self.ids_of_texts([*texts, ("question", example.question)], example.source)
        rows = [self.without_ends(row)[: self.sentence_length] for row in ids]
        return EncodedStory(
            pad(rows[dropped:-1], self.sentence_length),
            rows[-1],
            self.number_of(example.answer, symbols),
            tuple(fact - dropped for fact in example.supporting_facts if fact > dropped),
            example.source,
            symbols,
        )

    def encode_text(self, passage: str, question: str) -> EncodedStory:
        return self._encode(passage, question)

    def _encode(
        self,
        passage: str,
        question: str,
        answer: str | None = None,
        source: str = "",
        checked: Sequence[str] = ("passage", "question"),
    ) -> EncodedStory:
        texts = [("passage", passage), ("question", question)]
        arrays, symbols = self.ids_of_texts(texts, source)
        ids = [array[None] for array in arrays]
        for name, (problem, rows) in self.invalid_rows(*ids).items():
            if name in checked and rows[0]:
                raise ValueError(f"The {name}{of_source(source)} {problem}.")
        sentences, question_ids, _ = self.features(*ids).values()
        number = self.number_of(answer, symbols)
        return EncodedStory(sentences[0], question_ids[0], number, (), source, symbols)

    def number_of(self, answer: str | None, symbols: Sequence[str] = ()) -> int | np.ndarray:
        """Returns the number of an answer, or those of its words, 0 = unknown."""
        if self.answer_length == 1:
            return self.number_of_answer(answer, symbols)
        words = (answer or "").split(SEPARATOR)
        numbers = {word: self.number_of_answer(word, symbols) for word in (*words, END)}
        return encode_answer(answer, numbers, self.answer_length)

    def without_ends(self, ids: Any, xp: Any = np) -> Any:
        """Replaces the ends of sentences and questions by 0, unless they are read."""
        return ids if self.read_ends else ids * (1 - xp.take(self.ends, ids))

    def cut(self, passage: Any, xp: Any = np) -> Any:
        """Cuts padded passages into the sentences that are read."""
        integers = functools.partial(xp.asarray, dtype="int32")
        real = integers(passage != 0)
        ends = integers(xp.take(self.ends, passage))
        number = integers(xp.cumsum(ends, axis=1)) - ends
        count = integers(xp.max(number * real, axis=1)) + 1
        read = integers(xp.minimum(count, self.max_sentences))
        # A range whose length is known only inside the graph.
        place = integers(xp.cumsum(xp.ones_like(passage[0])))[: xp.max(read)] - 1
        wanted = (place + (count - read)[:, None])[..., None]
        first = xp.sum(real[:, None] * integers(number[:, None] < wanted), axis=-1)
        length = xp.sum(real[:, None] * integers(number[:, None] == wanted), axis=-1)
        column = np.arange(self.sentence_length, dtype="int32")
        last = xp.size(passage[:1]) - 1
        position = integers(xp.minimum(integers(first)[..., None] + column, integers(last)))
        kept = (column < integers(length)[..., None]) & (place < read[:, None])[..., None]
        longest, width = xp.max(read), self.sentence_length
        flat = xp.take_along_axis(passage, xp.reshape(position, (-1, longest * width)), axis=1)
        words = xp.reshape(flat, (-1, longest, width))
        return self.without_ends(xp.asarray(xp.where(kept, words, 0), dtype="int32"), xp)

    def length(self, encoded: EncodedStory) -> int:
        return len(encoded.sentences)

    def _collate(self, rows: Sequence, count: int, lengths: tuple[int, int], names: Any) -> dict:
        width = self.sentence_length
        ids = {
            "sentences": pad([row.sentences for row in rows], lengths[0], count, (width,)),
            "question": pad([row.question for row in rows], width, count),
        }
        for name, words in ids.items():
            check_ids(name, words, len(self.vocabulary))
        facts = [row.supporting_facts[: self.max_facts] for row in rows]
        return ids | {"supporting_facts": pad(facts, self.max_facts, count)}

    def _features(self, passage: Any, question: Any, names: Any, xp: Any) -> dict[str, Any]:
        short = self.without_ends(question, xp)[:, : self.sentence_length]
        missing = self.sentence_length - xp.size(short[:1])
        zeros = xp.zeros_like(short[:, :1]) + xp.zeros((1, missing), dtype="int32")
        return {
            "sentences": self.cut(passage, xp),
            "question": xp.concatenate([short, zeros], axis=1),
            "supporting_facts": short[:, :1] * np.zeros((1, self.max_facts), "int32"),
        }

    def row_texts(self, example: Example, encoded: EncodedStory) -> list[str]:
        """Returns the text of each row, as written if the rows are the example's sentences."""
        own = self.encode(dataclasses.replace(example, is_raw=False))
        if np.array_equal(own.sentences, encoded.sentences):
            return list(example.sentences[-len(encoded.sentences) :])
        return [" ".join(self.vocabulary.decode(row[row != 0])) for row in encoded.sentences]

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if self.answer_length > 1:
            config["answers"].remove(END)
        return config
