"""Tables of measured results, as Markdown."""

import collections
import re
import shlex

from keras_corefmem.utils.markdown import markdown_table
from zoo.configs import configuration
from zoo.experiments.results import SEARCHES, read_results
from zoo.experiments.studies import STUDIES
from zoo.reports.columns import columns_of, head_columns, in_summary
from zoo.reports.coreference import tables
from zoo.reports.scores import group_runs, sort_models, study_named
from zoo.reports.searches import search_table
from zoo.reports.significance import comparison


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
        words, every = ["corefmem", "reproduce", study, "--models", model], STUDIES[study].tasks
        if len(chosen) < len(every):
            words += ["--tasks", *map(str, sorted(chosen, key=list(every).index))]
        words += ["--seeds", *map(str, values)]
        words += ["--data-dir", "DIR"] if STUDIES[study].needs_folder else []
        before = f"KERAS_BACKEND={backend} " if backend != "tensorflow" else ""
        lines.append(before + " ".join(filter(None, (shlex.join(words), settings))))
    return lines


def runs_of(study, folder):
    """The recorded runs of a study, which must exist."""
    study_named(study)
    return read_results(study, folder)


def nothing_yet(study):
    """What stands in place of a table without runs."""
    return f"No run of `{study}` is recorded yet: `corefmem reproduce {study}` makes them."


def table(study, folder="results"):
    """The tables of a study, one of each class of readers and one of its other models.

    One row a task: test error or accuracy in percent of the best run by validation, and in
    parentheses mean ± standard deviation over seeds where there are several. Mean error and failed
    tasks stand where all tasks are there; tasks in groups have the best of each instead.

    Raises:
        ValueError: if there is no such study.
    """
    runs = runs_of(study, folder)
    if not runs:
        return nothing_yet(study)
    # A table of all would be too wide to read.
    families = collections.defaultdict(list)
    for model in sort_models(study, (run["model"] for run in runs)):
        found = configuration(model)
        families[found.family if found.reads == "passages" else None].append(model)
    groups = group_runs(runs)
    tables = [columns_of(study, groups, family) for family in families.values()]
    tables += filter(None, [head_columns(study, groups)])
    made = "\n".join(commands(runs))
    return (
        "\n\n".join(markdown_table(zip(*each, strict=True)) for each in tables)
        + f"\n\nMade by\n```\n{made}\n```"
    )


def summary(study, folder="results"):
    """A short table of a study: a row a model, and one below it for what its paper reports.

    It has what the columns of `table` have below those of its tasks, or all where there is nothing.

    Raises:
        ValueError: if there is no such study.
    """
    runs = runs_of(study, folder)
    if not runs:
        return nothing_yet(study)
    kept = in_summary(study)
    models = sort_models(study, (run["model"] for run in runs))
    rows = [[column[n] for n in kept] for column in columns_of(study, group_runs(runs), models)]
    return markdown_table(rows)


def table_of(name, folder):
    """The tables of a study, of a search or of coreference."""
    kind, _, search = name.partition("/")
    if kind == SEARCHES:
        return search_table(search, folder)
    return tables(folder) if kind == "coreference" else table(name, folder)


def fill(text, folder="results"):
    """A Markdown text with a new table between each `<!-- results STUDY -->` and `<!-- end -->`.

    Behind the name of the study, `summary` shortens its table, and two names of models compare them
    instead. In place of a study can be `searches/NAME`, or `coreference`.
    """

    def replace(match):
        study, *words = match[2].split()
        if words == ["summary"]:
            made = summary(study, folder)
        elif words:
            made = comparison(study, *words, folder)
        else:
            made = table_of(study, folder)
        return f"{match[1]}\n{made}\n{match[3]}"

    marks = r"(<!-- results (\S+(?: summary| \S+ \S+)?) -->)\n.*?(<!-- end -->)"
    return re.sub(marks, replace, text, flags=re.DOTALL)
