"""The parts of a `BiDAFReader`'s graph."""

import keras
from keras import ops

from keras_corefmem.layers import (
    AttentionEncoder,
    BidirectionalAttention,
    ContextualVectors,
    HashDropout,
    Highway,
)
from keras_corefmem.preprocessing.encoding.features import target_name
from zoo.architectures.passage.encoders import encode, make_encoder
from zoo.architectures.passage.parts import (
    PARTS,
    embed,
    encode_apart,
    encode_joint,
    make_inputs,
    structure_of,
)
from zoo.architectures.passage.supervision import SELF_ATTENTION, heads_at
from zoo.architectures.precision import answer_dtype

MODELING_LAYERS = 2
CHARACTER_DIM = 16
EPSILON = 1e-6


def bidaf_inputs(config):
    """Makes the symbolic inputs by name."""
    inputs = make_inputs(config)
    if any(windows for place in ("early", "late") for windows in heads_at(config, place)[1:]):
        name = "passage_sentences"
        inputs[name] = keras.Input((None,), dtype="int32", name=name)
    for signal, *_ in config.supervision:
        name = target_name(signal)
        inputs[name] = keras.Input((None, 2), dtype="int32", name=name)
    return inputs


def build_bidaf(inputs, config, word_encoder):
    """Builds the score of each token of the passage, and the attention of supervised heads."""
    drop = HashDropout(config.dropout, noise_shape=(None, 1, None), name="dropout")
    table = None
    if word_encoder is not None:
        frozen = config.freeze_word_encoder
        table = ContextualVectors(word_encoder, frozen, name="contextual_vectors")
    highway = Highway(2, name="highway")
    trainable = not config.freeze_word_vectors
    words = embed(inputs, config, CHARACTER_DIM, table=table, trainable=trainable)
    vectors = {name: highway(drop(words[name])) for name in PARTS}
    masks = {name: ops.not_equal(inputs[name], 0) for name in PARTS}
    shown = {}
    states = contextual(inputs, config, vectors, masks, shown)
    states = {name: drop(array) for name, array in states.items()}
    joined = BidirectionalAttention(name="bidirectional_attention")(
        states["passage"],
        states["question"],
        context_mask=masks["passage"],
        query_mask=masks["question"],
    )
    joined = keras.layers.LayerNormalization(epsilon=EPSILON, name="attention_norm")(joined)
    if "late" in SELF_ATTENTION[config.self_attention]:
        late = make_attention(config, "late")
        joined = attend_to_passage(late, joined, inputs, masks["passage"], shown)
    modelled = joined
    for n in range(1, MODELING_LAYERS + 1):
        own = encoder_of(config, "modeling")
        encoder = make_encoder(config, f"modeling_{n}", own)
        structure = structure_of(inputs, own)["passage"]
        modelled = encode(encoder, drop(modelled), structure, masks["passage"])
    modelled = keras.layers.LayerNormalization(epsilon=EPSILON, name="modeling_norm")(modelled)
    states = drop(ops.concatenate([joined, modelled], axis=-1))
    scores = keras.layers.Dense(1, use_bias=False, dtype=answer_dtype(), name="score")(states)
    return scores[..., 0], shown


def contextual(inputs, config, vectors, masks, shown):
    """Encodes passage and question by one encoder, each to `(batch, time, 2 · units)`."""
    if "early" in SELF_ATTENTION[config.self_attention]:
        early = make_attention(config, "early")
        passage = attend_to_passage(early, vectors["passage"], inputs, masks["passage"], shown)
        question = attend_to_question(early, vectors["question"], masks["question"])
        return {"passage": passage, "question": question}
    own = encoder_of(config, "contextual")
    structure = structure_of(inputs, own)
    encoder = make_encoder(config, "encoder_contextual", own)
    if config.joint:
        return encode_joint(encoder, "contextual", PARTS, vectors, structure, masks)
    return encode_apart(dict.fromkeys(PARTS, encoder), vectors, structure, masks)


def encoder_of(config, layer):
    """Returns the recurrent encoder of the contextual or the modeling layer."""
    return "gru" if config.encoder == "gru" or config.encoder_at != layer else config.encoder


def make_attention(config, place):
    signals, windows = heads_at(config, place)
    options = {}
    if signals:
        options = {"loss_weight": config.loss_weight, "row_weight": config.row_weight}
    return AttentionEncoder(
        getattr(config, f"{place}_layers"),
        config.heads,
        2 * config.units,
        config.inner_units,
        config.dropout,
        signals,
        windows,
        **options,
        return_supervised=bool(signals),
        name=f"{place}_attention",
    )


def attend_to_passage(encoder, vectors, inputs, mask, shown):
    """Encodes the passage, and adds the attention of supervised heads to `shown`, by signal."""
    signals = [signal for *_, signal in encoder.signals]
    targets = [inputs[target_name(signal)] for signal in signals] or None
    sentences = inputs["passage_sentences"] if encoder.windows else None
    states = encoder(vectors, targets, sentences, mask=mask)
    if not signals:
        return states
    states, attention = states
    shown |= {signal: attention[:, n] for n, signal in enumerate(signals)}
    return states


def attend_to_question(encoder, vectors, mask):
    """Encodes the question, which is one sentence and has no targets."""
    sentences = ops.cast(mask, "int32") if encoder.windows else None
    states = encoder(vectors, None, sentences, mask=mask)
    return states[0] if encoder.signals else states
