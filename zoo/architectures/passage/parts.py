"""Parts of the graph of a reader: its inputs, word vectors and attention."""

import keras
from keras import ops

from keras_corefmem.layers import CharacterCNN, SplitSequences
from keras_corefmem.layers.core.masking import MASKED, mask_scores
from keras_corefmem.preprocessing.encoding.layout import PASSAGE_LEADS, RANDOM, Layout
from zoo.architectures.passage.encoders import encode, structure_read

PARTS = ("passage", "question")
CHARACTER_WIDTH = 5


def make_inputs(config):
    """Makes the symbolic inputs of a reader by name."""
    structure, shapes = structure_read(config.encoder), dict.fromkeys(PARTS, (None,))
    edges = (len(config.edge_types), config.max_sources) if structure == "sources" else ()
    for name in PARTS:
        if structure:
            shapes[f"{name}_{structure}"] = (None, *edges)
    for name in PARTS:
        if config.num_characters:
            shapes[f"{name}_characters"] = (None, config.word_length)
    if config.question_overlap:
        shapes["passage_asked"] = (None,)
    if config.joint and config.order == RANDOM:
        shapes[PASSAGE_LEADS] = (1,)
    inputs = {name: keras.Input(shape, dtype="int32", name=name) for name, shape in shapes.items()}
    if config.answer_head in ("pointer_sum", "pointer_or_class"):
        inputs["candidates"] = keras.Input((None,), dtype="int32", name="candidates")
    elif config.answer_head == "span_sum":
        shape = (None, config.num_answers)
        inputs["candidates"] = keras.Input(shape, dtype="bool", name="candidates")
    return inputs


def embed(inputs, config, character_dim=10, table=None, trainable=True):
    """Embeds the words of passage and question."""
    table = table or keras.layers.Embedding(
        config.vocabulary_size,
        config.embedding_dim,
        trainable=trainable,
        name="word_embedding",
    )
    vectors = {name: [table(inputs[name])] for name in PARTS}
    if config.encoder == "one_hot":
        for name in PARTS:
            one_hot = ops.one_hot(inputs[f"{name}_chains"], config.max_chains + 1)
            vectors[name].append(one_hot[..., 1:])
    if config.num_characters:
        letters = keras.layers.Embedding(
            config.num_characters, character_dim, name="character_embedding"
        )
        sizes = config.character_units, (CHARACTER_WIDTH,), config.character_activation
        spell = CharacterCNN(*sizes, name="character_cnn")
        for name in PARTS:
            ids = inputs[f"{name}_characters"]
            vectors[name].append(spell(letters(ids), mask=ops.not_equal(ids, 0)))
    if config.question_overlap:
        overlap = keras.layers.Embedding(3, 2, name="asked_embedding")
        vectors["passage"].append(overlap(inputs["passage_asked"]))
        in_question = ops.cast(ops.not_equal(inputs["question"], 0), "int32")
        vectors["question"].append(overlap(in_question))
    return {
        name: ops.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]
        for name, parts in vectors.items()
    }


def structure_of(inputs, encoder):
    """Returns the structure of passage and question that an encoder reads, `None` for none."""
    # Chains of a one-hot encoder are part of the vectors.
    feature = None if encoder == "one_hot" else structure_read(encoder)
    return {name: inputs.get(f"{name}_{feature}") for name in PARTS}


def encode_joint(encoder, name, order, vectors, structure, masks, leads=None):
    """Encodes passage and question as one sequence, and splits them again.

    In rows where `leads`, `(batch, 1)`, is not 0, the passage comes first, whatever the order.
    """
    layout = Layout(order, {}, None if leads is None else ops.not_equal(leads, 0), ops)
    links = None if structure[order[0]] is None else layout.join(structure)
    states = encode(encoder, layout.join(vectors), links, layout.join(masks), joint=True)
    split = SplitSequences(name=f"split_{name}")
    parts = split(states, vectors[order[0]])
    if leads is not None:
        parts = map(layout.choose, zip(parts, split(states, vectors[order[1]])[::-1], strict=True))
    return dict(zip(order, parts, strict=True))


def encode_apart(encoders, vectors, structure, masks):
    """Encodes passage and question, each with its encoder by name."""
    return {
        name: encode(encoder, vectors[name], structure[name], masks[name])
        for name, encoder in encoders.items()
    }


def attend(passage, query, readable):
    """Computes the softmax of `passage · query` over readable tokens; 0 for others."""
    scores = ops.einsum("btd,bd->bt", passage, query)
    attention = ops.softmax(mask_scores(scores, readable), axis=-1)
    return ops.where(readable, attention, 0.0)


def mix_answers(gate, pointed, classes, candidates):
    """Computes log probabilities of a mixture of two distributions from logits `(batch, answers)`.

    `gate`, `(batch, 1)`, is the logit of pointing, which is ignored without a mention of an answer.
    What answer 0 has of `classes` is left to the softmax over the other answers: the more it has,
    the more pointing counts.
    """
    there = ops.any(ops.not_equal(candidates, 0), axis=1, keepdims=True)
    gate = ops.where(there, gate, MASKED)
    pointed = ops.log_sigmoid(gate) + ops.log_softmax(pointed)
    classes = ops.log_sigmoid(-gate) + ops.log_softmax(classes)
    # Keras infers float32 for the sum whatever its terms are.
    return ops.cast(ops.logsumexp(ops.stack([pointed, classes]), axis=0), pointed.dtype)


def readable_tokens(inputs, masks, answer_head):
    """Returns which tokens may be attended to: for pointers, only mentions of candidates."""
    if answer_head == "pointer_sum":
        return ops.not_equal(inputs["candidates"], 0)
    if answer_head == "span_sum":
        return ops.any(inputs["candidates"], axis=-1)
    return masks["passage"]
