"""Throughput and memory of answers that eight threads ask for at once.

    python benchmarks/load.py            # half an hour on two cores
    python benchmarks/load.py --quick    # some seconds each, not recorded

A SavedModel of a reader of bAbI 2 for ten minutes, `read` of the same preset 20,000 times, and
`read` of 1,000 passages of different lengths; on JAX `read` too. Memory is what the process holds,
after warm-up and at the end. Each has a process of its own.
"""

import concurrent.futures
import math
import pathlib
import tempfile
import time

import records
from latency import PRESET, export, simulate
from processes import alone

from keras_corefmem.utils.markdown import markdown_table

THREADS, SECONDS, CALLS, LENGTHS = 8, 600, 20_000, range(10, 4010, 4)


def resident():
    """MiB that this process holds."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def answer_all(answer, texts, calls=math.inf, seconds=math.inf):
    """Threads answer texts so many times, or for some seconds; the number of calls."""
    expected, wrong = [answer(*text) for text in texts], []
    due = time.perf_counter() + seconds

    def work(number):
        done = 0
        while number < calls and time.perf_counter() < due and not wrong:
            text = number % len(texts)
            if answer(*texts[text]) != expected[text]:
                wrong.append(texts[text])
            number, done = number + THREADS, done + 1
        return done

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        done = sum(pool.map(work, range(THREADS)))
    assert not wrong, f"another answer than that of one thread: {wrong[0]}"
    return done


def ask(answer, texts, **amount):
    """Calls, seconds and MiB, warm after a tenth of them and at the end."""
    answer_all(answer, texts, **{name: value / 10 for name, value in amount.items()})
    before, start = resident(), time.perf_counter()
    calls = answer_all(answer, texts, **amount)
    taken = time.perf_counter() - start
    return {"calls": calls, "seconds": taken, "before": before, "after": resident()}


def saved_model(folder, seconds):
    import tensorflow as tf

    signature = tf.saved_model.load(folder).signatures["serving_default"]

    def answer(passage, question):
        found = signature(passage=tf.constant([passage]), question=tf.constant([question]))
        return found["answer"].numpy()[0]

    return ask(answer, list(zip(*simulate(200), strict=True)), seconds=seconds)


def reads(calls):
    import zoo

    model = zoo.from_preset(PRESET)
    texts = list(zip(*simulate(200), strict=True))
    return ask(lambda *text: model.read(*text).answer, texts, calls=calls)


def lengths(numbers):
    """Calls, seconds and MiB of passages of so many words, which were all read before."""
    import zoo

    model = zoo.from_preset(PRESET)
    (passage, *_), (question, *_) = simulate(1)
    words = (passage.split() * (max(numbers) // len(passage.split()) + 1))[: max(numbers)]

    def read_all():
        for count in numbers:
            model.read(" ".join(words[:count]), question)

    read_all()
    before, start = resident(), time.perf_counter()
    read_all()
    taken = time.perf_counter() - start
    return {"calls": len(numbers), "seconds": taken, "before": before, "after": resident()}


def growth(row):
    return row["after"] / row["before"] - 1


def make_table(content):
    """The figures as Markdown."""
    table = [("", "calls", "a second", "MiB, warm", "MiB, at the end", "growth")]
    for row in content["rows"]:
        memory = f"{row['before']:,.0f}", f"{row['after']:,.0f}"
        pace = row["calls"] / row["seconds"]
        table.append(
            (row["name"], f"{row['calls']:,}", f"{pace:.0f}", *memory, f"{growth(row):.1%}")
        )
    return markdown_table(table)


def main():
    quick = records.make_parser(__doc__).parse_args().quick
    seconds, calls = (5, 200) if quick else (SECONDS, CALLS)
    numbers = LENGTHS[::100] if quick else LENGTHS
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = str(pathlib.Path(folder) / "model")
        alone(export, model)
        for name, backend, function, *arguments in (
            (f"SavedModel, {THREADS} threads", "tensorflow", saved_model, model, seconds),
            (f"read, {THREADS} threads", "tensorflow", reads, calls),
            (f"read on JAX, {THREADS} threads", "jax", reads, calls),
            (f"read, {len(numbers):,} lengths", "tensorflow", lengths, numbers),
        ):
            rows.append({"name": name, **alone(function, *arguments, KERAS_BACKEND=backend)})
            print(rows[-1], flush=True)
    records.publish("load", {"rows": rows}, quick)


if __name__ == "__main__":
    main()
