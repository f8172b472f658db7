"""`corefmem report`."""

import os
import pathlib

from zoo.cli.options import DATA_DIR, RESULTS, argument, option
from zoo.cli.reproduce import parse_study

FOLDER = "results"


def report(
    study: str | None = argument(
        "STUDY", "see `corefmem list`; all studies by default", parser=parse_study, default=None
    ),
    results: RESULTS = FOLDER,
    write: list[str] | None = option(
        "FILE...", "put the tables into Markdown files, and draw what these show", default=None
    ),
    compare: tuple[str, str] | None = option(
        "MODEL MODEL", "test whether two models of a study differ by more than chance", default=None
    ),
    agreement: bool = option(
        None, "how far seeds and models agree, question by question", "--agreement", default=False
    ),
    gains: tuple[str, str] | None = option(
        "RUN RUN", "list the questions that the second run alone answers", default=None
    ),
    labels: str | None = option(
        "FILE", "scores by label: a line a number of a question, a tab, a label", default=None
    ),
    data_dir: DATA_DIR = None,
    plots: str | None = option("DIR", "draw the results, as PNG and SVG", default=None),
    by: str | None = option(
        "NAME", "with --plots: curves against an argument, such as l2, or epoch", default=None
    ),
    search: str | None = option(
        "NAME", "the trials of a search, in place of studies", default=None
    ),
) -> None:
    """Print the tables of measured results."""
    from keras_corefmem.utils.files import read_text
    from zoo import reports
    from zoo.experiments.studies import STUDIES

    one: dict[str, object] = {"compare": compare, "agreement": agreement, "gains": gains}
    one = {name: value for name, value in {**one, "labels": labels, "by": by}.items() if value}
    check_options(study, search, one, write, plots, data_dir)
    pages = {pathlib.Path(name): read_text(name, "Markdown") for name in write or ()}
    # Without any results, the default folder need not exist to print published numbers.
    if not os.path.isdir(results) and (write or results != FOLDER):
        raise FileNotFoundError(f"{results}: no such folder: give that of the results, --results.")
    if plots:
        draw([study] if study else list(STUDIES), plots, by, search, results)
    if study and compare:
        print(reports.comparison(study, *compare, results))
    if study and agreement:
        print(reports.agreement(study, results))
    if study and gains:
        print(reports.gains(study, *gains, data_dir, results))
    if study and labels:
        print(reports.by_label(study, labels, results))
    for path, text in pages.items():
        fill_page(path, text, results, data_dir)
    if not (plots or write or one):
        print_tables(study, search, results)


def check_options(
    study: str | None,
    search: str | None,
    one: dict[str, object],
    write: list[str] | None,
    plots: str | None,
    data_dir: str | None,
) -> None:
    """Checks options together; `one` are those given that are about one study."""
    if one and not study:
        raise ValueError(f"--{next(iter(one))} is about one study: name it, corefmem report STUDY.")
    if study and search:
        raise ValueError("--search is about a search, not about a study: leave STUDY or it out.")
    if data_dir and not ("gains" in one or write):
        raise ValueError("--data-dir is of --gains, or of lists of questions that --write fills.")
    if write and (study or search) and not (plots or one):
        raise ValueError(f"--write fills in what its files name: leave {study or '--search'} out.")
    if "by" in one and not plots:
        raise ValueError("--by is of pictures: give --plots DIR with it.")


def fill_page(path: pathlib.Path, text: str, results: str, data_dir: str | None) -> None:
    from keras_corefmem.utils.files import replacing
    from zoo import reports
    from zoo.reports import tables

    try:
        filled = tables.fill(text, results, data_dir)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    marked = tables.START.search(text)
    if marked:
        with replacing(path) as partial:
            partial.write_text(filled, encoding="utf-8")
        print(f"Tables written to {path}")
    pictures = reports.redraw(path, results)
    if not (marked or pictures):
        print(f"{path} names no results: nothing is written")
    for picture in pictures:
        print(picture)


def print_tables(study: str | None, search: str | None, results: str) -> None:
    """Prints those of a study or search, of all if neither is given."""
    from zoo.experiments.results import SEARCHES, recorded_searches
    from zoo.experiments.studies import STUDIES
    from zoo.reports import tables

    studies = [] if search else [study] if study else list(STUDIES)
    searches = [search] if search else [] if study else recorded_searches(results)
    for name in (*studies, *(f"{SEARCHES}/{each}" for each in searches)):
        print(f"## {name}\n\n{tables.tables_of(name, results)}\n")


def draw(studies: list[str], folder: str, by: str | None, search: str | None, results: str) -> None:
    from zoo.reports.plots import figures as plots

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
