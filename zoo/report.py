"""Tables of measured results, as Markdown."""

import collections
import json
import pathlib
import re
import shlex
import statistics

from zoo.studies import PUBLISHED, STUDIES, TASKS

FAILED = 5


def read_results(study, folder="results"):
    """The runs of a study: contents of its JSON files, in the order of their names."""
    return [
        json.loads(path.read_text()) for path in sorted(pathlib.Path(folder, study).glob("*.json"))
    ]


def best(runs):
    """The best run by validation: highest accuracy, then lowest loss."""
    return max(runs, key=lambda run: (run["valid_accuracy"], -run["valid_loss"]))


def group(runs):
    """Lists of runs by model and task."""
    groups = collections.defaultdict(list)
    for run in runs:
        groups[run["model"], run["task"]].append(run)
    return groups


def error(run):
    """Test error in percent, exact: every question counts."""
    return 100 * len(run["test_wrong"]) / run["questions"]["test"]


def cell(runs):
    """Error of the best run by validation, then mean and deviation over seeds at its settings."""
    chosen = best(runs)
    errors = [error(run) for run in runs if run["tag"] == chosen["tag"]]
    spread = ""
    if len(errors) > 1:
        spread = f" ({statistics.mean(errors):.1f} ± {statistics.stdev(errors):.1f})"
    return f"{error(chosen):.1f}{spread}"


def measured_column(groups, model):
    """Heading and cells of what was measured of a model."""
    tasks = [groups.get((model, task)) for task in TASKS]
    cells = [cell(runs) if runs else "–" for runs in tasks]
    summary = ["–", "–"]
    if all(tasks):
        errors = [error(best(runs)) for runs in tasks]
        summary = [f"{statistics.mean(errors):.1f}", str(sum(e > FAILED for e in errors))]
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
    cells = [f"{e:.1f}" for e in row["errors"]] if "errors" in row else ["–"] * len(TASKS)
    return [row["paper"], *cells, f"{row['mean']:.1f}", str(row.get("failed", "–")), *[""] * 3]


def numbers(values):
    """Numbers as a short list: 0–2, 5."""
    values, parts = sorted(set(values)), []
    for value in values:
        if parts and value == parts[-1][-1] + 1:
            parts[-1].append(value)
        else:
            parts.append([value])
    return ", ".join(f"{p[0]}–{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)


def commands(runs):
    """The command lines that repeat runs: those runs and no others, on the same backend."""
    seeds = collections.defaultdict(list)
    for run in runs:
        words = shlex.split(run["command"])
        start = next((n for n, word in enumerate(words) if word in ("--set", "--tag")), len(words))
        key = run["study"], run["model"], shlex.join(words[start:]), run["backend"], run["task"]
        seeds[key].append(run["seed"])
    tasks = collections.defaultdict(list)
    for (*key, task), numbers in seeds.items():
        tasks[(*key, tuple(sorted(numbers)))].append(task)
    lines = []
    for (study, model, settings, backend, numbers), chosen in sorted(tasks.items()):
        words = ["corefmem", "reproduce", study, "--models", model]
        if sorted(chosen) != list(TASKS):
            words += ["--tasks", *map(str, sorted(chosen))]
        words += ["--seeds", *map(str, numbers)]
        before = f"KERAS_BACKEND={backend} " if backend != "tensorflow" else ""
        lines.append(before + " ".join(filter(None, (shlex.join(words), settings))))
    return lines


def table(study, folder="results"):
    """The table of a study.

    One row a task: test error in percent of the best run by validation, and in parentheses mean ±
    standard deviation over seeds where there are several. Mean error and failed tasks stand where
    all tasks are there.

    Raises:
        ValueError: if there is no such study.
    """
    from keras_corefmem.datasets.babi import TASKS as NAMES

    if study not in STUDIES:
        raise ValueError(f"There is no study {study!r}; choose one of {', '.join(STUDIES)}.")
    runs = read_results(study, folder)
    if not runs:
        return f"No run of `{study}` is recorded yet: `corefmem reproduce {study}` makes them."
    groups = group(runs)
    models = sorted({run["model"] for run in runs}, key=_place(study))
    first = ["test error in %", *(f"{n} {NAMES[n].replace('-', ' ')}" for n in TASKS)]
    columns = [[*first, "mean error", f"failed tasks (> {FAILED}%)", "runs", "seeds", "backend"]]
    for model in models:
        columns.append(measured_column(groups, model))
        columns += filter(None, [published_column(study, model)])
    rows = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    rows.insert(1, f"|---|{'---:|' * (len(columns) - 1)}")
    made = "\n".join(commands(runs))
    return "\n".join(rows) + f"\n\nMade by\n```\n{made}\n```"


def _place(study):
    order = list(STUDIES[study]["models"])
    return lambda model: (order.index(model) if model in order else len(order), model)


def fill(text, folder="results"):
    """A Markdown text with a new table between each `<!-- results STUDY -->` and `<!-- end -->`."""

    def replace(match):
        return f"{match[1]}\n{table(match[2], folder)}\n{match[3]}"

    return re.sub(r"(<!-- results (\S+) -->)\n.*?(<!-- end -->)", replace, text, flags=re.DOTALL)
