"""Time and memory of one bidirectional recurrent layer, beside Keras' own under the same XLA.

    python benchmarks/recurrence.py            # all figures, two minutes on two cores
    python benchmarks/recurrence.py --quick    # the comparison at 100 tokens alone, not written

Times are milliseconds of a training step, the minimum over rounds in which the layers take turns;
the ratio to Keras' bidirectional GRU is what to compare. Memory is what XLA plans for the step:
arguments, results and everything in between.
"""

import argparse
import os
import pathlib
import re
import tempfile

import records

from keras_corefmem.utils.markdown import markdown_table

LENGTHS = (100, 250, 500, 1000, 2000)
CHAINS = (10, 200)
BASELINE = "keras Bidirectional(GRU)"
TIMED = (BASELINE, "plain GRU, fused", "CorefGRU", "MAGEGRU, two edge types")
# Layer, tokens, chains.
PLANNED = (
    *((layer, length, n) for layer in TIMED[2:] for length in (100, 1000, 2000) for n in CHAINS),
    *(("keras RNN(CorefGRUCell)", 100, n) for n in CHAINS),
)


def measure_times(lengths, rounds):
    """Rows of times and ratios by length and layer."""
    from steps import fastest, make_step

    rows = []
    for length in lengths:
        # Keras' time grows with the square of the length: six seconds a step at 2000 tokens.
        names = [name for name in TIMED if name != BASELINE or length <= 1000]
        steps = [make_step(name, length) for name in names]
        seconds = fastest(steps, max(5, rounds * 100 // length))
        times = {name: 1e3 * best for name, best in zip(names, seconds, strict=True)}
        for name, best in times.items():
            ratio = best / times[BASELINE] if BASELINE in times else None
            rows.append({"layer": name, "length": length, "ms": best, "ratio": ratio})
            shown = f"  ratio {ratio:.2f}" if ratio else ""
            print(f"{length:5} {name:26} {best:8.1f} ms{shown}", flush=True)
    return rows


def measure_memory(reports):
    """Rows of planned memory by layer, length and number of chains, from XLA's own reports."""
    from steps import make_step

    rows = []
    for name, length, chains in PLANNED:
        before = set(reports.iterdir())
        make_step(name, length, chains)()
        (report,) = {p for p in reports.iterdir() if "memory-usage" in p.name} - before
        size = int(re.search(r"Total bytes used: (\d+)", report.read_text())[1]) / 1e6
        rows.append({"layer": name, "length": length, "chains": chains, "mb": size})
        print(f"{length:5} {name:26} {chains:4} chains {size:8.1f} MB", flush=True)
    return rows


def make_table(content):
    """The figures as Markdown, the ratio last."""
    times = [["layer", "tokens", "ms", "ratio to Keras"]]
    for row in content["times"]:
        ratio = f"{row['ratio']:.2f}" if row["ratio"] else "–"
        times.append([row["layer"], str(row["length"]), f"{row['ms']:.1f}", ratio])
    memory = [["layer", "tokens", *(f"MB, {chains} chains" for chains in CHAINS), "ratio"]]
    few, many = ([row for row in content["memory"] if row["chains"] == n] for n in CHAINS)
    for row, other in zip(few, many, strict=True):
        sizes = f"{row['mb']:.1f}", f"{other['mb']:.1f}", f"{other['mb'] / row['mb']:.2f}"
        memory.append([row["layer"], str(row["length"]), *sizes])
    return f"{markdown_table(times)}\n\n{markdown_table(memory)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 tokens only, times only")
    parser.add_argument("--rounds", type=int, default=40, help="rounds at 100 tokens")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    with tempfile.TemporaryDirectory() as reports:
        flags = "--xla_dump_hlo_as_text --xla_dump_hlo_module_re=training_step"
        os.environ["XLA_FLAGS"] = f"{flags} --xla_dump_to={reports}"
        times = measure_times(LENGTHS[:1] if options.quick else LENGTHS, options.rounds)
        if options.quick:
            return
        memory = measure_memory(pathlib.Path(reports))
    records.write("recurrence", {"times": times, "memory": memory}, make_table)


if __name__ == "__main__":
    main()
