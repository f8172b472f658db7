"""The questions that one run answers right and another does not."""

import os
import pathlib
from collections.abc import Iterator
from typing import Any

from keras_corefmem.utils.markdown import markdown_table, table_cell
from keras_corefmem.utils.names import did_you_mean
from zoo.experiments.results import Result, result_name
from zoo.experiments.studies import study_named
from zoo.reports.scores import made_by, recorded_runs
from zoo.reports.significance import count_answers


def gains(
    study: str,
    first: str,
    second: str,
    data_dir: str | pathlib.Path | None = None,
    folder: str | os.PathLike = "results",
    shown: int | None = None,
) -> str:
    """Lists the test questions that one run answers wrong and another one right.

    Examples are the sentences that a memory network labels wrong with one pass, and right with two.

    Args:
        study: name of the study.
        first: name of the run that is wrong, as in the results: model, task and seed.
        second: name of the run that is right.
        data_dir: folder of the data set.
        folder: folder of results.
        shown: number of questions to list, the shortest ones; `None` for all.

    Returns:
        A Markdown table with the number of each question, from 1, its text, the right answer, and
        the answer of the first run, or – if the run kept none.

    Raises:
        ValueError: if there is no such study or run, if the runs were not tested on the same
            questions, or if the data has other questions.

    Reference: the examples of sentiment in [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285),
    Section 4.5.

    Example:
        >>> runs = "dmn-sentiment-fine-1-seed-0", "dmn-sentiment-fine-2-seed-0"
        >>> table = zoo.reports.gains("sst", *runs, data_dir="data")  # doctest: +SKIP
    """
    from zoo.experiments import data

    known = study_named(study)
    runs = {result_name(run): run for run in recorded_runs(study, folder)}
    before, after = (_run_named(name, study, folder, runs) for name in (first, second))
    counts = count_answers(before, after)
    names = before["task"], after["task"]
    compared, other = ((known.tasks[name].data, known.language_of(name)) for name in names)
    if compared != other:
        raise ValueError(f"{first} and {second} answer different questions: give runs of one task.")
    task, language = compared
    examples = data.load(known.dataset, task, data_dir, language).test
    questions = list(_questions(examples))
    if len(questions) != (total := before["questions"]["test"]):
        place = f" in {data_dir}" if data_dir else ""
        raise ValueError(
            f"{known.dataset}{place} has {len(questions)} test questions, the runs {total}: give "
            "the data that they were tested on."
        )
    answered = dict(zip(before["test_wrong"], before.get("test_predicted", ()), strict=False))
    gained = set(before["test_wrong"]) - set(after["test_wrong"])
    rows = [
        [str(n + 1), text, right, answered.get(n, "–")]
        for n, (text, right) in enumerate(questions)
        if n in gained
    ]
    if shown is not None and len(rows) > shown:
        shortest = sorted(rows, key=lambda row: len(row[1]))[:shown]
        rows = [row for row in rows if row in shortest]
    cells = [list(map(table_cell, row)) for row in rows]
    head = ["", "text", "right answer", f"`{first}`"]
    some = f"; the shortest {len(rows)} of them" if len(rows) < counts.second else ""
    return (
        f"{counts.second} of {total} are answered right by `{second}` and wrong by `{first}`, "
        f"{counts.first} the other way round{some}.\n\n{markdown_table([head, *cells], 4)}\n\n"
        + made_by(f"corefmem report {study} --gains {first} {second} --data-dir DIR")
    )


def _run_named(name: str, study: str, folder: str | os.PathLike, runs: dict[str, Result]) -> Result:
    if name not in runs:
        hint = did_you_mean(name, runs) or f" It has {', '.join(runs) or 'none'}."
        raise ValueError(f"{folder}/{study}.jsonl has no run {name!r}.{hint}")
    return runs[name]


def _questions(examples: list[Any]) -> Iterator[tuple[str, str]]:
    """Yields the text and answer of each question; for tags, each word with its sentence."""
    for example in examples:
        if hasattr(example, "question"):
            yield f"{example.passage} {example.question}", example.answer
        elif isinstance(example.answer, str):
            yield " ".join(example.words), example.answer
        else:
            text = " ".join(example.words)
            for word, tag in zip(example.words, example.answer, strict=True):
                yield f"{word}: {text}", tag
