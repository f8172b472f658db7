"""Time and memory of one bidirectional recurrent layer, beside Keras' and PyTorch's own.

    python benchmarks/recurrence.py                   # all figures
    python benchmarks/recurrence.py --torch PYTHON    # with torch.nn.GRU of another interpreter
    python benchmarks/recurrence.py --quick           # 100 tokens, no memory, not recorded

Times are milliseconds of a training step and of a forward pass, the minimum and the median over
rounds in which all layers and modes of a backend take turns. Ratios are those of minima, of the
fastest mode of ours to the fastest mode of Keras' bidirectional GRU. Memory is what XLA plans for
the step: arguments, results and everything in between.
"""

import itertools
import pathlib
import re
import tempfile

import records
from processes import alone, measure_torch
from records import fastest

from keras_corefmem.utils.markdown import markdown_table

LENGTHS, CHAINS = (100, 250, 500, 1000, 2000), (10, 200)
STEP, FORWARD = "training step", "forward"
BASELINE, PLAIN = "keras Bidirectional(GRU)", "plain GRU, fused"
COREF, MAGE = "CorefGRU", "MAGEGRU, two edge types"
OURS = (PLAIN, COREF, MAGE)
# Layer, tokens, chains.
PLANNED = (
    *itertools.product((COREF, MAGE), (100, 1000, 2000), CHAINS),
    *itertools.product(["keras RNN(CorefGRUCell)"], [100], CHAINS),
)


def list_modes(backend, layer, length):
    """The modes a layer is timed in.

    XLA takes more than a minute to compile 100 unrolled tokens, TensorFlow to trace 500 of them;
    at 2,000 tokens Keras takes seconds a step.
    """
    if layer == BASELINE and length > 1000:
        return []
    if backend == "JAX":
        return ["XLA"]
    if layer == BASELINE:
        unrolled = ["graph, unrolled"] if length <= 250 else []
        return ["XLA", "graph", *unrolled, *(["eager"] if length <= 100 else [])]
    return ["XLA", "graph", "eager"]


def measure_times(backend, lengths, rounds):
    """Rows of times by length, pass, layer and mode."""
    from steps import Sizes, make_step, measure

    rows = []
    for length in lengths:
        layers = {layer: list_modes(backend, layer, length) for layer in (BASELINE, *OURS)}
        cases = [(layer, mode) for layer, modes in layers.items() for mode in modes]
        for kind in (STEP, FORWARD):
            steps = [make_step(layer, Sizes(length), mode, kind == STEP) for layer, mode in cases]
            times = measure(steps, max(5, rounds * 100 // length))
            for (layer, mode), found in zip(cases, times, strict=True):
                row = {"backend": backend, "pass": kind, "layer": layer, "mode": mode}
                rows.append({**row, "length": length, **found})
                print(rows[-1], flush=True)
    return rows


def measure_memory(reports):
    """Rows of planned memory by layer, length and number of chains, from XLA's own reports."""
    from steps import Sizes, make_step

    rows, reports = [], pathlib.Path(reports)
    for name, length, chains in PLANNED:
        before = set(reports.iterdir())
        make_step(name, Sizes(length), chains=chains)()
        (report,) = {p for p in reports.iterdir() if "memory-usage" in p.name} - before
        size = int(re.search(r"Total bytes used: (\d+)", report.read_text())[1]) / 1e6
        rows.append({"layer": name, "length": length, "chains": chains, "mb": size})
        print(f"{length:5} {name:26} {chains:4} chains {size:8.1f} MB", flush=True)
    return rows


def compare(row, baseline):
    """The mode of a row, and its time or its ratio to that of a baseline."""
    if row is None:
        return "–"
    ratio = f"{row['ms'] / baseline['ms']:.2f}" if baseline else f"{row['ms']:.1f} ms"
    return f"{ratio}, {row['mode']}"


def tabulate_fastest(times):
    """The fastest modes: ratios to Keras' GRU, milliseconds where there is none."""
    table = [("backend", "pass", "layer", *(f"{length:,} tokens" for length in LENGTHS))]
    for backend, kind, layer in dict.fromkeys((r["backend"], r["pass"], r["layer"]) for r in times):
        cells = []
        for length in LENGTHS:
            which = {"backend": backend, "pass": kind, "length": length}
            baseline = fastest(times, **which, layer=BASELINE) if layer in OURS else None
            cells.append(compare(fastest(times, **which, layer=layer), baseline))
        table.append((backend, kind, layer, *cells))
    return markdown_table(table, text_columns=3)


def tabulate_times(times):
    """Milliseconds of all modes, minimum and median."""
    table = [("backend", "pass", "layer", "mode", *(f"{length:,} tokens" for length in LENGTHS))]
    names = "backend", "pass", "layer", "mode"
    for case in dict.fromkeys(tuple(row[name] for name in names) for row in times):
        which, cells = dict(zip(names, case, strict=True)), []
        for length in LENGTHS:
            row = fastest(times, **which, length=length)
            cells.append(f"{row['ms']:.1f} / {row['median']:.1f}" if row else "–")
        table.append((*case, *cells))
    return markdown_table(table, text_columns=4)


def tabulate_memory(rows):
    table = [("layer", "tokens", *(f"MB, {chains} chains" for chains in CHAINS), "ratio")]
    few, many = ([row for row in rows if row["chains"] == n] for n in CHAINS)
    for row, other in zip(few, many, strict=True):
        sizes = f"{row['mb']:.1f}", f"{other['mb']:.1f}", f"{other['mb'] / row['mb']:.2f}"
        table.append((row["layer"], f"{row['length']:,}", *sizes))
    return markdown_table(table)


def make_table(content):
    """The figures as Markdown: fastest modes, all times, memory."""
    times = content["times"]
    tables = tabulate_fastest(times), tabulate_times(times), tabulate_memory(content["memory"])
    return "\n\n".join(tables)


def main():
    parser = records.make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="rounds at 100 tokens")
    parser.add_argument("--torch", metavar="PYTHON", help="interpreter that has PyTorch")
    options = parser.parse_args()
    lengths, rounds = (LENGTHS[:1], 5) if options.quick else (LENGTHS, options.rounds)
    times, memory = [], []
    for backend in ("TensorFlow", "JAX"):
        environment = {"KERAS_BACKEND": backend.lower()}
        times += alone(measure_times, backend, lengths, rounds, **environment)
    sizes = [(length, 32, 64) for length in lengths]
    torch_times, torch = measure_torch(sizes, rounds, options.torch)
    if not options.quick:
        with tempfile.TemporaryDirectory() as reports:
            flags = "--xla_dump_hlo_as_text --xla_dump_hlo_module_re=training_step"
            flags += f" --xla_dump_to={reports}"
            memory += alone(measure_memory, reports, XLA_FLAGS=flags, KERAS_BACKEND="tensorflow")
    content = {"times": times + torch_times, "memory": memory}
    records.publish("recurrence", make_table, content, options.quick, torch=torch)


if __name__ == "__main__":
    main()
