"""Runs a search: its trials in one or several processes, its progress, and its results."""

import contextlib
import json
import shlex
import threading
import time
from collections.abc import Iterator
from typing import Any

import rich.console
from rich.table import Table

from keras_corefmem.datasets.registry import find
from keras_corefmem.utils.files import write_json
from keras_corefmem.visualization import make_console
from tuning.search import Search
from tuning.spaces import first_space, space_of, varies
from tuning.tuners import run_trials
from tuning.workers import search_with
from zoo.experiments.reproduce import PULSE, describe_epochs
from zoo.experiments.results import SEED, best_result, group_seeds, replace_results
from zoo.reports.searches import search_columns

# The setting that changes the questions that trials are validated on.
COUNTED = "unanswerable"


def run_search(search: Search, workers: int, results: str, leads: bool = True) -> int:
    console = make_console()
    entries = ", ".join(search.hyper_model.entries)
    console.print(f"{search.name}: {entries}; states: {search.folder}")
    done = len(search.outcomes())
    if done:
        console.print(f"Found {done} trials that are complete.")
    began = time.perf_counter()

    def report(outcome: dict[str, Any]) -> None:
        # Other machines may have completed trials too.
        outcomes = search.outcomes()
        leader = best_result(outcomes)
        total = f"/{search.trials}" if search.trials else ""
        values = ", ".join(f"{k} {json.dumps(v)}" for k, v in outcome["chosen"].items())
        console.print(
            f"[{len(outcomes)}{total}] trial {outcome['trial']}: "
            f"valid {outcome['valid_accuracy']:.1%}, "
            f"{outcome['epochs']} epochs, {outcome['seconds']:.0f} s; {values}; best so far: "
            f"trial {leader['trial']}, {leader['valid_accuracy']:.1%}",
            soft_wrap=True,
        )

    with news_of(search, console):
        if workers > 1:
            search_with(workers, search, report)
        else:
            run_trials(search, report)
    if not leads:
        return 0
    return conclude(search, results, console, time.perf_counter() - began)


def check_space(search: Search, epochs: int | None) -> None:
    entries, space = space_of(search.model, search.space), search.space or first_space(search.model)
    if search.tuner == "hyperband" and "epochs" in entries:
        raise ValueError(
            f"--space {space}: hyperband decides itself how many epochs: take them out."
        )
    if SEED in entries and search.tuner != "grid":
        raise ValueError(
            f"--space {space}: a {SEED} to choose takes --tuner grid, which tries each setting "
            "with all of them."
        )
    if varies(entries.get(COUNTED, [])):
        raise ValueError(
            f"--space {space}: {COUNTED} adds questions to those that trials are compared by: "
            "take it out, or give it one value."
        )
    for name in (*search.settings, *search.settings.get("arguments", {})):
        if name in entries:
            option = "--epochs" if name == "epochs" and epochs is not None else f"--set {name}"
            raise ValueError(f"The search space {space} chooses {name}; leave out {option}.")


@contextlib.contextmanager
def news_of(search: Search, console: rich.console.Console) -> Iterator[None]:
    over = threading.Event()

    def tell() -> None:
        while not over.wait(PULSE):
            epochs = {f"trial {n}": count for n, count in search.under_way().items()}
            console.print(describe_epochs(epochs))

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def conclude(search: Search, results: str, console: rich.console.Console, seconds: float) -> int:
    failed, outcomes = search.failures(), search.outcomes()
    for trial, message in failed.items():
        console.print(f"Trial {trial} failed: {message}", style="red")
    if not outcomes:
        console.print("No trial is complete: nothing is chosen.")
        return 1
    first, *others = map(len, group_seeds(outcomes))
    behind = sum(count < first for count in others)
    if behind:
        console.print(
            f"{behind} of {1 + len(others)} settings lack some of {first} seeds, and so rank last.",
            style="red",
        )
    for columns in search_columns(outcomes):
        headings, *rows = zip(*columns, strict=True)
        table = Table(*headings)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    winner = search.test_winner()
    best = search.folder / "best.json"
    write_json(best, search.describe_best(winner))
    tested = (winner if each["trial"] == winner["trial"] else each for each in outcomes)
    # Older trials are of a search that may have had fewer.
    current = ({**each, "command": search.command} for each in tested)
    replace_results(winner["study"], current, results)
    anew = ["corefmem", "train", "--best", str(best)]
    anew += ["--data-dir", search.data_dir] if search.data_dir else []
    runs = ["tensorboard", "--logdir", str(search.log_folder)]
    part = find(search.dataset).reported
    console.print(
        f"Best of {len(outcomes)} trials by validation: {winner['trial']}, validation accuracy "
        f"{winner['valid_accuracy']:.1%}; its {part} accuracy: {winner['test_accuracy']:.1%}\n"
        f"Its model: {search.keep_model(winner)}\n"
        f"{seconds:.0f} s; train it anew: {shlex.join(anew)}\n"
        f"TensorBoard: {shlex.join(runs)}",
        soft_wrap=True,
    )
    return 1 if failed else 0
