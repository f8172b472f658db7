"""Columns of a study's tables: measured scores of each model, and those that its paper reports."""

import functools
import statistics
from collections.abc import Callable, Iterable

from zoo.configs import configuration
from zoo.experiments.results import Result, best_result
from zoo.experiments.studies import ERROR, STUDIES
from zoo.reports.published import PublishedRow, published_rows
from zoo.reports.scores import (
    at_best_settings,
    group_runs,
    guess_score,
    join_folds,
    kind_score,
    kind_size,
    list_numbers,
    pool_folds,
    recorded_kinds,
    run_kind_score,
    score,
    sort_edge_types,
    sort_models,
    task_label,
)

FAILED = 5
PRINTED = "-printed"
OTHERS = "reported, not measured here"
# Tokens that a head supervised by each signal attends to.
SIGNALS = {
    "dependency": "syntactic heads, within sentences",
    "coref_all": "all mentions of the chain",
    "coref_previous": "the mention before",
    "coref_next": "the next mention",
    "narrative": "events of the same participants",
}
# The last rows, which only measured columns fill.
COUNTS = ["runs", "seeds a task", "backend"]
Column = list[str]


def _attention_mass(signal: str, run: Result) -> float | None:
    share = run["attention_mass"].get(signal)
    return None if share is None else 100 * share


def _percent(number: float | None) -> str:
    return "–" if number is None else f"{number:.1f}"


def _as_printed(number: float | None) -> str:
    return "–" if number is None else str(number)


def score_cell(runs: list[Result] | None, score: Callable[[Result], float | None] = score) -> str:
    """Formats the score of the best run by validation.

    Mean ± standard deviation over the seeds at its settings follows in parentheses. Nothing is
    given if the score of one of these is unknown.
    """
    alike = at_best_settings(runs) if runs else []
    scores = [points for points in map(score, alike) if points is not None]
    if not scores or len(scores) < len(alike):
        return "–"
    spread = ""
    if len(scores) > 1:
        spread = f" ({statistics.mean(scores):.1f} ± {statistics.stdev(scores):.1f})"
    return f"{score(best_result(alike)):.1f}{spread}"


def _edge_cell(measured: list[dict[str, dict[str, float]]], name: str) -> str:
    """Formats the mean attention to edges of a type, and its value if all edges were alike."""
    if name not in measured[0]["shares"]:
        return "–"
    share, even = (statistics.mean(100 * m[k][name] for m in measured) for k in ("shares", "even"))
    return f"{share:.1f} ({even:.1f})"


def without_blanks(columns: list[Column]) -> list[Column]:
    """Removes the rows in which no column has a value."""
    rows = [cells for cells in zip(*columns, strict=True) if {*cells[1:]} != {"–"}]
    return list(map(list, zip(*rows, strict=True)))


class StudyColumns:
    """The columns of a study's tables; a column is a list of its heading and cells."""

    def __init__(self, name: str, runs: list[Result]) -> None:
        self.name, self.study, self.groups = name, STUDIES[name], group_runs(runs)
        self.kinds = recorded_kinds(name, runs)
        self.models = sort_models(name, (run["model"] for run in runs))
        tasks, argument = self.study.tasks.values(), self.study.by[0]
        # Groups of tasks from which validation chooses the best one.
        self.chosen = list(dict.fromkeys(t.group for t in tasks if argument in t.arguments))
        errors = self.study.measure == ERROR
        # Whether one model learns all tasks, which are then kinds of its questions.
        self.joint = errors and bool(self.study.kinds)
        # A mean over variants of tasks would mean nothing.
        self.averaged = errors and not self.joint and not self.study.variants

    def columns(self, models: Iterable[str]) -> list[Column]:
        """Returns labels, baselines, and the measured and published columns of models."""
        columns = [self.labels(), *self._baselines()]
        models = list(models)
        pending: list[PublishedRow] = []
        for model, following in zip(models, [*models[1:], ""], strict=True):
            columns.append(self.measured(model))
            pending += [row for row in self._published_for(model) if row not in pending]
            # Published columns come after those of the model and of its printed version.
            if following != model.removesuffix(PRINTED) + PRINTED:
                columns += map(self._published, pending)
                pending = []
        return columns

    def others(self) -> list[Column]:
        """Returns published columns of models that were not trained here, without empty rows."""
        kinds, end = self.study.kinds, -len(COUNTS)
        labels = [OTHERS, *self.labels()[1 : end - len(self.kinds)], *kinds.values()]
        columns = [labels, *(self._published(row, kinds)[:end] for row in self._unmeasured())]
        return without_blanks(columns) if columns[1:] else []

    def _published_for(self, model: str) -> list[PublishedRow]:
        rows = published_rows(self.name)
        return rows.get(model) or rows.get(model.removesuffix(PRINTED), [])

    def _unmeasured(self) -> list[PublishedRow]:
        known = published_rows(self.name).items()
        shown = {name for model in self.models for name in (model, model.removesuffix(PRINTED))}
        others = (rows for model, rows in known if model not in shown)
        return [row for rows in others for row in rows]

    def labels(self) -> Column:
        rows = [task_label(self.name, key) for key in self.study.tasks]
        below = [f"{group}, the best by validation" for group in self.chosen]
        if self.joint or self.averaged:
            below = [f"failed tasks (> {FAILED}%)"]
            below = ["mean error", *below] if self.averaged else below
        if self.study.folds:
            below = ["all folds"]
        return [self.study.measure, *rows, *below, *self.kinds.values(), *COUNTS]

    def summary(self) -> list[Column]:
        """Returns one row per model and published result, with sums instead of tasks if any.

        Models whose tasks have not all run yet have no sum, and therefore no row.
        """
        sums = self.chosen or self.joint or self.averaged or self.study.folds
        first, last = 1 + len(self.study.tasks) if sums else 1, -len(COUNTS)
        if self.joint:
            first, last = 1, 2 + len(self.study.tasks)
        columns = [*self.columns(self.models), *map(self._published, self._unmeasured())]
        differs = {f"`{model}`": configuration(model).differs for model in self.models}
        differs[self.study.measure] = "differs from the paper"
        return [
            [column[0], *column[first:last], column[-2], differs.get(column[0], "")]
            for column in columns
            if not (sums and column[0] in differs and column[first] == "–")
        ]

    def overview(self) -> list[Column]:
        """Returns one row per model: its sums, and those of the best published result for it.

        Results of more training data, and joint ones, are left out.

        Raises:
            ValueError: if the study has no mean error over tasks.
        """
        if not self.averaged:
            raise ValueError(f"{self.name!r} has no mean error over tasks: ask for its `summary`.")
        first = 1 + len(self.study.tasks)
        published = "lowest published", "failed there", "paper"
        made = [["model", *self.labels()[first : first + 2], *published]]
        for model in self.models:
            sums = self.measured(model)[first : first + 2]
            rows = self._published_for(model)
            own = [row for row in rows if row.mean is not None and not row.more_data]
            beside = ["–", "–", ""]
            if own:
                best = self._published(min(own, key=lambda row: row.mean or 0))
                beside = [*best[first : first + 2], best[0]]
            if sums[0] != "–":
                made.append([f"`{model}`", *sums, *beside])
        return made

    def heads(self) -> list[Column]:
        """Returns the attention mass of heads by signal; nothing if it is unmeasured."""
        measured = self._measuring("attention_mass")
        columns = [["attention in %", *(f"to {meaning}" for meaning in SIGNALS.values())]]
        for (model, task), runs in measured.items():
            masses = (functools.partial(_attention_mass, signal) for signal in SIGNALS)
            several = f", {task_label(self.name, task)}" if len(self.study.tasks) > 1 else ""
            columns.append([f"`{model}`{several}", *(score_cell(runs, mass) for mass in masses)])
        return columns if measured else []

    def edges(self) -> list[Column]:
        """Returns attention by edge type, a row per model and task; nothing if it is unmeasured."""
        groups = self._measuring("edge_attention").items()
        measured = {k: [run["edge_attention"] for run in at_best_settings(v)] for k, v in groups}
        types = {name for each in measured.values() for name in each[0]["shares"]}
        labels = (f"`{model}`, {task_label(self.name, task)}" for model, task in measured)
        columns = [["attention in % (if all edges were alike)", *labels]]
        for name in sort_edge_types(types):
            columns.append([name, *(_edge_cell(each, name) for each in measured.values())])
        return columns if measured else []

    def _measuring(self, name: str) -> dict[tuple[str, int | str], list[Result]]:
        """Returns the runs that have a measurement, by model and task in their order."""
        keys = ((model, task) for model in self.models for task in self.study.tasks)
        matching = {key: [run for run in self.groups.get(key, ()) if name in run] for key in keys}
        return {key: runs for key, runs in matching.items() if runs}

    def measured(self, model: str) -> Column:
        tasks = [self.groups.get((model, task)) for task in self.study.tasks]
        recorded = [runs for runs in tasks if runs]
        backends = {run["backend"] for runs in recorded for run in runs}
        return [
            f"`{model}`",
            *map(score_cell, tasks),
            *self._sums(tasks),
            str(sum(map(len, recorded))),
            list_numbers(len(at_best_settings(runs)) for runs in recorded),
            ", ".join(sorted(backends)),
        ]

    def _sums(self, tasks: list[list[Result] | None]) -> Column:
        """Returns the cells below those of the tasks, from the runs of each task."""
        if self.chosen:
            groups: dict[str, list[Result]] = {name: [] for name in self.chosen}
            for task, runs in zip(self.study.tasks.values(), tasks, strict=True):
                groups[task.group] += runs or []
            return [_percent(score(best_result(r)) if r else None) for r in groups.values()]
        if self.study.folds:
            return [score_cell(pool_folds(runs or [] for runs in tasks))]
        if not self.averaged:
            parts = [functools.partial(run_kind_score, kind) for kind in self.kinds]
            cells = [score_cell(tasks[0], part) for part in parts]
            if self.joint:
                best = [part(best_result(tasks[0])) for part in parts] if tasks[0] else []
                known = [error for error in best if error is not None]
                failed = sum(error > FAILED for error in known)
                cells = [str(failed) if known and len(known) == len(best) else "–", *cells]
            return cells
        if not all(tasks):
            return ["–", "–"]
        errors = [score(best_result(runs)) for runs in tasks if runs]
        mean = _percent(statistics.mean(errors))
        seeds = [[score(run) for run in at_best_settings(runs)] for runs in tasks if runs]
        if any(len(scores) > 1 for scores in seeds):
            mean += f" ({_percent(statistics.mean(map(statistics.mean, seeds)))})"
        return [mean, str(sum(error > FAILED for error in errors))]

    def _published(self, row: PublishedRow, kinds: Iterable[str] = ()) -> Column:
        cells = [_as_printed(row.scores.get(key)) for key in self.study.tasks]
        for n, key in enumerate(self.study.tasks):
            cells[n] += f" (max {row.maxima[key]})" if key in row.maxima else ""
        if self.study.folds:
            below = [_as_printed(row.mean)]
        elif self.averaged:
            below = [_as_printed(row.mean), _as_printed(row.failed)]
        else:
            below = [_as_printed(row.best.get(name)) for name in self.chosen]
            below += [_as_printed(row.failed)] if self.joint else []
            below += [_as_printed(row.kinds.get(kind)) for kind in kinds or self.kinds]
        return [row.paper, *cells, *below, *[""] * len(COUNTS)]

    def _baselines(self) -> list[Column]:
        """Returns columns of baselines that do not read, which are equal for all runs of a task."""
        pairs = ((task, run) for (_, task), runs in self.groups.items() for run in runs)
        known = {task: run for task, run in pairs if "baselines" in run}
        if not known:
            return []
        tasks, kinds = [known.get(task) for task in self.study.tasks], self.kinds
        first = next(iter(known.values()))
        if self.study.folds:
            folds = [run for run in tasks if run]
            tasks.append(join_folds(folds) if len(folds) == len(tasks) else None)
        sizes = (str(run["questions"]["test"]) if run else "–" for run in tasks)
        counts = (str(kind_size(kind, known.values())) for kind in kinds)
        columns = [["questions", *sizes, *counts]]
        for name, guessed in first["baselines"].items():
            scores = (_percent(guess_score(run, name) if run else None) for run in tasks)
            by_kind = (_percent(kind_score(kind, guessed["kinds"])) for kind in kinds)
            columns.append([name, *scores, *by_kind])
        return [[*column, *[""] * len(COUNTS)] for column in columns]
