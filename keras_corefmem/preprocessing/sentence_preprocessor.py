"""Single sentences as ids of words and characters, for classifiers and taggers."""

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_corefmem.datasets.example import UNKNOWN_ANSWER
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.preprocessing.batching.sentence_batches import SentenceBatches
from keras_corefmem.preprocessing.encoding.features import Spelling, check_ids, pad
from keras_corefmem.preprocessing.encoding.graph import look_up_letters, padded
from keras_corefmem.preprocessing.preprocessor import Bucketing, Preprocessor
from keras_corefmem.preprocessing.training_examples import check_examples, check_words
from keras_corefmem.text.tokenizers import graph_lower, lower
from keras_corefmem.text.vocabulary import UNKNOWN, Vocabulary
from keras_corefmem.utils.checks import check_sizes

FEATURES = ("words", "characters")


@dataclasses.dataclass(frozen=True, slots=True)
class EncodedSentence:
    """A sentence as ids."""

    words: np.ndarray  # int32 (T,)
    characters: np.ndarray | None  # int32 (T, word_length); None if words are not spelled.
    answer: int | np.ndarray  # Number of the label, or those of the tags (T,), 0 = unknown.
    is_root: bool = True
    source: str = ""


@keras.saving.register_keras_serializable("keras_corefmem")
class SentencePreprocessor(Preprocessor):
    """Preprocessing of a model that labels single sentences or tags their words.

    A word that the vocabulary lacks is looked up in lower case too, so that vocabularies may be
    cased or not. Characters are always as written.

    Features, int32: `words` `(batch, time)` and, if words are spelled, `characters` `(batch,
    time, word_length)`.

    Args:
        words: words of the vocabulary without its two specials.
        answers: answers by number, from 1; number 0 is an unknown answer.
        tags: whether each word has an answer, instead of the sentence.
        characters: string of the known characters, `""` if words are not spelled.
        word_length: number of characters read of a word; longer words lose those in the middle.
        tokenizer: name of the tokenizer of raw text.

    Raises:
        ValueError: if `word_length` is less than 2.

    Example:
        >>> sentence = keras_corefmem.datasets.Sentence(("Good", "film"), "positive")
        >>> preprocessor = keras_corefmem.preprocessing.SentencePreprocessor.fit([sentence])
        >>> preprocessor.collate([preprocessor.encode_text("a good film")], 1, 4)["words"]
        array([[1, 3, 2, 0]], dtype=int32)
    """

    strings = ("sentence",)
    bucketing = Bucketing(20_000, 1, 1)
    batches_class = SentenceBatches
    arguments = ("tags", "characters", "word_length")

    def __init__(
        self,
        words: Sequence[str],
        answers: Sequence[str],
        tags: bool = False,
        characters: str = "",
        word_length: int = 16,
        tokenizer: str = "penn",
    ) -> None:
        check_sizes(2, word_length=word_length)
        super().__init__(words, answers, tokenizer)
        self.tags, self.word_length = tags, word_length
        self.spelling = Spelling(characters, word_length, word_length // 2)

    @classmethod
    def fit(
        cls,
        examples: Sequence[Sentence],
        *,
        characters: bool = False,
        lower_case: bool = True,
        min_count: int = 1,
        **kwargs: Any,
    ) -> "SentencePreprocessor":
        """Learns vocabulary, answers and characters from training sentences.

        Words are counted in whole sentences, not in phrases; those that occur less than `min_count`
        times are unknown. With `characters`, words are spelled too; `lower_case` affects the
        vocabulary alone. Further arguments are those of the constructor.
        """
        check_examples(examples, cls.strings)
        check_words(None, min_count)
        tags = {not isinstance(sentence.answer, str) for sentence in examples}
        if len(tags) != 1:
            raise ValueError("Give all sentences a label, or all of them tags.")
        counts = {w: n for w, n in word_counts(examples, lower_case).items() if n >= min_count}
        letters = {letter for s in examples for word in s.words for letter in word}
        return cls(
            Vocabulary.from_counts(counts).known,
            sorted({answer for sentence in examples for answer in answers_of(sentence)}),
            tags.pop(),
            "".join(sorted(letters)) if characters else "",
            **kwargs,
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        return FEATURES if self.spelling else FEATURES[:1]

    def encode(self, example: Sentence) -> EncodedSentence:
        numbers = [self.answer_numbers.get(answer, 0) for answer in answers_of(example)]
        answer: Any = numbers[0]
        if self.tags:
            unknown = example.answer == UNKNOWN_ANSWER
            answer = np.array([0] * len(example.words) if unknown else numbers, "int32")
        return self._encode(example.words, answer, example.is_root, example.source)

    def encode_text(self, sentence: str) -> EncodedSentence:
        words = self.tokenizer(sentence)
        if not words:
            raise ValueError(f"The sentence is empty: {sentence!r}. Give at least one word.")
        return self._encode(words, np.zeros(len(words), "int32") if self.tags else 0)

    def _encode(
        self, words: Sequence[str], answer: Any, is_root: bool = True, source: str = ""
    ) -> EncodedSentence:
        letters = self.spelling(words) if self.spelling else None
        return EncodedSentence(self.word_ids(words), letters, answer, is_root, source)

    def word_ids(self, words: Sequence[str]) -> np.ndarray:
        ids = self.vocabulary.encode(words)
        if (ids == UNKNOWN).any():
            ids = np.where(ids == UNKNOWN, self.vocabulary.encode(list(map(lower, words))), ids)
        return ids

    def length(self, encoded: EncodedSentence) -> int:
        return len(encoded.words)

    def question_length(self, encoded: EncodedSentence) -> int:
        return 0

    def _collate(self, rows: Sequence, count: int, lengths: tuple[int, int], names: Any) -> dict:
        features = {"words": pad([row.words for row in rows], lengths[0], count)}
        check_ids("words", features["words"], len(self.vocabulary))
        if self.spelling:
            letters = [row.characters for row in rows]
            features["characters"] = pad(letters, lengths[0], count, (self.word_length,))
        return features

    def graph_features(self, tokens: Sequence, tables: Sequence, names: Sequence[str]) -> dict:
        import tensorflow as tf

        (sentence,) = tokens
        words = sentence.values
        ids = tables[0].lookup(words)
        ids = tf.where(ids == UNKNOWN, tables[0].lookup(graph_lower(words)), ids)
        features = {"words": padded(sentence.with_values(ids))}
        if self.spelling:
            length, tail = tf.strings.length(words, "UTF8_CHAR"), self.spelling.tail
            starts, sizes = tf.maximum(length - tail, 0), tf.fill(tf.shape(words), tail)
            ends = tf.strings.substr(words, starts, sizes, "UTF8_CHAR")
            short = tf.strings.substr(words, 0, self.spelling.head, "UTF8_CHAR") + ends
            read = sentence.with_values(tf.where(length > self.word_length, short, words))
            features["characters"] = look_up_letters(tables[1], read, self.word_length)
        return {name: features[name] for name in names}

    def graph_answers(
        self, logits: Any, tokens: Sequence, top: int, symbols: Any = None
    ) -> dict[str, Any]:
        if not self.tags:
            return super().graph_answers(logits, tokens, top)
        import tensorflow as tf

        words = padded(tokens[0])
        # Answer 0, the unknown one, is never predicted.
        logits = logits[..., 1:]
        best = tf.gather(tf.constant(self.answers[1:]), tf.argmax(logits, axis=-1))
        probabilities = tf.reduce_max(tf.nn.softmax(logits), axis=-1)
        return {
            "words": words,
            "tags": tf.where(words != "", best, ""),
            "probabilities": tf.where(words != "", probabilities, 0.0),
        }


def answers_of(sentence: Sentence) -> Sequence[str]:
    """Returns the label or the tags of a sentence."""
    return [sentence.answer] if isinstance(sentence.answer, str) else sentence.answer


def word_counts(sentences: Sequence[Sentence], lower_case: bool) -> collections.Counter:
    """Counts words in whole sentences."""
    words = (word for sentence in sentences if sentence.is_root for word in sentence.words)
    return collections.Counter(map(lower, words) if lower_case else words)
