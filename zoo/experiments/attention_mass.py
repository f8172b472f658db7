"""Attention of a reader's heads on the targets of signals, in passages not used for training."""

import itertools
from collections.abc import Sequence
from typing import Any

import keras

from zoo.architectures import BiDAFReader
from zoo.architectures.passage.supervision import as_sequences

SIGNALS = ("dependency", "coref_all", "coref_previous", "coref_next", "narrative")


def measure_attention_mass(
    reader: BiDAFReader,
    examples: Sequence[Any],
    signals: Sequence[str] = SIGNALS,
    batch_size: int = 32,
) -> dict[str, float]:
    """Measures the mean attention that rows with a target pay to their targets.

    A head is measured as if it were supervised: for dependencies, within sentences alone.
    """
    if reader.config["self_attention"] == "none":
        return {}
    own = reader.config["supervision"]
    plans = [own] if own else [[signal] for signal in signals]
    masses: dict[str, float] = {}
    for plan in plans:
        twin = supervised_twin(reader, plan)
        batches = twin.batches(examples, batch_size=batch_size)
        logs = twin.evaluate(batches, verbose=0, return_dict=True)
        for metric in twin.supervision_metrics:
            rows = keras.ops.convert_to_numpy(metric.sums)[:, 3]
            aimed = itertools.compress(metric.names, rows)
            masses |= {signal: float(logs[f"{signal}_attention_mass"]) for signal in aimed}
    return masses


def supervised_twin(reader: BiDAFReader, supervision: Any) -> BiDAFReader:
    """Makes a compiled reader with the weights of another one and the supervision passed."""
    preprocessing = reader.preprocessor.get_config()
    known = preprocessing["signals"]
    signals = {signal: known.get(signal, 1) for signal, *_ in as_sequences(supervision)}
    preprocessor = type(reader.preprocessor).from_config({**preprocessing, "signals": signals})
    changes = {"supervision": supervision, "preprocessor": preprocessor}
    twin = BiDAFReader.from_config({**reader.get_config(), **changes})
    twin.set_weights(reader.get_weights())
    # XLA does not pay off for many shapes and few passes, but JAX needs it to fuse operations.
    twin.compile(jit_compile=keras.backend.backend() == "jax")
    return twin
