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
from keras_corefmem.preprocessing.features import target_name
from zoo.architectures.passage.encoders import STRUCTURE, make_encoder
from zoo.architectures.passage.reader_graph import PARTS, call, embed, encode_joint, make_inputs
from zoo.architectures.passage.supervision import at

ORDER = ("passage", "question")
MODELING_LAYERS = 2
CHARACTER_DIM = 16
EPSILON = 1e-6


def bidaf_inputs(config, planned):
    """Symbolic inputs by name."""
    inputs = make_inputs(config)
    if any(windows for place in ("early", "late") for windows in at(planned, place)[1:]):
        name = "passage_sentences"
        inputs[name] = keras.Input((None,), dtype="int32", name=name)
    for each in planned:
        name = target_name(each.signal)
        inputs[name] = keras.Input((None, 2), dtype="int32", name=name)
    return inputs


def build_bidaf(inputs, config, planned, word_encoder):
    """The symbolic score of every token of the passage, and the attention of supervised heads.

    Args:
        inputs: what `bidaf_inputs` returns.
        config: the arguments of the reader.
        planned: list of `Supervision`.
        word_encoder: encoder of words, or `None`.

    Returns:
        Scores `(batch, time)`, float32, and a dictionary of attention `(batch, time, time)` by
        signal.
    """
    drop = HashDropout(config["dropout"], noise_shape=(None, 1, None), name="dropout")
    table = None
    if word_encoder is not None:
        frozen = config["freeze_word_encoder"]
        table = ContextualVectors(word_encoder, frozen, name="contextual_vectors")
    highway = Highway(2, name="highway")
    words = embed(inputs, config, CHARACTER_DIM, "relu", table)
    vectors = {name: highway(drop(words[name])) for name in PARTS}
    masks = {name: ops.not_equal(inputs[name], 0) for name in PARTS}
    shown = {}
    states = contextual(inputs, config, planned, vectors, masks, shown)
    states = {name: drop(array) for name, array in states.items()}
    joined = BidirectionalAttention(name="bidirectional_attention")(
        states["passage"],
        states["question"],
        context_mask=masks["passage"],
        query_mask=masks["question"],
    )
    joined = keras.layers.LayerNormalization(epsilon=EPSILON, name="attention_norm")(joined)
    if config["self_attention"] in ("late", "both"):
        late = make_attention(config, planned, "late")
        joined = attend_to_passage(late, joined, inputs, masks["passage"], shown)
    modelled = joined
    for n in range(1, MODELING_LAYERS + 1):
        own = config["encoder"] if config["encoder_at"] == "modeling" else "gru"
        encoder = make_encoder(*recurrence(own, config), name=f"modeling_{n}")
        reads = structure_of(inputs, own)["passage"]
        modelled = call(encoder, drop(modelled), reads, masks["passage"])
    modelled = keras.layers.LayerNormalization(epsilon=EPSILON, name="modeling_norm")(modelled)
    found = drop(ops.concatenate([joined, modelled], axis=-1))
    scores = keras.layers.Dense(1, use_bias=False, dtype="float32", name="score")(found)
    return scores[..., 0], shown


def contextual(inputs, config, planned, vectors, masks, shown):
    """States of passage and question, each `(batch, time, 2 · units)`, of one encoder for both."""
    if config["self_attention"] in ("early", "both"):
        early = make_attention(config, planned, "early")
        passage = attend_to_passage(early, vectors["passage"], inputs, masks["passage"], shown)
        question = attend_to_question(early, vectors["question"], masks["question"])
        return {"passage": passage, "question": question}
    own = config["encoder"] if config["encoder_at"] == "contextual" else "gru"
    options, reads = recurrence(own, config), structure_of(inputs, own)
    if config["joint"]:
        return encode_joint(options, "contextual", ORDER, vectors, reads, masks)
    encoder = make_encoder(*options, name="encoder_contextual")
    return {name: call(encoder, vectors[name], reads[name], masks[name]) for name in PARTS}


def recurrence(encoder, config):
    return encoder, config["units"], config["edge_units"], config["carry"]


def structure_of(inputs, encoder):
    return {name: inputs.get(f"{name}_{STRUCTURE[encoder]}") for name in PARTS}


def make_attention(config, planned, place):
    signals, windows = at(planned, place)
    return AttentionEncoder(
        config[f"{place}_layers"],
        config["heads"],
        2 * config["units"],
        config["inner_units"],
        config["dropout"],
        signals,
        windows,
        config["loss_weight"],
        config["row_weight"],
        return_supervised=bool(signals),
        name=f"{place}_attention",
    )


def attend_to_passage(encoder, vectors, inputs, mask, shown):
    """States of the passage; adds the attention of supervised heads to `shown`, by signal."""
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
    """States of the question, which is one sentence and has no targets."""
    sentences = ops.cast(mask, "int32") if encoder.windows else None
    states = encoder(vectors, None, sentences, mask=mask)
    return states[0] if encoder.signals else states
