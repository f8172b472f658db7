"""Every layer says which argument is wrong and what it takes instead."""

import keras
import numpy as np
import pytest

from keras_corefmem import layers

BOTH = layers.EpisodicMemory, layers.WordMemory
SIZES = {
    "units": (
        layers.GRUCell,
        layers.CorefGRU,
        layers.CorefGRUCell,
        layers.DAGRNN,
        layers.DAGRNNCell,
        layers.QueryReduction,
        layers.QueryReductionCell,
        *BOTH,
        lambda size: layers.EntityMemory(3, size),
        lambda size: layers.EndToEndMemory(9, size, 2, 3, 5, [8]),
    ),
    "slots": (
        lambda size: layers.EntityMemoryCell(size, 4),
        lambda size: layers.EntityMemory(size, 4),
    ),
    "vocabulary_size": (
        lambda size: layers.EndToEndMemory(size, 6, 2, 3, 5, [8]),
        lambda size: layers.RetrieveSentences(3, size),
    ),
    "max_sentences": (lambda size: layers.EndToEndMemory(9, 6, 2, size, 5, [8]),),
    "sentence_length": (lambda size: layers.EndToEndMemory(9, 6, 2, 3, size, [8]),),
    "hops": (
        lambda size: layers.EndToEndMemory(9, 6, size, 3, 5, [8]),
        lambda size: layers.RetrieveSentences(3, 12, size),
    ),
    "k": (lambda size: layers.RetrieveSentences(size, 12),),
    "words": (lambda size: layers.AnswerDecoder(size, 2),),
    "length": (
        lambda size: layers.AnswerDecoder(2, size),
        layers.SentenceEnds,
        layers.PositionEncoding,
        layers.MultiplicativeMask,
    ),
    "layers": (layers.Highway, layers.AttentionEncoder),
    "filters": (layers.CharacterCNN,),
    "num_heads": (lambda size: layers.SupervisedMultiHeadAttention(size, 2),),
}


def zeros(*shape):
    return np.zeros(shape, "float32")


def attention(**options):
    return lambda: layers.SupervisedMultiHeadAttention(3, 2, **options)


def encoder(**options):
    return lambda: layers.AttentionEncoder(**options)


def mage(*units, types):
    sources = np.zeros((2, 3, types, 1), "int32") if types else None
    return lambda: layers.MAGEGRU(units)(zeros(2, 3, 4), sources)


def output_of_slopes_by_slot():
    slopes = keras.layers.PReLU()
    layers.EntityMemory(3, 4, activation=slopes).build((1, 2, 4))
    layers.EntityOutput(slopes, name="read")(zeros(1, 3, 4), zeros(1, 4))


SOURCES = np.zeros((2, 3, 1, 1), "int32")


def fused(slices, sources=None):
    def call():
        edges = {} if sources is None else {"edges": layers.index_edges(sources)}
        inputs = layers.DirectionInputs(zeros(3, 2, 12), zeros(8, 12))
        layers.graph_gru(layers.Recurrence(4, slices), [inputs], **edges)

    return call


def entities(width, *question, question_dependent=False, **arguments):
    def call():
        layer = layers.EntityMemory(3, 4, question_dependent=question_dependent)
        layer(zeros(1, 2, width), *question, **arguments)

    return call


PAIRS, NUMBERS = np.ones((1, 1, 2), "int32"), np.ones((1, 2), "int32")


def supervised(pairs, sentences, **options):
    layer = attention(signals=[(0, "a")], windows=[1], **options)()
    return lambda: layer(zeros(2, 3, 4), [pairs], sentences)


class Indexed(keras.layers.Layer):
    def call(self, edges):
        return layers.index_edges(edges)[0].sources


REJECTED = [
    (
        lambda: Indexed()(keras.KerasTensor((100, 10**6, 1, 30), "int32")),
        "100 texts of 1000000 tokens .* more than 32 bits can number",
    ),
    (
        lambda: layers.CorefGRU(4)(zeros(1, 2, 3), NUMBERS - 1, antecedents=NUMBERS - 1),
        "antecedents were given twice: behind the features, and by name",
    ),
    (
        lambda: layers.EpisodicMemory(4)(zeros(2, 3, 4), zeros(2, 4), NUMBERS),
        r"supporting_facts must be \(batch 2, n\), got shape \(1, 2\)",
    ),
    # Keras rounds positions to the type of the layer.
    (
        lambda: layers.EpisodicMemory(4, dtype="bfloat16")(
            zeros(2, 3, 4), zeros(2, 4), zeros(2, 1)
        ),
        "supporting_facts must be integers, .* got bfloat16",
    ),
    (
        supervised(PAIRS, zeros(2, 3)),
        r"must be pairs, \(batch, n, 2\); got \(1, 1, 2\) for inputs \(2",
    ),
    (
        supervised(zeros(2, 1, 2), zeros(2, 3), dtype="mixed_float16"),
        "Targets of a must be integers, .* got float16",
    ),
    *(
        (supervised(zeros(2, 1, 2), zeros(*shape)), r"sentences must be \(batch 2, time 3\), got")
        for shape in ((1, 3), (2, 1))
    ),
    (
        lambda: layers.attention_mass(zeros(2, 3, 3), PAIRS),
        r"pairs must be \(batch 2, n, ends 2\), got shape \(1, 1, 2\)",
    ),
    (
        lambda: layers.attention_mass(zeros(1, 3, 3), PAIRS, [[True, True]]),
        r"mask must be \(batch 1, time 3\), got shape \(1, 2\)",
    ),
    *(
        (
            lambda sizes=sizes: layers.RestoreSentences()(
                zeros(sizes[0], 3, 1),
                np.ones((sizes[1], 2), "int32"),
                zeros(sizes[2], 4, 5),
            ),
            f"{name} must be \\(batch 2",
        )
        for sizes, name in (((2, 1, 2), "positions"), ((2, 2, 1), "sentences"))
    ),
    *(
        (
            lambda sizes=sizes: layers.RetrieveSentences(2, 9)(
                np.ones((sizes[0], 3, 2), "int32"), np.ones((sizes[1], 2), "int32")
            ),
            f"question must be \\(batch {sizes[0]}, words\\), got shape",
        )
        for sizes in ((1, 2), (2, 1))
    ),
    *(
        (
            lambda shape=shape: layers.SplitSequences()(zeros(2, 3, 4), zeros(*shape)),
            r"first must be a part of states, \(2, 3, 4\); got shape",
        )
        for shape in ((1, 2), (2, 4, 4))
    ),
    (lambda: layers.MAGEGRUCell((2, 2), chains=-1), "chains must be an integer of at least 0"),
    (lambda: layers.CorefGRU(5), "units must be even.* got 5"),
    (lambda: layers.CorefGRUCell(5), "units must be even.* got 5"),
    (
        lambda: layers.MAGEGRU((4, 2), "gather"),
        "carry must be one of gathered, previous, mixed; .*'gather'",
    ),
    (lambda: layers.MAGEGRU(()), "positive width per edge type"),
    (lambda: layers.MAGEGRU((4, 0)), r"positive width per edge type, got \(4, 0\)"),
    (lambda: layers.MAGEGRU(4), r"per edge type, got 4; for one type, write \(4,\)"),
    (lambda: layers.MAGEGRUCell("42"), "units must hold a positive width per edge type, got '42'"),
    (lambda: layers.MAGEGRU((4.0, 2)), r"positive width per edge type, got \(4.0, 2\)"),
    (lambda: layers.AttentionSum(0), "num_candidates must be an integer of at least 1, got 0"),
    (lambda: layers.MAGEGRU((4,), edge_attention=True), "edge_attention needs a second edge type"),
    (mage(4, 2, types=2), "sources has 2 edge types, .* 1 "),
    (mage(4, 2, 1, types=1), "sources has 1 edge types, .* 2 "),
    (mage(4, types=1), "sources has 1 edge types, .* 0 "),
    (lambda: layers.CorefGRU(4, stateful=True), "no stateful: edges are positions in one text"),
    (lambda: layers.DAGRNN(4, unroll=True), "DAGRNN has no unroll: all steps are one compiled"),
    (lambda: layers.MAGEGRU((4,), reset_after=False), "no reset_after: the equations reset after"),
    (lambda: layers.CorefGRU(4, time_major=True), r"no time_major: inputs are \(batch, time"),
    (lambda: layers.CorefGRU(4, True, go_backwards=True), "go_backwards is for one direction"),
    (lambda: layers.CorefGRU(4, activation="softmax"), "activation must act on every number alone"),
    (
        lambda: layers.CorefGRU(4, recurrent_activation=keras.layers.PReLU(name="slopes")),
        "recurrent_activation must be a name or a function, not the layer slopes",
    ),
    (lambda: layers.DAGRNN(4, recurrent_activation="relu"), "no gates, so it takes no recurrent"),
    (
        lambda: layers.CorefGRU(4, True)(zeros(1, 2, 3), initial_state=zeros(1, 4)),
        r"must be a list of two tensors, float \(1, 4\); got float32 \(1, 4\)\.(?! To)",
    ),
    *(
        (
            lambda state=state: layers.DAGRNN(4)(zeros(2, 2, 3), initial_state=state),
            r"initial_state must be a tensor, float \(2, 4\); got ",
        )
        for state in (zeros(2, 3), zeros(1, 4), zeros(2, 4).tolist(), np.zeros((2, 4), "int32"))
    ),
    (
        lambda: keras.layers.Bidirectional(layers.CorefGRU(4, bidirectional=True)),
        "bidirectional=True has both, and takes the place of keras.layers.Bidirectional",
    ),
    (
        lambda: keras.layers.TimeDistributed(layers.CorefGRU(4))(zeros(2, 3, 4)),
        r"CorefGRU reads features \(batch, time, width\) of a known width, got shape \(2, 4\)\.",
    ),
    (
        lambda: layers.CorefGRU(4)(keras.Input((None, None))),
        r"of a known width, got shape \(None, None, None\)\.",
    ),
    (
        lambda: [layer(zeros(2, 3, n)) for layer in [layers.CorefGRU(4)] for n in (4, 5)],
        r"expected axis -1 .* to have value 4, but received .* \(2, 3, 5\)",
    ),
    (
        lambda: keras.layers.Bidirectional(layers.DAGRNN(4))(
            [zeros(2, 3, 4), np.zeros((2, 3, 1, 1))]
        ),
        "DAGRNN reads features .*; bidirectional=True reads edges both ways",
    ),
    (
        lambda: layers.CorefGRU(4)(zeros(2, 3, 4), mask=np.ones((2, 4), "bool")),
        r"mask must be \(batch 2, time 3\), got shape \(2, 4\)",
    ),
    (
        lambda: layers.MAGEGRU((4,), invalid_edges="raise"),
        "invalid_edges must be one of ignore, nan; got 'raise'",
    ),
    (fused(((0, 4), (0, 4))), r"pass edges=index_edges\(sources\)"),
    (fused(((0, 4), (0, 4)), SOURCES), r"pass edges=index_edges\(sources, degrees=True\)"),
    (lambda: layers.EntityMemory(3, 4, activation="gelu"), "activation must be one of prelu, relu"),
    (output_of_slopes_by_slot, r"PReLU of read has slopes for each slot: give it shared_axes=\[1"),
    (entities(4, zeros(1, 4)), "takes no question"),
    (entities(4, question_dependent=True), "needs a question"),
    (entities(5), "as wide as the slots, 4 together; got 5"),
    *((lambda kind=kind: kind(3, -1), "passes must .* of at least 0, got -1") for kind in BOTH),
    (
        entities(4, keys=zeros(1, 2, 4)),
        r"keys must be \(batch 1, slots 3, units 4\), got .* \(1, 2, 4",
    ),
    (
        entities(4, mask=np.ones((2, 2), "bool")),
        r"mask must be \(batch 1, time 2\), got .* \(2, 2\)",
    ),
    *(
        (
            lambda kind=kind, q=q: kind(4)(zeros(2, 3, 4), q),
            r"question must be \(batch 2, units 4\)",
        )
        for kind in BOTH
        for q in (zeros(1, 4), zeros(2, 3, 4))
    ),
    (
        lambda: layers.EpisodicMemory(4)(zeros(2, 4), zeros(2, 4)),
        r"facts must be \(batch, time, uni",
    ),
    (
        lambda: layers.QueryReduction(3)(zeros(2, 2, 3), zeros(2, 1, 3)),
        r"queries must be \(batch 2, time 2, units 3\), got shape \(2, 1, 3\)",
    ),
    (lambda: layers.EpisodicMemory(3, attention="hard"), "attention must be one of gated, softmax"),
    (lambda: layers.EpisodicMemory(3, gate_loss=-1), "gate_loss must not be negative, got -1"),
    (lambda: layers.EpisodicMemory(3, update="lstm"), "update must be one of gru, relu; .*'lstm'"),
    (lambda: layers.WordMemory(3, end_of_passes=True), "end_of_passes is for one memory a text"),
    (lambda: layers.WordMemory(3, gate_loss=1.0), "gate_loss is for one memory a text"),
    (lambda: layers.WordMemory(3, teacher_forcing=True), "teacher_forcing is for one memory a"),
    (lambda: layers.EpisodicMemory(3, teacher_forcing=True), "set end_of_passes, too"),
    (
        lambda: layers.EpisodicMemory(3)(zeros(1, 2, 4), zeros(1, 3)),
        "must be 3 wide, as the memory; got 4 and 3",
    ),
    (
        lambda: layers.QueryReduction(3)(zeros(1, 2, 3), zeros(1, 2, 4)),
        "must be 3 wide each, got 7 together",
    ),
    (encoder(units=7), "units must be a multiple of 4 heads, got 7"),
    (encoder(signals=[(0, 0, "a")]), "Layer 0 has a signal or window; layers are 1 to 4"),
    (encoder(windows=[(5, 0)]), "Layer 5 has a signal or window"),
    (encoder(signals=[(1, 4, "a")]), "Head 4 is supervised"),
    (encoder(return_supervised=True), "return_supervised needs signals"),
    (attention(signals=[(3, "a")]), "Head 3 is supervised, but heads are 0 to 2"),
    (attention(signals=[(1, "a"), (1, "b")]), "Head 1 is supervised twice"),
    (attention(windows=[-1]), "Head -1 is windowed"),
    (attention(windows=[0, 0]), "Head 0 is windowed twice"),
    (attention(signals=["a"]), "signals must be pairs of a head and the name .* got 'a'"),
    (attention(loss_weight=-1), "loss_weight must not be negative, got -1"),
    (attention(row_weight="sum"), "row_weight must be one of count, mean; got 'sum'"),
    (attention(return_supervised=True), "return_supervised needs signals"),
    *(
        (lambda kind=kind: kind()(zeros(1, 2, 4), zeros(1, 2, 3)), "equally wide, got 4 and 3")
        for kind in (layers.GatedAttention, layers.BidirectionalAttention)
    ),
    (
        lambda: layers.AttentionSum()(zeros(1, 2, 3), zeros(1, 3), np.zeros((1, 2), "int32")),
        "num_candidates is needed",
    ),
    (
        lambda: layers.CandidateAnswers([None, 1])(zeros(2, 3), np.ones((2, 4), "int32")),
        "There are 3 logits, but 2 answer_tokens",
    ),
    (lambda: layers.CandidateAnswers([2, 2]), r"distinct ids from 1, or None; got \[2, 2\]"),
    (lambda: layers.CandidateAnswers([0]), r"distinct ids from 1, or None; got \[0\]"),
    (lambda: layers.CharacterCNN(widths=()), "widths must be an integer of at least 1"),
    (lambda: layers.CharacterCNN(widths=(2, 0)), "widths must be an integer of at least 1"),
    (
        lambda: layers.CharacterCNN(activation="gelu"),
        "activation must be one of tanh, relu; got 'gelu'",
    ),
    *(
        (lambda kind=kind: kind(4)(zeros(3, 5, 6)), "5 words, but length is 4; pass a larger")
        for kind in (layers.PositionEncoding, layers.MultiplicativeMask)
    ),
    (lambda: layers.SentenceEnds(2)(zeros(1, 5, 3)), "sentences of 2 words each, .* got 5 words"),
    (
        lambda: layers.HashDropout(0.5, (None, 1))(zeros(2, 3, 4), training=True),
        r"noise_shape must have a size or None for each axis; got \(None, 1\) for .* \(2, 3, 4\)",
    ),
    (
        lambda: layers.RetrieveSentences(3, 12, 4),
        "hops must be at most 3, the sentences to keep; got 4",
    ),
]


@pytest.mark.parametrize(("make", "message"), REJECTED)
def test_bad_arguments_are_rejected(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("size", [0, -4, 4.0, "4", None])
def test_sizes_are_integers_of_at_least_1(name, size):
    for make in SIZES[name]:
        with pytest.raises(
            ValueError, match=f"{name} must be an integer of at least 1, got {size!r}"
        ):
            make(size)


@pytest.mark.parametrize("share", [-0.1, 2, "a", None])
def test_shares_are_numbers_from_0_to_1(share):
    makes = {
        "dropout": (
            lambda share: layers.CorefGRU(4, dropout=share),
            *(lambda share, kind=kind: kind(4, dropout=share) for kind in BOTH),
            lambda share: layers.SupervisedMultiHeadAttention(3, 2, dropout=share),
            lambda share: layers.AttentionEncoder(dropout=share),
        ),
        "recurrent_dropout": (lambda share: layers.MAGEGRU((4,), recurrent_dropout=share),),
        "time_noise": (lambda share: layers.EndToEndMemory(9, 6, 1, 3, 5, [8], share),),
    }
    for name in makes:
        for make in makes[name]:
            with pytest.raises(
                ValueError, match=f"^{name} must be a number from 0 to 1, got {share!r}"
            ):
                make(share)
