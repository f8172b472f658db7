"""Pictures of measured results, as PNG and SVG."""

import os
import pathlib
import re
from typing import Any

from keras_corefmem.utils.files import replacing
from zoo.configs import configuration
from zoo.experiments.results import Result, recorded_searches
from zoo.experiments.studies import STUDIES
from zoo.reports.curves import (
    EPOCH,
    curves_by,
    curves_of,
    curves_of_learning,
    curves_of_search,
    numbers_of,
    shares_of,
)
from zoo.reports.plots.curves import draw_curves, draw_shares
from zoo.reports.plots.style import style
from zoo.reports.plots.tasks import draw_kinds, draw_published, draw_tasks
from zoo.reports.scores import at_best_settings, group_runs, recorded_runs, sort_models
from zoo.reports.searches import read_search

# Metadata that would make files differ from one time or version to another.
DATED = {".png": {"Software": None}, ".svg": {"Date": None}}


@style()
def draw(
    study: str,
    folder: str | os.PathLike,
    results: str | os.PathLike = "results",
    by: str | None = None,
) -> list[pathlib.Path]:
    """Draws the results of a study.

    Pictures show means over seeds, at the best settings by validation. A study that varies one
    argument is drawn as curves, with bars of the attention to edges if it was measured; one that
    counts kinds of questions as dots or, for many models, a shaded table; any other as a shaded
    table, with a second one that compares the first model with papers that report all tasks. The
    same results give the same files.

    Args:
        study: name of the study.
        folder: folder to write the files into.
        results: folder of results.
        by: name of an argument or setting to draw curves of all runs against; `"epoch"` for
            learning curves of exp(-loss) on validation.

    Returns:
        The paths of the PNG and SVG files that were written; empty if there are no runs.

    Raises:
        ValueError: if there is no such study, or no model has runs with several values of `by`.

    Example:
        >>> zoo.reports.draw("sst", "docs")  # In a folder without results.
        []
    """
    runs = recorded_runs(study, results)
    if not runs:
        return []
    figures = figures_of(study, runs) if by is None else {f"-by-{by}": draw_by(runs, by)}
    pairs = ((pathlib.Path(folder, study + end), figure) for end, figure in figures.items())
    return [path for place, figure in pairs for path in _save(figure, place)]


def figures_of(study: str, runs: list[Result]) -> dict[str, Any]:
    known = STUDIES[study]
    if any(known.by):
        heading = f"{study}: {known.measure} by {known.by[1]}"
        curves = draw_curves(heading, curves_of(study, runs), known.by[1], known.measure)
        shares = shares_of(study, runs)
        if not shares:
            return {"": curves}
        heading = f"{study}: attention to edges by {known.by[1]}"
        measured = group_runs(run for run in runs if "edge_attention" in run).values()
        counts = [len(at_best_settings(group)) for group in measured]
        return {"": curves, "-attention": draw_shares(heading, shares, known.by[1], counts)}
    if not known.kinds:
        figures = {"": draw_tasks(study, runs), "-published": draw_published(study, runs)}
        return {end: figure for end, figure in figures.items() if figure is not None}
    families: dict[str, list[str]] = {}
    for model in sort_models(study, (run["model"] for run in runs)):
        families.setdefault(configuration(model).family, []).append(model)
    return {f"-{name}": draw_kinds(study, runs, models) for name, models in families.items()}


def draw_by(runs: list[Result], by: str) -> Any:
    study = runs[0]["study"]
    if by == EPOCH:
        panels, measure = curves_of_learning(runs), "exp(-loss) on validation in %"
        if not panels:
            raise ValueError(f"No run of {study} has the loss of every epoch: run some again.")
        return draw_curves(f"{study}: {measure}", panels, by, measure)
    panels = curves_by(runs, by)
    if not panels:
        names = sorted({name for run in runs for name in numbers_of(run)})
        known = ", ".join(name for name in names if curves_by(runs, name))
        raise ValueError(
            f"--by {by}: no model has runs of {study} with several numbers of it; choose of "
            f"{known or 'nothing, they have none'}."
        )
    measure = STUDIES[study].measure
    return draw_curves(f"{study}: {measure} by {by}", panels, by, measure, "run")


@style()
def draw_search(
    name: str, folder: str | os.PathLike, results: str | os.PathLike = "results"
) -> list[pathlib.Path]:
    """Draws the trials of a search: validation accuracy against each hyper-parameter.

    Args:
        name: name of the search.
        folder: folder to write the files into.
        results: folder of results.

    Returns:
        The paths of the PNG and SVG files that were written.

    Raises:
        ValueError: if no trial is recorded, or no hyper-parameter has several values.

    Example:
        >>> paths = zoo.reports.draw_search("qdren-small", "docs")  # doctest: +SKIP
    """
    return _save(figure_of_search(name, results), pathlib.Path(folder, name))


def figure_of_search(name: str, results: str | os.PathLike) -> Any:
    panels = curves_of_search(read_search(name, results))
    if not panels:
        raise ValueError(f"{name}: no hyper-parameter has several values, nothing to draw.")
    measure = "validation accuracy in %"
    return draw_curves(f"{name}: {measure}", panels, "value", measure, "trial")


@style()
def redraw(page: str | os.PathLike, results: str | os.PathLike = "results") -> list[pathlib.Path]:
    """Redraws the pictures of results that a Markdown page shows, at the paths that it links to.

    Args:
        page: path of the page.
        results: folder of results.

    Returns:
        The paths of the PNG and SVG files that were written.

    Example:
        >>> paths = zoo.reports.redraw("results/README.md")  # doctest: +SKIP
    """
    page = pathlib.Path(page)
    links = re.findall(r"\(([^\s()]+)\.png\)", page.read_text(encoding="utf-8"))
    places = [pathlib.Path(os.path.normpath(page.parent / link)) for link in dict.fromkeys(links)]
    figures = _figures_named({place.name for place in places}, results)
    shown = ((place, figures[place.name]) for place in places if place.name in figures)
    return [path for place, figure in shown for path in _save(figure, place)]


def _figures_named(names: set[str], results: str | os.PathLike) -> dict[str, Any]:
    """Returns the figures that `draw` and `draw_search` save under some names, skipping others."""
    searches = names.intersection(recorded_searches(results))
    figures = {name: figure_of_search(name, results) for name in searches}
    for study in STUDIES:
        ends = {name.removeprefix(study) for name in names if name.startswith(study)}
        runs = recorded_runs(study, results) if ends else []
        if not runs:
            continue
        of_study = figures_of(study, runs)
        for end in ends:
            if end.startswith("-by-"):
                of_study[end] = draw_by(runs, end.removeprefix("-by-"))
        figures |= {study + end: of_study[end] for end in ends & of_study.keys()}
    return figures


def _save(figure: Any, path: pathlib.Path) -> list[pathlib.Path]:
    written = []
    for suffix, metadata in DATED.items():
        written.append(path.with_name(path.name + suffix))
        with replacing(written[-1]) as partial:
            figure.savefig(partial, metadata=metadata, bbox_inches="tight", pad_inches=0.15)
    return written
