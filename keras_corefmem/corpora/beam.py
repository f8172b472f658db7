"""The shards of `shards`, written with [Apache Beam](https://beam.apache.org)."""

from collections.abc import Sequence
from typing import Any

import apache_beam
from apache_beam.options.pipeline_options import PipelineOptions

from keras_corefmem.corpora.index import read_index, write_index
from keras_corefmem.corpora.shards import annotate_shard
from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.corpora.texts import TextReader
from keras_corefmem.utils.files import Path


class AnnotateShards(apache_beam.PTransform):
    """Annotates numbered texts and writes them as shards: text n is in shard n // `size`.

    A shard that is there is left as it is, so that a pipeline that is run again continues. The
    result is what the index says of each shard, for `write_index`.

    Args:
        folder: the folder, which all workers share.
        size: number of texts in each shard.
        annotator: a `TextAnnotator`.
    """

    def __init__(self, folder: Path, size: int, annotator: TextAnnotator) -> None:
        super().__init__()
        self.folder, self.size, self.annotator = str(folder), size, annotator

    def expand(self, texts: Any) -> Any:
        return (
            texts
            | "Shard" >> apache_beam.Map(lambda pair, size: (pair[0] // size, pair), self.size)
            | "Group" >> apache_beam.GroupByKey()
            | "Annotate" >> apache_beam.ParDo(_AnnotateShard(self.folder, self.annotator))
        )


class _AnnotateShard(apache_beam.DoFn):
    def __init__(self, folder: str, annotator: TextAnnotator) -> None:
        super().__init__()
        self.folder, self.annotator = folder, annotator

    def setup(self):
        self.annotator.load()

    def process(self, shard):
        number, texts = shard
        texts = [text for _, text in sorted(texts, key=lambda pair: pair[0])]
        content, _ = annotate_shard(self.folder, number, texts, self.annotator)
        yield content


def run(
    inputs: Sequence[str],
    folder: Path,
    annotator: TextAnnotator,
    plan: dict,
    runner: str = "DirectRunner",
    flags: Sequence[str] = (),
) -> dict:
    """Annotates files with Beam, after `prepare_folder`; returns the index."""
    options = PipelineOptions(flags=list(flags), runner=runner)
    with apache_beam.Pipeline(options=options) as pipeline:
        (
            pipeline
            | "Inputs" >> apache_beam.Create([(list(inputs), plan["whole"])])
            | "Read" >> apache_beam.FlatMapTuple(lambda *source: enumerate(TextReader(*source)))
            | AnnotateShards(folder, plan["shard_size"], annotator)
            | "Collect" >> apache_beam.combiners.ToList()
            | "Index" >> apache_beam.Map(lambda shards: write_index(str(folder), plan, shards))
        )
    return read_index(folder)
