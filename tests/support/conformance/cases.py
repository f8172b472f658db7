"""Cases of the conformance tests, one line a layer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import keras

from keras_corefmem.layers import (
    DAGRNN,
    MAGEGRU,
    AnswerDecoder,
    AttentionEncoder,
    AttentionSum,
    BidirectionalAttention,
    CandidateAnswers,
    CharacterCNN,
    CorefGRU,
    EndToEndMemory,
    EntityMemory,
    EntityOutput,
    EpisodicMemory,
    GatedAttention,
    Highway,
    LayerMix,
    MultiplicativeMask,
    PositionEncoding,
    QueryReduction,
    ScaledGradient,
    SinusoidalPositions,
    SupervisedMultiHeadAttention,
    WordMemory,
)
from tests.support.conformance.graphs import (
    WIDTH,
    random_antecedents,
    random_features,
    random_sources,
)

INPUTS = {
    "features": random_features,
    "antecedents": random_antecedents,
    "sources": lambda rng, batch, time: random_sources(rng, batch, time, types=2, edges=2),
    "question": lambda rng, batch, time: random_features(rng, batch, time - 1),
    "query": lambda rng, batch, time: random_features(rng, batch, 1)[:, 0],
    "candidates": lambda rng, batch, time: rng.integers(0, 4, (batch, time)).astype("int32"),
    "slots": lambda rng, batch, time: random_features(rng, batch, 3),
    "characters": lambda rng, batch, time: rng.normal(size=(batch, time, 6, 3)).astype("float32"),
    "sentences": lambda rng, batch, time: rng.integers(1, 9, (batch, time, 3)).astype("int32"),
    "story_question": lambda rng, batch, time: rng.integers(1, 9, (batch, 3)).astype("int32"),
}
UNTIMED = {"query", "slots", "story_question"}


@dataclass(frozen=True)
class Case:
    """A layer and how to call it."""

    name: str
    make: Callable  # the layer from its options
    inputs: str = "features"  # of INPUTS, the call arguments in order
    masked: int | None = 0  # number of the input whose mask the layer uses
    recurrent: bool = False  # whether it has the options bidirectional and return_sequences
    apart: tuple = ()  # numbers of the inputs whose time axis the mask does not cover
    output_dtype: str | None = None  # where it does not follow the layer's own

    def __str__(self):
        return self.name

    @property
    def timed(self):
        return [name not in UNTIMED for name in self.inputs.split()]

    def arrays(self, rng, batch, time):
        return [INPUTS[name](rng, batch, time) for name in self.inputs.split()]


mage, episodes = partial(partial, MAGEGRU), partial(partial, EpisodicMemory, WIDTH, 2)
recurrent, unmasked = partial(Case, recurrent=True), partial(Case, masked=None)
logits = partial(unmasked, output_dtype="float32")
with_query = partial(Case, inputs="features query")
attention = partial(SupervisedMultiHeadAttention, 3, 2, [(1, "coreference")])
mixed = mage((2, 1, 1), carry="mixed", shared=True, edge_attention=True)
plus = episodes(attention="attention_gru", compact=True, update="relu")
OPTIONS = {"activation": "softsign", "recurrent_activation": "hard_sigmoid", "use_bias": False}
OPTIONS |= {"kernel_regularizer": "l2", "recurrent_constraint": "max_norm", "seed": 1}
OPTIONS |= {"recurrent_dropout": 0.1, "dropout": 0.1}
BACKWARDS = {"go_backwards": True, "return_sequences": False, "return_state": True}
CASES = [
    recurrent("coref_gru", partial(CorefGRU, 4), "features antecedents"),
    recurrent("coref_gru_alone", partial(CorefGRU, 4)),
    recurrent("coref_gru_options", partial(CorefGRU, 4, **OPTIONS), "features antecedents"),
    Case("coref_gru_backwards", partial(CorefGRU, 4, **BACKWARDS), "features antecedents"),
    recurrent("mage_gru", mage((3, 2, 1)), "features sources"),
    recurrent("mage_gru_mixed", mixed, "features sources"),
    recurrent("dag_rnn", partial(DAGRNN, 5), "features sources"),
    recurrent("gru", mage((5,), carry="previous")),
    Case("gated_attention", GatedAttention, "features question", masked=1, apart=(0,)),
    logits("attention_sum", partial(AttentionSum, 4), "features query candidates"),
    unmasked("candidate_answers", partial(CandidateAnswers, (None, 3, 1, 2)), "query candidates"),
    Case("entity_memory", partial(EntityMemory, 3, WIDTH)),
    with_query("entity_memory_asked", partial(EntityMemory, 3, WIDTH, question_dependent=True)),
    unmasked("entity_output", EntityOutput, "slots query"),
    with_query("episodic_memory", episodes()),
    with_query("episodic_memory_ending", episodes(end_of_passes=True)),
    with_query("episodic_memory_plus", plus),
    with_query("word_memory", partial(WordMemory, WIDTH, 2)),
    Case("query_reduction", partial(QueryReduction, WIDTH), "features features"),
    logits(
        "end_to_end_memory",
        partial(EndToEndMemory, 9, 4, 2, 8, 3, [1, 2]),
        "sentences story_question",
    ),
    logits("answer_decoder", partial(AnswerDecoder, 5, 3), "query query"),
    Case("character_cnn", partial(CharacterCNN, 4, (2, 3)), "characters"),
    Case("multiplicative_mask", partial(MultiplicativeMask, 8)),
    Case("position_encoding", partial(PositionEncoding, 8)),
    Case("supervised_attention", attention),
    Case("attention_encoder", partial(AttentionEncoder, 1, 2, 6, 5)),
    Case("bidirectional_attention", BidirectionalAttention, "features question", apart=(1,)),
    Case("highway", Highway),
    Case("scaled_gradient", ScaledGradient),
    unmasked("layer_mix", LayerMix, "characters"),
    Case("sinusoidal_positions", SinusoidalPositions),
]
RECURRENT = [case for case in CASES if case.recurrent]
# What the others are variants of.
VARIANTS = {"coref_gru_alone", "coref_gru_backwards", "gru", "entity_memory"}
VARIANTS |= {"episodic_memory_ending", "coref_gru_options", "mage_gru"}
KEPT = [case for case in CASES if case.name not in VARIANTS]
# Loops over tokens, sentences and hops; on JAX they stand for the rest, which is Keras' operations.
LOOPING = {"coref_gru", "mage_gru_mixed", "entity_memory_asked", "episodic_memory", "word_memory"}
LOOPING |= {"query_reduction", "end_to_end_memory", "supervised_attention"}
if keras.backend.backend() == "jax":
    KEPT = [case for case in KEPT if case.name in LOOPING]
# Those with gradients of their own that no model trains in an ordinary run.
LOOPS = {"entity_memory_asked", "query_reduction", "supervised_attention"}
LOOPS = [case for case in CASES if case.name in LOOPS]
