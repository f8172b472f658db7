"""`corefmem search`: finds hyper-parameters by validation, and tests the best ones once."""

import contextlib
import json
import os
import pathlib
import shlex
import threading
import time

from rich.table import Table

from keras_corefmem.utils.files import write_json
from keras_corefmem.visualization import make_console
from tuning.search import Search
from tuning.spaces import first_space, space_of
from tuning.tuners import run_trials
from tuning.workers import search_with
from zoo.cli.commands import parse_settings
from zoo.experiments import data
from zoo.experiments.reproduce import PULSE, describe_epochs
from zoo.experiments.results import best_result, replace_results
from zoo.reports.searches import trial_columns

DEFAULT_TRIALS = 12
# What tells keras-tuner which part of a search on several machines a process has.
PART = ("KERASTUNER_TUNER_ID", "KERASTUNER_ORACLE_IP", "KERASTUNER_ORACLE_PORT")


def search(args):
    """Runs the command; returns 1 if a trial fails."""
    for name in ("workers", "trials"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            raise ValueError(f"--{name} must be at least 1, got {getattr(args, name)}.")
    if args.trials and args.tuner == "hyperband":
        raise ValueError(
            "--trials: how many trials hyperband makes depends on --epochs, give these instead."
        )
    part = part_here(args.workers)
    leads = not part or "chief" in part
    if args.fresh and not leads:
        raise ValueError(
            f"--fresh would remove the search that {part} takes part in: give it to the chief "
            "alone, before the others start."
        )
    dataset = args.dataset or ("babi" if args.data_dir else "simulator")
    chosen = parse_settings(args.set)
    if args.epochs is not None:
        chosen["epochs"] = args.epochs
    given = Search(
        args.model,
        dataset,
        data.DATASETS[dataset].first_task if args.task is None else args.task,
        args.data_dir and os.path.abspath(args.data_dir),
        args.language,
        args.space,
        args.tuner,
        args.trials or (None if args.tuner in ("grid", "hyperband") else DEFAULT_TRIALS),
        args.seed or 0,
        chosen,
        args.output,
        args.log_dir,
    )
    check_settings(given, args.epochs)
    console = make_console()
    given.start(args.fresh)
    entries = ", ".join(given.hyper_model.entries)
    console.print(f"{given.name}: {entries}; states: {given.folder}")
    done = len(given.outcomes())
    if done:
        console.print(f"Found {done} trials that are complete.")
    begun = time.perf_counter()

    def report(outcome):
        # Other machines may have ended some.
        outcomes = given.outcomes()
        leader = best_result(outcomes)
        total = f"/{given.trials}" if given.trials else ""
        values = ", ".join(f"{k} {json.dumps(v)}" for k, v in outcome["chosen"].items())
        console.print(
            f"[{len(outcomes)}{total}] trial {outcome['trial']}: "
            f"valid {outcome['valid_accuracy']:.1%}, "
            f"{outcome['epochs']} epochs, {outcome['seconds']:.0f} s; {values}; best so far: "
            f"trial {leader['trial']}, {leader['valid_accuracy']:.1%}",
            soft_wrap=True,
        )

    with news_of(given, console):
        if args.workers > 1:
            search_with(args.workers, given, report)
        else:
            run_trials(given, report)
    if not leads:
        return 0
    return conclude(given, args.results, console, time.perf_counter() - begun)


def part_here(workers):
    """Which part of a search on several machines this process has, by the environment.

    Args:
        workers: number of workers that the process is to start.

    Returns:
        Its name, that of the chief with `"chief"` in it; an empty one for a search here alone.

    Raises:
        ValueError: if the environment says a part of what is needed, or there are workers too.
    """
    if not any(name in os.environ for name in PART):
        return ""
    missing = [name for name in PART if not os.environ.get(name)]
    if missing:
        raise ValueError(
            f"A search on several machines needs {', '.join(PART)} in the environment of each; "
            f"set {' and '.join(missing)} too, or none for a search on this machine."
        )
    if workers > 1:
        raise ValueError(
            f"--workers {workers}: KERASTUNER_TUNER_ID makes this process one part of a search "
            "on several machines; leave out --workers, and start a process for each worker."
        )
    return os.environ["KERASTUNER_TUNER_ID"]


def check_settings(given, epochs):
    """Refuses settings that no trial would go by, as the search chooses them.

    Args:
        given: a `Search`.
        epochs: value of `--epochs`, `None` where it is not given.

    Raises:
        ValueError: naming the setting and the search space.
    """
    entries, space = space_of(given.model, given.space), given.space or first_space(given.model)
    if given.tuner == "hyperband" and "epochs" in entries:
        raise ValueError(
            f"--space {space}: hyperband decides itself how many epochs a trial has; take epochs "
            "out of the space, and give the largest number as --epochs."
        )
    for name in (*given.settings, *given.settings.get("arguments", {})):
        if name in entries:
            option = "--epochs" if name == "epochs" and epochs is not None else f"--set {name}"
            raise ValueError(
                f"{option}: the search space {space} chooses {name}; leave out {option}, or give a "
                f"--space without {name}."
            )


@contextlib.contextmanager
def news_of(given, console):
    """Says every minute how far the trials are."""
    over = threading.Event()

    def tell():
        while not over.wait(PULSE):
            epochs = {f"trial {n}": count for n, count in given.under_way().items()}
            console.print(describe_epochs(epochs))

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def conclude(given, results, console, seconds):
    """Shows what was found, tests the best trial and writes its preset; returns the exit status."""
    failed = given.failures()
    outcomes = given.outcomes()
    for trial, message in failed.items():
        console.print(f"Trial {trial} failed: {message}", style="red")
    if not outcomes:
        console.print("No trial is complete: nothing is chosen.")
        return 1
    console.print(make_table(outcomes))
    winner = given.test_winner()
    preset = given.folder / "best.json"
    write_json(preset, given.preset(winner))
    tested = (winner if each["trial"] == winner["trial"] else each for each in outcomes)
    replace_results(winner["study"], tested, results)
    anew = ["corefmem", "train", "--preset", str(preset)]
    anew += ["--data-dir", given.data_dir] if given.data_dir else []
    runs = ["tensorboard", "--logdir", str(pathlib.Path(given.log_dir, given.name))]
    console.print(
        f"Best of {len(outcomes)} trials by validation: {winner['trial']}, validation accuracy "
        f"{winner['valid_accuracy']:.1%}; its test accuracy: {winner['test_accuracy']:.1%}\n"
        f"{seconds:.0f} s; train it anew: {shlex.join(anew)}\n"
        f"TensorBoard: {shlex.join(runs)}",
        soft_wrap=True,
    )
    return 1 if failed else 0


def make_table(outcomes):
    """The trials, best first."""
    headings, *rows = zip(*trial_columns(outcomes), strict=True)
    table = Table(*headings)
    for row in rows:
        table.add_row(*row)
    return table
