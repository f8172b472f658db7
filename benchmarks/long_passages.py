"""Memory and time of training a Gated-Attention Reader on long passages with many chains.

    python benchmarks/long_passages.py            # two minutes on two cores
    python benchmarks/long_passages.py --quick    # 200 tokens, not recorded

WikiHop's settings: spelt words, candidates of several words, 2,200 tokens and 50 chains a passage.
Memory is the most that the process has ever held, imports and compilation included. Every encoder
has a process of its own.
"""

import resource
import statistics
import time

import records
from processes import alone

from keras_corefmem.utils.markdown import markdown_table

ENCODERS = ("gru", "coref_gru", "mage_gru")
TOKENS, CHAINS, BATCH, WORDS, CANDIDATES = 2200, 50, 16, 30_000, 80


def make_examples(tokens, count):
    """Questions about passages of random words, a fifth of them in chains."""
    import numpy as np

    from keras_corefmem.datasets.annotated import AnnotatedExample

    random, examples = np.random.default_rng(0), []
    for _ in range(count):
        words = [f"w{number}" for number in random.integers(0, WORDS, tokens)]
        starts = random.choice(tokens - 3, CANDIDATES, replace=False)
        candidates = [" ".join(words[start : start + 1 + start % 3]) for start in starts]
        candidates = tuple(dict.fromkeys(candidates))
        chains = random.integers(1, CHAINS + 1, tokens) * (random.random(tokens) < 0.2)
        chain_ids = (*chains.tolist(), 0, 0, 0)
        examples.append(
            AnnotatedExample(
                [" ".join(words)],
                "country of origin",
                candidates[0],
                chain_ids=chain_ids,
                candidates=candidates,
            )
        )
    return examples


def measure(encoder, tokens, steps):
    """Minimum and median seconds of a training step, and peak memory in GB."""
    from zoo import GatedAttentionReader
    from zoo.configs import configuration

    examples = make_examples(tokens, BATCH)
    arguments = configuration("ga-coref-gru").training_options("wikihop")["arguments"]
    model = GatedAttentionReader.from_examples(examples, encoder=encoder, **arguments)
    model.compile()
    batches = model.batches(examples, batch_size=BATCH)
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        model.train_on_batch(*batches[0])
        times.append(time.perf_counter() - start)
    gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return min(times[1:]), statistics.median(times[1:]), gb


def make_table(content):
    """The figures as Markdown."""
    sizes = [str(content[name]) for name in ("tokens", "chains", "batch")]
    rows = [["encoder", "tokens", "chains", "batch", "s/step", "GB"]]
    for row in content["rows"]:
        rows.append([f"`{row['encoder']}`", *sizes, f"{row['seconds']:.1f}", f"{row['gb']:.1f}"])
    return markdown_table(rows)


def main():
    quick = records.make_parser(__doc__).parse_args().quick
    tokens, rows = 200 if quick else TOKENS, []
    for encoder in ENCODERS:
        seconds, median, gb = alone(measure, encoder, tokens, 4)
        rows.append({"encoder": encoder, "seconds": seconds, "median": median, "gb": gb})
        print(rows[-1], flush=True)
    content = {"tokens": tokens, "chains": CHAINS, "batch": BATCH, "rows": rows}
    records.publish("long_passages", make_table, content, quick)


if __name__ == "__main__":
    main()
