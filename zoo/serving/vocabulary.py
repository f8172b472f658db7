"""Inside a SavedModel: ids of words."""

from keras_corefmem.text import UNKNOWN


def vocabulary_table(vocabulary):
    """A table from the words that a vocabulary knows to int32 ids, `UNKNOWN` for all others."""
    import tensorflow as tf

    ids = tf.range(UNKNOWN + 1, UNKNOWN + 1 + len(vocabulary.known), dtype="int32")
    entries = tf.lookup.KeyValueTensorInitializer(tf.constant(vocabulary.known, "string"), ids)
    return tf.lookup.StaticHashTable(entries, UNKNOWN)


def look_up(table, vocabulary, words):
    """Ids of words, as `Vocabulary.encode` finds them.

    Args:
        table: the table of the vocabulary.
        vocabulary: a `Vocabulary`.
        words: string tensor.

    Returns:
        int32 tensor of the same shape.
    """
    import tensorflow as tf

    ids, types = table.lookup(words), vocabulary.unknown_types
    if types == 1:
        return ids
    kinds = tf.strings.to_hash_bucket_fast(words, types)
    others = len(vocabulary) - types + tf.cast(kinds, "int32")
    return tf.where((ids == UNKNOWN) & (kinds > 0), others, ids)
