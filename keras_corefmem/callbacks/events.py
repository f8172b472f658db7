"""TensorBoard event files, written without TensorFlow."""

import os
import pathlib
import re
import socket
import struct
import time

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import metadata as charts_metadata
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.hparams.api_pb2 import STATUS_SUCCESS
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.plugins.text.summary_v2 import text_pb
from tensorboard.summary.writer.record_writer import RecordWriter

from keras_corefmem.utils.locks import naming_full

STARTED = int(time.time())


class EventFile:
    """Appends to the event file that this process keeps in a folder.

    Each call writes whole records and closes the file, so that nothing is lost when training is
    interrupted, and several writers of one process may share a folder.
    """

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).expanduser()

    def scalars(self, step, values):
        """Writes numbers by tag."""
        self._write(step, [Summary.Value(tag=tag, simple_value=v) for tag, v in values.items()])

    def image(self, step, tag, png):
        """Writes a picture, the bytes of a PNG file."""
        width, height = struct.unpack(">II", png[16:24])
        image = Summary.Image(height=height, width=width, colorspace=4, encoded_image_string=png)
        self._write(step, [Summary.Value(tag=tag, image=image)])

    def text(self, step, tag, markdown):
        """Writes a text in Markdown."""
        self._write(step, text_pb(tag, markdown).value)

    def charts(self, category, charts):
        """Writes the charts of the tab Custom Scalars, lists of tags by title, below a category."""
        # TensorBoard takes regular expressions and matches them from the start of a tag.
        lines = [
            {"title": title, "multiline": {"tag": [f"{re.escape(tag)}$" for tag in tags]}}
            for title, tags in charts.items()
        ]
        layout = layout_pb2.Layout(category=[{"title": category, "chart": lines}])
        tensor = TensorProto(dtype=DT_STRING, string_val=[layout.SerializeToString()])
        metadata = charts_metadata.create_summary_metadata()
        tag = charts_metadata.CONFIG_SUMMARY_TAG
        self._write(0, [Summary.Value(tag=tag, tensor=tensor, metadata=metadata)])

    def session_start(self, hparams):
        """Writes hyper-parameters by name: strings, numbers and booleans."""
        # Sessions of one group would share a row; without an experiment's summary, TensorBoard
        # gathers the columns of its table from all runs.
        self._write(0, hparams_pb(hparams, trial_id="").value)

    def session_end(self):
        """Writes that the run whose hyper-parameters were written is complete."""
        end = SessionEndInfo(status=STATUS_SUCCESS, end_time_secs=time.time())
        metadata = hparams_metadata.create_summary_metadata(HParamsPluginData(session_end_info=end))
        tag, tensor = hparams_metadata.SESSION_END_INFO_TAG, hparams_metadata.NULL_TENSOR
        self._write(0, [Summary.Value(tag=tag, tensor=tensor, metadata=metadata)])

    def _write(self, step, values):
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{STARTED}.{socket.gethostname()}.{os.getpid()}"
        event = Event(wall_time=time.time(), step=step, summary=Summary(value=values))
        path = self.folder / name
        with naming_full(path), open(path, "ab") as file:
            records = RecordWriter(file)
            if not file.tell():
                start = Event(wall_time=event.wall_time, file_version="brain.Event:2")
                records.write(start.SerializeToString())
            records.write(event.SerializeToString())
