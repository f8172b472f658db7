"""Numbers from tables, for use in sentences."""

import os

from zoo.reports.columns import StudyColumns
from zoo.reports.scores import recorded_runs

OVER_SEEDS = " over seeds"
_FAILED = "failed tasks"
_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def number(study: str, model: str, row: str, folder: str | os.PathLike = "results") -> str:
    """Looks up a number in the table of a study, for a sentence.

    Args:
        study: name of the study.
        model: name of a model.
        row: the first words of a row of the table, such as `19` or `mean error`, for the best run
            by validation; followed by `over seeds`, for the mean. Fewer than ten failed tasks are
            spelled out.
        folder: folder of results.

    Returns:
        The number as it stands in the table.

    Raises:
        ValueError: if the table has no such number.

    Example:
        >>> zoo.reports.number("sst", "dmn", "mean error")  # In a folder without results.
        Traceback (most recent call last):
        ValueError: The table of sst has no "mean error" of dmn.
    """
    made = StudyColumns(study, recorded_runs(study, folder))
    start = row.removesuffix(OVER_SEEDS)
    rows = zip(made.labels(), made.measured(model), strict=True)
    cells = [cell for label, cell in rows if f"{label} ".startswith(f"{start} ")]
    best, _, spread = cells[0].partition(" (") if len(cells) == 1 else ("–", "", "")
    figure = spread.rstrip(")").split(" ")[0] if row.endswith(OVER_SEEDS) else best
    if figure in ("–", ""):
        raise ValueError(f'The table of {study} has no "{row}" of {model}.')
    return _WORDS[int(figure)] if start == _FAILED and int(figure) < len(_WORDS) else figure
