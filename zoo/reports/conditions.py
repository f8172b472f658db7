"""Tables of readers under conditions other than those of training."""

from collections.abc import Callable
from typing import Any

from zoo.experiments.results import Result
from zoo.experiments.studies import HALF_TOLD, UNANSWERABLE, UNCHANGED
from zoo.reports.columns import Column, StudyColumns, score_cell
from zoo.reports.scores import task_label

HEADINGS = {
    UNCHANGED: "as it is",
    "persons": "persons never seen",
    "things": "things and places never seen",
    "long": "four times as long",
}
ANSWERABLE, CALIBRATION = "answerable or not, balanced", "calibration error"
HALF = "answerable or half-told, balanced"
WORST = f"{CALIBRATION}, worst condition"
GOALS = {
    HEADINGS["persons"]: "2 less at most",
    HEADINGS["things"]: "2 less at most",
    HEADINGS["long"]: "3 less at most",
    ANSWERABLE: "≥ 95.0",
    HALF: "≥ 95.0",
    CALIBRATION: "< 3.0",
    WORST: "< 3.0",
}

Score = Callable[[Result], float | None]


def condition_columns(made: StudyColumns) -> list[Column]:
    """Makes the columns of scores in percent, with one row per model and task.

    Answerability is scored by balanced accuracy: the mean of the share of answerable questions that
    the reader answers, and the share of unanswerable ones that it does not. The calibration error
    is given for the unchanged questions, and for the condition in which it is largest. The last row
    has the goals of prepared readers.
    """
    tasks = made.study.tasks
    keys = [(m, task) for m in made.models for task in tasks if (m, task) in made.groups]
    runs = [made.groups[key] for key in keys]
    labels = (f"`{model}`, {task_label(made.name, task)}" for model, task in keys)
    scores = {heading: _accuracy(name) for name, heading in HEADINGS.items()}
    scores |= {ANSWERABLE: _answerable(UNANSWERABLE), HALF: _answerable(HALF_TOLD)}
    scores |= {CALIBRATION: _calibration, WORST: _worst}
    columns = (
        [heading, *(score_cell(own, score) for own in runs), GOALS.get(heading, "")]
        for heading, score in scores.items()
    )
    return [[made.study.measure, *labels, "goal, prepared"], *columns]


def _accuracy(name: str) -> Score:
    def accuracy(run: Result) -> float | None:
        # A condition is missing if no story of the task names things.
        scores = _conditions(run).get(name)
        return scores and 100 * scores["accuracy"]

    return accuracy


def _answerable(name: str) -> Score:
    def answerable(run: Result) -> float | None:
        conditions = _conditions(run)
        if not {name, UNCHANGED} <= conditions.keys():
            return None
        return 50 * (conditions[UNCHANGED]["answered"] + 1 - conditions[name]["answered"])

    return answerable


def _calibration(run: Result) -> float | None:
    scores = _conditions(run).get(UNCHANGED)
    return scores and 100 * scores["calibration_error"]


def _worst(run: Result) -> float | None:
    errors = [100 * scores["calibration_error"] for scores in _conditions(run).values()]
    return max(errors, default=None)


def _conditions(run: Result) -> dict[str, Any]:
    """Returns the scores of a run by condition, without those that are missing."""
    scores = run.get("conditions", {})
    return {name: each for name, each in scores.items() if each is not None}
