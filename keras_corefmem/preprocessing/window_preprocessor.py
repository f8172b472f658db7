"""From cloze questions, such as CNN's, to matrices of sentences or of windows round entities."""

import collections
import dataclasses

import numpy as np

from keras_corefmem.datasets.passages.cnn import PLACEHOLDER, find_markers
from keras_corefmem.preprocessing.story_preprocessor import (
    FEATURES,
    EncodedStory,
    StoryPreprocessor,
)
from keras_corefmem.text.tokenizers import get_tokenizer
from keras_corefmem.text.vocabulary import Vocabulary

TOKENIZER = "spaces"


def cloze_words(examples, max_words=50_000, markers=None):
    """Vocabulary and answers of cloze questions.

    A marker such as `@entity3` means nothing beyond its passage. So every number up to the highest
    one is a word and an answer, whether the examples have it or not.

    Args:
        examples: training examples, their entities numbered from 0 (`cnn.relabel`).
        max_words: how many other words are known, the most frequent ones.
        markers: n for `@entity0` to `@entityn-1`; `None` for the highest number in the examples.

    Returns:
        List of words without the two specials, and list of answers.

    Raises:
        ValueError: if there is no marker, an answer is none of them, or `max_words` is too small.
    """
    if max_words < 1:
        raise ValueError(f"max_words must be at least 1, got {max_words}.")
    tokenize, counts = get_tokenizer(TOKENIZER), collections.Counter()
    for example in examples:
        counts.update(tokenize(f"{example.passage} {example.question}"))
    found = find_markers(" ".join(counts))
    if markers is None:
        markers = 1 + max((int(entity.removeprefix("@entity")) for entity in found), default=-1)
    answers = {f"@entity{number}": number for number in range(markers)}
    other = next((example for example in examples if example.answer not in answers), None)
    if other is not None:
        raise ValueError(
            f"The answer {other.answer!r} of {other.source or 'an example'} is none of the "
            f"{markers} markers @entity0, @entity1, ...: give cloze questions, renumbered by "
            "cnn.relabel, and markers for all of them."
        )
    for marker in (*answers, *found, PLACEHOLDER):
        counts.pop(marker, None)
    words = Vocabulary.from_counts(counts, max_words + 2).known
    return [PLACEHOLDER, *answers, *words], list(answers)


def fit_sentences(examples, max_sentences=70, max_length=80, **kwargs):
    """A `StoryPreprocessor` for the plain sentences of cloze questions (SENT).

    Args:
        examples: training examples.
        max_sentences: sentences of a passage that are read, the last ones.
        max_length: words of a sentence or question that are read, at most the longest one's.
        **kwargs: further arguments of `cloze_words`.

    Raises:
        ValueError: as `cloze_words` does.
    """
    words, answers = cloze_words(examples, **kwargs)
    tokenize = get_tokenizer(TOKENIZER)
    longest = max(len(tokenize(text)) for e in examples for text in (*e.sentences, e.question))
    return StoryPreprocessor(words, answers, min(longest, max_length), max_sentences, TOKENIZER)


class WindowPreprocessor(StoryPreprocessor):
    """Reads cloze questions as windows round their entities (WIND).

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
        half_width: words on each side of a marker. The paper speaks of windows of b words, but b
            is this half width in the authors' code: b = 4 reads 9 words.
        max_windows: windows of a passage that are read, the first ones.
        tokenizer: name of the tokenizer.

    Raises:
        ValueError: if a number is too small or `@placeholder` is no word.

    References: [Hill et al., ICLR 2016](https://arxiv.org/abs/1511.02301);
    [Madotto and Attardi, 2017](https://arxiv.org/abs/1707.07922).
    """

    def __init__(self, words, answers, half_width=4, max_windows=150, tokenizer=TOKENIZER):
        for name, value in (("half_width", half_width), ("max_windows", max_windows)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}.")
        super().__init__(words, answers, 2 * half_width + 1, max_windows, tokenizer)
        if PLACEHOLDER not in self.vocabulary.words:
            raise ValueError(
                f"words lacks {PLACEHOLDER}: learn them with WindowPreprocessor.fit(examples)."
            )
        self.half_width, self.max_windows = half_width, max_windows
        self.markers = np.isin(self.vocabulary.words, self.answers[1:])
        self.placeholder = np.array([word == PLACEHOLDER for word in self.vocabulary.words])

    @classmethod
    def fit(cls, examples, max_words=50_000, markers=None, **kwargs):
        """Learns vocabulary and answers from training examples, as `cloze_words` does.

        Args:
            examples: training examples.
            max_words: how many words besides the markers are known.
            markers: number of markers.
            **kwargs: further arguments of the constructor.
        """
        return cls(*cloze_words(examples, max_words, markers), **kwargs)

    def encode(self, example):
        """An `Example` as `EncodedStory`; without a marker, one empty window."""
        source = f" of {example.source or 'an example'}"
        # The first sentences of a passage, which may be asked about, need not have an entity.
        encoded = self._encode(
            example.passage, example.question, example.answer, source, ["question"]
        )
        return dataclasses.replace(encoded, source=example.source)

    def encode_text(self, passage, question, answer=None, source=""):
        """Strings as `EncodedStory`; `source` says in errors where they come from.

        Raises:
            ValueError: if a string is empty, the passage has no marker that is an answer, or the
                question no `@placeholder`.
        """
        return self._encode(passage, question, answer, source, ["passage", "question"])

    def _encode(self, passage, question, answer, source, checked):
        encoded = self.plain.encode_text(passage, question, answer, source)
        ids = encoded.passage[None], encoded.question[None]
        refused = self.refused(*ids)
        for name in checked:
            problem, rows = refused[name]
            if rows[0]:
                raise ValueError(f"The {name}{source} {problem}.")
        features = self.features(*ids)
        return EncodedStory(features["sentences"][0], features["question"][0], encoded.answer)

    def refused(self, passage, question, xp=np):
        """As of a `Preprocessor`: a passage without an entity, a question without placeholder."""
        entity = "has no entity that is an answer of the reader, such as @entity0"
        missing = f"has no {PLACEHOLDER}: write it where the answer is missing"
        return {
            "passage": (entity, ~xp.any(xp.take(self.markers, passage), axis=1)),
            "question": (missing, ~xp.any(xp.take(self.placeholder, question), axis=1)),
        }

    def features(self, passage, question, names=FEATURES, xp=np):
        """Features of padded ids, as `collate` makes them; see `StoryPreprocessor`."""
        question = self.windows(question, self.placeholder, 1, xp)[:, 0]
        return super().features(passage, question, names, xp)

    def sentences(self, passage, xp=np):
        """The windows that are read: int32 `(batch, S, 2 half_width + 1)`, S at least 1."""
        return self.windows(passage, self.markers, self.max_windows, xp)

    def windows(self, ids, centres, most, xp=np):
        """Windows round the first words of a kind.

        Args:
            ids: int32 `(batch, time)`.
            centres: bool by word, which are of the kind.
            most: largest number of windows.
            xp: `numpy`, or `tensorflow.experimental.numpy` inside a SavedModel.

        Returns:
            int32 `(batch, n, 2 half_width + 1)`, n of 1 to `most`; 0 beyond the text, and in rows
            with fewer windows.
        """

        def integers(values):
            return xp.asarray(values, dtype="int32")

        found, length = xp.take(centres, ids), integers(xp.size(ids[:1]))
        column = integers(xp.cumsum(xp.ones_like(ids), axis=1)) - 1
        places = xp.sort(integers(xp.where(found, column, length)), axis=1)
        count = xp.max(xp.sum(integers(found), axis=1))
        places = places[:, : xp.minimum(xp.maximum(integers(count), 1), most)]
        # One column more on the right, for places beyond the text.
        beyond = xp.zeros_like(ids[:, :1]) + np.zeros((1, self.half_width + 1), "int32")
        padded = xp.concatenate([beyond[:, 1:], ids, beyond], axis=1)
        position = places[..., None] + np.arange(self.sentence_length, dtype="int32")
        count, width = integers(xp.size(places[:1])), self.sentence_length
        flat = xp.take_along_axis(padded, xp.reshape(position, (-1, count * width)), axis=1)
        words = xp.reshape(flat, (-1, count, width))
        return integers(xp.where((places < length)[..., None], words, 0))

    def get_config(self):
        config = super().get_config()
        return {
            "words": config["words"],
            "answers": config["answers"],
            "half_width": self.half_width,
            "max_windows": self.max_windows,
            "tokenizer": config["tokenizer"],
        }
