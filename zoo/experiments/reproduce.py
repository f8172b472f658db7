"""Executes the runs of a study in parallel, and continues interrupted ones."""

import concurrent.futures
import functools
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from keras_corefmem.utils.locks import check_room
from keras_corefmem.utils.processes import available_cores, keep_memory
from keras_corefmem.utils.workers import Workers
from zoo.experiments import data
from zoo.experiments.folders import epochs_done
from zoo.experiments.results import Result, append_result, check_results, read_results
from zoo.experiments.runs import Run
from zoo.experiments.studies import STUDIES

# Seconds without a finished run after which a line reports the progress.
PULSE = 60
Failures = list[tuple[Run, BaseException]]


def check_data(study: str, task: int | str, data_dir: str | None) -> None:
    content = STUDIES[study]
    dataset = content.dataset
    if data_dir is None and content.needs_folder:
        raise ValueError(f"{study} needs the folder of {dataset}: give it as --data-dir.")
    if not content.annotated:
        data.load(dataset, content.tasks[task].data, data_dir, content.language_of(task))
    # Only check that records exist: reading them takes long.
    elif data.find_annotated(dataset, data_dir) is None:
        raise ValueError(
            f"{data_dir} holds no records of {dataset}: make them in its folder "
            f"annotated/{dataset} with `corefmem annotate --dataset`."
        )


def execute(run: Run, results: str | pathlib.Path, runs: str | pathlib.Path) -> dict[str, Any]:
    from zoo.experiments.conditions import measure_conditions
    from zoo.experiments.experiment import run_experiment

    remedy = "give this one a --tag of its own, or remove the folder"
    experiment = run.experiment
    places = experiment.dataset, experiment.task, experiment.data_dir, experiment.language
    chosen = run.settings.get("arguments", {})
    outcome = run_experiment(
        experiment, run.folder(runs), splits=_load(*places), remedy=remedy, chosen=chosen
    )
    names = ("study", "model", "task", "seed", "tag", "command")
    content = {**{name: getattr(run, name) for name in names}, **outcome.describe()}
    if STUDIES[run.study].conditions:
        content["conditions"] = measure_conditions(outcome.model, outcome.splits)
    # Another command may have recorded a result of other settings meanwhile.
    append_result(content, results, run.find_result)
    return content


# Runs of a process share their data: loading the records of LAMBADA takes a minute.
_load = functools.lru_cache(1)(data.load)


def reproduce(
    runs: Iterable[Run],
    results: str | pathlib.Path = "results",
    folder: str | pathlib.Path = "runs",
    jobs: int | None = None,
    report: Callable[[str], None] = print,
) -> Failures:
    """Executes the runs that have no result yet, with one process per core.

    Args:
        runs: the runs, such as those of `plan`.
        results: folder of results.
        folder: folder of the training states, from which interrupted runs continue.
        jobs: number of processes; `None` for one per core.
        report: function called with each line about the progress.

    Returns:
        The runs that failed, each with its exception.

    Raises:
        OSError: if one of the folders is not writable.
        ValueError: if there is a result of the same run with other settings, or `jobs` is not
            positive.

    Example:
        >>> runs = zoo.experiments.plan("babi-1k", models=["qdren"], tasks=[1])
        >>> failures = zoo.experiments.reproduce(runs)  # doctest: +SKIP
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}.")
    runs, waiting = list(runs), []
    recorded = {study: read_results(study, results) for study in {run.study for run in runs}}
    for run in runs:
        result = run.find_result(recorded[run.study])
        if result is None:
            waiting.append(run)
            continue
        changed = ", ".join(run.changed_since(result))
        other = f", with another {changed} than today"
        report(f"{run.name}: done before{other if changed else ''}")
    if not waiting:
        return []
    check_results(results)
    check_room(folder)
    available = available_cores()
    jobs = jobs or len(available)
    keep_memory()
    failures = Failures()
    report(f"{len(waiting)} to run, {jobs} at a time; results: {results}, states: {folder}")
    with Workers(jobs, available) as pool:
        futures = {pool.submit(execute, run, results, folder): run for run in waiting}
        pending, ended = set(futures), 0
        try:
            while pending:
                done, pending = concurrent.futures.wait(
                    pending, PULSE, concurrent.futures.FIRST_COMPLETED
                )
                for future in done:
                    ended, run, error = ended + 1, futures[future], future.exception()
                    if error:
                        failures.append((run, error))
                    outcome = f"failed: {error}" if error else describe(run, future.result())
                    report(f"[{ended}/{len(waiting)}] {run.name}: {outcome}")
                if not done:
                    report(describe_pending([futures[f] for f in pending if f.running()], folder))
        except KeyboardInterrupt:
            pool.stop()
            raise
    return failures


def describe_pending(runs: Sequence[Run], folder: str | pathlib.Path) -> str:
    return describe_epochs({run.name: epochs_done(run.folder(folder)) for run in runs})


def describe_epochs(epochs: dict[str, int]) -> str:
    lines = [f"{name}: {count} epochs" for name, count in sorted(epochs.items()) if count]
    return "  " + (", ".join(lines) or "in the first epoch")


def describe(run: Run, result: Result) -> str:
    # Such as "test error in %" or "dev accuracy in %".
    part = STUDIES[run.study].measure.split()[0]
    return (
        f"valid {result['valid_accuracy']:.1%}, {part} {result['test_accuracy']:.1%}, "
        f"{result['seconds']:.0f} s"
    )
