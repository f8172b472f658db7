"""Pictures of measured results, as PNG and SVG."""

import pathlib

from keras_corefmem.utils.files import replacing
from zoo.configs import configuration
from zoo.experiments.results import read_results
from zoo.experiments.studies import STUDIES
from zoo.reports.plot_curves import curves_by, curves_of, curves_of_search, draw_curves, numbers_of
from zoo.reports.plot_style import style
from zoo.reports.plot_tasks import draw_kinds, draw_tasks
from zoo.reports.scores import sort_models, study_named
from zoo.reports.searches import read_search

# What the files would say of the time and of versions.
DATED = {".png": {"Software": None}, ".svg": {"Date": None}}


def draw(study, folder, results="results", by=None):
    """Draws what a study measured.

    Means over seeds, at the settings that validation prefers. A study that varies one argument is
    curves, one that counts kinds of questions is dots, any other a table of shades. The same
    results give the same files.

    Args:
        study: name of the study.
        folder: where the files are written.
        results: folder of results.
        by: name of an argument or setting, to draw curves of all runs against it.

    Returns:
        List of the paths that were written, as PNG and as SVG; none where there are no runs.

    Raises:
        ValueError: if there is no such study, or no model has runs with several numbers of `by`.
    """
    study_named(study)
    runs = read_results(study, results)
    if not runs:
        return []
    with style():
        figures = figures_of(study, runs) if by is None else {f"-by-{by}": draw_by(runs, by)}
        return [
            path
            for ending, figure in figures.items()
            for path in save(figure, pathlib.Path(folder, study + ending))
        ]


def figures_of(study, runs):
    """The figures of a study by the ending of their name."""
    content = STUDIES[study]
    if any(content.by):
        measure, (_, label) = content.measure, content.by
        panels = curves_of(study, runs)
        return {"": draw_curves(f"{study}: {measure} by {label}", panels, label, measure)}
    if not content.kinds:
        return {"": draw_tasks(study, runs)}
    families = {}
    for model in sort_models(study, (run["model"] for run in runs)):
        families.setdefault(configuration(model).family, []).append(model)
    return {f"-{name}": draw_kinds(study, runs, models) for name, models in families.items()}


def draw_by(runs, by):
    """Curves of the runs of a study against an argument or setting.

    Raises:
        ValueError: if no model has runs with several numbers of it.
    """
    study, panels = runs[0]["study"], curves_by(runs, by)
    if not panels:
        known = [
            name for name in {n for run in runs for n in numbers_of(run)} if curves_by(runs, name)
        ]
        raise ValueError(
            f"--by {by}: no model has runs of {study} with several numbers of it; choose of "
            f"{', '.join(sorted(known)) or 'nothing, they have none'}."
        )
    measure = STUDIES[study].measure
    return draw_curves(f"{study}: {measure} by {by}", panels, by, measure, "run")


def draw_search(name, folder, results="results"):
    """Draws the trials of a search: validation accuracy against each hyper-parameter.

    Args:
        name: name of the search, a folder in `searches` of the results.
        folder: where the files are written.
        results: folder of results.

    Returns:
        List of the paths that were written, as PNG and as SVG.

    Raises:
        ValueError: if no trial is recorded, or no hyper-parameter has several numbers.
    """
    panels = curves_of_search(read_search(name, results))
    if not panels:
        raise ValueError(f"{name}: no hyper-parameter has several numbers, nothing to draw.")
    with style():
        measure = "validation accuracy in %"
        figure = draw_curves(f"{name}: {measure}", panels, "value", measure, "trial")
        return save(figure, pathlib.Path(folder, name))


def save(figure, path):
    """Writes a figure as PNG and SVG; returns their paths."""
    written = []
    for suffix, metadata in DATED.items():
        written.append(path.with_name(path.name + suffix))
        with replacing(written[-1]) as partial:
            figure.savefig(partial, metadata=metadata, bbox_inches="tight", pad_inches=0.15)
    return written
