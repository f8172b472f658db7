"""`corefmem score`."""

import pathlib
import platform
import shlex
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from zoo.cli.options import RESULTS, argument, option

PACKAGES = ("spacy", "scipy")
REMEDY = "remove it, give another --results, or rename a pipeline in its meta.json."
MEASURES = {"mentions": "mentions", "muc": "MUC", "b3": "B3", "ceafe": "CEAFe"}


class Scored(TypedDict):
    """What the file of scores says of their pipeline: name, version and SHA-256."""

    pipeline: NotRequired[dict[str, str]]


def score(
    dataset: Annotated[Literal["litbank", "gap"], argument(None, "the data set")],
    data_dir: Annotated[str, option("DIR", "folder of the files")],
    annotator: Annotated[str, option("PIPELINE", "path or name of a spaCy pipeline")],
    mentions: Literal["predicted", "gold"] | None = option(
        None,
        "of LitBank: find mentions, by default, or only link the annotated ones",
        default=None,
    ),
    part: Literal["development", "validation", "test"] | None = option(
        None, "of GAP, development by default", default=None
    ),
    results: RESULTS = "results",
) -> None:
    """Score coreference resolution on LitBank or GAP."""
    import keras_corefmem
    from keras_corefmem.corpora import TextAnnotator
    from keras_corefmem.graphs.annotators import EXACT, load_pipeline
    from keras_corefmem.utils.files import write_json
    from keras_corefmem.visualization import make_console
    from zoo.experiments.coreference import score_gap, score_litbank
    from zoo.experiments.outcome import versions
    from zoo.experiments.results import check_results

    for name, value, known in (("mentions", mentions, "litbank"), ("part", part, "gap")):
        if value is not None and dataset != known:
            raise ValueError(f"--{name} {value} is for {known}: leave it out.")
    mentions, part = mentions or "predicted", part or "development"
    check_results(results)
    if annotator == EXACT:
        raise ValueError(f"--annotator {EXACT} is no spaCy pipeline: give the name or path of one.")
    nlp, console = load_pipeline(annotator), make_console()
    pipeline = TextAnnotator(annotator).describe()["annotator"]
    chosen = ["--mentions", mentions] if dataset == "litbank" else ["--part", part]
    path = pathlib.Path(results, "coreference", f"{dataset}-{chosen[1]}-{pipeline['name']}.json")
    check_pipeline(path, pipeline)
    if dataset == "litbank":
        content = score_litbank(nlp, data_dir, mentions)
        for title, scores in content["scores"].items():
            title = f"LitBank, {mentions} mentions, {title.replace('_', ' ')}"
            print_scores(console, title, scores)
            console.print(f"CoNLL F1: {100 * scores['conll']:.2f}")
    else:
        content = score_gap(nlp, data_dir, part)
        print_scores(console, f"GAP {part}", content["scores"])
        bias = content["scores"]["bias"]
        console.print(f"Bias (F/M): {'-' if bias is None else f'{bias:.2f}'}")
    tokens, seconds = content["tokens"], content["seconds"]
    rates = ", ".join(f"{tokens / max(s, 1e-9):,.0f} in {name}" for name, s in seconds.items())
    console.print(f"{tokens:,} tokens; tokens a second: {rates}")
    words = ["corefmem", "score", dataset, "--data-dir", "DIR", "--annotator", pipeline["name"]]
    content |= {
        "dataset": dataset,
        "command": shlex.join([*words, *chosen]),
        "pipeline": pipeline,
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "package": keras_corefmem.__version__,
        "versions": versions(PACKAGES),
        "python": platform.python_version(),
    }
    write_json(path, content)
    console.print(f"Written: {path}")


def check_pipeline(path: pathlib.Path, pipeline: dict[str, str]) -> None:
    """Checks that a file has no scores of another pipeline, whose name may be the same."""
    from keras_corefmem.utils.files import load_json

    known = load_json(path, remedy=REMEDY, kind=Scored) if path.exists() else {}
    # Older files have no SHA-256.
    if known.get("pipeline", {}).items() - pipeline.items():
        raise ValueError(
            f"{path} has the scores of another pipeline named {pipeline['name']}: {REMEDY}"
        )


def print_scores(console: Any, title: str, scores: dict[str, Any]) -> None:
    from rich.table import Table

    console.print(title, style="bold")
    table = Table(box=None, pad_edge=False)
    for name in ("", "P", "R", "F1"):
        table.add_column(name, justify="right" if name else "left")
    for name, values in scores.items():
        if isinstance(values, dict):
            row = (f"{100 * values[key]:.2f}" for key in ("precision", "recall", "f1"))
            table.add_row(MEASURES.get(name, name), *row)
    console.print(table)
