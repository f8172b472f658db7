"""Time of a training step of BiDAF with supervised self-attention, against the plain way in Keras.

    python benchmarks/supervised_attention.py            # some minutes on two cores
    python benchmarks/supervised_attention.py --quick    # fewer rounds, not written

Ours is `zoo.BiDAFReader` with early self-attention, supervised by coreference, of the sizes of its
paper. The plain one has the same layers and loss, of `keras.layers.GRU`, `MultiHeadAttention` with
`return_attention_scores` and dense targets. Steps of Adam under XLA on TensorFlow, of all in turn;
the fastest round counts. The cost of supervision is that of ours without it, in the same run.
"""

import argparse
import os

import records

BATCH, PASSAGE, QUESTION, WORDS = 40, 128, 24, 20_000
LETTERS, LENGTH, CANDIDATES, PAIRS = 60, 15, 90, 128
UNITS, LAYERS, HEADS, INNER, DROPOUT, WEIGHT = 100, 4, 4, 512, 0.2, 0.3


def random_batch():
    """Features and answers of a batch, with mentions in chains of four."""
    import numpy as np

    random = np.random.default_rng(0)
    rows = np.stack([random.permutation(PASSAGE)[: PAIRS // 3] for _ in range(BATCH)]) + 1
    chains = rows[:, : len(rows[0]) // 4 * 4].reshape(BATCH, -1, 4)
    pairs = np.zeros((BATCH, PAIRS, 2), "int32")
    found = np.stack([chains[..., [a, b]] for a in range(4) for b in range(4) if a != b], axis=2)
    found = found.reshape(BATCH, -1, 2)[:, :PAIRS]
    pairs[:, : found.shape[1]] = found
    features = {
        "passage": random.integers(2, WORDS, (BATCH, PASSAGE)),
        "question": random.integers(2, WORDS, (BATCH, QUESTION)),
        "passage_characters": random.integers(2, LETTERS, (BATCH, PASSAGE, LENGTH)),
        "question_characters": random.integers(2, LETTERS, (BATCH, QUESTION, LENGTH)),
        "candidates": random.integers(1, CANDIDATES, (BATCH, PASSAGE)),
        "passage_targets_coref_all": pairs,
    }
    features = {name: values.astype("int32") for name, values in features.items()}
    return features, random.integers(1, CANDIDATES, BATCH).astype("int32")


def make_ours(supervision):
    from zoo.architectures.passage.bidaf_reader import BiDAFReader

    return BiDAFReader(
        WORDS,
        CANDIDATES,
        self_attention="early",
        supervision=supervision,
        loss_weight=WEIGHT,
        units=UNITS,
        early_layers=LAYERS,
        heads=HEADS,
        inner_units=INNER,
        dropout=DROPOUT,
        num_characters=LETTERS,
        word_length=LENGTH,
    )


def make_plain():
    """The same of Keras' own layers."""
    import keras
    from keras import layers, ops

    from keras_corefmem.layers import SinusoidalPositions

    class Supervised(layers.Layer):
        """Adds the loss of dense targets `(batch, time, time)`."""

        def call(self, attention, targets):
            found = ops.sum(attention * targets, axis=-1)
            counts = ops.sum(targets, axis=-1)
            logs = ops.log(ops.where(counts > 0, found, 1.0))
            rows = ops.maximum(ops.sum(ops.cast(counts > 0, "float32"), axis=-1), 1)
            self.add_loss(-WEIGHT * ops.mean(ops.sum(counts * logs, axis=-1) / rows))
            return attention

    width, drop = 2 * UNITS, layers.Dropout(DROPOUT)
    features = {
        "passage": (PASSAGE,),
        "question": (QUESTION,),
        "passage_characters": (PASSAGE, LENGTH),
        "question_characters": (QUESTION, LENGTH),
        "candidates": (PASSAGE,),
        "targets": (PASSAGE, PASSAGE),
    }
    inputs = {name: keras.Input(shape, name=name) for name, shape in features.items()}
    table, letters = layers.Embedding(WORDS, 100), layers.Embedding(LETTERS, 16)
    convolve = layers.Conv1D(100, 5, activation="relu")
    gates = [layers.Dense(width, "sigmoid", bias_initializer="ones") for _ in range(2)]
    carried = [layers.Dense(width, "relu") for _ in range(2)]

    def embed(part, time):
        spelt = letters(inputs[f"{part}_characters"])
        spelt = convolve(ops.reshape(spelt, (-1, LENGTH, 16)))
        spelt = ops.reshape(ops.max(spelt, axis=1), (-1, time, 100))
        x = drop(ops.concatenate([table(inputs[part]), spelt], axis=-1))
        for gate, carry in zip(gates, carried, strict=True):
            share = gate(x)
            x = share * x + (1 - share) * carry(x)
        return x

    norm = layers.LayerNormalization()
    stack = [
        (
            layers.Dense(INNER, "relu"),
            layers.Dense(width),
            layers.LayerNormalization(),
            layers.MultiHeadAttention(HEADS, width // HEADS),
            layers.LayerNormalization(),
        )
        for _ in range(LAYERS)
    ]

    def encode(x, mask, targets=None):
        x = SinusoidalPositions()(norm(x))
        for number, (inner, outer, first, attend, second) in enumerate(stack, 1):
            x = first(x + drop(outer(inner(x))))
            read, scores = attend(x, x, attention_mask=mask[:, None], return_attention_scores=True)
            if targets is not None and number == 3:
                Supervised()(scores[:, 0], targets)
            x = second(x + drop(read))
        return x

    masks = {part: ops.not_equal(inputs[part], 0) for part in ("passage", "question")}
    context = encode(embed("passage", PASSAGE), masks["passage"], inputs["targets"])
    query = encode(embed("question", QUESTION), masks["question"])
    pairs = ops.concatenate(
        [
            ops.repeat(context[:, :, None], QUESTION, axis=2),
            ops.repeat(query[:, None], PASSAGE, axis=1),
            context[:, :, None] * query[:, None],
        ],
        axis=-1,
    )
    scores = layers.Dense(1)(pairs)[..., 0]
    asked = ops.matmul(ops.softmax(scores, axis=-1), query)
    best = ops.softmax(ops.max(scores, axis=-1), axis=-1)
    whole = ops.einsum("bt,btd->bd", best, context)[:, None]
    joined = ops.concatenate([context, asked, context * asked, context * whole], axis=-1)
    joined = modelled = layers.LayerNormalization()(joined)
    for _ in range(2):
        gru = layers.Bidirectional(layers.GRU(UNITS, return_sequences=True))
        modelled = gru(drop(modelled), mask=masks["passage"])
    modelled = layers.LayerNormalization()(modelled)
    scores = layers.Dense(1)(drop(ops.concatenate([joined, modelled], axis=-1)))
    chosen = ops.one_hot(ops.cast(inputs["candidates"], "int32"), CANDIDATES)
    logits = ops.logsumexp(ops.where(chosen > 0, scores, -1e9), axis=1)
    return keras.Model(inputs, logits)


def make_steps():
    """Functions that train on a batch, by name."""
    import keras
    import numpy as np
    import tensorflow as tf

    features, answers = random_batch()
    dense = np.zeros((BATCH, PASSAGE + 1, PASSAGE + 1), "float32")
    pairs = features["passage_targets_coref_all"]
    dense[np.arange(BATCH)[:, None], pairs[..., 0], pairs[..., 1]] = 1.0
    models = {
        "plain": (make_plain(), {**features, "targets": dense[:, 1:, 1:]}),
        "ours": (make_ours(("coref_all",)), features),
        "ours without supervision": (make_ours(()), features),
    }
    steps = {}
    for name, (model, given) in models.items():
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=keras.optimizers.Adam(), loss=loss, jit_compile=True)
        batch = tf.nest.map_structure(tf.constant, ({n.name: given[n.name] for n in model.inputs}))
        steps[name] = lambda model=model, batch=batch: model.train_on_batch(batch, answers)
    return steps


def make_table(content):
    """The figures as Markdown."""
    lines = ["| | ms a step | of the plain one |", "|---|---:|---:|"]
    for name, seconds in content["seconds"].items():
        share = seconds / content["seconds"]["plain"]
        lines.append(f"| {name} | {1000 * seconds:.0f} | {share:.2f} |")
    return "\n".join([*lines, "", f"Supervision costs {content['cost']:.1%} of a step."])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few rounds only, not written")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from steps import fastest

    steps = make_steps()
    seconds = dict(zip(steps, fastest(steps.values(), 3 if options.quick else 20), strict=True))
    cost = seconds["ours"] / seconds["ours without supervision"] - 1
    content = {"seconds": seconds, "cost": cost}
    print(make_table(content))
    if not options.quick:
        sizes = dict(batch=BATCH, passage=PASSAGE, question=QUESTION, units=UNITS, layers=LAYERS)
        records.write("supervised_attention", {"sizes": sizes, **content}, make_table)


if __name__ == "__main__":
    main()
