"""Time and memory of one bidirectional recurrent layer, against Keras' own GRU under the same XLA.

    python benchmarks/recurrence.py            # all figures, ten minutes on two cores
    python benchmarks/recurrence.py --quick    # the comparison at 100 tokens alone

Times are milliseconds for the loss and the gradients of all weights and inputs, the minimum over
rounds in which the layers take turns; the ratio to Keras' bidirectional GRU is what to compare.
Peak memory is the growth of a process's resident set over its first compiled steps.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import resource
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

BATCH, FEATURES, UNITS = 32, 64, 64
LENGTHS = (100, 250, 500, 1000, 2000)
BASELINE = "keras Bidirectional(GRU)"
HERE = pathlib.Path(__file__).parent


def make_chains(length, chains, share=0.3, seed=0):
    """Antecedents `(batch, length)` of random chains over a share of the tokens."""
    import numpy as np

    random = np.random.default_rng(seed)
    antecedents = np.zeros((BATCH, length), "int32")
    for row in antecedents:
        last = {}
        for t in range(length):
            if random.random() < share:
                chain = int(random.integers(chains))
                row[t] = last.get(chain, 0)
                last[chain] = t + 1
    return antecedents


def make_step(name, length, chains=13):
    """A compiled function that runs one step of the named layer and waits for its result."""
    import keras
    import numpy as np
    import tensorflow as tf

    from keras_corefmem.layers import MAGEGRU, CorefGRU

    antecedents = [make_chains(length, chains, seed=seed) for seed in range(2)]
    sources = tf.constant(np.stack(antecedents, axis=-1)[..., None])
    layer, extra = {
        BASELINE: lambda: (
            keras.layers.Bidirectional(keras.layers.GRU(UNITS, return_sequences=True)),
            (),
        ),
        "plain GRU, fused": lambda: (MAGEGRU((UNITS,), bidirectional=True), ()),
        "CorefGRU": lambda: (
            CorefGRU(UNITS, bidirectional=True),
            (tf.constant(antecedents[0]),),
        ),
        "MAGEGRU, two edge types": lambda: (
            MAGEGRU((UNITS // 2, UNITS // 4, UNITS // 4), bidirectional=True),
            (sources,),
        ),
    }[name]()
    random = np.random.default_rng(0)
    x = tf.constant(random.normal(size=(BATCH, length, FEATURES)), tf.float32)
    upstream = tf.constant(random.normal(size=(BATCH, length, 2 * UNITS)), tf.float32)
    layer(x, *extra)
    weights = [weight.value for weight in layer.trainable_variables]

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(layer(x, *extra) * upstream)
        return loss, tape.gradient(loss, [x, *weights])

    return lambda: step(x)[0].numpy()


LAYERS = (BASELINE, "plain GRU, fused", "CorefGRU", "MAGEGRU, two edge types")


def measure_times(lengths, rounds):
    """Rows of times and ratios by length and layer."""
    rows = []
    for length in lengths:
        steps = {name: make_step(name, length) for name in LAYERS}
        times = {name: [] for name in LAYERS}
        for step in steps.values():
            step()
        for _ in range(max(5, rounds * 100 // length)):
            for name, step in steps.items():
                start = time.perf_counter()
                step()
                times[name].append(1e3 * (time.perf_counter() - start))
        base = min(times[BASELINE])
        for name in LAYERS:
            best = min(times[name])
            rows.append({"layer": name, "length": length, "ms": best, "ratio": best / base})
            print(f"{length:5} {name:26} {best:8.1f} ms  ratio {best / base:.2f}", flush=True)
    return rows


def measure_memory(layer, length, chains):
    """Growth of the resident set, in MB, over the first steps of a layer in its own process."""
    command = [sys.executable, __file__, "--memory", layer, str(length), str(chains)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(result.stdout.split()[-1])


def print_memory(layer, length, chains):
    """What `measure_memory` runs in the process that it starts."""
    make_step(layer, 8)()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    step = make_step(layer, length, chains)
    step()
    step()
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 tokens only, no memory")
    parser.add_argument("--rounds", type=int, default=60, help="rounds at 100 tokens")
    parser.add_argument("--output", default=str(HERE / "recurrence.json"))
    parser.add_argument("--memory", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        layer, length, chains = options.memory
        print_memory(layer, int(length), int(chains))
        return
    content = {"times": measure_times(LENGTHS[:1] if options.quick else LENGTHS, options.rounds)}
    if not options.quick:
        content["memory"] = []
        for layer in ("CorefGRU", BASELINE):
            for length, chains in ((500, 10), (1000, 10), (1000, 200), (2000, 10), (2000, 200)):
                megabytes = measure_memory(layer, length, chains)
                row = {"layer": layer, "length": length, "chains": chains, "mb": megabytes}
                content["memory"].append(row)
                print(f"{length:5} {chains:4} chains {layer:26} {megabytes:8.0f} MB", flush=True)
        content["command"] = "python benchmarks/recurrence.py"
        content["cores"] = os.cpu_count()
        content["python"] = platform.python_version()
        content["versions"] = {n: importlib.metadata.version(n) for n in ("tensorflow", "keras")}
        pathlib.Path(options.output).write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
