"""The parts of a reader's graph, from features to what it attends to."""

import keras
from keras import ops

from keras_corefmem.layers import CharacterCNN, SplitSequences
from zoo.architectures.passage.encoders import STRUCTURE, make_encoder

PARTS = ("passage", "question")
CHARACTER_WIDTH = 5


def make_inputs(config):
    """Symbolic inputs of a `ReaderModel` by name."""
    shapes = dict.fromkeys(PARTS, (None,))
    encoder = config["encoder"]
    structure = "chains" if encoder == "one_hot" else STRUCTURE[encoder]
    for name in PARTS:
        if structure:
            extra = (1, 1) if structure == "sources" else ()
            shapes[f"{name}_{structure}"] = (None, *extra)
    for name in PARTS:
        if config["num_characters"]:
            shapes[f"{name}_characters"] = (None, config["word_length"])
    if config.get("asked"):
        shapes["passage_asked"] = (None,)
    inputs = {name: keras.Input(shape, dtype="int32", name=name) for name, shape in shapes.items()}
    if config["head"] == "pointer_sum":
        inputs["candidates"] = keras.Input((None,), dtype="int32", name="candidates")
    elif config["head"] == "span_sum":
        shape = (None, config["num_answers"])
        inputs["candidates"] = keras.Input(shape, dtype="bool", name="candidates")
    return inputs


def embed(inputs, config, character_dim=10, activation="tanh", table=None):
    """Features of the words of passage and question, side by side.

    Word vectors; the chain as a one-hot vector where the encoder wants it; what a convolution makes
    of the characters; and whether the question has the word.

    Args:
        inputs: symbolic inputs by name.
        config: the arguments of the model.
        character_dim: width of the vectors of characters.
        activation: activation of their convolution.
        table: layer from ids of words to vectors; `None` for an embedding.

    Returns:
        Features `(batch, time, width)` by name.
    """
    table = table or keras.layers.Embedding(
        config["vocabulary_size"], config["embedding_dim"], name="word_embedding"
    )
    features = {name: [table(inputs[name])] for name in PARTS}
    if config["encoder"] == "one_hot":
        for name in PARTS:
            one_hot = ops.one_hot(inputs[f"{name}_chains"], config["max_chains"] + 1)
            features[name].append(one_hot[..., 1:])
    if config["num_characters"]:
        letters = keras.layers.Embedding(
            config["num_characters"], character_dim, name="character_embedding"
        )
        units, widths = config["character_units"], (CHARACTER_WIDTH,)
        spell = CharacterCNN(units, widths, activation, name="character_cnn")
        for name in PARTS:
            ids = inputs[f"{name}_characters"]
            features[name].append(spell(letters(ids), mask=ops.not_equal(ids, 0)))
    if config.get("asked"):
        asked = keras.layers.Embedding(3, 2, name="asked_embedding")
        features["passage"].append(asked(inputs["passage_asked"]))
        in_question = ops.cast(ops.not_equal(inputs["question"], 0), "int32")
        features["question"].append(asked(in_question))
    return {
        name: ops.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]
        for name, parts in features.items()
    }


def call(encoder, vectors, reads, mask):
    if reads is None:
        return encoder(vectors, mask=mask)
    return encoder(vectors, reads, mask=mask)


def encode_joint(options, n, names, vectors, reads, masks):
    """Encodes two sequences as one, and parts them again."""

    def joined(parts):
        return ops.concatenate([parts[name] for name in names], axis=1)

    encoder = make_encoder(*options, name=f"encoder_{n}")
    structure = None if reads[names[0]] is None else joined(reads)
    states = call(encoder, joined(vectors), structure, joined(masks))
    parts = SplitSequences(name=f"split_{n}")(states, vectors[names[0]])
    return dict(zip(names, parts, strict=True))


def encode_apart(options, n, names, vectors, reads, masks):
    """Encodes two sequences with an encoder each."""
    return {
        name: call(
            make_encoder(*options, name=f"{name}_encoder_{n}"),
            vectors[name],
            reads[name],
            masks[name],
        )
        for name in names
    }


def attend(passage, query, readable):
    """Softmax of `passage · query` over the tokens that are readable, 0 elsewhere."""
    scores = ops.cast(ops.einsum("btd,bd->bt", passage, query), "float32")
    attention = ops.softmax(ops.where(readable, scores, -1e9), axis=-1)
    return ops.where(readable, attention, 0.0)


def summary(passage, attention):
    """The passage as the question sees it."""
    return ops.einsum("bt,btd->bd", ops.cast(attention, passage.dtype), passage)
