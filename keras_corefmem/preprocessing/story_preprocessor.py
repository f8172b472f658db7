"""From stories to matrices of sentences, for the memory networks."""

import dataclasses

import numpy as np

from keras_corefmem.preprocessing.answers import END, SEPARATOR, encode_words
from keras_corefmem.preprocessing.preprocessor import Preprocessor, pad
from keras_corefmem.text.tokenizers import SENTENCE_ENDS, get_tokenizer
from keras_corefmem.text.vocabulary import Vocabulary

FEATURES = ("sentences", "question", "supporting_facts")


@dataclasses.dataclass(frozen=True)
class EncodedStory:
    """A story as ids: `sentences` `(S, L)`, `question` `(L,)`, number of the answer, 0 = new.

    An answer of several words is an array of their numbers, ends behind.
    `supporting_facts` are the rows of `sentences` that hold them, from 1, in the data set's order;
    those that were dropped are left out. `source` is that of the example, for errors.
    """

    sentences: np.ndarray
    question: np.ndarray
    answer: int | np.ndarray
    supporting_facts: tuple[int, ...] = ()
    source: str = ""


class StoryPreprocessor:
    """Everything that a memory network knows about its language and its answers.

    A passage is cut after every `.`, `?` and `!`. Training, prediction and export share it.

    Args:
        words: words of the vocabulary without its two specials.
        answers: answers by number, from 1; number 0 is an unknown answer.
        sentence_length: L, words of a sentence or question that are read; further ones are not.
        max_sentences: sentences of a passage that are read, the last ones.
        tokenizer: name of the tokenizer.
        answer_length: words of the longest answer and its end, where `answers` are the words that
            answers consist of; 1 where they are answers as a whole.
        max_facts: number of supporting facts of a question that are told to a model.
        read_ends: whether the `.`, `?` or `!` that ends a sentence or question is one of its words.
    """

    # As for a `Preprocessor`, in sentences.
    SAVING, MULTIPLE, STEP, QUESTION_BUCKETS = 5_000, 16, 8, 1

    def __init__(
        self,
        words,
        answers,
        sentence_length,
        max_sentences=70,
        tokenizer="words",
        answer_length=1,
        max_facts=1,
        read_ends=True,
    ):
        sizes = {
            "sentence_length": sentence_length,
            "max_sentences": max_sentences,
            "answer_length": answer_length,
            "max_facts": max_facts,
        }
        for name, value in sizes.items():
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}.")
        self.answer_length, self.max_facts = answer_length, max_facts
        answers = [*answers, END] if answer_length > 1 else answers
        self.plain = Preprocessor(words, answers, [0] * len(words), [0] * len(words), tokenizer)
        self.tokenizer, self.vocabulary = self.plain.tokenizer, self.plain.vocabulary
        self.answers, self.answer_numbers = self.plain.answers, self.plain.answer_numbers
        self.sentence_length, self.max_sentences = sentence_length, max_sentences
        self.read_ends = read_ends
        self.ends = np.isin(self.vocabulary.words, SENTENCE_ENDS).astype("int32")

    @classmethod
    def fit(cls, examples, tokenizer="words", answer_words=False, read_ends=True, **kwargs):
        """Learns vocabulary, answers and the longest sentence from training examples.

        Args:
            examples: training examples.
            tokenizer: name of the tokenizer.
            answer_words: whether answers are sequences of words, rather than one class each.
            read_ends: as in the constructor.
            **kwargs: further arguments of the constructor.
        """
        tokenize = get_tokenizer(tokenizer)
        texts = dict.fromkeys(text for e in examples for text in (*e.sentences, e.question))
        tokens = [tokenize(text) for text in texts]
        ignored = () if read_ends else SENTENCE_ENDS
        lengths = [sum(word not in ignored for word in words) for words in tokens]
        answers = {(example.answer,) for example in examples}
        if answer_words:
            answers = {tuple(answer.split(SEPARATOR)) for (answer,) in answers}
        return cls(
            Vocabulary.from_tokens(tokens).known,
            sorted({word for words in answers for word in words}),
            max(1, *lengths),
            tokenizer=tokenizer,
            read_ends=read_ends,
            answer_length=max(map(len, answers)) + answer_words,
            max_facts=max(1, *(len(example.supporting_facts) for example in examples)),
            **kwargs,
        )

    def encode(self, example):
        """An `Example` as `EncodedStory`."""
        source = f" of {example.source or 'an example'}"
        encoded = self.encode_text(example.passage, example.question, example.answer, source)
        encoded = dataclasses.replace(encoded, source=example.source)
        if not example.supporting_facts:
            return encoded
        rows = self.rows_of(example.sentences)
        dropped = rows[-1] - len(encoded.sentences)
        facts = (int(rows[fact - 1] - dropped) for fact in example.supporting_facts)
        return dataclasses.replace(
            encoded, supporting_facts=tuple(fact for fact in facts if fact > 0)
        )

    def rows_of(self, sentences):
        """The row, from 1, in which each sentence of a passage ends before any row is dropped."""
        known = set(SENTENCE_ENDS).intersection(self.vocabulary.words)
        ends = [[word in known for word in self.tokenizer(sentence)] for sentence in sentences]
        # An abbreviation cuts a sentence; one without a full stop goes on in the next row.
        return 1 + np.cumsum(list(map(sum, ends))) - [sum(end[-1:]) for end in ends]

    def encode_text(self, passage, question, answer=None, source=""):
        """Strings as `EncodedStory`; `source` says in errors where they come from."""
        encoded = self.plain.encode_text(passage, question, answer, source)
        number = encoded.answer
        if self.answer_length > 1:
            number = encode_words(answer, self.answer_numbers, self.answer_length)
        return EncodedStory(
            self.sentences(encoded.passage[None])[0],
            self.without_ends(encoded.question)[: self.sentence_length],
            number,
        )

    def without_ends(self, ids, xp=np):
        """Ids with 0 where a sentence or question ends, unless its end is read."""
        return ids if self.read_ends else ids * (1 - xp.take(self.ends, ids))

    def sentences(self, passage, xp=np):
        """Cuts padded passages into the sentences that are read.

        Args:
            passage: int32 `(batch, time)`, every row with at least one token.
            xp: `numpy`, or `tensorflow.experimental.numpy` inside a SavedModel.

        Returns:
            int32 `(batch, S, L)`, rows and sentences padded with zeros behind.
        """

        def integers(values):
            return xp.asarray(values, dtype="int32")

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

    def refused(self, passage, question, xp=np):
        """What cannot be read of padded ids, as of a `Preprocessor`: nothing."""
        return {}

    def length(self, encoded):
        """What `Batches` sorts into buckets: the number of sentences."""
        return len(encoded.sentences)

    def collate(self, rows, count, length, question_length=None, names=FEATURES):
        """Features of a batch.

        Args:
            rows: list of `EncodedStory`.
            count: rows of the batch; those that are missing are padding.
            length: number of sentences that passages are padded to.
            question_length: not used: questions are as long as sentences.
            names: names of the features.
        """
        features = {
            "sentences": np.zeros((count, length, self.sentence_length), "int32"),
            "question": pad([row.question for row in rows], self.sentence_length, count),
            "supporting_facts": pad(
                [row.supporting_facts[: self.max_facts] for row in rows], self.max_facts, count
            ),
        }
        for sentences, row in zip(features["sentences"], rows, strict=False):
            sentences[: len(row.sentences)] = row.sentences
        return {name: features[name] for name in names}

    def features(self, passage, question, names=FEATURES, xp=np):
        """Features of padded ids, as `collate` makes them, supporting facts unknown.

        Args:
            passage: int32 `(batch, time)`.
            question: int32 `(batch, question time)`.
            names: names of the features.
            xp: `numpy`, or `tensorflow.experimental.numpy` inside a SavedModel.
        """
        short = self.without_ends(question, xp)[:, : self.sentence_length]
        missing = self.sentence_length - xp.size(short[:1])
        zeros = xp.zeros_like(short[:, :1]) + xp.zeros((1, missing), dtype="int32")
        features = {
            "sentences": self.sentences(passage, xp),
            "question": xp.concatenate([short, zeros], axis=1),
            "supporting_facts": short[:, :1] * np.zeros((1, self.max_facts), "int32"),
        }
        return {name: features[name] for name in names}

    def get_config(self):
        config = self.plain.get_config()
        return {
            "words": config["words"],
            "answers": config["answers"][: -1 if self.answer_length > 1 else None],
            "sentence_length": self.sentence_length,
            "max_sentences": self.max_sentences,
            "tokenizer": config["tokenizer"],
            "answer_length": self.answer_length,
            "max_facts": self.max_facts,
            "read_ends": self.read_ends,
        }
