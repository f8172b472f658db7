"""Cloze questions, such as CNN's, as matrices of sentences or of windows round entities."""

import functools
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.datasets.passages.cnn import PLACEHOLDER, find_markers, number_markers
from keras_corefmem.preprocessing.encoding.edge_table import warn_of_unread_edges
from keras_corefmem.preprocessing.preprocessor import count_words
from keras_corefmem.preprocessing.story_preprocessor import EncodedStory, StoryPreprocessor
from keras_corefmem.preprocessing.training_examples import check_examples, recut
from keras_corefmem.text.tokenizers import get_tokenizer
from keras_corefmem.text.vocabulary import Vocabulary
from keras_corefmem.utils.checks import check_sizes

TOKENIZER = "spaces"


def cloze_words(
    examples: Sequence[Example], max_words: int = 50_000, markers: int | None = None
) -> tuple[list[str], list[str]]:
    """Learns vocabulary and answers of cloze questions."""
    check_examples(examples)
    warn_of_unread_edges(examples)
    check_sizes(max_words=max_words)
    tokenize = get_tokenizer(TOKENIZER)
    counts = count_words(recut(examples, tokenize), tokenize)
    present = find_markers(" ".join(counts))
    answers = number_markers(present)
    if markers is not None:
        answers = [f"@entity{number}" for number in range(markers)]
    other = next((example for example in examples if example.answer not in answers), None)
    if other is not None:
        raise ValueError(
            f"The answer {other.answer!r} of {other.source or 'an example'} is none of the "
            f"{len(answers)} markers @entity0, @entity1, ...: give cloze questions, renumbered by "
            "cnn.relabel, and markers for all of them."
        )
    for marker in (*answers, *present, PLACEHOLDER):
        counts.pop(marker, None)
    words = Vocabulary.from_counts(counts).known[:max_words]
    return [PLACEHOLDER, *answers, *words], answers


def fit_sentences(
    examples: Sequence[Example], max_sentences: int = 70, max_length: int = 80, **kwargs: Any
) -> StoryPreprocessor:
    """Learns a `StoryPreprocessor` for the plain sentences of cloze questions (SENT)."""
    words, answers = cloze_words(examples, **kwargs)
    tokenize = get_tokenizer(TOKENIZER)
    examples = recut(examples, tokenize)
    longest = max(len(tokenize(text)) for e in examples for text in (*e.sentences, e.question))
    return StoryPreprocessor(words, answers, min(longest, max_length), max_sentences, TOKENIZER)


@keras.saving.register_keras_serializable("keras_corefmem")
class WindowPreprocessor(StoryPreprocessor):
    """Preprocessing of cloze questions as windows round their entities (WIND).

    A window is the marker of an entity and `half_width` words on both sides, as far as the text
    goes. The passage becomes the windows round its markers, in order; the question becomes the one
    round its first `@placeholder`. The word in the middle is always in the same place:

    ```
    half_width=2:  "@entity0 met @entity1 in rome ."  →  ·  ·  @entity0  met  @entity1
                                                         @entity0  met  @entity1  in  rome
    ```

    Methods and features are those of a `StoryPreprocessor`, with windows for `sentences`.

    Args:
        words: words of the vocabulary without its two specials, `@placeholder` among them.
        answers: answers by number, from 1, the markers; number 0 is an unknown answer.
        half_width: number of words on each side of a marker; b in the authors' code, where b = 4
            gives windows of 9 words.
        max_windows: maximum number of windows read of a passage, the first ones.
        tokenizer: name of the tokenizer.

    Raises:
        ValueError: if a number is too small or `@placeholder` is not among the words.

    References: [Hill et al., ICLR 2016](https://arxiv.org/abs/1511.02301);
    [Madotto and Attardi, 2017](https://arxiv.org/abs/1707.07922).

    Example:
        >>> preprocessor = keras_corefmem.preprocessing.WindowPreprocessor(
        ...     ["@placeholder", "@entity0", "met"], ["@entity0"], half_width=1)
        >>> preprocessor.encode_text("rome met @entity0", "@placeholder met").sentences
        array([[4, 3, 0]], dtype=int32)
    """

    arguments = ("half_width", "max_windows")

    def __init__(
        self,
        words: Sequence[str],
        answers: Sequence[str],
        half_width: int = 4,
        max_windows: int = 150,
        tokenizer: str = TOKENIZER,
    ) -> None:
        check_sizes(half_width=half_width, max_windows=max_windows)
        super().__init__(words, answers, 2 * half_width + 1, max_windows, tokenizer)
        if PLACEHOLDER not in self.vocabulary.words:
            raise ValueError(
                f"words lacks {PLACEHOLDER}: learn them with WindowPreprocessor.fit(examples)."
            )
        self.half_width, self.max_windows = half_width, max_windows
        self.markers = np.isin(self.vocabulary.words, self.answers[1:])
        self.placeholder = np.array([word == PLACEHOLDER for word in self.vocabulary.words])

    @classmethod
    def fit(
        cls,
        examples: Sequence[Example],
        *,
        max_words: int = 50_000,
        markers: int | None = None,
        **kwargs: Any,
    ) -> "WindowPreprocessor":
        """Learns at most `max_words` words besides the markers from training examples."""
        return cls(*cloze_words(examples, max_words, markers), **kwargs)

    def encode(self, example: Example) -> EncodedStory:
        """Encodes an example; one without a marker has one empty window."""
        example = example.recut(self.tokenizer.cased)
        if example.is_raw:
            return super().encode(example)
        texts = example.passage, example.question
        return self._encode(*texts, example.answer, example.source, checked=("question",))

    def invalid_rows(self, *ids: Any, xp: Any = np) -> dict[str, tuple]:
        passage, question = ids
        entity = "has no entity that is an answer of the reader, such as @entity0"
        missing = f"has no {PLACEHOLDER}: write it where the answer is missing"
        return {
            "passage": (entity, ~xp.any(xp.take(self.markers, passage), axis=1)),
            "question": (missing, ~xp.any(xp.take(self.placeholder, question), axis=1)),
        }

    def _features(self, passage: Any, question: Any, names: Any, xp: Any) -> dict[str, Any]:
        question = self.windows(question, self.placeholder, 1, xp)[:, 0]
        return super()._features(passage, question, names, xp)

    def cut(self, passage: Any, xp: Any = np) -> Any:
        """Cuts the windows that are read: int32 `(batch, S, 2 half_width + 1)`, S at least 1."""
        return self.windows(passage, self.markers, self.max_windows, xp)

    def windows(self, ids: Any, centres: np.ndarray, most: int, xp: Any = np) -> Any:
        """Cuts windows round the first `most` words that `centres` marks, by id."""
        integers = functools.partial(xp.asarray, dtype="int32")
        is_centre, length = xp.take(centres, ids), integers(xp.size(ids[:1]))
        column = integers(xp.cumsum(xp.ones_like(ids), axis=1)) - 1
        places = xp.sort(integers(xp.where(is_centre, column, length)), axis=1)
        count = xp.max(xp.sum(integers(is_centre), axis=1))
        places = places[:, : xp.minimum(xp.maximum(integers(count), 1), most)]
        # One column more on the right, for places beyond the text.
        beyond = xp.zeros_like(ids[:, :1]) + np.zeros((1, self.half_width + 1), "int32")
        padded = xp.concatenate([beyond[:, 1:], ids, beyond], axis=1)
        position = places[..., None] + np.arange(self.sentence_length, dtype="int32")
        count, width = integers(xp.size(places[:1])), self.sentence_length
        flat = xp.take_along_axis(padded, xp.reshape(position, (-1, count * width)), axis=1)
        words = xp.reshape(flat, (-1, count, width))
        return integers(xp.where((places < length)[..., None], words, 0))

    def row_texts(self, example: Example, encoded: EncodedStory) -> list[str]:
        return [" ".join(self.vocabulary.decode(row[row != 0])) for row in encoded.sentences]
