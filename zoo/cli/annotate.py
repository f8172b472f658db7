"""`corefmem annotate`: the linguistic structure of texts, to look at or as shards of records."""

import concurrent.futures
import importlib.util
import json
import logging
import multiprocessing
import os
import pathlib
import time

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from keras_corefmem.corpora import shards
from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.corpora.texts import Text, TextReader
from keras_corefmem.datasets.annotated import to_text
from keras_corefmem.utils.files import replacing
from keras_corefmem.utils.processes import available_cores, follow_parent, import_quietly, stop
from keras_corefmem.visualization.terminal import make_console, print_annotation
from zoo.experiments import data

# Shards that wait for each process, so that none waits for the reader.
AHEAD = 2
# Seconds between two lines about what is done, where there is no terminal.
PULSE = 60


def annotate(args):
    check(args)
    tokenized = args.tokenized or args.dataset is not None
    annotator = TextAnnotator(args.annotator, tokenized=tokenized, truecaser=args.truecaser)
    if args.output is None:
        show(args, annotator)
    elif args.dataset is None:
        annotate_files(args, args.inputs, args.output, annotator)
    else:
        annotator.describe()
        for part, path in write_questions(args.dataset, args.data_dir, args.task, args.output):
            annotate_files(args, [str(path)], path.with_name(part), annotator)


def write_questions(dataset, data_dir, task, folder):
    """Writes the questions of each part of a data set as texts to annotate.

    Args:
        dataset: one of `data.ANNOTATED`.
        data_dir: folder of its files.
        task: task of a data set that has several.
        folder: folder to write `train.jsonl`, `valid.jsonl` and `test.jsonl` to.

    Returns:
        List of pairs of the name of a part and the path of its file.
    """
    splits, files = data.load_questions(dataset, data_dir, task), []
    for part in ("train", "valid", "test"):
        path = pathlib.Path(folder, f"{part}.jsonl")
        with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:
            for text, fields in map(to_text, getattr(splits, part)):
                file.write(json.dumps({"text": text, **fields}, ensure_ascii=False) + "\n")
        files.append((part, path))
    return files


def annotate_files(args, paths, folder, annotator):
    """Writes the records of files into a folder, or the rest of them."""
    reader = TextReader(paths, args.whole)
    plan = {
        "inputs": reader.describe(),
        "whole": args.whole,
        **annotator.describe(),
        "shard_size": args.shard_size,
    }
    console = make_console()
    console.print(f"Records: {folder}")
    index = shards.begin(folder, plan)
    if index is not None:
        console.print(f"All there: {describe(index)}.")
        return
    if args.runner:
        index = run_beam(paths, folder, annotator, plan, args.runner)
    else:
        with Report(console, reader.size) as report:
            done = write(folder, reader, args.shard_size, annotator, args.processes, report)
        index = shards.finish(folder, {**plan, "inputs": reader.describe()}, done)
        console.print(report.summary())
    console.print(f"Complete: {describe(index)}.")


def check(args):
    """Refuses options that do not go together."""
    if bool(args.inputs) == bool(args.dataset):
        raise ValueError("Give texts, files or -, or a --dataset with its --data-dir.")
    if args.dataset is None and args.data_dir is not None:
        raise ValueError(f"--data-dir {args.data_dir} is that of a --dataset: give both.")
    if args.dataset and (args.output is None or args.whole):
        raise ValueError("--dataset writes records of questions: give --output, and not --whole.")
    if args.output is None and (args.runner or args.processes is not None):
        raise ValueError("--runner and --processes write records: give --output FOLDER.")
    if args.output is not None and args.json:
        raise ValueError("--json prints annotations and --output writes them: give one of them.")
    if args.runner and args.processes is not None:
        raise ValueError("Beam has processes of its own: give --runner or --processes.")
    if args.runner and "-" in args.inputs:
        raise ValueError("Beam reads files, not standard input: give their names.")
    if args.runner and importlib.util.find_spec("apache_beam") is None:
        raise ValueError(
            "--runner needs Apache Beam: pip install 'keras_corefmem[beam]', or leave it out."
        )
    for name in ("shard_size", "processes"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name.replace('_', '-')} {value}: give at least 1.")


def describe(index):
    """How much there is, by an index."""
    return f"{index['texts']:,} texts, {index['tokens']:,} tokens in {len(index['shards'])} shards"


def show(args, annotator):
    """Prints annotations: sentences for people to read, or lines of JSON."""
    console, several = make_console(), False
    for _, chunk in shards.split(read(args.inputs, args.whole), annotator.batch_size):
        for annotation in annotator(chunk):
            if args.json:
                print(json.dumps(annotation.to_dict(), ensure_ascii=False))
                continue
            if several:
                console.print()
            print_annotation(console, annotation)
            several = True


def read(inputs, whole):
    """Yields the texts of files, and those that are given themselves."""
    for number, given in enumerate(inputs, 1):
        looks_like_path = given.endswith((".txt", ".jsonl")) and not any(map(str.isspace, given))
        if given == "-" or looks_like_path or pathlib.Path(given[:255]).is_file():
            yield from TextReader([given], whole)
        elif not given.strip():
            raise ValueError(f"Text {number} is empty, give it a word.")
        else:
            yield Text(given, {}, f"text {number}")


def write(folder, reader, size, annotator, processes, report):
    """Writes shards with several processes; returns what the index says of each."""
    processes = processes or len(available_cores())
    context, done = multiprocessing.get_context("spawn"), []
    with concurrent.futures.ProcessPoolExecutor(processes, context, begin_worker) as pool:
        pending = {}

        def collect(limit):
            while len(pending) > limit:
                ended, _ = concurrent.futures.wait(
                    pending, PULSE, concurrent.futures.FIRST_COMPLETED
                )
                for future in ended:
                    size = pending.pop(future)
                    shard, fresh = future.result()
                    done.append(shard)
                    report.add(shard, fresh, size)
                report.pulse()

        try:
            position = 0
            for number, texts in shards.split(reader, size):
                future = pool.submit(shards.annotate_shard, folder, number, texts, annotator)
                pending[future], position = reader.bytes_read - position, reader.bytes_read
                collect(AHEAD * processes - 1)
            collect(0)
        except concurrent.futures.BrokenExecutor:
            raise ChildProcessError(
                "A process was killed, perhaps for want of memory: give the same command again, "
                "with fewer --processes."
            ) from None
        finally:
            if pending:
                stop(pool)
                shards.sweep(folder)
    return done


def begin_worker():
    """Begins a process that annotates."""
    follow_parent()
    # TensorFlow only writes files here, and would take all memory of a GPU.
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import_quietly("keras_corefmem.corpora.records")


def run_beam(paths, folder, annotator, plan, runner):
    """Writes shards with Apache Beam; returns the index."""
    import_quietly("keras_corefmem.corpora.records")
    from keras_corefmem.corpora import beam

    if runner == "DirectRunner":
        # It would print an error as often as it passes through its layers.
        logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    return beam.run(paths, folder, annotator, plan, runner)


class Report:
    """How far the shards are, as a bar in a terminal and as a line a minute elsewhere.

    Args:
        console: what `make_console` returns.
        size: bytes of the input; `None` where unknown.
    """

    def __init__(self, console, size):
        self.console = console
        self.texts = self.tokens = self.before = 0
        self.start = self.last = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self.task = self.progress.add_task(self.summary(), total=size)

    def __enter__(self):
        self.progress.start()
        return self

    def __exit__(self, *error):
        self.progress.stop()

    def add(self, shard, fresh, size):
        """Counts a shard of so many bytes of input, and whether it was written now."""
        if fresh:
            self.texts += shard["texts"]
            self.tokens += shard["tokens"]
        else:
            self.before += 1
        self.progress.update(self.task, advance=size, description=self.summary())

    def pulse(self):
        """Prints a line where the last one is long ago and there is no bar."""
        if not self.console.is_terminal and time.monotonic() - self.last >= PULSE:
            self.last = time.monotonic()
            self.console.print(self.summary())

    def summary(self):
        """What was done now, and how fast."""
        seconds = max(time.monotonic() - self.start, 1e-9)
        there = f"; {self.before} shards were there" if self.before else ""
        return (
            f"{self.texts:,} texts, {self.texts / seconds:,.0f} texts/s, "
            f"{self.tokens / seconds:,.0f} tokens/s{there}"
        )
