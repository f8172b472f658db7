"""The layers that the conformance tests run, one line each."""

from collections.abc import Callable
from dataclasses import dataclass

from graphs import random_antecedents, random_features, random_sources

from keras_corefmem.layers import (
    DAGRNN,
    MAGEGRU,
    AttentionSum,
    CandidateAnswers,
    CorefGRU,
    GatedAttention,
)


@dataclass(frozen=True)
class Case:
    """A layer and how to call it.

    Args:
        name: what pytest prints.
        make: the layer from its options.
        inputs: call arguments in order, each a function of `(rng, batch, time)`.
        masked: number of the input whose mask the layer uses, `None` where it uses none.
        recurrent: whether the layer has the options `bidirectional` and `return_sequences`, and
            all inputs share the time axis.
        untimed: numbers of the inputs without a time axis.
        output_dtype: where it does not follow the layer's own.
    """

    name: str
    make: Callable
    inputs: tuple
    masked: int | None = 0
    recurrent: bool = True
    untimed: tuple = ()
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


def mage(units, **fixed):
    return lambda **options: MAGEGRU(units, **fixed, **options)


def answers(**options):
    return CandidateAnswers((None, 3, 1, 2), **options)


graph = (random_features, sources)
mixed = {"carry": "mixed", "shared": True, "edge_attention": True}
scored = (random_features, query, candidates)
CASES = [
    Case("coref_gru", lambda **o: CorefGRU(4, **o), (random_features, random_antecedents)),
    Case("mage_gru", mage((3, 2, 1)), graph),
    Case("mage_gru_mixed", mage((2, 1, 1), **mixed), graph),
    Case("dag_rnn", lambda **o: DAGRNN(5, **o), graph),
    Case("gru", mage((5,), carry="previous"), (random_features,)),
    Case("gated_attention", GatedAttention, (random_features, question), 1, False),
    Case("candidate_answers", answers, (query, candidates), None, False, (0,)),
    Case("attention_sum", lambda **o: AttentionSum(4, **o), scored, None, False, (1,), "float32"),
]
RECURRENT = [case for case in CASES if case.recurrent]
