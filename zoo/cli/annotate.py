"""`corefmem annotate`: prints the linguistic structure of texts, or writes records of it."""

import json
import os
import pathlib
import shlex
from collections.abc import Iterator
from typing import Any

from zoo.cli.options import argument, one_of, option


def _annotated() -> list[str]:
    from keras_corefmem.datasets import DATASETS

    return [name for name, known in DATASETS.items() if known.from_record]


def annotate(
    inputs: list[str] | None = argument(
        "TEXT",
        "a text, a .txt file of one a line, a .jsonl file of objects with a text; - for "
        "standard input",
        default=None,
    ),
    dataset: str | None = option(
        "NAME",
        "questions of a data set instead, all its parts: lambada, wikihop, medhop, cbt",
        parser=one_of(_annotated),
        default=None,
    ),
    task: str | None = option("TASK", "of the Children's Book Test, NE by default", default=None),
    data_dir: str | None = option("DIR", "folder of the data set's files", default=None),
    output: str | None = option("FOLDER", "write records instead of printing", default=None),
    annotator: str = option(
        "PIPELINE", "path or name of a spaCy pipeline; exact needs none", default="exact"
    ),
    whole: bool = option(None, "a .txt file is one text", "--whole", default=False),
    tokenized: bool = option(None, "spaces separate the tokens", "--tokenized", default=False),
    truecaser: str | None = option(
        "FILE", "for texts in lower case: novels, or a file", default=None
    ),
    as_json: bool = option(None, "print lines of JSON", "--json", default=False),
    shard_size: int | None = option("N", "texts in a file, 2000 by default", default=None),
    processes: int | None = option("N", "one a core by default", default=None),
    runner: str | None = option(
        "RUNNER",
        "run on Apache Beam: DirectRunner, or FlinkRunner, SparkRunner, ... on a shared disk",
        default=None,
    ),
    runner_options: str | None = option(
        "TEXT", "options of the runner, as '--flink_master host:8081'", default=None
    ),
) -> None:
    """Find the linguistic structure of texts.

    Killed and started again with the same arguments, it continues.
    keras_corefmem.corpora.read_shards reads the records.
    """
    inputs = inputs or []
    writes, chooses = output is not None, processes is not None
    for wrong, message in (
        (bool(inputs) == bool(dataset), "Give texts, files or -, or a --dataset and --data-dir."),
        (data_dir and not dataset, f"--data-dir {data_dir} is that of a --dataset: give both."),
        (task and not dataset, f"--task {task} is that of a --dataset: give both."),
        (dataset and (whole or not writes), "--dataset writes records: give --output, no --whole."),
        ((runner or chooses) and not writes, "--runner and --processes write: give --output."),
        (shard_size and not writes, f"--shard-size {shard_size} is of records: give --output."),
        (writes and as_json, "--json prints annotations and --output writes them: give one."),
        (runner and chooses, "Beam has processes of its own: give --runner or --processes."),
        (runner_options and not runner, "--runner-options are those of a --runner: give both."),
        (runner and "-" in inputs, "Beam reads files, not standard input: give their names."),
        (shard_size is not None and shard_size < 1, f"--shard-size {shard_size}: give at least 1."),
        (processes is not None and processes < 1, f"--processes {processes}: give at least 1."),
    ):
        if wrong:
            raise ValueError(message)
    from keras_corefmem import corpora, datasets

    tokenized = tokenized or dataset is not None
    annotate_texts = corpora.TextAnnotator(annotator, tokenized=tokenized, truecaser=truecaser)
    options: dict[str, Any] = {"whole": whole, "processes": processes}
    options |= {"shard_size": shard_size} if shard_size else {}
    options |= {"runner": runner, "flags": _split(runner_options or "")}
    if output is None:
        show(inputs, whole, as_json, annotate_texts)
    elif dataset is None:
        write(inputs, output, annotate_texts, options)
    else:
        annotate_texts.describe()
        splits = datasets.load(dataset, task, data_dir, cased=True)
        for part, path in corpora.write_questions(splits, output).items():
            write([str(path)], path.with_name(part), annotate_texts, options)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"--runner-options {text}: {error}, correct it.") from None


def write(
    inputs: list[str], folder: str | pathlib.Path, annotator: Any, options: dict[str, Any]
) -> None:
    from keras_corefmem import corpora
    from keras_corefmem.visualization import make_console
    from zoo.cli.progress import Report

    console = make_console()
    console.print(f"Records: {folder}")
    with Report(console) as report:
        index = corpora.annotate_files(inputs, folder, annotator, **options, progress=report)
    if report.started and not options["runner"]:
        console.print(report.summary())
    console.print(
        f"{'Complete' if report.started else 'All there'}: {index['texts']:,} texts, "
        f"{index['tokens']:,} tokens in {len(index['shards'])} shards."
    )


def show(inputs: list[str], whole: bool, as_json: bool, annotator: Any) -> None:
    from keras_corefmem.corpora.shards import split_texts
    from keras_corefmem.visualization.terminal import make_console, print_annotation

    console, chunks = make_console(), split_texts(read(inputs, whole), annotator.batch_size)
    annotations = (annotation for _, chunk in chunks for annotation in annotator(chunk))
    for number, annotation in enumerate(annotations):
        if as_json:
            print(json.dumps(annotation.to_dict(), ensure_ascii=False))
            continue
        if number:
            console.print()
        print_annotation(console, annotation)


def read(inputs: list[str], whole: bool) -> Iterator[Any]:
    from keras_corefmem.corpora import Text, TextReader

    for number, text in enumerate(inputs, 1):
        # A sentence may end in the name of a file.
        is_path = os.sep in text or not any(map(str.isspace, text))
        if text == "-" or is_path and text.endswith((".txt", ".jsonl")) or os.path.isfile(text):
            yield from TextReader([text], whole)
        elif os.sep in text and os.path.isdir(text):
            raise ValueError(f"{text} is a folder: give the files in it.")
        elif not text.strip():
            raise ValueError(f"Text {number} is empty, give it a word.")
        elif whole:
            raise ValueError(f"--whole is for .txt files, not for text {number}: leave it out.")
        else:
            yield Text(text, {}, f"text {number}")
