"""Time of a training step of BiDAF with supervised self-attention, against the plain way in Keras.

    python benchmarks/supervised_attention.py            # some minutes on two cores
    python benchmarks/supervised_attention.py --quick    # fewer rounds, not recorded

Ours is `zoo.BiDAFReader` with early self-attention, supervised by coreference, of the sizes of its
paper. The plain one has the same layers and loss, of `keras.layers.GRU`, `MultiHeadAttention` with
`return_attention_scores`, dense targets and a similarity that never holds every pair's vectors; it
runs under XLA and in graph mode, with Keras' dropout and with ours, which is cheaper. Steps of Adam
on TensorFlow, of all in turn; the fastest mode of each counts. The cost of supervision is the time
beside that of ours without it, in the same run.
"""

import functools
import types

import records
from records import fastest

from keras_corefmem.utils.markdown import markdown_table

SIZES = types.SimpleNamespace(
    **dict(batch=40, passage=128, question=24, words=20_000, letters=60, length=15),
    **dict(candidates=90, units=100, layers=4, heads=4, inner=512, dropout=0.2, weight=0.3),
)
PAIRS = 128


def random_batch():
    """Features and answers of a batch, with mentions in chains of four."""
    import numpy as np

    random = np.random.default_rng(0)
    batch, passage, question = SIZES.batch, SIZES.passage, SIZES.question
    rows = np.stack([random.permutation(passage)[: PAIRS // 3] for _ in range(batch)]) + 1
    chains = rows[:, : len(rows[0]) // 4 * 4].reshape(batch, -1, 4)
    pairs = np.zeros((batch, PAIRS, 2), "int32")
    found = np.stack([chains[..., [a, b]] for a in range(4) for b in range(4) if a != b], axis=2)
    found = found.reshape(batch, -1, 2)[:, :PAIRS]
    pairs[:, : found.shape[1]] = found
    features = {
        "passage": random.integers(2, SIZES.words, (batch, passage)),
        "question": random.integers(2, SIZES.words, (batch, question)),
        "passage_characters": random.integers(2, SIZES.letters, (batch, passage, SIZES.length)),
        "question_characters": random.integers(2, SIZES.letters, (batch, question, SIZES.length)),
        "candidates": random.integers(1, SIZES.candidates, (batch, passage)),
        "passage_targets_coref_all": pairs,
    }
    features = {name: values.astype("int32") for name, values in features.items()}
    return features, random.integers(1, SIZES.candidates, batch).astype("int32")


def make_ours(supervision):
    from zoo.architectures.passage.bidaf_reader import BiDAFReader

    return BiDAFReader(
        SIZES.words,
        SIZES.candidates,
        self_attention="early",
        supervision=supervision,
        loss_weight=SIZES.weight,
        units=SIZES.units,
        early_layers=SIZES.layers,
        heads=SIZES.heads,
        inner_units=SIZES.inner,
        dropout=SIZES.dropout,
        num_characters=SIZES.letters,
        word_length=SIZES.length,
    )


def make_steps():
    """Functions that train on a batch, by model and mode."""
    import keras
    import numpy as np
    import tensorflow as tf
    from plain_bidaf import make_plain

    from keras_corefmem.layers import HashDropout

    features, answers = random_batch()
    dense = np.zeros((SIZES.batch, SIZES.passage + 1, SIZES.passage + 1), "float32")
    pairs = features["passage_targets_coref_all"]
    dense[np.arange(SIZES.batch)[:, None], pairs[..., 0], pairs[..., 1]] = 1.0
    given = {**features, "targets": dense[:, 1:, 1:]}
    models = {
        ("plain", "XLA"): make_plain(SIZES, keras.layers.Dropout),
        ("plain", "XLA, our dropout"): make_plain(SIZES, HashDropout),
        ("plain", "graph"): make_plain(SIZES, keras.layers.Dropout),
        ("plain", "graph, our dropout"): make_plain(SIZES, HashDropout),
        ("ours", "XLA"): make_ours(("coref_all",)),
        ("ours", "graph"): make_ours(("coref_all",)),
        ("ours without supervision", "XLA"): make_ours(()),
    }
    steps = {}
    for (name, mode), model in models.items():
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        jit = mode.startswith("XLA")
        model.compile(optimizer=keras.optimizers.Adam(), loss=loss, jit_compile=jit)
        batch = {x.name: tf.constant(given[x.name]) for x in model.inputs}
        step = functools.partial(model.train_on_batch, batch, answers)
        steps[name, mode] = step
    return steps


def make_table(content):
    """The figures as Markdown."""
    rows, table = content["rows"], [("", "mode", "ms a step", "median", "of the fastest plain one")]
    plain = fastest(rows, name="plain")
    for row in rows:
        times = f"{row['ms']:.0f}", f"{row['median']:.0f}", f"{row['ms'] / plain['ms']:.2f}"
        table.append((row["name"], row["mode"], *times))
    cost = f"Supervision costs {supervision_cost(rows):.1%} of a step."
    return f"{markdown_table(table, text_columns=2)}\n\n{cost}"


def supervision_cost(rows):
    """What supervision adds to a step under XLA, as a share."""
    names = ("ours", "ours without supervision")
    ours, without = (fastest(rows, name=name, mode="XLA")["ms"] for name in names)
    return ours / without - 1


def main():
    quick = records.make_parser(__doc__).parse_args().quick
    from steps import measure

    steps = make_steps()
    named = zip(steps, measure(steps.values(), 3 if quick else 20), strict=True)
    rows = [{"name": name, "mode": mode, **found} for (name, mode), found in named]
    shown = "batch", "passage", "question", "units", "layers"
    sizes = {name: getattr(SIZES, name) for name in shown}
    records.publish("supervised_attention", make_table, {"sizes": sizes, "rows": rows}, quick)


if __name__ == "__main__":
    main()
