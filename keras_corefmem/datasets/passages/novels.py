"""Passages of novels like LAMBADA's: [Chu et al., 2017](https://arxiv.org/abs/1610.08431)."""

import collections
import contextlib
import json
import pathlib
import random
import tempfile
from collections.abc import Callable, Iterable, Sequence

from keras_corefmem.datasets.passages.novel_passages import (
    COPIED,
    TARGETS,
    file_grams,
    find_passages,
    passage_grams,
)
from keras_corefmem.datasets.splits import hold_out
from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.files import Path, read_text, replacing, write_json
from keras_corefmem.utils.locks import check_room


def build(
    folder: Path,
    output: Path,
    evaluation: Sequence[Path] = (),
    limit: int | None = None,
    seed: int = 0,
    targets: str = "words",
    validation: float = 0.05,
    track: Callable[[list[pathlib.Path]], Iterable[pathlib.Path]] = iter,
) -> dict:
    """Makes passages for training and validation from all novels in a folder.

    If there are more than `limit` passages, each novel contributes equally many, or all it has.
    Answers at ends of sentences are preferred, then those at ends of clauses, then other words.
    Whole novels are held out for validation. Their answers are at ends of sentences alone, and no
    passage to train on shares 16 words in a row with them, so that a novel may be there twice.

    Args:
        folder: folder of novels, UTF-8 files `*.txt` in it or below.
        output: folder for `train.jsonl`, `valid.jsonl` and the report, `passages.json`.
        evaluation: evaluation files, with a passage per line or JSON lines, `.jsonl`; no passage
            shares 8 words in a row with them.
        limit: maximum number of passages.
        seed: seed of all choices; the same seed gives the same files.
        targets: where answers stand: `"sentences"` at the end of a sentence, as in LAMBADA;
            `"clauses"` also before a comma, semicolon, colon or dash; `"words"` also one word in
            each sentence that has no such place, preferably a name.
        validation: share of the novels to hold out.
        track: function from the list of novels to an iterator of them, such as a progress bar.

    Returns:
        The report: settings, and counts of what was read, rejected and written.

    Raises:
        FileNotFoundError: if there are no novels, or an evaluation file is missing.
        ValueError: if an argument is out of range, a novel is not UTF-8, or too few are left.
        OSError: if nothing can be written to the output.
    """
    if targets not in TARGETS:
        raise ValueError(f"targets must be one of {', '.join(TARGETS)}; got {targets!r}.")
    if limit is not None:
        check_sizes(limit=limit)
    if not 0 < validation < 1:
        raise ValueError(f"validation must lie between 0 and 1, got {validation}.")
    folder, output = pathlib.Path(folder), pathlib.Path(output)
    novels = sorted(folder.rglob("*.txt"))
    if not novels:
        raise FileNotFoundError(f"No novels in {folder}: pass a folder of files *.txt.")
    count = max(1, round(validation * len(novels)))
    held_out = set(hold_out(novels, count, random.Random(seed), source=folder)[1])
    known = {gram for path in evaluation for gram in file_grams(path)}
    check_room(next(place for place in (output, *output.parents) if place.exists()))

    # Text in both parts stays in the one that is read first, the validation part.
    order = sorted(novels, key=lambda novel: (novel not in held_out, novel))
    names = {novel: novel.relative_to(folder).as_posix() for novel in order}
    counts = collections.Counter(novels=len(novels))
    seen: set[bytes] = set()
    validated: set[int] = set()
    places_of = {}
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as spool:
        for novel in track(order):
            chooser, places = random.Random(f"{seed} {names[novel]}"), []
            text, wanted = read_text(novel, "novel"), "sentences" if novel in held_out else targets
            for rank, passage in find_passages(text, wanted, chooser, counts, known, seen):
                place = chooser.random()
                # Hashes take a tenth of the memory.
                grams = map(hash, passage_grams(passage["text"].split(" "), COPIED))
                if novel in held_out:
                    validated.update(grams)
                elif not validated.isdisjoint(grams):
                    counts["shared with the validation part"] += 1
                    continue
                passage["source"] = f"{names[novel]}:{passage['source']}"
                places.append((rank, place, spool.tell()))
                spool.write(json.dumps(passage, ensure_ascii=False) + "\n")
            places_of[novel] = places
        numbers = [len(places) for places in places_of.values()]
        kept: tuple[list, list] = ([], [])
        for (novel, places), quota in zip(places_of.items(), quotas(numbers, limit), strict=True):
            counts["beyond the limit"] += len(places) - quota
            kept[novel in held_out].extend(sorted(places)[:quota])
        counts["train"], counts["valid"] = map(len, kept)
        report = {
            "novels": str(folder),
            "evaluation": [str(path) for path in evaluation],
            "limit": limit,
            "seed": seed,
            "targets": targets,
            "held_out": sorted(names[novel] for novel in held_out),
            "counts": dict(counts),
        }
        _write(output, kept, spool, random.Random(seed))
    write_json(output / "passages.json", report)
    return report


def _write(output, kept, spool, chooser):
    """Writes passages in random order, both files or none."""
    names = ("train.jsonl", "valid.jsonl")
    for name, places in zip(names, kept, strict=True):
        if not places:
            raise ValueError(f"No passages for {name}: give more novels, or a higher limit.")
    with contextlib.ExitStack() as stack:
        paths = [stack.enter_context(replacing(output / name)) for name in names]
        for path, places in zip(paths, kept, strict=True):
            chooser.shuffle(places)
            with path.open("w", encoding="utf-8", newline="\n") as file:
                for *_, place in places:
                    spool.seek(place)
                    file.write(spool.readline())


def quotas(numbers: Sequence[int], limit: int | None = None) -> list[int]:
    """Returns how many passages to take from each novel, as evenly as possible, `limit` in all."""
    if limit is None:
        return list(numbers)
    result, left = [0] * len(numbers), limit
    order = sorted(range(len(numbers)), key=lambda i: numbers[i])
    for done, i in enumerate(order):
        result[i] = min(numbers[i], left // (len(numbers) - done))
        left -= result[i]
    return result
