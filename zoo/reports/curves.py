"""Curves of scores against one argument or setting, such as passes, slots or questions."""

import itertools
import json
import math
import statistics
from typing import Any, NamedTuple

from zoo.configs import configuration
from zoo.experiments.results import Result
from zoo.experiments.studies import STUDIES, Task
from zoo.reports.published import published_rows
from zoo.reports.scores import at_best_settings, group_runs, score, sort_models, task_label

MEASURED, BASELINE, PUBLISHED, LEARNING = "measured", "baseline", "published", "learning"
# Not a setting: stands for learning curves.
EPOCH = "epoch"


class Curve(NamedTuple):
    """Scores of each seed by value of an argument, which is `None` for a baseline."""

    name: str
    points: dict[Any, list[float]]
    kind: str = MEASURED

    @property
    def end(self) -> float:
        """Mean score at the highest value."""
        return statistics.mean(self.points[max(self.points, key=lambda x: (x is not None, x))])


Panels = dict[str, list[Curve]]


def curves_of(study: str, runs: list[Result]) -> Panels:
    """Returns the curves of a study that varies one argument, by group of tasks."""
    known, groups = STUDIES[study], group_runs(runs)
    panels: dict[str, dict[Any, Curve]] = {}
    for model in sort_models(study, (run["model"] for run in runs)):
        published = published_rows(study).get(model, [])
        for key, task in known.tasks.items():
            value = _value(known.by[0], task, groups.get((model, key)))
            panel = panels.setdefault(task.group, {})
            if (model, key) in groups:
                scores = list(map(score, at_best_settings(groups[model, key])))
                if _is_number(value):
                    panel.setdefault(model, Curve(model, {})).points[value] = scores
                else:
                    panel[model, key] = Curve(f"{model}, {task.label}", {None: scores}, BASELINE)
            for row in (row for row in published if key in row.scores):
                curve = panel.setdefault((model, row.paper), Curve(row.paper, {}, PUBLISHED))
                curve.points[value] = [row.scores[key]]
    return {name: list(panel.values()) for name, panel in panels.items() if panel}


def shares_of(study: str, runs: list[Result]) -> dict[str, dict[str, dict[str, float]]]:
    """Returns the mean attention to edges of each type in percent, by group and label of a task.

    If several models were measured, a group is one for each of them.

    The first entry of a group is the attention if all edges were alike, in its first task.
    """
    known, groups = STUDIES[study], group_runs(run for run in runs if "edge_attention" in run)
    panels: dict[str, dict[str, dict[str, float]]] = {}
    models = sort_models(study, (model for model, _ in groups))
    for model, (key, task) in itertools.product(models, known.tasks.items()):
        if (model, key) not in groups:
            continue
        alike = at_best_settings(groups[model, key])
        measured = [run["edge_attention"] for run in alike]
        title = f"{task.group}, {model}" if len(models) > 1 else task.group
        panel = panels.setdefault(title, {"all alike": _mean(measured, "even")})
        value = _value(known.by[0], task, alike)
        label = f"{value:,}" if _is_number(value) else task.label
        panel[label] = _mean(measured, "shares")
    return panels


def _value(by: str, task: Task, runs: list[Result] | None) -> Any:
    """Returns a task's argument or setting; an unset `train_size` means all questions."""
    value = {**task.settings, **task.arguments}.get(by)
    if value is None and by == "train_size" and runs:
        return runs[0]["questions"].get("train")
    return value


def _mean(measured: list[dict[str, dict[str, float]]], kind: str) -> dict[str, float]:
    types = measured[0][kind]
    return {name: statistics.mean(100 * each[kind][name] for each in measured) for name in types}


def curves_by(runs: list[Result], by: str) -> Panels:
    """Returns the curves of runs against an argument or setting with several values, by task."""
    tasks = list(STUDIES[runs[0]["study"]].tasks)
    panels: dict[str, dict[str, Curve]] = {}
    for run in sorted(runs, key=lambda run: tasks.index(run["task"])):
        if by in (numbers := numbers_of(run)):
            panel = panels.setdefault(task_label(run["study"], run["task"]), {})
            curve = panel.setdefault(run["model"], Curve(run["model"], {}))
            curve.points.setdefault(numbers[by], []).append(score(run))
    return _that_vary({name: list(panel.values()) for name, panel in panels.items()})


def curves_of_learning(runs: list[Result]) -> Panels:
    """Returns exp(-loss) on validation in percent by epoch, at the best settings by validation."""
    study, groups = runs[0]["study"], group_runs(runs)
    panels: Panels = {}
    for task in STUDIES[study].tasks:
        for model in sort_models(study, (model for model, key in groups if key == task)):
            curve = Curve(model, {}, LEARNING)
            for run in at_best_settings(groups[model, task]):
                for epoch, loss in enumerate(run.get("valid_losses", ()), 1):
                    curve.points.setdefault(epoch, []).append(100 * math.exp(-loss))
            if curve.points:
                panels.setdefault(task_label(study, task), []).append(curve)
    return panels


def curves_of_search(trials: list[Result]) -> Panels:
    """Returns validation accuracy of trials against each hyper-parameter with several values.

    If not all of these are numbers, they are names.
    """
    panels: Panels = {}
    for name in sorted({name for trial in trials for name in trial["chosen"]}):
        known = [trial for trial in trials if name in trial["chosen"]]
        are_numbers = all(_is_number(trial["chosen"][name]) for trial in known)
        curve = Curve(known[0]["model"], {})
        for trial in known:
            value = trial["chosen"][name]
            value = value if are_numbers or isinstance(value, str) else json.dumps(value)
            curve.points.setdefault(value, []).append(100 * trial["valid_accuracy"])
        panels[name] = [curve]
    return _that_vary(panels)


def numbers_of(run: Result) -> dict[str, float]:
    """Returns the numeric settings and arguments of a run by name, including defaults."""
    from zoo import architectures

    model = configuration(run["model"])
    defaults = getattr(architectures, model.class_name).defaults()
    settings = run.get("settings", {})
    recorded = {**defaults, **model.arguments, **settings, **settings.get("arguments", {})}
    return {name: n for name, n in recorded.items() if _is_number(n) and name != "seed"}


def _that_vary(panels: Panels) -> Panels:
    several = {name: [c for c in curves if len(c.points) > 1] for name, curves in panels.items()}
    return {name: curves for name, curves in several.items() if curves}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
