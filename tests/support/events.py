"""Event files as TensorBoard reads them."""

import pytest


def read_events(folder):
    """All events of the files in a folder."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    sizes = {"images": 0, "tensors": 0}
    return accumulator.EventAccumulator(str(folder), size_guidance=sizes).Reload()
