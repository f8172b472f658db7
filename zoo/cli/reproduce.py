"""`corefmem reproduce`."""

import re
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from zoo.cli.options import (
    DATA_DIR,
    RESULTS,
    SETTINGS,
    argument,
    check_settings,
    one_of,
    option,
    parse_settings,
)


def _studies() -> Iterable[str]:
    from zoo.experiments.studies import STUDIES

    return STUDIES


parse_study = one_of(_studies)


def seed_range(text: str) -> range:
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    numbers = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
    if not numbers or numbers.stop > 2**32:
        raise typer.BadParameter(
            f"{text!r} is neither a seed, such as 3, nor a range of seeds below 2**32, such as 0-9"
        )
    return numbers


def join_seeds(ranges: Iterable[range] | None) -> list[int]:
    return list(dict.fromkeys(number for part in ranges or [range(1)] for number in part))


def reproduce(
    study: Annotated[str, argument("STUDY", "see `corefmem list`", parser=parse_study)],
    models: list[str] | None = option("MODEL...", "the study's by default", default=None),
    tasks: list[str] | None = option("TASK...", "all by default", default=None),
    seeds: list[Any] | None = option(
        "N...",
        "seed numbers or ranges, such as 0-4 7; 0 by default",
        parser=seed_range,
        default=None,
    ),
    data_dir: DATA_DIR = None,
    jobs: int | None = option("N", "runs side by side; one a core by default", default=None),
    resume: bool = option(None, "as always", "--resume", hidden=True, default=False),
    settings: SETTINGS = None,
    tag: str = option("TAG", "name of these settings, in the names of the runs", default=""),
    results: RESULTS = "results",
    runs: str = option("DIR", "folder of training states", default="runs"),
    presets: str | None = option(
        "[DIR]",
        "then make presets of the best runs by validation, in the package or in DIR",
        default=None,
    ),
) -> int:
    """Train the readers of a published experiment."""
    from keras_corefmem.utils.locks import check_room
    from zoo.experiments import plan
    from zoo.experiments.presets import check_licence
    from zoo.experiments.reproduce import check_data
    from zoo.experiments.reproduce import reproduce as execute
    from zoo.experiments.studies import STUDIES
    from zoo.hub.presets import FOLDER
    from zoo.reports.tables import tables_of

    changes = parse_settings(settings)
    if changes and not tag:
        raise ValueError("Settings of your own need a name: give --tag NAME with --set.")
    planned = plan(study, data_dir, models, tasks, join_seeds(seeds), changes, tag)
    check_settings({run.model for run in planned}, STUDIES[study].dataset, changes)
    if presets is not None:
        check_licence(study)
    check_data(study, planned[0].task, data_dir)
    if presets is not None:
        check_room(presets or FOLDER)
    failures = execute(planned, results, runs, jobs, lambda line: print(line, flush=True))
    if presets is not None:
        make_presets(study, {(r.model, r.task) for r in planned}, data_dir, results, runs, presets)
    print(tables_of(study, results))
    for run, error in failures:
        print(f"corefmem: {run.name} failed: {error!r}", file=sys.stderr)
    return 1 if failures else 0


def make_presets(
    study: str,
    wanted: set[tuple[str, int | str]],
    data_dir: str | None,
    results: str,
    runs: str,
    folder: str,
) -> None:
    from zoo.experiments.presets import make_preset
    from zoo.experiments.results import best_result, read_results
    from zoo.hub.presets import FOLDER
    from zoo.reports.scores import group_runs

    groups = group_runs(read_results(study, results))
    for key in sorted(wanted & groups.keys()):
        options = data_dir, runs, folder or FOLDER, len(groups[key])
        name, card = make_preset(best_result(groups[key]), *options)
        print(f"preset {name}: test {card['test_accuracy']:.1%}", flush=True)
