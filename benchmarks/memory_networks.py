"""Time of what memory networks are made of, against the plain way in Keras.

    python benchmarks/memory_networks.py            # two minutes on two cores
    python benchmarks/memory_networks.py --quick    # fewer rounds, not recorded

The memories of REN, QDREN and DMN stand beside their cells in `keras.layers.RNN`, dropout beside
that of Keras. Steps of the loss and the gradients of all weights and inputs on TensorFlow, under
XLA and in graph mode; all ways and modes take turns, and the fastest mode of each way counts.
"""

import records
from records import fastest

from keras_corefmem.utils.markdown import markdown_table

BATCH, SENTENCES, SLOTS, UNITS, PASSES = 32, 50, 20, 100, 3
MODES, NAMES = ("XLA", "graph"), ("REN", "QDREN", "DMN", "dropout")


def make_steps(modes=MODES, names=NAMES):
    """Steps by name, then by way, `"plain"` or `"ours"`, and mode."""
    import keras
    from keras import ops
    from steps import compile_step, random_features

    from keras_corefmem.layers import EntityMemory, EntityMemoryCell, EpisodicMemory, HashDropout

    class PlainEpisodeCell(keras.layers.Layer):
        """One fact of an episode: its gate, then the GRU."""

        def __init__(self, memory):
            super().__init__()
            self.memory, self.state_size, self.output_size = memory, UNITS, UNITS

        def call(self, inputs, states, training=None):
            fact, memory, question = ops.split(inputs, 3, axis=-1)
            features = self.memory.features(fact[:, None], memory, question)
            gate = ops.sigmoid(self.memory.score(self.memory.hidden(features)))[:, 0]
            return self.memory.episode(ops.concatenate([fact, gate], axis=-1), states)

    def beside(sequence, *vectors):
        """A sequence with the same vectors at every step."""
        rows = [ops.broadcast_to(vector[:, None], ops.shape(sequence)) for vector in vectors]
        return ops.concatenate([sequence, *rows], axis=-1)

    class PlainEntityMemory(keras.layers.RNN):
        def call(self, sentences, question):
            return super().call(beside(sentences, question))

        def build(self, sentences_shape):
            super().build((*sentences_shape[:-1], 2 * sentences_shape[-1]))

    class PlainEpisodicMemory(EpisodicMemory):
        def call(self, facts, question, supporting_facts=None):
            memory, cell = question, PlainEpisodeCell(self)
            for update in self.updates:
                episode = keras.layers.RNN(cell)(beside(facts, memory, question))
                memory, _ = update(episode, [memory, ops.zeros((ops.shape(facts)[0], 0))])
            return memory

    x, question = random_features(BATCH, SENTENCES, UNITS), random_features(BATCH, UNITS)
    dependent = {"question_dependent": True}
    ren, qdren = (EntityMemoryCell(SLOTS, UNITS, **options) for options in ({}, dependent))
    # Name, plain layer, ours, further arguments of their calls.
    cases = [
        ("REN", keras.layers.RNN(ren), EntityMemory(SLOTS, UNITS)),
        ("QDREN", PlainEntityMemory(qdren), EntityMemory(SLOTS, UNITS, **dependent), question),
        ("DMN", PlainEpisodicMemory(UNITS, PASSES), EpisodicMemory(UNITS, PASSES), question),
        ("dropout", keras.layers.Dropout(0.5), HashDropout(0.5)),
    ]
    steps = {}
    for name, plain, ours, *extra in (case for case in cases if case[0] in names):
        for way, layer in (("plain", plain), ("ours", ours)):
            # Building takes no more than a sentence, and is slow on all of them.
            layer(x[:, :1], *extra)
            for mode in modes:
                step = compile_step(layer, x, tuple(extra), mode)
                steps.setdefault(name, {})[way, mode] = step
    return steps


def measure_rows(rounds, modes=MODES, names=NAMES):
    """Rows of times by name, way and mode."""
    from steps import measure

    rows = []
    for name, steps in make_steps(modes, names).items():
        for (way, mode), found in zip(steps, measure(steps.values(), rounds), strict=True):
            rows.append({"name": name, "way": way, "mode": mode, **found})
            print(rows[-1], flush=True)
    return rows


def compare(rows):
    """The fastest row of the plain way and of ours, by name."""
    names = dict.fromkeys(row["name"] for row in rows)
    return {n: [fastest(rows, name=n, way=way) for way in ("plain", "ours")] for n in names}


def make_table(content):
    """The figures as Markdown: the fastest modes, the ratio last, then all."""
    table = [("", "plain, ms", "ours, ms", "ratio")]
    for name, (plain, ours) in compare(content["rows"]).items():
        cells = (f"{row['ms']:.1f}, {row['mode']}" for row in (plain, ours))
        table.append((name, *cells, f"{ours['ms'] / plain['ms']:.2f}"))
    times = [("", "way", "mode", "ms", "median")]
    for row in content["rows"]:
        numbers = (f"{row[key]:.1f}" for key in ("ms", "median"))
        times.append((row["name"], row["way"], row["mode"], *numbers))
    return f"{markdown_table(table)}\n\n{markdown_table(times, text_columns=3)}"


def main():
    quick = records.make_parser(__doc__).parse_args().quick
    sizes = dict(sentences=SENTENCES, slots=SLOTS, units=UNITS, passes=PASSES)
    rows = measure_rows(5 if quick else 40)
    records.publish("memory_networks", make_table, {"sizes": sizes, "rows": rows}, quick)


if __name__ == "__main__":
    main()
