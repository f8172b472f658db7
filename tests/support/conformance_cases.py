"""Cases of the conformance tests, one line a layer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

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
    SinusoidalPositions,
    SupervisedMultiHeadAttention,
    WordMemory,
)
from tests.support.graphs import WIDTH, random_antecedents, random_features, random_sources


@dataclass(frozen=True)
class Case:
    """A layer and how to call it.

    Args:
        name: what pytest prints.
        make: the layer from its options.
        inputs: call arguments in order, each a function of `(rng, batch, time)`.
        masked: number of the input whose mask the layer uses, `None` where it uses none.
        recurrent: whether the layer has the options `bidirectional` and `return_sequences`.
        untimed: numbers of the inputs without a time axis.
        apart: numbers of the inputs with a time axis of their own, which the mask does not cover.
        output_dtype: where it does not follow the layer's own.
    """

    name: str
    make: Callable
    inputs: tuple
    masked: int | None = 0
    recurrent: bool = False
    untimed: tuple = ()
    apart: tuple = ()
    output_dtype: str | None = None

    def __str__(self):
        return self.name

    @property
    def timed(self):
        return [n not in self.untimed for n in range(len(self.inputs))]

    def arrays(self, rng, batch, time):
        return [function(rng, batch, time) for function in self.inputs]


def sources(rng, batch, time):
    return random_sources(rng, batch, time, types=2, edges=2)


def question(rng, batch, time):
    return random_features(rng, batch, time - 1)


def query(rng, batch, time):
    return random_features(rng, batch, 1)[:, 0]


def candidates(rng, batch, time):
    return rng.integers(0, 4, (batch, time)).astype("int32")


def slots(rng, batch, time):
    return random_features(rng, batch, 3)


def characters(rng, batch, time):
    return rng.normal(size=(batch, time, 6, 3)).astype("float32")


def sentences(rng, batch, time):
    return rng.integers(1, 9, (batch, time, 3)).astype("int32")


def story_question(rng, batch, time):
    return sentences(rng, batch, 1)[:, 0]


mage, episodes = partial(partial, MAGEGRU), partial(partial, EpisodicMemory, WIDTH, 2)
graph, queried = (random_features, sources), (random_features, query)
recurrent = partial(Case, recurrent=True)
# The second input has no time axis.
with_query = partial(Case, inputs=queried, untimed=(1,))
CASES = [
    recurrent("coref_gru", partial(CorefGRU, 4), (random_features, random_antecedents)),
    recurrent("mage_gru", mage((3, 2, 1)), graph),
    recurrent(
        "mage_gru_mixed", mage((2, 1, 1), carry="mixed", shared=True, edge_attention=True), graph
    ),
    recurrent("dag_rnn", partial(DAGRNN, 5), graph),
    recurrent("gru", mage((5,), carry="previous"), (random_features,)),
    Case("gated_attention", GatedAttention, (random_features, question), masked=1, apart=(0,)),
    Case(
        "attention_sum",
        partial(AttentionSum, 4),
        (random_features, query, candidates),
        masked=None,
        untimed=(1,),
        output_dtype="float32",
    ),
    Case(
        "candidate_answers",
        partial(CandidateAnswers, (None, 3, 1, 2)),
        (query, candidates),
        masked=None,
        untimed=(0,),
    ),
    Case("entity_memory", partial(EntityMemory, 3, WIDTH), (random_features,)),
    with_query("entity_memory_asked", partial(EntityMemory, 3, WIDTH, question_dependent=True)),
    Case("entity_output", EntityOutput, (slots, query), masked=None, untimed=(0, 1)),
    with_query("episodic_memory", episodes()),
    with_query("episodic_memory_ending", episodes(end_of_passes=True)),
    with_query(
        "episodic_memory_plus", episodes(attention="attention_gru", compact=True, update="relu")
    ),
    with_query("word_memory", partial(WordMemory, WIDTH, 2)),
    Case("query_reduction", partial(QueryReduction, WIDTH), (random_features,) * 2),
    Case(
        "end_to_end_memory",
        partial(EndToEndMemory, 9, 4, 2, 8, 3, [1, 2]),
        (sentences, story_question),
        masked=None,
        untimed=(1,),
        output_dtype="float32",
    ),
    Case(
        "answer_decoder",
        partial(AnswerDecoder, 5, 3),
        (query, query),
        masked=None,
        untimed=(0, 1),
        output_dtype="float32",
    ),
    Case("character_cnn", partial(CharacterCNN, 4, (2, 3)), (characters,)),
    Case("multiplicative_mask", partial(MultiplicativeMask, 8), (random_features,)),
    Case("position_encoding", partial(PositionEncoding, 8), (random_features,)),
    Case(
        "supervised_attention",
        partial(SupervisedMultiHeadAttention, 3, 2, [(1, "coreference")]),
        (random_features,),
    ),
    Case("attention_encoder", partial(AttentionEncoder, 1, 2, 6, 5), (random_features,)),
    Case(
        "bidirectional_attention", BidirectionalAttention, (random_features, question), apart=(1,)
    ),
    Case("highway", Highway, (random_features,)),
    Case("layer_mix", LayerMix, (characters,), masked=None),
    Case("sinusoidal_positions", SinusoidalPositions, (random_features,)),
]
RECURRENT = [case for case in CASES if case.recurrent]
