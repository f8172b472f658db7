"""A baseline without order or memory: a linear classifier of n-grams."""

from __future__ import annotations

from typing import Annotated, Any

import keras
import numpy as np
from keras import ops

from keras_corefmem.text.vocabulary import PADDING, UNKNOWN
from zoo.architectures.config import LEARNED, Factor, Learned, Share, Size
from zoo.architectures.precision import answer_dtype
from zoo.architectures.stories.story_model import StoryModel

# 2^32 over the golden ratio.
FACTOR = np.uint32(2654435769)


@keras.saving.register_keras_serializable("keras_corefmem")
class NGramClassifier(StoryModel):
    """Answers from the n-grams of the question and of the sentences that share a word with it.

    ```
    P = softmax(Σ_{g ∈ G} c_g w_g + b)
    ```

    G are the n-grams of n = 1 … `order` words within the question and within each sentence that
    shares a word with it; `c_g` is the number of times that g occurs among them. N-grams are hashed
    into `buckets`, and those in the same bucket share their weights.

    As in the paper, any word may be the shared one, so an article is enough for most sentences.
    With `common` below 1, words that occur in more than this fraction of the training sentences do
    not count as shared, but their n-grams still enter G. Unknown words never count.

    Args:
        vocabulary_size: int, number of token ids.
        num_answers: int, number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: int, number of words of a sentence or question.
        frequencies: list, fraction of the training sentences in which each token occurs; `None`
            for 0.
        common: float, fraction of the training sentences above which words are too common to count
            as shared.
        order: int, number of words of the longest n-grams.
        buckets: int, number of weights per answer.
        binary: bool, whether `c_g` is 1 however often a bucket occurs.
        l2: float, factor of an L2 penalty on all weights.
        retrieve: int, number k of sentences to read, those that match the question best; `None` for
            all.
        retrieve_hops: int, number of hops of the retrieval.
        preprocessor: the preprocessor (or its configuration) that turns text into features.
        name: str, name of the model.
        trainable: bool, whether its weights are trained.
        dtype: str or `keras.DTypePolicy`, precision, such as `"mixed_bfloat16"`; `None` for Keras'
            default.

    Input: int32 `sentences` `(batch, sentences, words)` and `question` `(batch, words)`, padded
    with 0. Output: logits `(batch, num_answers)`, float32.

    `attend` returns which sentences enter G, `(batch, sentences, 1)`: 1 for those that do, else 0.

    Raises:
        ValueError: if `common` is not a fraction, `order` or `buckets` is below 1, or there is not
            one frequency per token.

    Reference: [Weston et al., 2015](https://arxiv.org/abs/1502.05698), Section 5.

    Example:

    >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
    >>> model = zoo.NGramClassifier.from_examples(stories, buckets=64)
    >>> model.output.shape[-1] == len(model.preprocessor.answers)
    True
    """

    COLUMN = "bag"
    HAS_WORD_VECTORS = False

    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        sentence_length: Learned,
        frequencies: Annotated[list[float] | None, LEARNED] = None,
        common: Share = 1.0,
        order: Size = 3,
        buckets: Size = 2**14,
        binary: bool = False,
        l2: Factor = 0.0,
        retrieve: Size | None = None,
        retrieve_hops: Size = 1,
        preprocessor: Any = None,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        super().__init__(locals())

    @classmethod
    def check_arguments(cls, config):
        count = len(config.frequencies or [0.0] * config.vocabulary_size)
        if count != config.vocabulary_size:
            raise ValueError(
                "frequencies must hold one fraction for each of the "
                f"{config.vocabulary_size} tokens; got {count}."
            )

    @staticmethod
    def read_story(sentences, question, read, config):
        common = np.flatnonzero(np.array(config.frequencies or ()) > config.common)
        shared = shares_a_word(sentences, question, np.union1d(common, [PADDING, UNKNOWN]))
        lines = ops.concatenate(
            [ops.where(shared[..., None], sentences, 0), question[:, None]], axis=1
        )
        bag = hash_ngrams(lines, config.order, config.buckets)
        bag = keras.layers.Reshape((-1,), name="bag")(bag)
        if config.binary:
            bag = distinct(bag)
        weights = keras.layers.Embedding(
            config.buckets + 1,
            config.num_answers,
            embeddings_initializer="zeros",
            dtype=answer_dtype(),
            name="weights",
        )
        counted = ops.cast(ops.not_equal(bag, 0), "float32")[..., None]
        # Row 0, which belongs to no n-gram, is the bias.
        bias = weights(ops.zeros_like(bag[:, 0]))
        logits = ops.sum(counted * weights(bag), axis=1) + bias
        return logits, ops.cast(shared, "float32")[..., None]

    @classmethod
    def learned(cls, preprocessor, examples):
        texts = dict.fromkeys(sentence for e in examples for sentence in e.sentences)
        counts = np.zeros(len(preprocessor.vocabulary))
        for text in texts:
            counts[np.unique(preprocessor.ids_of_text(text))] += 1
        return {"frequencies": (counts / len(texts)).tolist()}


def shares_a_word(sentences, question, ignored):
    """Returns which sentences have a word in common with the question."""
    counts = ops.all(ops.not_equal(question[..., None], ignored.astype("int32")), axis=-1)
    counted = ops.where(counts, question, -1)
    return ops.any(ops.equal(sentences[..., None], counted[:, None, None]), axis=(-2, -1))


def hash_ngrams(lines, order, buckets):
    """Returns the bucket of each n-gram of n = 1 … `order` words, 0 for padding."""
    hashes, parts = ops.zeros_like(lines, dtype="uint32"), []
    for n in range(min(order, lines.shape[-1])):
        last = lines[..., n:]
        hashes = (hashes[..., : last.shape[-1]] + ops.cast(last, "uint32")) * FACTOR
        hashes = ops.bitwise_xor(hashes, ops.right_shift(hashes, 15))
        numbers = 1 + ops.cast(ops.mod(hashes, np.uint32(buckets)), "int32")
        parts.append(ops.where(ops.equal(last, 0), 0, numbers))
    return ops.concatenate(parts, axis=-1)


def distinct(numbers):
    """Sorts rows of int32 `(batch, n)`, and replaces all but one of equal numbers by 0."""
    numbers = ops.sort(numbers, axis=-1)
    before = ops.concatenate([ops.zeros_like(numbers[:, :1]), numbers[:, :-1]], axis=1)
    return ops.where(ops.equal(numbers, before), 0, numbers)
