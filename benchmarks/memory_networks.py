"""Time of what memory networks are made of, against the plain way in Keras.

    python benchmarks/memory_networks.py            # one minute on two cores
    python benchmarks/memory_networks.py --quick    # fewer rounds, not written

The memories of REN, QDREN and DMN stand beside their cells in `keras.layers.RNN`, dropout beside
that of Keras. Steps per second of the loss and the gradients of all weights and inputs under XLA on
TensorFlow; both ways take turns, and the fastest round counts.
"""

import argparse
import os

import records

SENTENCES, SLOTS, UNITS, PASSES = 50, 20, 100, 3


def make_steps():
    """Compiled steps by name, first the plain way of each, then ours."""
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

    x, question = random_features(SENTENCES, width=UNITS), random_features(width=UNITS)
    by_question = {"question_dependent": True}
    cases = {
        "REN": (
            keras.layers.RNN(EntityMemoryCell(SLOTS, UNITS)),
            EntityMemory(SLOTS, UNITS),
            (),
        ),
        "QDREN": (
            PlainEntityMemory(EntityMemoryCell(SLOTS, UNITS, **by_question)),
            EntityMemory(SLOTS, UNITS, **by_question),
            (question,),
        ),
        "DMN": (PlainEpisodicMemory(UNITS, PASSES), EpisodicMemory(UNITS, PASSES), (question,)),
        "dropout": (keras.layers.Dropout(0.5), HashDropout(0.5), ()),
    }
    steps = {}
    for name, (plain, fused, extra) in cases.items():
        for layer in (plain, fused):
            # Building takes no more than a sentence, and is slow on all of them.
            layer(x[:, :1], *extra)
        steps[name] = [compile_step(layer, x, extra) for layer in (plain, fused)]
    return steps


def make_table(content):
    """The figures as Markdown, the ratio last."""
    lines = ["| | plain, steps/s | ours, steps/s | ratio |", "|---|---:|---:|---:|"]
    for row in content["rows"]:
        figures = " | ".join(f"{row[name]:.1f}" for name in ("plain", "ours", "ratio"))
        lines.append(f"| {row['name']} | {figures} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few rounds only, not written")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from steps import fastest

    rows = []
    for name, steps in make_steps().items():
        plain, ours = (1 / seconds for seconds in fastest(steps, 5 if options.quick else 40))
        rows.append({"name": name, "plain": plain, "ours": ours, "ratio": ours / plain})
        print(f"{name}: {plain:.1f} steps/s, ours {ours:.1f}, {ours / plain:.1f} times as many")
    if not options.quick:
        sizes = dict(sentences=SENTENCES, slots=SLOTS, units=UNITS, passes=PASSES)
        records.write("memory_networks", {"sizes": sizes, "rows": rows}, make_table)


if __name__ == "__main__":
    main()
