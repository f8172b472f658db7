"""Time that users wait for answers of SavedModels and presets, and for commands.

    python benchmarks/latency.py            # some minutes on two cores
    python benchmarks/latency.py --quick    # one round, not recorded

A SavedModel of a reader of bAbI 2 answers strings in a process without this package; the same
preset reads different stories one by one, and answers one question of `corefmem predict`; and
`corefmem train` runs as in the README, in an empty folder. The SavedModel and `read` also answer
a passage of 10,000 words, and a layer reads 5,000 tokens eagerly. All in turn, in fresh processes.
"""

import json
import pathlib
import tempfile
import time

import records
from processes import COREFMEM, HERE, alone, measure_in_turn, run

from keras_corefmem.utils.markdown import markdown_table

PRESET, STORIES, STRINGS = "ga_coref_gru_babi_2", 60, (1, 100, 1000)
READS, READING = f"{STORIES} stories by read", f"{STORIES} stories by read, whole process"
EAGER, LONG = 5000, 10_000
PREDICT, TRAIN = f"corefmem predict {PRESET}, one question", "corefmem train"


def simulate(count):
    """Passages and questions."""
    from keras_corefmem.datasets import simulator

    examples = simulator.simulate(2, count, seed=3)
    return [e.passage for e in examples], [e.question for e in examples]


def export(folder):
    import zoo

    zoo.export(zoo.from_preset(PRESET), folder)


def read_stories(count):
    """Seconds of the reads alone, of a process that imports and loads too."""
    import zoo

    model, (passages, questions) = zoo.from_preset(PRESET), simulate(count)
    start = time.perf_counter()
    for passage, question in zip(passages, questions, strict=True):
        model.read(passage, question)
    return time.perf_counter() - start


def first_and_next(name, function):
    """Seconds of two calls, by name: the first compiles."""
    seconds = {}
    for call in (f"{name}, first", name):
        start = time.perf_counter()
        function()
        seconds[call] = time.perf_counter() - start
    return seconds


def read_long(folder):
    """Seconds of an eager layer on a long text, and of answers to longer ones."""
    import numpy as np
    import tensorflow as tf

    import zoo
    from keras_corefmem.layers import CorefGRU

    layer, x = CorefGRU(64), np.zeros((1, EAGER, 64), "float32")
    antecedents = np.arange(EAGER, dtype="int32")[None] // 2
    (story,), (question,) = simulate(1)
    words = story.split()
    passage = " ".join((words * (LONG // len(words) + 1))[:LONG])
    model, serve = zoo.from_preset(PRESET), tf.saved_model.load(folder).signatures
    texts = {"passage": tf.constant([passage]), "question": tf.constant([question])}
    return {
        **first_and_next(f"CorefGRU, eager, {EAGER:,} tokens", lambda: layer(x, antecedents)),
        **first_and_next(f"read, {LONG:,} words", lambda: model.read(passage, question)),
        **first_and_next(
            f"SavedModel, {LONG:,} words",
            lambda: serve["serving_default"](**texts)["answer"].numpy(),
        ),
    }


def measure(folder, rounds, strings=STRINGS):
    """Minimum and median seconds by name."""
    model, questions = folder / "model", folder / "questions.json"
    alone(export, str(model))
    passages = simulate(max(strings))
    questions.write_text(json.dumps(passages))
    ask = ["predict", PRESET, "--passage", passages[0][0], "--question", passages[1][0]]

    def answer_strings():
        command = [COREFMEM[0], HERE / "answer_strings.py", model, questions]
        return json.loads(run(*command, json.dumps(strings))[2])

    def read():
        start = time.perf_counter()
        reads = alone(read_stories, STORIES)
        return {READS: reads, READING: time.perf_counter() - start}

    def predict():
        return {PREDICT: run(*COREFMEM, *ask)[0]}

    def train():
        with tempfile.TemporaryDirectory(dir=folder) as runs:
            return {TRAIN: run(*COREFMEM, "train", cwd=runs)[0]}

    def long():
        return alone(read_long, str(model))

    return measure_in_turn([answer_strings, read, predict, train, long], rounds)


def show_seconds(seconds):
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1e3 * seconds:.1f} ms"


def make_table(content):
    """The figures as Markdown."""
    table = [("", "minimum", "median")]
    for name, found in content["figures"].items():
        table.append((name, show_seconds(found["seconds"]), show_seconds(found["median"])))
    return markdown_table(table)


def main():
    quick = records.make_parser(__doc__).parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(pathlib.Path(folder), 1 if quick else 4)
    records.publish("latency", make_table, {"figures": figures}, quick)


if __name__ == "__main__":
    main()
