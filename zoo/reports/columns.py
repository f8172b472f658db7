"""The columns of a study's table: what was measured of each model, and what its paper reports."""

import functools
import statistics

from zoo.experiments.results import best_result
from zoo.experiments.studies import ERROR, STUDIES
from zoo.reports.published import PUBLISHED
from zoo.reports.scores import (
    at_best_settings,
    guess_score,
    kind_score,
    list_numbers,
    score,
    sort_models,
    task_label,
)

FAILED = 5
# Where heads that a signal supervises attend to.
SIGNALS = {
    "dependency": "syntactic heads",
    "coref_all": "all mentions of the chain",
    "coref_previous": "the mention before",
    "coref_next": "the next mention",
    "narrative": "events of the same participants",
}


def attention_mass(run, signal):
    """The attention that a head pays to what a signal says, in percent."""
    return 100 * run["attention_mass"][signal]


def cell(runs, score=score):
    """Score of the best run by validation, then mean and deviation over seeds at its settings."""
    scores = list(map(score, at_best_settings(runs)))
    spread = ""
    if len(scores) > 1:
        spread = f" ({statistics.mean(scores):.1f} ± {statistics.stdev(scores):.1f})"
    return f"{score(best_result(runs)):.1f}{spread}"


def groups_of(study):
    """Names of the groups of a study's tasks of which validation chooses the best, in order."""
    tasks, (name, _) = STUDIES[study].tasks.values(), STUDIES[study].by
    return list(dict.fromkeys(task.group for task in tasks if name in task.arguments))


def labels(study):
    """The first column of a study's table."""
    rows = [task_label(study, key) for key in STUDIES[study].tasks]
    summary = [f"{group}, the best by validation" for group in groups_of(study)]
    if STUDIES[study].measure == ERROR:
        summary = ["mean error", f"failed tasks (> {FAILED}%)"]
    kinds = STUDIES[study].kinds.values()
    return [STUDIES[study].measure, *rows, *summary, *kinds, "runs", "seeds a task", "backend"]


def in_summary(study):
    """Numbers of the rows of `labels` that a summary has: no task where others sum them up."""
    rows, tasks = len(labels(study)), len(STUDIES[study].tasks)
    summed = groups_of(study) or STUDIES[study].measure == ERROR
    return [0, *range(1 + tasks if summed else 1, rows - 3), rows - 2]


def summarise(study, tasks):
    """The cells below those of the tasks, from the runs of each, `None` where there are none."""
    names = groups_of(study)
    if names:
        by_group = {name: [] for name in names}
        for task, runs in zip(STUDIES[study].tasks.values(), tasks, strict=True):
            by_group[task.group] += runs or []
        return [f"{score(best_result(runs)):.1f}" if runs else "–" for runs in by_group.values()]
    if STUDIES[study].measure != ERROR:
        return [kind_cell(kind, tasks[0]) for kind in STUDIES[study].kinds]
    if not all(tasks):
        return ["–", "–"]
    errors = [score(best_result(runs)) for runs in tasks]
    return [f"{statistics.mean(errors):.1f}", str(sum(e > FAILED for e in errors))]


def kind_cell(kind, runs):
    """The `cell` of the questions of a kind."""
    if not runs:
        return "–"
    return cell(runs, lambda run: kind_score(kind, run["test_kinds"]))


def baseline_columns(study, groups):
    """Headings and cells of what is guessed without reading, the same for all runs of a task."""
    content = STUDIES[study]
    found = {task: run for (_, task), runs in groups.items() for run in runs if "baselines" in run}
    if not found:
        return []
    tasks, kinds = [found.get(task) for task in content.tasks], content.kinds
    first = next(iter(found.values()))
    counts = (first["test_kinds"].get(kind, (0, 0))[1] for kind in kinds)
    sizes = (str(run["questions"]["test"]) if run else "–" for run in tasks)
    columns = [["questions", *sizes, *map(str, counts)]]
    for name, guessed in first["baselines"].items():
        scores = (f"{guess_score(run, name):.1f}" if run else "–" for run in tasks)
        cells = (f"{kind_score(kind, guessed['kinds']):.1f}" for kind in kinds)
        columns.append([name, *scores, *cells])
    return [[*column, *[""] * 3] for column in columns]


def measured_column(study, groups, model):
    """Heading and cells of what was measured of a model."""
    tasks = [groups.get((model, task)) for task in STUDIES[study].tasks]
    cells = [cell(runs) if runs else "–" for runs in tasks]
    summary = summarise(study, tasks)
    runs = [run for task in tasks if task for run in task]
    counts = [str(len(runs)), list_numbers(len(at_best_settings(task)) for task in tasks if task)]
    return [
        f"`{model}`",
        *cells,
        *summary,
        *counts,
        ", ".join(sorted({r["backend"] for r in runs})),
    ]


def published_column(study, model):
    """Heading and cells of what the paper reports, or `None`."""
    row = PUBLISHED.get((study, model))
    if row is None:
        return None
    keys, names = list(STUDIES[study].tasks), groups_of(study)
    scores = dict(zip(keys, row["errors"], strict=True)) if "errors" in row else {}
    scores |= row.get("scores", {})
    cells = [f"{scores[key]:.1f}" if key in scores else "–" for key in keys]
    if names:
        known = row["best"]
        summary = [f"{known[name]:.1f}" if name in known else "–" for name in names]
    elif STUDIES[study].kinds:
        known = row.get("kinds", {})
        summary = [f"{known[k]:.1f}" if k in known else "–" for k in STUDIES[study].kinds]
    elif STUDIES[study].measure == ERROR:
        summary = [f"{row['mean']:.1f}", str(row.get("failed", "–"))]
    else:
        summary = []
    return [row["paper"], *cells, *summary, *[""] * 3]


def columns_of(study, groups, models):
    """The columns of a table: what is measured and published of some models."""
    columns = [labels(study), *baseline_columns(study, groups)]
    for model in models:
        columns.append(measured_column(study, groups, model))
        columns += filter(None, [published_column(study, model)])
    return columns


def head_columns(study, groups):
    """The columns of a table of what heads attend to, supervised or not; none without any."""
    measured = {model: runs for (model, _), runs in groups.items() if "attention_mass" in runs[0]}
    columns = [["attention in %", *(f"to {meaning}" for meaning in SIGNALS.values())]]
    for model in sort_models(study, measured):
        column = [f"`{model}`"]
        for signal in SIGNALS:
            runs = [run for run in measured[model] if signal in run["attention_mass"]]
            rate = functools.partial(attention_mass, signal=signal)
            column.append(cell(runs, rate) if runs else "–")
        columns.append(column)
    return columns if measured else []
