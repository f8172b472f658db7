"""An epoch of training on JAX, which computes where it is asked to or in a thread of its own.

    python benchmarks/dispatch.py [--quick]

Commands of `corefmem` do the first. Every measurement is a process of its own.
"""

import functools
import os
import time

import records
from processes import alone, measure_in_turn

from keras_corefmem.utils.markdown import markdown_table
from keras_corefmem.utils.processes import available_cores, keep_memory

MODES = "in place", "in a thread"


def measure_epoch(in_thread, cores, stories):
    """Seconds of an epoch of a Gated-Attention Reader with MAGE-GRUs, the best of three."""
    import jax

    os.sched_setaffinity(0, cores)
    jax.config.update("jax_cpu_enable_async_dispatch", in_thread)
    import zoo
    from keras_corefmem.datasets import simulator

    examples = simulator.load(task=2, train=stories, valid=1, test=1).train
    reader = zoo.GatedAttentionReader.from_examples(examples, encoder="mage_gru")
    fit = functools.partial(reader.fit, examples, batch_size=32, verbose=0)
    fit()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        fit()
        times.append(time.perf_counter() - start)
    return min(times)


def make_table(content):
    """The figures as Markdown."""
    table = [("cores", *(f"s an epoch, {mode}" for mode in MODES), "takes of its time")]
    for cores in content["counts"]:
        ours, plain = (content["times"][f"{mode}, {cores} cores"]["seconds"] for mode in MODES)
        table.append((str(cores), f"{ours:.2f}", f"{plain:.2f}", f"{ours / plain:.0%}"))
    return markdown_table(table, text_columns=0)


def main():
    quick = records.make_parser(__doc__).parse_args().quick
    keep_memory()
    available = available_cores()
    counts = [1, len(available)] if len(available) > 1 else [1]
    stories = 64 if quick else 900

    def case(mode, count):
        arguments = mode == MODES[1], available[-count:], stories
        seconds = alone(measure_epoch, *arguments, KERAS_BACKEND="jax")
        return {f"{mode}, {count} cores": seconds}

    cases = [functools.partial(case, mode, count) for count in counts for mode in MODES]
    times = measure_in_turn(cases, 1)
    records.publish("dispatch", make_table, {"counts": counts, "times": times}, quick)


if __name__ == "__main__":
    main()
