"""Time of one bidirectional recurrent layer, against Keras' own GRU under the same XLA.

    python benchmarks/recurrence.py            # all figures, five minutes on two cores
    python benchmarks/recurrence.py --quick    # the comparison at 100 tokens alone

Times are milliseconds for the loss and the gradients of all weights and inputs, the minimum over
rounds in which the layers take turns; the ratio to Keras' bidirectional GRU is what to compare.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
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
    # Building eagerly on all of it would copy the buffers of the loop at every token.
    layer(x[:, :8], *(structure[:, :8] for structure in extra))
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
        # Keras' time grows with the square of the length: six seconds a step at 2000 tokens.
        names = [name for name in LAYERS if name != BASELINE or length <= 1000]
        steps = {name: make_step(name, length) for name in names}
        times = {name: [] for name in names}
        for step in steps.values():
            step()
        for _ in range(max(5, rounds * 100 // length)):
            for name, step in steps.items():
                start = time.perf_counter()
                step()
                times[name].append(1e3 * (time.perf_counter() - start))
        for name in names:
            best = min(times[name])
            ratio = best / min(times[BASELINE]) if BASELINE in times else None
            rows.append({"layer": name, "length": length, "ms": best, "ratio": ratio})
            shown = f"  ratio {ratio:.2f}" if ratio else ""
            print(f"{length:5} {name:26} {best:8.1f} ms{shown}", flush=True)
    return rows


def make_table(content):
    """The figures as Markdown, the ratio last."""
    lines = ["| layer | tokens | ms | ratio to Keras |", "|---|---:|---:|---:|"]
    for row in content["times"]:
        ratio = f"{row['ratio']:.2f}" if row["ratio"] else "–"
        lines.append(f"| {row['layer']} | {row['length']} | {row['ms']:.1f} | {ratio} |")
    made = f"Made by `{content['command']}` on {content['cores']} cores, TensorFlow "
    made += f"{content['versions']['tensorflow']}, Keras {content['versions']['keras']}."
    return "\n".join([*lines, "", made, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 tokens only")
    parser.add_argument("--rounds", type=int, default=40, help="rounds at 100 tokens")
    parser.add_argument("--output", default=str(HERE / "recurrence.json"))
    options = parser.parse_args()
    times = measure_times(LENGTHS[:1] if options.quick else LENGTHS, options.rounds)
    if options.quick:
        return
    content = {
        "times": times,
        "command": "python benchmarks/recurrence.py",
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in ("tensorflow", "keras")},
    }
    pathlib.Path(options.output).write_text(json.dumps(content, indent=1) + "\n")
    readme = HERE.parent / "README.md"
    marks = "<!-- benchmarks -->\n", "<!-- end -->"
    before, rest = readme.read_text().split(marks[0])
    after = rest.partition(marks[1])[2]
    readme.write_text(f"{before}{marks[0]}{make_table(content)}{marks[1]}{after}")


if __name__ == "__main__":
    main()
