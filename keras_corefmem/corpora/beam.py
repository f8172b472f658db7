"""The shards of `shards`, written with [Apache Beam](https://beam.apache.org)."""

import contextlib
import io
import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam
from apache_beam.options.pipeline_options import PipelineOptions

from keras_corefmem.corpora.index import INDEX, PLAN, read_index, write_index
from keras_corefmem.corpora.shards import annotate_shard
from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.corpora.texts import TextReader
from keras_corefmem.utils.files import Path

_STEP = re.compile(r" \[while running .*?\]", re.DOTALL)
_CAUSE = re.compile(r"^[\w.]*(?:Error|Exception)\b.*", re.MULTILINE)


class AnnotateShards(apache_beam.PTransform):
    """Annotates numbered texts and writes them as shards: text n is in shard n // `size`.

    Shards that exist are left as they are, so that a pipeline that is run again continues. The
    result is the entry of each shard in the index, for `write_index`.

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
    """Annotates files with Beam, after `prepare_folder`; returns the index.

    Raises:
        ChildProcessError: if the runner fails.
        FileNotFoundError: if the workers write to another disk.
        ValueError: if there is no such runner, or an option or a text is wrong.
    """
    with _plain_errors(runner):
        options = _options(runner, flags)
        with apache_beam.Pipeline(options=options) as pipeline:
            (
                pipeline
                | "Inputs" >> apache_beam.Create([(list(inputs), plan["whole"])])
                | "Read" >> apache_beam.FlatMapTuple(lambda *source: enumerate(TextReader(*source)))
                | AnnotateShards(folder, plan["shard_size"], annotator)
                | "Collect" >> apache_beam.combiners.ToList()
                | "Index" >> apache_beam.Map(lambda shards: write_index(str(folder), plan, shards))
            )
    # The plan is removed when the index is written.
    if pathlib.Path(folder, PLAN).exists() or not pathlib.Path(folder, INDEX).exists():
        raise FileNotFoundError(
            f"{folder}: {runner} wrote no {INDEX} here: all its workers need the folder and the "
            "inputs at the same paths, on a disk that they share."
        )
    return read_index(folder)


def _options(runner, flags):
    """Returns the options of a pipeline; raises a ValueError where Beam would exit."""
    usage = io.StringIO()
    try:
        with contextlib.redirect_stderr(usage):
            options = PipelineOptions(flags=list(flags), runner=runner)
            options.get_all_options()
    except SystemExit:
        said = usage.getvalue().strip().rpartition("error: ")[2]
        raise ValueError(f"{runner}: {said}; correct its options.") from None
    return options


@contextlib.contextmanager
def _plain_errors(runner: str) -> Iterator[None]:
    """Removes what Beam adds to errors, and shortens those of a runner to one line."""
    try:
        yield
    except (ImportError, OSError, ValueError) as error:
        error.args = tuple(_STEP.sub("", a) if isinstance(a, str) else a for a in error.args)
        raise
    except Exception as error:
        said = _STEP.sub("", str(error)).strip()
        cause = (_CAUSE.findall(said) or said.splitlines() or [type(error).__name__])[-1]
        raise ChildProcessError(f"{runner} failed: {cause.strip():.500}") from error
