"""`corefmem score`."""

import pathlib
import platform
import shlex
from typing import Annotated, Any, Literal

from zoo.cli.options import RESULTS, argument, option

PACKAGES = ("spacy", "scipy")
MEASURES = {"mentions": "mentions", "muc": "MUC", "b3": "B3", "ceafe": "CEAFe"}


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
    from keras_corefmem.graphs.annotators import load_pipeline
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
    nlp, console = load_pipeline(annotator), make_console()
    if dataset == "litbank":
        content, option = score_litbank(nlp, data_dir, mentions), ["--mentions", mentions]
        for title, scores in content["scores"].items():
            title = f"LitBank, {mentions} mentions, {title.replace('_', ' ')}"
            print_scores(console, title, scores)
            console.print(f"CoNLL F1: {100 * scores['conll']:.2f}")
    else:
        content, option = score_gap(nlp, data_dir, part), ["--part", part]
        print_scores(console, f"GAP {part}", content["scores"])
        bias = content["scores"]["bias"]
        console.print(f"Bias (F/M): {'-' if bias is None else f'{bias:.2f}'}")
    tokens, seconds = content["tokens"], content["seconds"]
    rates = ", ".join(f"{tokens / max(s, 1e-9):,.0f} in {name}" for name, s in seconds.items())
    console.print(f"{tokens:,} tokens; tokens a second: {rates}")
    pipeline = f"{nlp.meta['lang']}_{nlp.meta['name']}"
    words = ["corefmem", "score", dataset, "--data-dir", "DIR", "--annotator", pipeline]
    content |= {
        "dataset": dataset,
        "command": shlex.join([*words, *option]),
        "pipeline": {"name": pipeline, "version": nlp.meta["version"]},
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "package": keras_corefmem.__version__,
        "versions": versions(PACKAGES),
        "python": platform.python_version(),
    }
    path = pathlib.Path(results, "coreference", f"{dataset}-{option[1]}-{pipeline}.json")
    write_json(path, content)
    console.print(f"Written: {path}")


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
