"""From single sentences to ids of words and characters, for classifiers and taggers."""

import collections
import dataclasses

import numpy as np

from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.preprocessing.preprocessor import UNKNOWN_ANSWER, pad
from keras_corefmem.text.tokenizers import get_tokenizer, lower
from keras_corefmem.text.vocabulary import UNKNOWN, Vocabulary

FEATURES = ("words", "characters")


@dataclasses.dataclass(frozen=True, slots=True)
class EncodedSentence:
    """A sentence as ids.

    `words` `(T,)`; `characters` `(T, C)`, or `None`; `answer`, the number of the label, or those of
    the tags `(T,)`, 0 = new. Nothing is asked: `question` is empty. `source` is that of the
    sentence, for errors.
    """

    words: np.ndarray
    characters: np.ndarray | None
    answer: int | np.ndarray
    is_root: bool = True
    question: tuple = ()
    source: str = ""


class SentencePreprocessor:
    """Everything that a model of single sentences knows about its words and its answers.

    A word outside the vocabulary is read as its lower case, if that is known: vocabularies may be
    cased or not. Characters always are as written. Training, prediction and export share it.

    Args:
        words: words of the vocabulary without its two specials.
        answers: answers by number, from 1; number 0 is an unknown answer.
        tags: whether every word has an answer, instead of the sentence.
        characters: string of the characters that are known, `""` where words are not spelt.
        word_length: C, characters of a word that are read; of longer words the first and the last.
        tokenizer: name of the tokenizer of raw text.

    Raises:
        ValueError: if `word_length` is less than 2.
    """

    # As for a `Preprocessor`, in words.
    SAVING, MULTIPLE, STEP, QUESTION_BUCKETS = 20_000, 8, 1, 1

    def __init__(self, words, answers, tags=False, characters="", word_length=16, tokenizer="penn"):
        if word_length < 2:
            raise ValueError(f"word_length must be at least 2, got {word_length}.")
        self.tokenizer, self.tags = get_tokenizer(tokenizer), tags
        self.vocabulary, self.characters = Vocabulary(words), Vocabulary(characters)
        self.answers = [UNKNOWN_ANSWER, *answers]
        self.answer_numbers = {answer: n for n, answer in enumerate(self.answers)}
        self.word_length, self.spells = word_length, bool(characters)

    @classmethod
    def fit(cls, sentences, characters=False, lower_case=True, min_count=1, **kwargs):
        """Learns vocabulary, answers and characters from training sentences.

        Args:
            sentences: list of `Sentence`. Words are counted in whole sentences, not in phrases.
            characters: whether words are spelt.
            lower_case: whether the vocabulary is lower-cased.
            min_count: how often a word has to occur to be known; the unknown word is trained on
                the others.
            **kwargs: further arguments of the constructor.

        Raises:
            ValueError: if there are no sentences, they are of another kind, or only some of them
                have an answer for each word.
        """
        for sentence in sentences:
            if not isinstance(sentence, Sentence):
                raise ValueError(
                    "A model of single sentences learns from `Sentence`s, not from "
                    f"{type(sentence).__name__}s: train it on those of sst or pos."
                )
        tags = {not isinstance(sentence.answer, str) for sentence in sentences}
        if len(tags) != 1:
            raise ValueError("Give at least one sentence, and all of them a label, or all tags.")
        counts = word_counts(sentences, lower_case)
        answers = set()
        for sentence in sentences:
            answers.update(
                [sentence.answer] if isinstance(sentence.answer, str) else sentence.answer
            )
        spelt = {letter for s in sentences for word in s.words for letter in word}
        return cls(
            sorted((w for w, n in counts.items() if n >= min_count), key=lambda w: (-counts[w], w)),
            sorted(answers),
            tags.pop(),
            "".join(sorted(spelt)) if characters else "",
            **kwargs,
        )

    def encode(self, sentence):
        """A `Sentence` as `EncodedSentence`."""
        known = self.answer_numbers.get
        if isinstance(sentence.answer, str):
            answer = known(sentence.answer, 0)
        else:
            answer = np.array([known(tag, 0) for tag in sentence.answer], "int32")
        encoded = self.encode_words(sentence.words, answer, sentence.is_root)
        return dataclasses.replace(encoded, source=sentence.source)

    def encode_text(self, text):
        """A string as `EncodedSentence`.

        Raises:
            ValueError: if the text has no words.
        """
        words = self.tokenizer(text)
        if not words:
            raise ValueError(f"The sentence is empty: {text!r}. Give at least one word.")
        return self.encode_words(words, np.zeros(len(words), "int32") if self.tags else 0)

    def encode_words(self, words, answer, is_root=True):
        """Tokens as `EncodedSentence`."""
        ids = self.vocabulary.encode(words)
        if (ids == UNKNOWN).any():
            ids = np.where(ids == UNKNOWN, self.vocabulary.encode(map(lower, words)), ids)
        spelt = pad(list(map(self.spell, words)), self.word_length) if self.spells else None
        return EncodedSentence(ids, spelt, answer, is_root)

    def spell(self, word):
        """Ids of the characters of a word that are read, at most `word_length`."""
        head, tail = self.word_parts
        return self.characters.encode(
            word if len(word) <= self.word_length else word[:head] + word[-tail:]
        )

    @property
    def word_parts(self):
        """How many characters are read at the front and at the end of a word that is too long."""
        return self.word_length - self.word_length // 2, self.word_length // 2

    def length(self, encoded):
        """What `Batches` sorts into buckets: the number of words."""
        return len(encoded.words)

    def collate(self, rows, count, length, question_length=None, names=FEATURES):
        """Features of a batch.

        Args:
            rows: list of `EncodedSentence`.
            count: rows of the batch; those that are missing are padding.
            length: number of words that sentences are padded to.
            question_length: not used: nothing is asked.
            names: names of the features.

        Returns:
            Dictionary of int32 arrays: `words` `(count, length)` and, where words are spelt,
            `characters` `(count, length, word_length)`.
        """
        features = {"words": pad([row.words for row in rows], length, count)}
        if self.spells:
            features["characters"] = np.zeros((count, length, self.word_length), "int32")
            for characters, row in zip(features["characters"], rows, strict=False):
                characters[: len(row.words)] = row.characters
        return {name: features[name] for name in names if name in features}

    def get_config(self):
        return {
            "words": self.vocabulary.known,
            "answers": self.answers[1:],
            "tags": self.tags,
            "characters": "".join(self.characters.known),
            "word_length": self.word_length,
            "tokenizer": self.tokenizer.name,
        }


def word_counts(sentences, lower_case):
    """How often each word occurs in whole sentences, a `Counter`."""
    words = (word for sentence in sentences if sentence.is_root for word in sentence.words)
    return collections.Counter(map(lower, words) if lower_case else words)
