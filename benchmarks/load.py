"""Throughput and memory of answers that eight threads ask for at once.

    python benchmarks/load.py            # half an hour on two cores
    python benchmarks/load.py --quick    # some seconds each, not recorded

A SavedModel of a reader of bAbI 2 for ten minutes, `read` of the same preset 20,000 times, and
`read` of 1,000 passages of different lengths, after one of each length that they are padded to; on
JAX `read` too. Memory is what the process holds after a warm-up and at the end, and between the two
the traces of `read` are counted. Each has a process of its own.
"""

import concurrent.futures
import math
import pathlib
import tempfile
import time

import records
from latency import PRESET, export, simulate
from processes import alone

from keras_corefmem.preprocessing.encoding.features import coarse_length
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


def measure(work, traced=None):
    """Calls that some work makes, seconds, MiB before and after, and how often it traces."""
    before, start, count = resident(), time.perf_counter(), len(traced or ())
    calls, taken = work(), time.perf_counter() - start
    found = {"calls": calls, "seconds": taken, "before": before, "after": resident()}
    return found | {"traced": None if traced is None else len(traced) - count}


def ask(answer, texts, traced=None, **amount):
    """Measures answers after a tenth of as many."""
    answer_all(answer, texts, **{name: value / 10 for name, value in amount.items()})
    return measure(lambda: answer_all(answer, texts, **amount), traced)


def count_traces(model):
    """A list that grows whenever a model is traced, which runs its Python code."""
    layer, traced = model.layers[-1], []
    call = layer.call

    def counting_call(*args, **kwargs):
        traced.append(layer.name)
        return call(*args, **kwargs)

    layer.call = counting_call
    return traced


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
    return ask(lambda *text: model.read(*text).answer, texts, count_traces(model), calls=calls)


def lengths(numbers):
    """Measures passages of so many words, after one of each length that they are padded to."""
    import zoo

    model = zoo.from_preset(PRESET)
    (passage, *_), (question, *_) = simulate(1)
    words = passage.split() * (max(numbers) // len(passage.split()) + 1)
    texts = [" ".join(words[:count]) for count in numbers]

    def padded(text):
        return int(coarse_length(model.preprocessor.length(encode(text, question))))

    def read_all(texts):
        return len([model.read(text, question) for text in texts])

    encode, traced = model.preprocessor.encode_text, count_traces(model)
    read_all({padded(text): text for text in texts}.values())
    return measure(lambda: read_all(texts), traced)


def growth(row):
    return row["after"] / row["before"] - 1


def make_table(content):
    """The figures as Markdown."""
    table = [("", "calls", "a second", "MiB, warm", "MiB, at the end", "growth", "traced anew")]
    for row in content["rows"]:
        memory = f"{row['before']:,.0f}", f"{row['after']:,.0f}"
        pace = row["calls"] / row["seconds"]
        table.append(
            (
                *(row["name"], f"{row['calls']:,}", f"{pace:.0f}", *memory),
                *(f"{growth(row):.1%}", "–" if row["traced"] is None else f"{row['traced']}"),
            )
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
    records.publish("load", make_table, {"rows": rows}, quick)


if __name__ == "__main__":
    main()
