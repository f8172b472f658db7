"""`corefmem passages`: passages like LAMBADA's, made of a folder of novels."""

import sys

from rich.console import Console
from rich.progress import track

from keras_corefmem.datasets.passages import novels

READ = {
    "novels": "novels",
    "sentences": "sentences",
    "near the start of a chapter": "of them too near the start of a chapter for a context",
    "targets": "words that could be an answer",
}
WRITTEN = ("train", "valid")


def passages(args):
    console = Console(stderr=True)

    def show(paths):
        return track(paths, "Reading novels", console=console, disable=not sys.stderr.isatty())

    report = novels.build(
        args.folder,
        args.output,
        args.evaluation,
        limit=args.limit,
        seed=args.seed,
        targets=args.targets,
        validation=args.validation,
        track=show,
    )
    counts = report["counts"]
    for name, text in READ.items():
        print(f"{counts[name]:>10,} {text}")
    refused = {name: n for name, n in counts.items() if n and name not in (*READ, *WRITTEN)}
    for name in sorted(refused, key=refused.get, reverse=True):
        print(f"{counts[name]:>10,} refused: {name}")
    print(f"{counts['train']:>10,} passages in {args.output}/train.jsonl")
    print(
        f"{counts['valid']:>10,} passages in {args.output}/valid.jsonl, of "
        f"{len(report['held_out'])} novels that were held out"
    )
    if not args.evaluation:
        print("No --evaluation: passages of the evaluation text may be among them.")
