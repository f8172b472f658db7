"""Batches as a `tf.data.Dataset`."""

import keras


def tensorflow_dataset(batches):
    """A `tf.data.Dataset` of the batches of every epoch, for `model.fit` on TensorFlow.

    The one that Keras makes tunes itself: between epochs, training then waits until the thread that
    does so wakes up, often for seconds.

    Args:
        batches: a `keras.utils.PyDataset` with as many batches in every epoch. What differs in
            length has to differ between the first two.
    """
    import tensorflow as tf

    def spec(first, second):
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

    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch, logs=None):
        self.batches.on_epoch_begin()

    def on_epoch_end(self, epoch, logs=None):
        self.batches.on_epoch_end()
