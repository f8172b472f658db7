"""Training on several devices, each of which takes a part of every batch."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import keras

from keras_corefmem.utils.processes import available_cores


@contextlib.contextmanager
def data_parallel(devices: int | None) -> Iterator[None]:
    """Trains models on several devices if they are built and trained within the context.

    On JAX this is `keras.distribution.DataParallel`; on TensorFlow, where that does nothing,
    `tf.distribute.MirroredStrategy`, under which models are compiled without XLA. The loss and the
    gradients of a step equal those of the whole batch on one device, except that dropout drops
    other units on TensorFlow. The batch size must be a multiple of the number of devices.

    With JAX on several machines, the same program runs on each of them. It begins with
    `keras.distribution.initialize()`, which reads the environment, and uses `data_parallel(None)`.
    `fit` then trains on this process' own rows of each batch; validate outside `fit`.

    ```
    KERAS_BACKEND=jax KERAS_DISTRIBUTION_JOB_ADDRESSES=first-machine:1234 \\
    KERAS_DISTRIBUTION_NUM_PROCESSES=2 KERAS_DISTRIBUTION_PROCESS_ID=0 python program.py
    ```

    Args:
        devices: number of devices, the first ones being used; 1 changes nothing, `None` means all
            devices of all machines.

    Raises:
        ValueError: if there are fewer devices, or the backend has no data parallelism.

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
    """Returns the only strategy of some devices: reductions of a second one would interfere."""
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(list(names))


def first_jax_devices(count: int | None) -> list[str]:
    """Returns the names of the first devices of JAX, or of all for `None`."""
    cpus = f"--xla_force_host_platform_device_count={max(count or 1, 1)}"
    visible = keras.distribution.list_devices()
    return _first(count, visible, f"JAX sees {len(visible)}; on CPUs, set XLA_FLAGS={cpus}.")


def first_tensorflow_devices(count: int | None) -> list[str]:
    """Returns the names of the first GPUs, or all for `None`; without GPUs, of CPU cores."""
    import tensorflow as tf

    kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
    if kind == "CPU" and count and 1 < count <= len(available_cores()):
        parts = [tf.config.LogicalDeviceConfiguration()] * count
        # Fails once TensorFlow is initialized.
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
