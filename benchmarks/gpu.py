"""Times on an accelerator: recurrent layers, memories and readers, on the JAX backend.

    python benchmarks/gpu.py                   # on a machine with a GPU
    python benchmarks/gpu.py --torch PYTHON    # with torch.nn.GRU (cuDNN) of another interpreter
    python benchmarks/gpu.py --quick           # tiny sizes, also on a CPU, not recorded

Needs no data and no network. Training steps of bidirectional layers (loss and all gradients) stand
beside Keras' GRU, layers of a size in turn, and PyTorch's; those of memories beside their cells in
`keras.layers.RNN`. Readers have the sizes of LAMBADA's in their paper and train on random passages;
an epoch is that of its 709,568 examples at the same speed.
"""

import concurrent.futures
import functools
import itertools
import os
import time

import records
from memory_networks import compare, measure_rows
from processes import measure_torch
from records import fastest
from recurrence import BASELINE, COREF, MAGE, STEP

from keras_corefmem.utils.markdown import markdown_table

LENGTHS, BATCHES, UNITS = (100, 500, 1000), (32, 64), (64, 128, 256)
ENCODERS, BATCH, EXAMPLES = ("gru", "coref_gru", "mage_gru"), 64, 709_568
TOKENS, QUESTION, WORDS = 80, 20, 30_000


def measure_layers(sizes, rounds):
    """Rows of times by size and layer."""
    from steps import Sizes, make_step, measure

    def compiled_step(size, layer):
        step = make_step(layer, Sizes(*size))
        step()
        return step

    rows, layers = [], (BASELINE, COREF, MAGE)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        compiled = {
            size: pool.map(functools.partial(compiled_step, size), layers) for size in sizes
        }
    for (length, batch, units), steps in compiled.items():
        for layer, found in zip(layers, measure(steps, rounds), strict=True):
            row = {"layer": layer, "length": length, "batch": batch, "units": units, **found}
            rows.append(row)
            print(row, flush=True)
    return rows


def make_examples(count):
    """Random passages and questions whose answer is a word of the passage, a fifth in chains."""
    import numpy as np

    from keras_corefmem.datasets.annotated import AnnotatedExample

    random, examples = np.random.default_rng(0), []
    for _ in range(count):
        words = [f"w{number}" for number in random.integers(0, WORDS, TOKENS + QUESTION)]
        chains = random.integers(1, 14, len(words)) * (random.random(len(words)) < 0.2)
        passage, question = " ".join(words[:TOKENS]), " ".join(words[TOKENS:])
        answer = words[random.integers(TOKENS)]
        examples.append(AnnotatedExample([passage], question, answer, chain_ids=chains.tolist()))
    return examples


def measure_readers(batches, sizes):
    """Rows of the time of a batch, and of an epoch of LAMBADA in hours, by encoder."""
    from zoo import GatedAttentionReader
    from zoo.configs import configuration

    options = configuration("ga-coref-gru").training_options("lambada")
    arguments, examples, rows = options["arguments"] | sizes, make_examples(batches * BATCH), []
    for encoder in ENCODERS:
        model = GatedAttentionReader.from_examples(examples, encoder=encoder, **arguments)
        model.compile()
        features = model.batches(examples, batch_size=BATCH)
        model.fit(features, verbose=0)
        start = time.perf_counter()
        model.fit(features, verbose=0)
        ms = 1e3 * (time.perf_counter() - start) / len(features)
        rows.append({"encoder": encoder, "ms": ms, "hours": ms * EXAMPLES / BATCH / 3.6e6})
        print(rows[-1], flush=True)
    return rows


def tabulate_layers(rows):
    """Times by layer and size, and their ratios to Keras' and PyTorch's GRU."""
    sizes, peers = ("units", "batch", "length"), (BASELINE, "torch.nn.GRU")
    table = [("layer", "units", "batch", "tokens", "ms", "median", "of Keras'", "of PyTorch's")]
    for row in rows:
        size = {name: row[name] for name in sizes}
        found = (fastest(rows, **size, layer=peer) for peer in peers)
        ratios = (f"{row['ms'] / peer['ms']:.2f}" if peer else "–" for peer in found)
        times = f"{row['ms']:.2f}", f"{row['median']:.2f}"
        table.append((row["layer"], *map(str, size.values()), *times, *ratios))
    return markdown_table(table)


def make_table(content):
    """The figures as Markdown."""
    memories = [("memory", "plain, ms", "ours, ms", "ratio")]
    for name, (plain, ours) in compare(content["memories"]).items():
        times = f"{plain['ms']:.2f}", f"{ours['ms']:.2f}", f"{ours['ms'] / plain['ms']:.2f}"
        memories.append((name, *times))
    readers = [("reader", "ms a batch", "hours an epoch")]
    for row in content["readers"]:
        readers.append((f"`{row['encoder']}`", f"{row['ms']:.1f}", f"{row['hours']:.2f}"))
    tables = [tabulate_layers(content["layers"]), markdown_table(memories), markdown_table(readers)]
    return "\n\n".join([*tables, f"On {content['device']}."])


def main():
    parser = records.make_parser(__doc__)
    parser.add_argument("--torch", metavar="PYTHON", help="interpreter that has PyTorch")
    options = parser.parse_args()
    os.environ["KERAS_BACKEND"] = "jax"
    # PyTorch needs memory of the same device.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    device = jax.devices()[0]
    if device.platform == "cpu" and not options.quick:
        parser.error("JAX finds no accelerator here; --quick tries the benchmark on a CPU.")
    sizes, rounds, batches, small = itertools.product(LENGTHS, BATCHES, UNITS), 20, 100, {}
    if options.quick:
        sizes, rounds, batches, small = [(10, 32, 8)], 2, 2, {"units": 8, "edge_units": 2}
    sizes = list(sizes)
    layers = measure_layers(sizes, rounds)
    peers, torch = measure_torch(sizes, 5 * rounds, options.torch)
    layers += [row for row in peers if row["pass"] == STEP]
    memories = measure_rows(rounds, modes=("XLA",), names=("REN", "DMN"))
    readers = measure_readers(batches, small)
    content = {"layers": layers, "memories": memories, "readers": readers}
    content["device"] = device.device_kind
    records.publish("gpu", make_table, content, options.quick, torch=torch)


if __name__ == "__main__":
    main()
