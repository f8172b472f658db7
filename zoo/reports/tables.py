"""Tables of measured results, as Markdown."""

import collections
import os
import pathlib
import re
import shlex
from collections.abc import Callable, Iterable
from typing import Any

from keras_corefmem.utils.markdown import markdown_table
from zoo.configs import configuration
from zoo.experiments.results import SEARCHES, Result
from zoo.experiments.studies import STUDIES
from zoo.reports.agreements import agreement
from zoo.reports.columns import Column, StudyColumns, without_blanks
from zoo.reports.conditions import condition_columns
from zoo.reports.coreference import coreference_tables
from zoo.reports.gained import gains
from zoo.reports.numbers import number
from zoo.reports.scores import made_by, recorded_runs
from zoo.reports.searches import search_table
from zoo.reports.significance import comparison

# Maximum number of questions in a list on a page.
SHOWN = 6
# Marks of what can be reported.
_NAMES = "|".join(["coreference", rf"{SEARCHES}/\S+", *map(re.escape, STUDIES)])
START = re.compile(rf"<!-- (?:results|number) (?:{_NAMES}) [^>]*-->")


def commands(runs: Iterable[Result]) -> list[str]:
    """Returns the command lines that repeat exactly these runs, on the same backend."""
    seeds: dict[tuple[Any, ...], list[int]] = collections.defaultdict(list)
    for run in runs:
        words = shlex.split(run["command"])
        start = next((n for n, word in enumerate(words) if word in ("--set", "--tag")), len(words))
        # Runs that start from word vectors were given their folder, even if the study needs none.
        folder = "--data-dir" in words or STUDIES[run["study"]].needs_folder
        key = run["study"], run["model"], shlex.join(words[start:]), run["backend"], folder
        seeds[*key, run["task"]].append(run["seed"])
    tasks: dict[tuple[Any, ...], list[int | str]] = collections.defaultdict(list)
    for (*parts, task), values in seeds.items():
        tasks[*parts, tuple(sorted(values))].append(task)
    lines = []
    for (study, model, settings, backend, folder, values), chosen in sorted(tasks.items()):
        words = ["corefmem", "reproduce", study, "--models", model]
        order = list(STUDIES[study].tasks)
        if len(chosen) < len(order):
            words += ["--tasks", *map(str, sorted(chosen, key=order.index))]
        words += ["--seeds", *map(str, values)]
        words += ["--data-dir", "DIR"] if folder else []
        before = f"KERAS_BACKEND={backend} " if backend != "tensorflow" else ""
        lines.append(before + " ".join(filter(None, (shlex.join(words), settings))))
    return lines


def tables_of(name: str, folder: str | os.PathLike = "results") -> str:
    """Makes the tables of a study, of a search as `searches/NAME`, or of `coreference`.

    A study has one table for each family of passage readers, and one for its other models. Each
    task is a row, or a column if there are fewer tasks than models. Cells are the test error or
    accuracy in percent of the best run by validation, and in parentheses the mean ± standard
    deviation over seeds if there are several. Mean error and failed tasks are given if all tasks
    have runs; for groups of tasks, the best of each group instead. Published numbers are shown
    beside the measured ones, and in a table of their own for models without a run.

    Args:
        name: name of the study, `searches/NAME`, or `coreference`.
        folder: folder of results.

    Returns:
        Markdown.

    Raises:
        ValueError: if there is no such study or search.

    Example:
        >>> zoo.reports.tables_of("sst").splitlines()[0]  # In a folder without results.
        'No run of `sst` is recorded yet: `corefmem reproduce sst` makes them.'
    """
    kind, _, search = name.partition("/")
    if kind == SEARCHES:
        return search_table(search, folder)
    if kind == "coreference":
        return coreference_tables(folder)
    runs = recorded_runs(name, folder)
    made = StudyColumns(name, runs)
    others = made.others()
    reported = [_long_table(others)] if others else []
    if not runs:
        return "\n\n".join([_nothing_yet(name), *reported])
    if made.study.conditions:
        table = _table(condition_columns(made))
        return f"{table}\n\n{made_by(*commands(runs))}"
    # A single table would be too wide to read.
    families = collections.defaultdict(list)
    for model in made.models:
        known = configuration(model)
        families[known.family if known.reads == "passages" else None].append(model)
    own = [without_blanks(made.columns(models)) for models in families.values()]
    shown = [_long_table(columns) for columns in own]
    shown += [_table(columns) for columns in (made.heads(), made.edges()) if columns]
    return "\n\n".join([*shown, *reported, made_by(*commands(runs))])


def summary(study: str, folder: str | os.PathLike = "results") -> str:
    """Makes a short table of a study, with one row per model and published result.

    Args:
        study: name of the study.
        folder: folder of results.

    Returns:
        Markdown.

    Raises:
        ValueError: if there is no such study.

    Example:
        >>> zoo.reports.summary("sst")[:30]  # In a folder without results.
        'No run of `sst` is recorded ye'
    """
    return _table_of_rows(StudyColumns.summary, study, folder)


def fill(
    text: str, folder: str | os.PathLike = "results", data_dir: str | pathlib.Path | None = None
) -> str:
    """Updates the tables of a text, between `<!-- results STUDY -->` and `<!-- end -->`.

    After the name of the study, `summary` asks for its short table, `overview` for one with the
    best published result beside each model, two names of models for their comparison, `agreement`
    for the agreement of runs, and `gains RUN RUN` for some questions that only the second run
    answers right. A study can be replaced by `searches/NAME` or `coreference`.
    Within sentences, `<!-- number STUDY MODEL ROW -->…<!-- end -->` holds a number from a table.

    Args:
        text: Markdown.
        folder: folder of results.
        data_dir: folder of the data; `None` leaves lists of questions as they are.

    Returns:
        The text with updated tables and numbers.

    Raises:
        ValueError: if something that a mark names does not exist, or a mark of a study has no end
            or other words.

    Example:
        >>> zoo.reports.fill("<!-- results sst -->\\nold\\n<!-- end -->").splitlines()[1][:16]
        'No run of `sst` '
    """

    starts = collections.Counter(START.findall(text))

    def replace(match: re.Match[str]) -> str:
        starts[match[1]] -= 1
        study, *words = match[2].split()
        if words == ["summary"]:
            made = summary(study, folder)
        elif words == ["overview"]:
            made = _table_of_rows(StudyColumns.overview, study, folder)
        elif words == ["agreement"]:
            made = agreement(study, folder)
        elif words[:1] == ["gains"]:
            if data_dir is None:
                return match[0]
            made = gains(study, words[1], words[2], data_dir, folder, shown=SHOWN)
        elif words:
            made = comparison(study, words[0], words[1], folder)
        else:
            made = tables_of(study, folder)
        return f"{match[1]}\n{made}\n{match[3]}"

    tables = r"summary|overview|agreement|(?:gains )?\S+ \S+"
    marks = rf"(<!-- results (\S+(?: (?:{tables}))?) -->)\n.*?(<!-- end -->)"
    text = re.sub(marks, replace, text, flags=re.DOTALL)

    def look_up(match: re.Match[str]) -> str:
        starts[match[1]] -= 1
        return f"{match[1]}{number(match[2], match[3], match[4], folder)}<!-- end -->"

    text = re.sub(r"(<!-- number (\S+) (\S+) ([^>]+) -->)[^<]*<!-- end -->", look_up, text)
    for mark in +starts:
        raise ValueError(
            f"{mark} cannot be filled: its words are wrong, or it or the mark before it has no "
            "<!-- end -->; a table needs lines of its own for both."
        )
    return text


def _table_of_rows(
    rows: Callable[[StudyColumns], list[Column]], study: str, folder: str | os.PathLike
) -> str:
    runs = recorded_runs(study, folder)
    return markdown_table(rows(StudyColumns(study, runs))) if runs else _nothing_yet(study)


def _table(columns: list[Column]) -> str:
    return markdown_table(zip(*columns, strict=True))


def _long_table(columns: list[Column]) -> str:
    """Makes a table, transposed if it has more columns than rows: pages are longer than wide."""
    return markdown_table(columns) if len(columns) > len(columns[0]) else _table(columns)


def _nothing_yet(study: str) -> str:
    return f"No run of `{study}` is recorded yet: `corefmem reproduce {study}` makes them."
