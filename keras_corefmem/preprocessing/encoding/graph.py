"""NumPy, vocabularies and answers inside the TensorFlow graph of a SavedModel."""

from collections.abc import Sequence
from typing import Any

from keras_corefmem.graphs.chains import chain_ids
from keras_corefmem.preprocessing.encoding.answers import END, SEPARATOR
from keras_corefmem.preprocessing.encoding.features import coarse_length
from keras_corefmem.text import UNKNOWN, Vocabulary
from keras_corefmem.text.tokenizers import graph_has_letters


class GraphNumpy:
    """`tf.experimental.numpy` with a `take_along_axis` of few instead of dozens of operations."""

    def __init__(self) -> None:
        import tensorflow as tf

        self._tf = tf

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tf.experimental.numpy, name)

    def take_along_axis(self, values: Any, indices: Any, axis: int) -> Any:
        """Gathers `indices` from each row of `values`; only the last axis is supported."""
        values = self._tf.convert_to_tensor(values)
        if axis not in (-1, values.shape.rank - 1):
            raise ValueError(f"axis must be the last of {values.shape.rank}, got {axis}")
        return self._tf.gather(values, indices, batch_dims=values.shape.rank - 1)


def vocabulary_table(vocabulary: Vocabulary) -> Any:
    """Makes a table from the known words to int32 ids, `UNKNOWN` for all others."""
    import tensorflow as tf

    words, ids = (
        tf.constant(list(each), kind)
        for each, kind in ((vocabulary.ids, "string"), (vocabulary.ids.values(), "int32"))
    )
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(words, ids), UNKNOWN)


def look_up(table: Any, vocabulary: Vocabulary, words: Any) -> Any:
    """Looks up the ids of a tensor of words as `Vocabulary.encode` does, unknown types included."""
    import tensorflow as tf

    ids, types = table.lookup(words), vocabulary.unknown_types
    if types == 1:
        return ids
    kinds = tf.strings.to_hash_bucket_fast(words, types)
    others = len(vocabulary) - types + tf.cast(kinds, "int32")
    return tf.where((ids == UNKNOWN) & (kinds > 0), others, ids)


def number_symbols(ids: Sequence, words: Sequence, vocabulary: Vocabulary) -> list:
    """Replaces unknown words of padded texts by free symbols as `Vocabulary.encode_texts` does.

    Args:
        ids: ids of each of the texts that belong together, `(batch, time)`.
        words: their words, `(batch, time)`.
        vocabulary: a vocabulary with free symbols.
    """
    import tensorflow as tf

    joined, count = tf.concat(ids, axis=1), vocabulary.free_symbols
    unknown = joined == UNKNOWN
    ranks = number_words(tf.concat(words, axis=1), count, unknown)
    turn = tf.reduce_sum(tf.where(unknown, 0, joined), axis=1, keepdims=True)
    symbols = len(vocabulary) - count + (ranks - 1 + turn) % count
    numbered = tf.where(ranks > 0, symbols, joined)
    return tf.split(numbered, [tf.shape(each)[1] for each in ids], axis=1)


def number_words(words: Any, most: int, chosen: Any = True) -> Any:
    """Numbers the distinct words `(batch, time)` that are `chosen` by their first occurrence.

    Numbers are int32, from 1; punctuation, and words beyond `most`, have 0.
    """
    import tensorflow as tf

    # Words are told apart by their hashes, since the vocabulary lacks many of them.
    hashes = 1 + tf.strings.to_hash_bucket_fast(words, 2**62)
    chains = tf.where(graph_has_letters(words) & chosen, hashes, 0)
    return chain_ids(chains, most, GraphNumpy(), singletons=True)


def spelled_symbols(ids: Sequence, words: Sequence, vocabulary: Vocabulary) -> Any:
    """Returns the words `(batch, symbols)` that free symbols of texts stand for, "" for none.

    Args:
        ids: ids of each of the texts that belong together, `(batch, time)`.
        words: their words, `(batch, time)`, as they are to be spelled.
        vocabulary: a vocabulary with free symbols.
    """
    import tensorflow as tf

    count = vocabulary.free_symbols
    numbers = tf.range(len(vocabulary) - count, len(vocabulary))
    mentions = tf.concat(ids, axis=1)[:, None] == numbers[:, None]
    first = tf.gather(tf.concat(words, axis=1), tf.argmax(mentions, axis=-1), batch_dims=1)
    return tf.where(tf.reduce_any(mentions, axis=-1), first, "")


def padded(tokens: Any) -> Any:
    """Pads ragged tokens to one of few lengths."""
    return widened(tokens.to_tensor(), coarse_width(tokens))


def coarse_width(tokens: Any) -> Any:
    """Returns the length that `padded` pads ragged tokens to."""
    import tensorflow as tf

    longest = tf.maximum(tf.cast(tokens.bounding_shape()[1], "int32"), 1)
    return coarse_length(longest, GraphNumpy())


def widened(rows: Any, width: Any) -> Any:
    """Cuts rows `(batch, time, …)` to a width, or pads them with zeros or empty strings."""
    import tensorflow as tf

    more = [[0, 0], [0, width], *[[0, 0]] * (rows.shape.rank - 2)]
    return tf.pad(rows, more, constant_values=tf.zeros((), rows.dtype))[:, :width]


def look_up_letters(table: Any, words: Any, length: int) -> Any:
    """Looks up the ids of the first `length` letters of ragged words."""
    import tensorflow as tf

    letters = tf.strings.unicode_split(words.values, "UTF-8")
    ids = letters.with_values(table.lookup(letters.values))[:, :length]
    return padded(words.with_values(ids.to_tensor(shape=(None, length))))


def answer_texts(sequences: Any, answers: Any) -> Any:
    """Joins the words of answers `(batch, top, steps)`, as `answer_text` does in Python.

    Args:
        sequences: numbers of the words.
        answers: words by number, or a tensor `(batch, answers)` with those of each row.
    """
    import tensorflow as tf

    answers = tf.convert_to_tensor(answers)
    first = tf.where(answers == END, "", answers)
    later = tf.where(first == "", "", tf.strings.join([SEPARATOR, first]))
    own = int(first.shape.rank > 1)
    rest = tf.gather(later, sequences[..., 1:], batch_dims=own)
    best = tf.gather(first, sequences[..., 0], batch_dims=own)
    return tf.strings.join([best, tf.strings.reduce_join(rest, axis=-1)])
