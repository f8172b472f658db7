"""Texts for language models: the answer of each word is the word itself."""

from collections.abc import Sequence
from typing import Any

import keras

from keras_corefmem.datasets.example import Example
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.preprocessing.sentence_preprocessor import (
    EncodedSentence,
    SentencePreprocessor,
    word_counts,
)
from keras_corefmem.preprocessing.training_examples import check_examples, check_words
from keras_corefmem.text.tokenizers import get_tokenizer
from keras_corefmem.text.vocabulary import Vocabulary

# The answer of a word that the vocabulary lacks.
RARE = "[rare]"


@keras.saving.register_keras_serializable("keras_corefmem")
class LanguagePreprocessor(SentencePreprocessor):
    """Preprocessing of a language model that predicts the words of texts.

    Answers are the words of the vocabulary, with the same numbers. The answer of each word is the
    word itself, or `"[rare]"` if the vocabulary lacks it; the answers of examples are ignored.

    Features are those of a `SentencePreprocessor`.

    Args:
        *args: arguments of a `SentencePreprocessor`; answers are `"[rare]"` and the words.
        **kwargs: further arguments of it.

    Example:
        >>> text = keras_corefmem.datasets.Sentence(("Mary", "left", "."), "any")
        >>> preprocessor = keras_corefmem.preprocessing.LanguagePreprocessor.fit([text])
        >>> [preprocessor.answers[n] for n in preprocessor.encode(text).answer]
        ['mary', 'left', '.']
    """

    @classmethod
    def fit(  # type: ignore[override]
        cls,
        examples: Sequence[Sentence],
        *,
        max_words: int | None = None,
        min_count: int = 1,
        **kwargs: Any,
    ) -> "LanguagePreprocessor":
        """Learns vocabulary and characters from training texts.

        Words are lower-cased; those that occur less often than `min_count`, or are not among the
        `max_words` most frequent ones, are rare. Further arguments are those of the constructor.
        """
        check_examples(examples, cls.strings)
        check_words(max_words, min_count)
        counts = {w: n for w, n in word_counts(examples, True).items() if n >= min_count}
        known = Vocabulary.from_counts(counts).known[:max_words]
        letters = {letter for text in examples for word in text.words for letter in word}
        return cls(known, [RARE, *known], True, "".join(sorted(letters)), **kwargs)

    def encode(self, example: Sentence) -> EncodedSentence:
        answer = self.word_ids(example.words)
        return self._encode(example.words, answer, example.is_root, example.source)


def as_text(example: Example | Sentence) -> Sentence:
    """Converts an example to a text for language models: a sentence whose tags are its words.

    The text of a question is its passage, the question itself and the answer, in lower case.

    Args:
        example: an example of any kind.

    Example:
        >>> example = keras_corefmem.datasets.Example(("Mary left .",), "then she", "slept")
        >>> keras_corefmem.preprocessing.as_text(example).words
        ('mary', 'left', '.', 'then', 'she', 'slept')
    """
    if isinstance(example, Sentence):
        words = tuple(example.words)
    else:
        text = f"{example.passage} {example.question} {example.answer}"
        words = tuple(get_tokenizer("prose")(text))
    return Sentence(words, words, source=example.source)
