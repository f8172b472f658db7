"""The plain way to build BiDAF with supervised self-attention, of Keras' own layers."""

import keras
from keras import layers, ops

from keras_corefmem.layers import SinusoidalPositions


class Supervised(layers.Layer):
    """Adds the loss of dense targets `(batch, time, time)`, times `weight`."""

    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def call(self, attention, targets):
        found = ops.sum(attention * targets, axis=-1)
        counts = ops.sum(targets, axis=-1)
        logs = ops.log(ops.where(counts > 0, found, 1.0))
        rows = ops.maximum(ops.sum(ops.cast(counts > 0, "float32"), axis=-1), 1)
        self.add_loss(-self.weight * ops.mean(ops.sum(counts * logs, axis=-1) / rows))
        return attention


class Similarity(layers.Layer):
    """`w · [h ; u ; h ⊙ u]` of all pairs, term by term."""

    def build(self, h_shape, u_shape):
        self.factors = self.add_weight(shape=(3, h_shape[-1]))

    def call(self, h, u):
        alone, other, both = ops.split(self.factors, 3)
        pairs = ops.matmul(h * both, ops.swapaxes(u, 1, 2))
        return pairs + ops.sum(h * alone, -1)[..., None] + ops.sum(u * other, -1)[:, None]


def make_plain(sizes, dropout):
    """The model, of these sizes and with a dropout layer of this class."""
    width, drop = 2 * sizes.units, dropout(sizes.dropout, noise_shape=(None, 1, None))
    features = {
        "passage": (sizes.passage,),
        "question": (sizes.question,),
        "passage_characters": (sizes.passage, sizes.length),
        "question_characters": (sizes.question, sizes.length),
        "candidates": (sizes.passage,),
        "targets": (sizes.passage, sizes.passage),
    }
    inputs = {name: keras.Input(shape, name=name) for name, shape in features.items()}
    table, letters = layers.Embedding(sizes.words, 100), layers.Embedding(sizes.letters, 16)
    convolve = layers.Conv1D(100, 5, activation="relu")
    gates = [layers.Dense(width, "sigmoid", bias_initializer="ones") for _ in range(2)]
    carried = [layers.Dense(width, "relu") for _ in range(2)]

    def embed(part, time):
        spelt = letters(inputs[f"{part}_characters"])
        spelt = convolve(ops.reshape(spelt, (-1, sizes.length, 16)))
        spelt = ops.reshape(ops.max(spelt, axis=1), (-1, time, 100))
        x = drop(ops.concatenate([table(inputs[part]), spelt], axis=-1))
        for gate, carry in zip(gates, carried, strict=True):
            share = gate(x)
            x = share * x + (1 - share) * carry(x)
        return x

    norm = layers.LayerNormalization()
    stack = [
        (
            layers.Dense(sizes.inner, "relu"),
            layers.Dense(width),
            layers.LayerNormalization(),
            layers.MultiHeadAttention(sizes.heads, width // sizes.heads),
            layers.LayerNormalization(),
        )
        for _ in range(sizes.layers)
    ]

    def encode(x, mask, targets=None):
        x = SinusoidalPositions()(norm(x))
        for number, (inner, outer, first, attend, second) in enumerate(stack, 1):
            x = first(x + drop(outer(inner(x))))
            read, scores = attend(x, x, attention_mask=mask[:, None], return_attention_scores=True)
            if targets is not None and number == 3:
                Supervised(sizes.weight)(scores[:, 0], targets)
            x = second(x + drop(read))
        return x

    masks = {part: ops.not_equal(inputs[part], 0) for part in ("passage", "question")}
    context = encode(embed("passage", sizes.passage), masks["passage"], inputs["targets"])
    query = encode(embed("question", sizes.question), masks["question"])
    scores = Similarity()(context, query)
    asked = ops.matmul(ops.softmax(scores, axis=-1), query)
    best = ops.softmax(ops.max(scores, axis=-1), axis=-1)
    whole = ops.einsum("bt,btd->bd", best, context)[:, None]
    joined = ops.concatenate([context, asked, context * asked, context * whole], axis=-1)
    joined = modelled = layers.LayerNormalization()(joined)
    for _ in range(2):
        gru = layers.Bidirectional(layers.GRU(sizes.units, return_sequences=True))
        modelled = gru(drop(modelled), mask=masks["passage"])
    modelled = layers.LayerNormalization()(modelled)
    scores = layers.Dense(1)(drop(ops.concatenate([joined, modelled], axis=-1)))
    chosen = ops.one_hot(ops.cast(inputs["candidates"], "int32"), sizes.candidates)
    logits = ops.logsumexp(ops.where(chosen > 0, scores, -1e9), axis=1)
    return keras.Model(inputs, logits)
