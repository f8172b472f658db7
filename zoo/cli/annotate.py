"""`corefmem annotate`: the linguistic structure of texts, to look at or as shards of records."""

import json
import pathlib
import time

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from keras_corefmem import corpora, datasets
from keras_corefmem.corpora import Text, TextAnnotator, TextReader
from keras_corefmem.corpora.shards import split_texts
from keras_corefmem.visualization.terminal import make_console, print_annotation

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
        splits = datasets.load(args.dataset, args.task, args.data_dir, cased=True)
        for part, path in corpora.write_questions(splits, args.output).items():
            annotate_files(args, [str(path)], path.with_name(part), annotator)


def annotate_files(args, inputs, folder, annotator):
    """Writes the records of files into a folder, or the rest of them, and says how far it is."""
    console = make_console()
    console.print(f"Records: {folder}")
    with Report(console) as report:
        index = corpora.annotate_files(
            inputs,
            folder,
            annotator,
            whole=args.whole,
            shard_size=args.shard_size,
            processes=args.processes,
            runner=args.runner,
            progress=report,
        )
    if report.started and not args.runner:
        console.print(report.summary())
    console.print(f"{'Complete' if report.started else 'All there'}: {describe(index)}.")


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
    for _, chunk in split_texts(read(args.inputs, args.whole), annotator.batch_size):
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


class Report(corpora.Progress):
    """How far the shards are, as a bar in a terminal and as a line a minute elsewhere.

    Args:
        console: what `make_console` returns.
    """

    def __init__(self, console):
        self.console, self.started = console, False
        self.texts = self.tokens = self.before = 0
        self.began = self.last = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, console=console, disable=not console.is_terminal)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.started:
            self.progress.stop()

    def start(self, size):
        self.started, self.task = True, self.progress.add_task(self.summary(), total=size)
        self.progress.start()

    def add(self, shard, is_new, size):
        if is_new:
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
        seconds = max(time.monotonic() - self.began, 1e-9)
        there = f"; {self.before} shards were there" if self.before else ""
        return (
            f"{self.texts:,} texts, {self.texts / seconds:,.0f} texts/s, "
            f"{self.tokens / seconds:,.0f} tokens/s{there}"
        )
