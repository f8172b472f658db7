"""Models on several devices that share each batch: rows of a process, outputs, XLA."""

import sys

import keras
import numpy as np


class LocalRows(keras.utils.PyDataset):
    """The rows of each batch that one of the processes that share it trains on."""

    def __init__(self, batches, process, processes):
        super().__init__()
        self.batches, self.process, self.processes = batches, process, processes

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        def own(array):
            if len(array) % self.processes:
                raise ValueError(
                    f"{self.processes} processes cannot share a batch of {len(array)} rows: give a "
                    "multiple as batch_size."
                )
            return np.split(np.asarray(array), self.processes)[self.process]

        return keras.tree.map_structure(own, self.batches[index])

    def on_epoch_begin(self):
        self.batches.on_epoch_begin()

    def on_epoch_end(self):
        self.batches.on_epoch_end()


def local_rows(batches):
    """Batches as this process trains on them: `LocalRows` where several processes share them."""
    if keras.backend.backend() == "jax":
        import jax

        if jax.process_count() > 1:
            return LocalRows(batches, jax.process_index(), jax.process_count())
    return batches


def first_replica(outputs, rows):
    """Outputs of `predict_on_batch` once: under a strategy, each device repeats all rows."""
    return keras.tree.map_structure(lambda array: array[:rows], outputs)


def resolve_jit(jit_compile):
    """Whether to compile a model with XLA, by default wherever that works."""
    tf = sys.modules.get("tensorflow")
    if keras.backend.backend() != "tensorflow" or tf is None or not tf.distribute.has_strategy():
        return True if jit_compile is None else jit_compile
    strategy = tf.distribute.get_strategy()
    if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        raise ValueError(
            "Keras cannot fit under MultiWorkerMirroredStrategy; to train on several machines, set "
            "KERAS_BACKEND=jax and use keras.distribution."
        )
    if jit_compile:
        raise ValueError(
            "jit_compile=True does not work under a tf.distribute.Strategy: leave it out, or set "
            "KERAS_BACKEND=jax and use keras.distribution."
        )
    return False
