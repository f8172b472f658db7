"""`corefmem passages`."""

import sys
from collections.abc import Iterable
from typing import Annotated

import typer

READ = {
    "novels": "novels",
    "sentences": "sentences",
    "near the start of a chapter": "of them too near the start of a chapter for a context",
    "targets": "words that could be an answer",
}
WRITTEN = ("train", "valid")


def passages(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="folder of novels, files *.txt")],
    output: Annotated[str, typer.Option(metavar="FOLDER", help="folder to write")],
    evaluation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE...",
            help="passages to evaluate on, one a line: none of the new ones shares 8 words in a "
            "row",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="largest number of passages")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="random seed")] = 0,
    targets: Annotated[
        str,
        typer.Option(
            metavar="PLACES",
            help="where answers stand: sentences (at their ends, as in LAMBADA), clauses too, or "
            "words too",
        ),
    ] = "words",
    validation: Annotated[
        float, typer.Option(metavar="SHARE", help="share of the novels to hold out")
    ] = 0.05,
) -> None:
    """Make passages like LAMBADA's of novels."""
    from rich.console import Console
    from rich.progress import track

    from keras_corefmem.datasets.passages import novels

    console = Console(stderr=True)

    def show(paths: Iterable) -> Iterable:
        return track(paths, "Reading novels", console=console, disable=not sys.stderr.isatty())

    report = novels.build(
        folder,
        output,
        evaluation or [],
        limit=limit,
        seed=seed,
        targets=targets,
        validation=validation,
        track=show,
    )
    counts = report["counts"]
    for name, text in READ.items():
        print(f"{counts[name]:>10,} {text}")
    rejected = {name: n for name, n in counts.items() if n and name not in (*READ, *WRITTEN)}
    for name, count in sorted(rejected.items(), key=lambda item: -item[1]):
        print(f"{count:>10,} refused: {name}")
    print(f"{counts['train']:>10,} passages in {output}/train.jsonl")
    print(
        f"{counts['valid']:>10,} passages in {output}/valid.jsonl, of "
        f"{len(report['held_out'])} novels that were held out"
    )
    if not evaluation:
        print("No --evaluation: passages of the evaluation text may be among them.")
