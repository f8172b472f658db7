"""Scores by manual labels of questions, such as the skill that a question requires."""

import functools
import os
import re
from typing import NamedTuple

from keras_corefmem.utils.files import BadFileError, read_text
from keras_corefmem.utils.markdown import markdown_table, table_cell
from zoo.experiments.results import Result
from zoo.experiments.studies import ERROR, study_named
from zoo.reports.columns import score_cell
from zoo.reports.scores import group_runs, recorded_runs, sort_models, task_label

ALL = "all with a label"


class Labels(NamedTuple):
    """Labels of questions.

    Args:
        path: path of the file.
        questions: dictionary from each label to the numbers of its questions, from 1.
        lines: dictionary from each question to the first line of the file that names it.
    """

    path: str
    questions: dict[str, set[int]]
    lines: dict[int, int]


def read_labels(path: str | os.PathLike) -> Labels:
    """Reads labels of questions from a file.

    Each line has the number of a question in the test part, from 1, a tab, and a label. A question
    with several labels has several lines. Empty lines and lines that start with `#` are skipped.

    Args:
        path: path of the file.

    Raises:
        ValueError: if a line is malformed or repeated, or there is none; the message names the file
            and the line.

    Example:
        >>> open("labels.tsv", "w").write("1\\tcoreference\\n2\\tcoreference\\n2\\tspeaker\\n") > 0
        True
        >>> zoo.reports.read_labels("labels.tsv").questions
        {'coreference': {1, 2}, 'speaker': {2}}
    """
    questions: dict[str, set[int]] = {}
    lines: dict[int, int] = {}
    for number, line in enumerate(read_text(path, "labels").split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        question, tab, label = line.partition("\t")
        label, place = label.strip(), f"{path}:{number}"
        if not (tab and label and re.fullmatch(r"0*[1-9]\d{,8}", question.strip())):
            raise BadFileError(
                f"{place}: {line!r:.80} is not the number of a question, from 1, a tab, and its "
                "label."
            )
        if int(question) in questions.setdefault(label, set()):
            raise BadFileError(
                f"{place}: question {int(question)} has the label {label!r:.80} already."
            )
        questions[label].add(int(question))
        lines.setdefault(int(question), number)
    if not questions:
        raise BadFileError(
            f"{path}: no labels; a line is the number of a question, a tab, a label."
        )
    return Labels(str(path), questions, lines)


def by_label(study: str, path: str | os.PathLike, folder: str | os.PathLike = "results") -> str:
    """Makes a table of scores by label, for each task of a study.

    Each row is a label, the most frequent first, with the number and share of the labelled
    questions that have it, and the scores of the models as in `tables_of`.

    Args:
        study: name of the study.
        path: file of labels, see `read_labels`.
        folder: folder of results.

    Returns:
        Markdown.

    Raises:
        ValueError: if there is no such study, it has no runs, or the file is malformed.

    References: Table 4 of [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620), with labels of
    [Chu et al., EACL 2017](https://arxiv.org/abs/1610.08431).

    Example:
        >>> table = zoo.reports.by_label("lambada", "labels.tsv")  # doctest: +SKIP
    """
    known, labels = study_named(study), read_labels(path)
    runs = recorded_runs(study, folder)
    if not runs:
        raise ValueError(
            f"{folder} has no run of {study}: `corefmem reproduce {study}` makes them."
        )
    for run in runs:
        _check_numbers(labels, run["questions"]["test"])
    groups, all_lines = group_runs(runs), set(labels.lines)
    rows = dict(sorted(labels.questions.items(), key=lambda item: (-len(item[1]), item[0])))
    models, parts = sort_models(study, (run["model"] for run in runs)), []
    for task in known.tasks:
        there = [model for model in models if (model, task) in groups]
        if not there:
            continue
        heading = [known.measure, "questions", "share", *(f"`{model}`" for model in there)]
        table = [heading]
        for label, questions in {**rows, ALL: all_lines}.items():
            score = functools.partial(_score, frozenset(questions), known.measure == ERROR)
            cells = (score_cell(groups[model, task], score) for model in there)
            share = f"{len(questions) / len(all_lines):.0%}"
            table.append([table_cell(label), str(len(questions)), share, *cells])
        title = [task_label(study, task)] if len(known.tasks) > 1 else []
        parts += [*title, markdown_table(table)]
    return "\n\n".join(parts)


def _check_numbers(labels: Labels, count: int) -> None:
    last = max(labels.lines)
    if last > count:
        raise ValueError(
            f"{labels.path}:{labels.lines[last]}: there is no question {last}, the test part has "
            f"{count}."
        )


def _score(questions: frozenset[int], error: bool, run: Result) -> float:
    wrong = sum(n + 1 in questions for n in run["test_wrong"])
    share = 100 * wrong / len(questions)
    return share if error else 100 - share
