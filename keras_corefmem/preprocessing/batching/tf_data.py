"""Batches as a `tf.data.Dataset`."""

from typing import Any

import keras


def tensorflow_dataset(
    batches: keras.utils.PyDataset, like: keras.utils.PyDataset | None = None
) -> Any:
    """Converts the batches of an epoch to a `tf.data.Dataset`, for `model.fit` on TensorFlow.

    The data set that Keras makes autotunes itself; training waits for this between epochs, often
    for seconds.

    Args:
        batches: the batches, as many in every epoch. Dimensions that vary must differ between the
            first two.
        like: batches whose first two show which dimensions vary, if those of `batches` may not.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> preprocessor = keras_corefmem.preprocessing.StoryPreprocessor.fit(examples)
        >>> encoded = list(map(preprocessor.encode, examples))
        >>> batches = preprocessor.batches(encoded, ["question"], batch_size=8)
        >>> len(keras_corefmem.preprocessing.tensorflow_dataset(batches))
        3
    """
    import tensorflow as tf

    def spec(first: Any, second: Any) -> tf.TensorSpec:
        pairs = zip(first.shape, second.shape, strict=True)
        return tf.TensorSpec([a if a == b else None for a, b in pairs], first.dtype)

    shown = batches if like is None else like
    signature = keras.tree.map_structure(spec, shown[0], shown[min(1, len(shown) - 1)])
    options = tf.data.Options()
    options.autotune.enabled = False
    dataset = tf.data.Dataset.from_generator(
        lambda: (batches[n] for n in range(len(batches))), output_signature=signature
    )
    count = tf.data.experimental.assert_cardinality(len(batches))
    return dataset.apply(count).prefetch(2).with_options(options)


class EpochHooks(keras.callbacks.Callback):
    """Calls the epoch hooks of a `keras.utils.PyDataset`, as `fit` does if it is given one."""

    def __init__(self, batches: keras.utils.PyDataset) -> None:
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self.batches.on_epoch_begin()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        self.batches.on_epoch_end()
