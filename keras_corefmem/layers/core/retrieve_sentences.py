"""Retrieval before a model: the sentences that match the question best."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.core.masking import as_long_as
from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.utils.checks import check_shape, check_sizes

# Smaller ids are padding and the unknown word.
FIRST_WORD = 2
# Higher than any match, and than any position.
ALREADY_KEPT, NO_POSITION = 1e30, 2**30


def inverse_sentence_frequency(sentences, vocabulary_size):
    """Computes word rarity, `log((1 + N) / (1 + n_w))`, where n_w of N sentences have word w.

    Values are rounded to multiples of 1/128, so that their sums are exact in any order and equal
    matches tie exactly.

    Args:
        sentences: int array `(N, words)`, padded with 0.
        vocabulary_size: int, number of token ids.

    Returns:
        float32 array `(vocabulary_size,)`, 0 for padding and unknown words.

    Example:
        >>> keras_corefmem.layers.inverse_sentence_frequency(np.array([[2, 3], [2, 0]]), 4).tolist()
        [0.0, 0.0, 0.0, 0.40625]
    """
    words = np.sort(sentences, axis=1)
    first = np.diff(words, axis=1, prepend=-1) != 0
    counts = np.bincount(words[first], minlength=vocabulary_size)
    rarity = np.log((1 + len(words)) / (1 + counts))
    rarity[:FIRST_WORD] = 0
    return (np.round(128 * rarity) / 128).astype("float32")


@serializable
class RetrieveSentences(keras.layers.Layer):
    """Keeps the k sentences that match the question best, in their original order.

    ```
    match(s) = Σ idf(w) over the words w that s shares with the question, each counted once
    ```

    If matches are equal, the later sentence is kept. Unknown words do not count. A passage of fewer
    than k sentences is kept whole.

    Several hops also reach facts that share no word with the question. Hop h of H adds the best
    sentences until `⌈k h / H⌉` are kept; before the last hop, a sentence must match at all. From
    the second hop on, other words count too, by the share of the kept sentences that have them:

    ```
    match(s) = Σ idf(w) · (1 for words of the question, otherwise share(w)) over the words w of s
    ```

    The weight `idf` starts as ones, so that a match is the number of shared words. Assign it the
    `inverse_sentence_frequency` of training passages; it is saved with the model.

    Args:
        k: int, number of sentences to keep.
        vocabulary_size: int, number of token ids.
        hops: int, number H of hops.

    Call arguments:
        sentences: int32 token ids `(batch, time, words)`; a sentence of zeros is padding.
        question: int32 token ids `(batch, words)`.

    Returns:
        The kept sentences `(batch, k, words)`, and their 1-based positions `(batch, k)`, int32.
        Both end with zeros if there are fewer than k.

    Raises:
        ValueError: if `k` or `hops` is less than 1, `hops` more than k, or there are not as many
            questions as texts.

    Example:
        >>> sentences = np.array([[[2, 5], [3, 6], [4, 5]]])
        >>> retrieve = keras_corefmem.layers.RetrieveSentences(2, vocabulary_size=7)
        >>> np.asarray(retrieve(sentences, np.array([[5]]))[1]).tolist()
        [[1, 3]]
    """

    def __init__(self, k, vocabulary_size, hops=1, **kwargs):
        super().__init__(**kwargs)
        check_sizes(k=k, vocabulary_size=vocabulary_size, hops=hops)
        if hops > k:
            raise ValueError(f"hops must be at most {k}, the sentences to keep; got {hops}.")
        self.k, self.vocabulary_size, self.hops = k, vocabulary_size, hops

    def build(self, sentences_shape, question_shape):
        fixed = {"initializer": "ones", "trainable": False, "dtype": "float32", "autocast": False}
        self.idf = self.add_weight(name="idf", shape=(self.vocabulary_size,), **fixed)

    def look_up(self, words, keys, values):
        """Sums, for each word `(batch, time, words)`, the values of the keys that equal it."""
        batch, size = ops.shape(words)[0], self.vocabulary_size
        start = size * ops.arange(batch, dtype="int32")[:, None, None]
        keys, values = ops.reshape(keys + start, (-1, 1)), ops.reshape(values, (-1,))
        return ops.take(ops.scatter(keys, values, (batch * size,)), words + start)

    def call(self, sentences, question):
        check_shape("question", question, batch=sentences.shape[0], words=None)
        sentences, question = (ops.cast(words, "int32") for words in (sentences, question))
        question = as_long_as(question, sentences)
        # In a sorted sentence, a word is new if it differs from the one before.
        words = ops.sort(sentences, axis=-1)
        new = ops.not_equal(words[..., 1:], words[..., :-1])
        new = ops.concatenate([ops.ones_like(new[..., :1]), new], axis=-1)
        new = ops.cast(ops.logical_and(new, words >= FIRST_WORD), "float32")
        weights = new * ops.take(ops.convert_to_tensor(self.idf), words)
        question = question[:, None]
        in_question = self.look_up(words, question, ops.ones_like(question)) > 0
        real = ops.any(ops.not_equal(sentences, 0), axis=-1)
        # Shares times the number of kept sentences are whole numbers, so that sums stay exact.
        shares, kept = ops.cast(in_question, "float32"), ops.zeros_like(real)
        for hop in range(1, self.hops + 1):
            if hop > 1:
                counted = ops.cast(kept, "float32")[..., None]
                total = ops.sum(counted, axis=1, keepdims=True)
                shares = ops.where(in_question, total, self.look_up(words, words, new * counted))
            match = ops.sum(weights * shares, axis=-1)
            eligible = real if hop == self.hops else match > 0
            match = ops.where(kept, ALREADY_KEPT, ops.where(eligible, match, -1.0))
            positions = _top_positions(match, -(-self.k * hop // self.hops))
            kept = ops.any(_one_hot(positions, ops.shape(real)[1]), axis=-1)
        numbered = ops.pad(sentences, [[0, 0], [1, 0], [0, 0]])
        return ops.take_along_axis(numbered, positions[..., None], axis=1), positions

    def compute_output_shape(self, sentences_shape, question_shape):
        batch, _, words = sentences_shape
        return (batch, self.k, words), (batch, self.k)

    def compute_output_spec(self, sentences, question):
        shapes = self.compute_output_shape(sentences.shape, question.shape)
        return tuple(keras.KerasTensor(shape, dtype="int32") for shape in shapes)


def _top_positions(scores, count):
    """Returns the 1-based positions of the highest nonnegative scores, ascending, then zeros.

    If scores are equal, the later one is taken.
    """
    time = ops.shape(scores)[1]
    latest_first = ops.pad(ops.flip(scores, axis=1), [[0, 0], [0, count]], constant_values=-1.0)
    # A sort is stable, and TensorFlow can read JAX's export of it, unlike that of `top_k`.
    index = ops.argsort(-latest_first, axis=1)[:, :count]
    highest = ops.take_along_axis(latest_first, index, axis=1)
    position = ops.where(highest >= 0, time - ops.cast(index, "int32"), NO_POSITION)
    position = ops.sort(position, axis=-1)
    return ops.where(position < NO_POSITION, position, 0)


def _one_hot(positions, time):
    """Returns whether each kept sentence comes from a position, bool `(batch, time, k)`."""
    return ops.equal(positions[:, None], ops.arange(1, time + 1, dtype="int32")[:, None])


@keras.saving.register_keras_serializable("keras_corefmem")
class RestoreSentences(keras.layers.Layer):
    """Puts the rows of kept sentences back where the sentences stood, among rows of zeros.

    `y_t = values_i` where `positions_i = t`, and 0 elsewhere.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        values: `(batch, k or more, columns)`; rows after the first k stay at the end.
        positions: int32 `(batch, k)`, from `RetrieveSentences`.
        sentences: `(batch, time, words)`, all sentences.

    Returns:
        `(batch, time or more, columns)`.

    Raises:
        ValueError: if the batches differ.

    Example:
        >>> restore = keras_corefmem.layers.RestoreSentences()
        >>> rows = restore(np.array([[[7.0], [8.0]]]), np.array([[1, 3]]), np.zeros((1, 4, 5)))
        >>> np.asarray(rows)[..., 0].tolist()
        [[7.0, 0.0, 8.0, 0.0]]
    """

    def call(self, values, positions, sentences):
        batch = values.shape[0]
        check_shape("positions", positions, batch=batch, k=None)
        check_shape("sentences", sentences, batch=batch, time=None, words=None)
        k = ops.shape(positions)[1]
        places = ops.cast(_one_hot(positions, ops.shape(sentences)[1]), values.dtype)
        restored = ops.einsum("btk,bkc->btc", places, values[:, :k])
        return ops.concatenate([restored, values[:, k:]], axis=1)

    def compute_output_shape(self, values_shape, positions_shape, sentences_shape):
        batch, count, columns = values_shape
        lengths = sentences_shape[1], count, positions_shape[1]
        time = None if None in lengths else lengths[0] + count - lengths[2]
        return batch, time, columns

    def compute_output_spec(self, values, positions, sentences):
        shapes = values.shape, positions.shape, sentences.shape
        return keras.KerasTensor(self.compute_output_shape(*shapes), dtype=values.dtype)
