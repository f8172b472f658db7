"""Batches as a `tf.data.Dataset`."""

from typing import Any

import keras


def tensorflow_dataset(batches: keras.utils.PyDataset) -> Any:
    """Makes a `tf.data.Dataset` of the batches of an epoch, for `model.fit` on TensorFlow.

    The one that Keras makes tunes itself: between epochs, training then waits until the thread that
    does so wakes up, often for seconds.

    Args:
        batches: a `keras.utils.PyDataset` with as many batches in every epoch. What differs in
            length has to differ between the first two.

    Returns:
        `tf.data.Dataset` of as many batches.

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
        pairs = list(zip(first.shape, second.shape, strict=True))[1:]
        lengths = [a if a == b else None for a, b in pairs]
        return tf.TensorSpec([None, *lengths], first.dtype)

    signature = keras.tree.map_structure(spec, batches[0], batches[min(1, len(batches) - 1)])
    options = tf.data.Options()
    options.autotune.enabled = False
    dataset = tf.data.Dataset.from_generator(
        lambda: (batches[n] for n in range(len(batches))), output_signature=signature
    )
    count = tf.data.experimental.assert_cardinality(len(batches))
    return dataset.apply(count).prefetch(2).with_options(options)


class EpochHooks(keras.callbacks.Callback):
    """Tells a `keras.utils.PyDataset` when epochs begin and end, as Keras does with its own."""

    def __init__(self, batches: keras.utils.PyDataset) -> None:
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self.batches.on_epoch_begin()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        self.batches.on_epoch_end()
