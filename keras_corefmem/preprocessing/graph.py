"""NumPy, vocabularies and answers inside the TensorFlow graph of a SavedModel."""

from collections.abc import Sequence
from typing import Any

from keras_corefmem.preprocessing.answers import END, SEPARATOR
from keras_corefmem.preprocessing.features import coarse_length
from keras_corefmem.text import UNKNOWN, Vocabulary


class GraphNumpy:
    """`tf.experimental.numpy`, but for `take_along_axis`, whose graph has dozens of operations."""

    def __init__(self) -> None:
        import tensorflow as tf

        self._tf = tf

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tf.experimental.numpy, name)

    def take_along_axis(self, values: Any, indices: Any, axis: int) -> Any:
        """Returns `values[..., indices]` of each row; only the last axis is supported."""
        values = self._tf.convert_to_tensor(values)
        if axis not in (-1, values.shape.rank - 1):
            raise ValueError(f"axis must be the last of {values.shape.rank}, got {axis}")
        return self._tf.gather(values, indices, batch_dims=values.shape.rank - 1)


def vocabulary_table(vocabulary: Vocabulary) -> Any:
    """Makes a table from the known words to int32 ids, `UNKNOWN` for all others."""
    import tensorflow as tf

    ids = tf.range(UNKNOWN + 1, UNKNOWN + 1 + len(vocabulary.known), dtype="int32")
    entries = tf.lookup.KeyValueTensorInitializer(tf.constant(vocabulary.known, "string"), ids)
    return tf.lookup.StaticHashTable(entries, UNKNOWN)


def look_up(table: Any, vocabulary: Vocabulary, words: Any) -> Any:
    """Looks up the ids of a tensor of words as `Vocabulary.encode` does, types included."""
    import tensorflow as tf

    ids, types = table.lookup(words), vocabulary.unknown_types
    if types == 1:
        return ids
    kinds = tf.strings.to_hash_bucket_fast(words, types)
    others = len(vocabulary) - types + tf.cast(kinds, "int32")
    return tf.where((ids == UNKNOWN) & (kinds > 0), others, ids)


def padded(tokens: Any) -> Any:
    """Pads ragged tokens to one of few lengths."""
    return widened(tokens.to_tensor(), coarse_width(tokens))


def coarse_width(tokens: Any) -> Any:
    """The length that `padded` pads ragged tokens to."""
    import tensorflow as tf

    return coarse_length(tf.cast(tokens.bounding_shape()[1], "int32"), GraphNumpy())


def widened(rows: Any, width: Any) -> Any:
    """Rows `(batch, time, …)` of another width, zeros or empty strings where it is larger."""
    import tensorflow as tf

    more = [[0, 0], [0, width], *[[0, 0]] * (rows.shape.rank - 2)]
    return tf.pad(rows, more, constant_values=tf.zeros((), rows.dtype))[:, :width]


def look_up_letters(table: Any, words: Any, length: int) -> Any:
    """Looks up the first `length` letters of ragged words."""
    import tensorflow as tf

    letters = tf.strings.unicode_split(words.values, "UTF-8")
    ids = letters.with_values(table.lookup(letters.values))[:, :length]
    return padded(words.with_values(ids.to_tensor(shape=(None, length))))


def answer_texts(sequences: Any, answers: Sequence[str]) -> Any:
    """Joins the words of answers `(batch, top, steps)`, as `answer_text` does in Python."""
    import tensorflow as tf

    first = ["" if answer == END else answer for answer in answers]
    later = [word and SEPARATOR + word for word in first]
    rest = tf.strings.reduce_join(tf.gather(tf.constant(later), sequences[..., 1:]), axis=-1)
    return tf.strings.join([tf.gather(tf.constant(first), sequences[..., 0]), rest])


def assertions(invalid: dict[str, tuple[str, Any]]) -> list:
    """Makes assertions that no row is invalid, see `Preprocessor.invalid_rows`."""
    import tensorflow as tf

    return [
        tf.debugging.Assert(
            ~tf.reduce_any(rows), [f"A {name} {problem}. Its index is", tf.where(rows)[:, 0]]
        )
        for name, (problem, rows) in invalid.items()
    ]
