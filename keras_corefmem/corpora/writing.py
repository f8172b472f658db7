"""Annotation of files of texts into a folder of shards, by several processes or by Beam."""

import concurrent.futures
import importlib.util
import logging
import multiprocessing
import os
import pathlib
from collections.abc import Iterable, Sequence

from keras_corefmem.corpora import index
from keras_corefmem.corpora.shards import annotate_part, annotate_shard, join_parts, split_texts
from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.corpora.texts import TextReader
from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.files import Path
from keras_corefmem.utils.locks import hold
from keras_corefmem.utils.processes import available_cores, follow_parent, stop

# Jobs that are queued for each process, so that none waits for the reader.
_AHEAD = 2
# Seconds after which `Progress.pulse` is called although no shard is done.
_PULSE = 60


class Progress:
    """Follows the progress of `annotate_files`; subclasses show it, this class does nothing.

    Example:
        >>> class Counter(keras_corefmem.corpora.Progress):
        ...     def add(self, shard, is_new, size):
        ...         print(shard["texts"], "more texts")
        >>> Counter().add({"texts": 2000}, True, 100_000)
        2000 more texts
    """

    def start(self, size: int | None) -> None:
        """Called if something is left to write, with the bytes of the inputs if known."""

    def add(self, shard: dict, is_new: bool, size: int) -> None:
        """Called for each shard, with its entry in the index and its `size` in bytes of input."""

    def pulse(self) -> None:
        """Called at least once a minute."""


def annotate_files(
    inputs: Iterable[Path],
    folder: Path,
    annotator: TextAnnotator | str | None = None,
    whole: bool = False,
    shard_size: int = 2000,
    processes: int | None = None,
    runner: str | None = None,
    progress: Progress | None = None,
    flags: Sequence[str] = (),
) -> dict:
    """Annotates files of texts and writes a folder of shards.

    An interrupted run continues if it is called again with the same arguments.

    Args:
        inputs: paths of the files, see `TextReader`.
        folder: the folder to write.
        annotator: a `TextAnnotator`, by default `TextAnnotator()`; or the name or path of a
            pipeline for one.
        whole: whether each input is one text.
        shard_size: number of texts in a shard.
        processes: number of worker processes, 0 for none; `None` for one per core.
        runner: name of a runner of Apache Beam, which brings its own processes; or `None`.
        progress: a `Progress` that follows what is done.
        flags: options of the runner, such as `["--flink_master", "host:8081"]`. Its workers need
            the folder and the inputs at the same paths, on a disk that they share.

    Returns:
        The index of the folder.

    Raises:
        BlockingIOError: if another process writes to the folder.
        ChildProcessError: if a process was killed, or the runner failed.
        FileNotFoundError: if there is no such file.
        ValueError: if a text is wrong, a number too small, or the folder holds other shards.

    Example:
        >>> with open("a.txt", "w") as file:
        ...     _ = file.write("Mary left. We saw Mary.")
        >>> index = keras_corefmem.corpora.annotate_files(["a.txt"], "annotated", processes=0)
        >>> index["texts"], index["tokens"]
        (1, 7)
    """
    if runner and importlib.util.find_spec("apache_beam") is None:
        raise ValueError(
            "--runner needs Apache Beam: pip install 'keras_corefmem[beam]', or leave it out."
        )
    check_sizes(shard_size=shard_size)
    check_sizes(0, processes=processes or 0)
    if not isinstance(annotator, TextAnnotator):
        annotator = TextAnnotator() if annotator is None else TextAnnotator(annotator)
    progress = progress or Progress()
    reader, settings = TextReader(inputs, whole), annotator.describe()
    plan = {"inputs": reader.describe(), "whole": whole, **settings, "shard_size": shard_size}
    with hold(folder):
        complete = index.prepare_folder(folder, plan)
        if complete is not None:
            return complete
        progress.start(reader.size)
        if runner:
            return _run_beam(reader.inputs, folder, annotator, plan, runner, flags)
        shards = _write_shards(folder, reader, shard_size, annotator, processes, progress)
        return index.write_index(folder, {**plan, "inputs": reader.describe()}, shards)


def _write_shards(folder, reader, size, annotator, processes, progress):
    """Writes shards; returns their entries in the index."""
    done, position = [], 0

    def add(entry, is_new, size):
        done.append(entry)
        progress.add(entry, is_new, size)

    if processes == 0:
        for number, texts in split_texts(reader, size):
            add(*annotate_shard(folder, number, texts, annotator), reader.bytes_read - position)
            position = reader.bytes_read
        return done
    processes = processes or len(available_cores())
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, context, _begin_worker) as pool:
        pending = {}

        def collect(limit):
            while len(pending) > limit:
                ended, _ = concurrent.futures.wait(
                    pending, _PULSE, concurrent.futures.FIRST_COMPLETED
                )
                for future in ended:
                    future.result()
                    finish, size = pending.pop(future)
                    if (finish, size) not in pending.values():
                        add(*finish(), size)
                progress.pulse()

        try:
            for number, texts in split_texts(reader, size):
                futures, finish = _submit(pool, folder, number, texts, annotator)
                pending |= dict.fromkeys(futures, (finish, reader.bytes_read - position))
                position = reader.bytes_read
                collect(_AHEAD * processes - 1)
            collect(0)
        except concurrent.futures.BrokenExecutor:
            raise ChildProcessError(
                "A process was killed, perhaps for want of memory: give the same command again, "
                "with fewer --processes."
            ) from None
        finally:
            if pending:
                stop(pool)
            index.remove_partial(folder)
    return done


def _submit(pool, folder, number, texts, annotator):
    """Submits a shard to a pool; returns futures, and a function that returns its entry then."""
    # Processes share a shard by whole batches: what a pipeline finds may depend on the batch.
    batches = [batch for _, batch in split_texts(texts, annotator.batch_size)]
    if len(batches) == 1 or pathlib.Path(folder, index.shard_name(number)).exists():
        future = pool.submit(annotate_shard, folder, number, texts, annotator)
        return [future], future.result
    parts = [pathlib.Path(folder, index.part_name(number, n)) for n in range(len(batches))]
    jobs = zip(parts, batches, strict=True)
    futures = [pool.submit(annotate_part, *job, annotator) for job in jobs]

    def join():
        tokens = sum(future.result() for future in futures)
        return join_parts(folder, number, texts, parts, tokens)

    return futures, join


def _begin_worker():
    follow_parent()
    # TensorFlow, which checks existing shards, would take all memory of a GPU.
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def _run_beam(inputs, folder, annotator, plan, runner, flags):
    from keras_corefmem.corpora import beam

    if runner == "DirectRunner":
        # Beam would print an error once for each of its layers.
        logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    try:
        return beam.run(inputs, folder, annotator, plan, runner, flags)
    finally:
        index.remove_partial(folder)
