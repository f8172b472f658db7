"""Training on several devices: every batch is shared among them."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import keras

from keras_corefmem.utils.processes import available_cores


@contextlib.contextmanager
def data_parallel(devices: int | None) -> Iterator[None]:
    """Trains models that are made and trained in the block on several devices of this machine.

    On JAX this is `keras.distribution.DataParallel`; on TensorFlow, where that does nothing,
    `tf.distribute.MirroredStrategy`, under which models are compiled without XLA. A step's loss and
    gradients are those of the whole batch on one device; only what dropout drops differs on
    TensorFlow. The batch size must be a multiple of the number of devices.

    On several machines, with JAX, the same program runs on each: it begins with
    `keras.distribution.initialize()`, told by the environment, and takes `data_parallel(None)`.
    `fit` then trains on the rows of each batch that are this process' own; validate apart from it.

    ```
    KERAS_BACKEND=jax KERAS_DISTRIBUTION_JOB_ADDRESSES=first-machine:1234 \\
    KERAS_DISTRIBUTION_NUM_PROCESSES=2 KERAS_DISTRIBUTION_PROCESS_ID=0 python program.py
    ```

    Args:
        devices: how many devices, the first ones; 1 changes nothing, `None` takes all of all
            machines.

    Raises:
        ValueError: if there are not as many devices, or the backend cannot share batches.

    Example:
        >>> def train(stories):
        ...     with zoo.training.data_parallel(2):
        ...         model = zoo.GatedAttentionReader.from_examples(stories)
        ...         model.compile()
        ...         model.fit(model.batches(stories, shuffle=True), epochs=5)
    """
    if devices == 1:
        yield
    elif keras.backend.backend() == "jax":
        before, chosen = keras.distribution.distribution(), first_jax_devices(devices)
        keras.distribution.set_distribution(
            keras.distribution.DataParallel(devices=chosen, auto_shard_dataset=False)
        )
        try:
            yield
        finally:
            keras.distribution.set_distribution(before)
    elif keras.backend.backend() == "tensorflow":
        with _mirrored(tuple(first_tensorflow_devices(devices))).scope():
            yield
    else:
        raise ValueError(
            f"devices={devices}: Keras shares no batches on {keras.backend.backend()}; set "
            "KERAS_BACKEND to jax or tensorflow."
        )


@functools.cache
def _mirrored(names: tuple[str, ...]) -> Any:
    """The strategy of some devices: the sums of another one over them would mix with its own."""
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(list(names))


def first_jax_devices(count: int | None) -> list[str]:
    """Names of the first devices that JAX sees, of all for `None`."""
    cpus = f"--xla_force_host_platform_device_count={max(count or 1, 1)}"
    visible = keras.distribution.list_devices()
    return _first(count, visible, f"JAX sees {len(visible)}; on CPUs, set XLA_FLAGS={cpus}.")


def first_tensorflow_devices(count: int | None) -> list[str]:
    """Names of the first GPUs, all for `None`; without any, of parts of the CPU, one a core."""
    import tensorflow as tf

    kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
    if kind == "CPU" and count and 1 < count <= len(available_cores()):
        parts = [tf.config.LogicalDeviceConfiguration()] * count
        # It fails once TensorFlow is at work.
        with contextlib.suppress(RuntimeError):
            cpu = tf.config.list_physical_devices(kind)[0]
            tf.config.set_logical_device_configuration(cpu, parts)
    visible = [device.name for device in tf.config.list_logical_devices(kind)]
    advice = "without GPUs, each core can be one, if batches are shared before TensorFlow is used."
    return _first(count, visible, f"TensorFlow sees {len(visible)}; {advice}")


def _first(count: int | None, visible: list[str], problem: str) -> list[str]:
    count = len(visible) if count is None else count
    if not 1 <= count <= len(visible):
        raise ValueError(f"devices={count}, but {problem}")
    return visible[:count]
