"""Tables of measured results, as Markdown."""

import collections
import functools
import re
import shlex
import statistics

from zoo.configurations import READER_MODELS, SIGNALS
from zoo.coreference_report import tables
from zoo.published import PUBLISHED
from zoo.results import (
    alike,
    best,
    check_study,
    group,
    in_order,
    kind_score,
    markdown,
    numbers,
    read_results,
    score,
    task_label,
)
from zoo.search_report import SEARCHES, search_table
from zoo.significance import comparison
from zoo.studies import ERROR, STUDIES

FAILED = 5


def hit_rate(run, signal):
    """The attention that a head pays to what a signal says, in percent."""
    return 100 * run["hit_rates"][signal]


def cell(runs, score=score):
    """Score of the best run by validation, then mean and deviation over seeds at its settings."""
    scores = list(map(score, alike(runs)))
    spread = ""
    if len(scores) > 1:
        spread = f" ({statistics.mean(scores):.1f} ± {statistics.stdev(scores):.1f})"
    return f"{score(best(runs)):.1f}{spread}"


def groups_of(study):
    """Names of the groups of a study's tasks of which validation chooses the best, in order."""
    tasks, (name, _) = STUDIES[study]["tasks"].values(), STUDIES[study].get("by", ("", ""))
    return list(dict.fromkeys(task.group for task in tasks if name in task.arguments))


def labels(study):
    """The first column of a study's table."""
    rows = [task_label(study, key) for key in STUDIES[study]["tasks"]]
    summary = [f"{group}, the best by validation" for group in groups_of(study)]
    if STUDIES[study]["measure"] == ERROR:
        summary = ["mean error", f"failed tasks (> {FAILED}%)"]
    kinds = STUDIES[study].get("kinds", {}).values()
    return [STUDIES[study]["measure"], *rows, *summary, *kinds, "runs", "seeds", "backend"]


def summarise(study, tasks):
    """The cells below those of the tasks, from the runs of each, `None` where there are none."""
    names = groups_of(study)
    if names:
        by_group = {name: [] for name in names}
        for task, runs in zip(STUDIES[study]["tasks"].values(), tasks, strict=True):
            by_group[task.group] += runs or []
        return [f"{score(best(runs)):.1f}" if runs else "–" for runs in by_group.values()]
    if STUDIES[study]["measure"] != ERROR:
        return [kind_cell(kind, tasks[0]) for kind in STUDIES[study].get("kinds", ())]
    if not all(tasks):
        return ["–", "–"]
    errors = [score(best(runs)) for runs in tasks]
    return [f"{statistics.mean(errors):.1f}", str(sum(e > FAILED for e in errors))]


def kind_cell(kind, runs):
    """The `cell` of the questions of a kind."""
    if not runs:
        return "–"
    return cell(runs, lambda run: kind_score(kind, run["test_kinds"]))


def baseline_columns(study, groups):
    """Headings and cells of what is guessed without reading, the same for all runs."""
    run = next((run for runs in groups.values() for run in runs if "baselines" in run), None)
    if run is None:
        return []
    total, kinds = run["questions"]["test"], STUDIES[study]["kinds"]
    counts = (run["test_kinds"].get(kind, (0, 0))[1] for kind in kinds)
    columns = [["questions", str(total), *map(str, counts)]]
    for name, found in run["baselines"].items():
        cells = [f"{kind_score(kind, found['kinds']):.1f}" for kind in kinds]
        columns.append([name, f"{100 - 100 * found['wrong'] / total:.1f}", *cells])
    return [[*column, *[""] * 3] for column in columns]


def measured_column(study, groups, model):
    """Heading and cells of what was measured of a model."""
    tasks = [groups.get((model, task)) for task in STUDIES[study]["tasks"]]
    cells = [cell(runs) if runs else "–" for runs in tasks]
    summary = summarise(study, tasks)
    runs = [run for task in tasks if task for run in task]
    counts = [str(len(runs)), numbers(run["seed"] for run in runs)]
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
    keys, names = list(STUDIES[study]["tasks"]), groups_of(study)
    scores = dict(zip(keys, row["errors"], strict=True)) if "errors" in row else {}
    scores |= row.get("scores", {})
    cells = [f"{scores[key]:.1f}" if key in scores else "–" for key in keys]
    if names:
        known = row["best"]
        summary = [f"{known[name]:.1f}" if name in known else "–" for name in names]
    elif "kinds" in STUDIES[study]:
        known = row.get("kinds", {})
        summary = [f"{known[k]:.1f}" if k in known else "–" for k in STUDIES[study]["kinds"]]
    else:
        summary = [f"{row['mean']:.1f}", str(row.get("failed", "–"))]
    return [row["paper"], *cells, *summary, *[""] * 3]


def commands(runs):
    """The command lines that repeat runs: those runs and no others, on the same backend."""
    seeds = collections.defaultdict(list)
    for run in runs:
        words = shlex.split(run["command"])
        start = next((n for n, word in enumerate(words) if word in ("--set", "--tag")), len(words))
        key = run["study"], run["model"], shlex.join(words[start:]), run["backend"], run["task"]
        seeds[key].append(run["seed"])
    tasks = collections.defaultdict(list)
    for (*key, task), values in seeds.items():
        tasks[(*key, tuple(sorted(values)))].append(task)
    lines = []
    for (study, model, settings, backend, values), chosen in sorted(tasks.items()):
        words, every = ["corefmem", "reproduce", study, "--models", model], STUDIES[study]["tasks"]
        if len(chosen) < len(every):
            words += ["--tasks", *map(str, sorted(chosen, key=list(every).index))]
        words += ["--seeds", *map(str, values)]
        before = f"KERAS_BACKEND={backend} " if backend != "tensorflow" else ""
        lines.append(before + " ".join(filter(None, (shlex.join(words), settings))))
    return lines


def table(study, folder="results"):
    """The tables of a study, one of each class of readers and one of its other models.

    One row a task: test error or accuracy in percent of the best run by validation, and in
    parentheses mean ± standard deviation over seeds where there are several. Mean error and failed
    tasks stand where all tasks are there; tasks in groups have the best of each instead.

    Raises:
        ValueError: if there is no such study.
    """
    check_study(study)
    runs = read_results(study, folder)
    if not runs:
        return f"No run of `{study}` is recorded yet: `corefmem reproduce {study}` makes them."
    # A table of all would be too wide to read.
    families = collections.defaultdict(list)
    for model in in_order(study, (run["model"] for run in runs)):
        families[READER_MODELS.get(model, {}).get("class")].append(model)
    groups = group(runs)
    tables = [columns_of(study, groups, family) for family in families.values()]
    tables += filter(None, [head_columns(study, groups)])
    made = "\n".join(commands(runs))
    return "\n\n".join(map(markdown, tables)) + f"\n\nMade by\n```\n{made}\n```"


def columns_of(study, groups, models):
    """The columns of a table: what is measured and published of some models."""
    columns = [labels(study), *baseline_columns(study, groups)]
    for model in models:
        columns.append(measured_column(study, groups, model))
        columns += filter(None, [published_column(study, model)])
    return columns


def head_columns(study, groups):
    """The columns of a table of what heads attend to, supervised or not; none without any."""
    measured = {model: runs for (model, _), runs in groups.items() if "hit_rates" in runs[0]}
    columns = [["attention in %", *(f"to {meaning}" for meaning in SIGNALS.values())]]
    for model in in_order(study, measured):
        column = [f"`{model}`"]
        for signal in SIGNALS:
            runs = [run for run in measured[model] if signal in run["hit_rates"]]
            rate = functools.partial(hit_rate, signal=signal)
            column.append(cell(runs, rate) if runs else "–")
        columns.append(column)
    return columns if measured else []


def table_of(name, folder):
    """The tables of a study, of a search or of coreference."""
    kind, _, search = name.partition("/")
    if kind == SEARCHES:
        return search_table(search, folder)
    return tables(folder) if kind == "coreference" else table(name, folder)


def fill(text, folder="results"):
    """A Markdown text with a new table between each `<!-- results STUDY -->` and `<!-- end -->`.

    Two names of models behind that of the study compare them instead. In place of a study can be
    `searches/NAME`, or `coreference`.
    """

    def replace(match):
        study, *models = match[2].split()
        if models:
            made = comparison(study, *models, folder)
        else:
            made = table_of(study, folder)
        return f"{match[1]}\n{made}\n{match[3]}"

    marks = r"(<!-- results (\S+(?: \S+ \S+)?) -->)\n.*?(<!-- end -->)"
    return re.sub(marks, replace, text, flags=re.DOTALL)
