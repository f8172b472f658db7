"""`corefmem report`."""

import pathlib

from zoo.cli.options import RESULTS, argument, option
from zoo.cli.reproduce import parse_study


def report(
    study: str | None = argument(
        "STUDY", "see `corefmem list`; all studies by default", parser=parse_study, default=None
    ),
    results: RESULTS = "results",
    write: list[str] | None = option("FILE...", "put the tables into Markdown files", default=None),
    compare: tuple[str, str] | None = option(
        "MODEL MODEL", "test whether two models of a study differ by more than chance", default=None
    ),
    plots: str | None = option("DIR", "draw the results, as PNG and SVG", default=None),
    by: str | None = option(
        "NAME", "with --plots: curves against an argument, such as l2", default=None
    ),
    search: str | None = option(
        "NAME", "the trials of a search, in place of studies", default=None
    ),
) -> None:
    """Print the tables of measured results."""
    from keras_corefmem.utils.files import replacing
    from zoo.experiments.results import SEARCHES, recorded_searches
    from zoo.experiments.studies import STUDIES
    from zoo.reports import significance, tables

    if (compare or by) and not study:
        raise ValueError("--compare and --by are about one study: name it, corefmem report STUDY.")
    if by and not plots:
        raise ValueError("--by is of pictures: give --plots DIR with it.")
    chosen = [study] if study else list(STUDIES)
    if plots:
        draw(chosen, plots, by, search, results)
    if study and compare:
        print(significance.comparison(study, *compare, results))
    for path in map(pathlib.Path, write or ()):
        text = tables.fill(path.read_text(encoding="utf-8"), results)
        with replacing(path) as partial:
            partial.write_text(text, encoding="utf-8")
        print(f"Tables written to {path}")
    if plots or compare or write:
        return
    wanted = [] if study else recorded_searches(results)
    if search:
        chosen, wanted = [], [search]
    for name in (*chosen, *(f"{SEARCHES}/{name}" for name in wanted)):
        print(f"## {name}\n\n{tables.tables_of(name, results)}\n")


def draw(studies: list[str], folder: str, by: str | None, search: str | None, results: str) -> None:
    from zoo.reports import plots

    if search:
        studies, paths = [], plots.draw_search(search, folder, results)
    else:
        drawn = (plots.draw(study, folder, results, by) for study in studies)
        paths = [path for written in drawn for path in written]
    if not paths:
        raise ValueError(
            f"{results} has no run of {', '.join(studies)}: `corefmem reproduce` makes them."
        )
    for path in paths:
        print(path)
