"""Event files as TensorBoard reads them."""

import pytest


def read_events(folder):
    """All events of the files in a folder."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    sizes = {"images": 0, "tensors": 0}
    return accumulator.EventAccumulator(str(folder), size_guidance=sizes).Reload()


def read_hparams(folder):
    """The start of the session of a run, and its end or `None`."""
    metadata = pytest.importorskip("tensorboard.plugins.hparams.metadata")
    found = read_events(folder).PluginTagToContent("hparams")
    start = metadata.parse_session_start_info_plugin_data(found[metadata.SESSION_START_INFO_TAG])
    end = found.get(metadata.SESSION_END_INFO_TAG)
    return start, end and metadata.parse_session_end_info_plugin_data(end)
