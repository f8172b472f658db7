"""`corefmem passages`."""

import sys
from collections.abc import Iterable
from typing import Annotated, Any

from zoo.cli.options import argument, option

READ = {
    "novels": "novels",
    "sentences": "sentences",
    "near the start of a chapter": "of them too near the start of a chapter for a context",
    "targets": "words that could be an answer",
}
WRITTEN = ("train", "valid")


def passages(
    folder: Annotated[str, argument("FOLDER", "folder of novels, files *.txt")],
    output: Annotated[str, option("FOLDER", "folder to write")],
    evaluation: list[str] | None = option(
        "FILE...",
        "passages to evaluate on, one a line, or .jsonl: none of the new ones shares 8 words in a "
        "row",
        default=None,
    ),
    limit: int | None = option("N", "largest number of passages", default=None),
    seed: int = option("N", "random seed", default=0),
    targets: str = option(
        "PLACES",
        "where answers stand: sentences (at their ends, as in LAMBADA), clauses too, or words too",
        default="words",
    ),
    validation: float = option("SHARE", "share of the novels to hold out", default=0.05),
) -> None:
    """Make passages like LAMBADA's of novels."""
    from rich.console import Console
    from rich.progress import track

    from keras_corefmem.datasets.passages import novels

    console = Console(stderr=True)

    def show(paths: Iterable) -> Iterable:
        return track(paths, "Reading novels", console=console, disable=not sys.stderr.isatty())

    options: dict[str, Any] = {"limit": limit, "seed": seed, "targets": targets}
    options["validation"] = validation
    report = novels.build(folder, output, evaluation or [], **options, track=show)
    counts = report["counts"]
    for name, text in READ.items():
        print(f"{counts[name]:>10,} {text}")
    rejected = {name: n for name, n in counts.items() if n and name not in (*READ, *WRITTEN)}
    for name, count in sorted(rejected.items(), key=lambda item: -item[1]):
        print(f"{count:>10,} refused: {name}")
    print(f"{counts['train']:>10,} passages in {output}/train.jsonl")
    held_out = f"of {len(report['held_out'])} novels that were held out"
    print(f"{counts['valid']:>10,} passages in {output}/valid.jsonl, {held_out}")
    if not evaluation:
        print("No --evaluation: passages of the evaluation text may be among them.")
