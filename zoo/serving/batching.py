"""Batches of few shapes inside a TensorFlow graph, for any number of texts of any length."""

from collections.abc import Sequence
from typing import Any

from keras_corefmem.preprocessing.encoding.features import coarse_length
from keras_corefmem.preprocessing.encoding.graph import GraphNumpy, widened
from zoo.reading.answers import BATCH_SIZES


def in_batches(answer: Any, texts: Sequence, lengths: Any) -> dict[str, Any]:
    """Answers texts in batches of similar length, and returns the answers in the original order.

    Args:
        answer: `tf.function` with an input signature, from rows of `texts` to tensors by name with
            one row for each.
        texts: tensors, dense or ragged, with one row for each text; there is at least one.
        lengths: `(texts,)`, the length of each text.
    """
    import tensorflow as tf

    specs = answer.get_concrete_function().structured_outputs
    order, width = tf.argsort(lengths, stable=True), tf.cast(tf.reduce_max(lengths), "int32")
    batches = (tf.size(order) - 1) // BATCH_SIZES[-1] + 1
    arrays = {
        name: tf.TensorArray(spec.dtype, batches, infer_shape=False, element_shape=spec.shape)
        for name, spec in specs.items()
    }

    def read(n: Any, arrays: dict[str, Any]) -> tuple:
        rows = order[n * BATCH_SIZES[-1] :][: BATCH_SIZES[-1]]
        count = tf.size(rows)
        size = tf.gather(BATCH_SIZES, tf.searchsorted(BATCH_SIZES, [count]))[0]
        rows = tf.gather(rows, tf.minimum(tf.range(size), count - 1))
        written = {}
        for name, result in answer(*(tf.gather(text, rows) for text in texts)).items():
            result = result[:count]
            if None in specs[name].shape[1:]:
                # The result has an entry for each token.
                result = widened(result, width)
            written[name] = arrays[name].write(n, result)
        return n + 1, written

    _, arrays = tf.while_loop(lambda n, _: n < batches, read, (0, arrays))
    places = tf.math.invert_permutation(order)
    return {name: tf.gather(array.concat(), places) for name, array in arrays.items()}


def pad_coarsely(
    features: dict[str, Any], shapes: dict[str, Sequence[int | None]]
) -> dict[str, Any]:
    """Pads axes of unknown size with zeros to one of a few lengths."""
    import tensorflow as tf

    padded = {}
    for name, tensor in features.items():
        sizes = tf.shape(tensor)[1:]
        coarse = coarse_length(sizes, GraphNumpy()) - sizes
        more = tf.where([size is None for size in shapes[name][1:]], coarse, 0)
        wide = tf.pad(tensor, tf.pad(more[:, None], [[1, 0], [1, 0]]))
        padded[name] = tf.ensure_shape(wide, shapes[name])
    return padded
