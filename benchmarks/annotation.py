"""Time of `corefmem annotate` with one process and with two, and of annotation at scale.

    python benchmarks/annotation.py                          # the built-in annotator
    python benchmarks/annotation.py --annotator PIPELINE     # a spaCy pipeline too
    python benchmarks/annotation.py --scale ...              # 100,000 texts too, which takes long
    python benchmarks/annotation.py --quick                  # few texts, not recorded

Texts are stories of the simulator, about 80 tokens each. Seconds are those of a whole command in a
fresh process, loading included; commands take turns. At scale, memory is the most that the largest
of the processes held, and disk what the records take.
"""

import os
import pathlib
import tempfile

import records
from processes import COREFMEM, measure_in_turn, run

from keras_corefmem.utils.markdown import markdown_table

TEXTS, SCALE, PROCESSES = 5_000, 100_000, (1, 2)


def write_texts(path, count):
    from keras_corefmem.datasets import simulator

    with open(path, "w") as file:
        file.writelines(f"{e.passage}\n" for e in simulator.simulate(2, count, seed=0))


def annotate(texts, annotator, processes):
    """Seconds, GB of the largest process, and MB of the records."""
    with tempfile.TemporaryDirectory(dir=texts.parent) as folder:
        output = pathlib.Path(folder, "records")
        options = ["--annotator", annotator, "--processes", processes, "--output", output]
        seconds, gb, _ = run(*COREFMEM, "annotate", texts, *options)
        return seconds, gb, sum(path.stat().st_size for path in output.iterdir()) / 1e6


def measure_processes(texts, annotators, rounds):
    """Rows of seconds by annotator and number of processes."""

    def make_case(annotator, count):
        return lambda: {(annotator, count): annotate(texts, annotator, count)[0]}

    cases = [make_case(annotator, n) for annotator in annotators for n in PROCESSES]
    found = measure_in_turn(cases, rounds)
    return [{"annotator": show(a), "processes": n, **figures} for (a, n), figures in found.items()]


def measure_scale(texts, annotators):
    """Rows of seconds, memory and disk by annotator."""
    rows = []
    for annotator in annotators:
        seconds, gb, mb = annotate(texts, annotator, os.cpu_count())
        rows.append({"annotator": show(annotator), "seconds": seconds, "gb": gb, "mb": mb})
        print(rows[-1], flush=True)
    return rows


def show(annotator):
    return os.path.basename(annotator)


def make_table(content):
    """The figures as Markdown."""
    count, rows = content["texts"], content["rows"]
    table = [("annotator", f"s, {count:,} texts, 1 process", "2 processes", "times as fast")]
    for annotator in dict.fromkeys(row["annotator"] for row in rows):
        one, two = (row["seconds"] for row in rows if row["annotator"] == annotator)
        table.append((f"`{annotator}`", f"{one:.1f}", f"{two:.1f}", f"{one / two:.2f}"))
    tables = [markdown_table(table)]
    if scale := content["scale"]:
        count = scale["texts"]
        heading = "annotator", "texts", "processes", "minutes", "s per 1,000 texts"
        table = [(*heading, "GB, largest process", "GB on disk", "hours for a million")]
        for row in scale["rows"]:
            cells = f"{count:,}", str(scale["processes"]), f"{row['seconds'] / 60:.1f}"
            cells += f"{1e3 * row['seconds'] / count:.2f}", f"{row['gb']:.1f}"
            cells += f"{row['mb'] / 1e3:.2f}", f"{1e6 * row['seconds'] / count / 3600:.1f}"
            table.append((f"`{row['annotator']}`", *cells))
        tables += [markdown_table(table), "Hours for a million texts are extrapolated."]
    else:
        tables.append("Annotation at scale is not measured yet: `--scale`.")
    return "\n\n".join(tables)


def main():
    parser = records.make_parser(__doc__)
    parser.add_argument("--annotator", help="path or name of a spaCy pipeline, to measure too")
    parser.add_argument("--scale", action="store_true", help=f"annotate {SCALE:,} texts too")
    options = parser.parse_args()
    texts, many, rounds = (200, 1000, 1) if options.quick else (TEXTS, SCALE, 3)
    annotators = ["exact", *([options.annotator] if options.annotator else [])]
    arguments = ["--annotator", show(options.annotator)] if options.annotator else []
    with tempfile.TemporaryDirectory() as folder:
        path, scale = pathlib.Path(folder, "texts.txt"), None
        write_texts(path, texts)
        rows = measure_processes(path, annotators, rounds)
        if options.scale:
            write_texts(path, many)
            scale = {"texts": many, "processes": os.cpu_count()}
            scale["rows"] = measure_scale(path, annotators)
            arguments.append("--scale")
    content = {"texts": texts, "rows": rows, "scale": scale}
    records.publish("annotation", make_table, content, options.quick, arguments)


if __name__ == "__main__":
    main()
