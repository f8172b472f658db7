"""The readers as Keras models; `test_model_conformance` has what they share with all others."""

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from keras_corefmem.layers import MAGEGRU
from keras_corefmem.preprocessing import Batches, pad
from keras_corefmem.preprocessing.encoding.encoded import Encoded
from tests.support.conformance.evaluation import JIT
from tests.support.tiers import standing_for
from zoo.architectures.passage.parts import PARTS


@pytest.fixture(scope="module")
def encoded(make_reader, examples):
    reader = make_reader("gru")
    return [reader.preprocessor.encode(example) for example in examples]


def predict(reader, rows, time, question_time):
    passage = pad([row.passage for row in rows], time)
    question = pad([row.question for row in rows], question_time)
    features = reader.preprocessor.features(passage, question)
    return reader.predict_on_batch({name: features[name] for name in reader.features})


@pytest.mark.parametrize("encoder", standing_for(["mage_gru", "coref_gru"], ["coref_gru"]))
def test_structure_matters(make_reader, encoded, encoder):
    reader = make_reader(encoder, layers=2)
    reader.compile(jit_compile=JIT)
    linked = predict(reader, encoded, 40, 9)
    reader.preprocessor.word_chains = np.zeros_like(reader.preprocessor.word_chains)
    assert np.abs(predict(reader, encoded, 40, 9) - linked).max() > 1e-3


@pytest.mark.parametrize(
    ("encoder", "head"),
    [
        ("coref_gru", "pointer_sum"),
        pytest.param("one_hot", "classification", marks=pytest.mark.thorough),
    ],
)
def test_fit_under_xla_learns_the_training_questions(make_reader, encoded, encoder, head):
    reader = make_reader(encoder, answer_head=head, units=16, dropout=0.0, spread=0)
    reader.compile(optimizer=keras.optimizers.Adam(0.03))
    assert reader.jit_compile
    batches = Batches(
        encoded, reader.preprocessor, reader.features, [40], 8, batch_size=5, shuffle=True
    )
    history = reader.fit(batches, epochs=60, verbose=0).history
    assert history["loss"][-1] < 0.2 * history["loss"][0]
    assert history["accuracy"][-1] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "last"}, "order must be one of question_first, .*, random; got 'last'"),
        ({"units": 7}, "units must be even for coref_gru, half for coreference; got 7"),
        ({"encoder": "mage_gru_shared", "units": 1}, "units .* at least 2 for mage_gru_shared"),
        ({"encoder": "mage_gru", "units": 3, "edge_units": 4}, "edge_units=4 and units=3"),
    ],
)
def test_refuses_bad_arguments(make_reader, options, message):
    with pytest.raises(ValueError, match=message):
        make_reader(**{"layers": 2, **options})


@pytest.mark.parametrize("encoder", standing_for(["gru", "mage_gru", "mage_gru_shared"], ["gru"]))
def test_smallest_sizes_are_taken(make_reader, encoder):
    reader = make_reader(encoder, layers=2, units=2, edge_units=1, embedding_dim=1, max_chains=1)
    assert reader.read("Mary took the milk.", "Where is Mary?").probability > 0


@pytest.mark.parametrize("joint", standing_for([True, False], [True]))
@pytest.mark.parametrize(
    ("encoder", "name", "value", "message"),
    [
        ("gru", "passage", 999, "passage of row 1 holds 999, which the model does not know"),
        ("gru", "question", -2, "question of row 1 holds -2"),
        ("gru", "candidates", 6, "candidates of row 1 holds 6, .* numbers go from 0 to 5"),
        ("one_hot", "passage_chains", 33, "passage_chains of row 1 holds 33, .* 0 to 32"),
        ("mage_gru", "passage_sources", 39, "passage_sources: position 39 of example 1 .*forward"),
        pytest.param(
            "coref_gru",
            "question_antecedents",
            8,
            "position 8 of example 1 at .* points forward",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "coref_gru",
            "passage_antecedents",
            90,
            "passage_antecedents: position 90 .*out of range",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_features_that_the_model_does_not_know_are_refused(
    make_reader, encoded, encoder, name, value, message, joint
):
    reader = make_reader(encoder, joint=joint)
    features = reader.preprocessor.collate(encoded[:2], 2, 40, 9)
    assert reader.inspect(features)[0].shape == (2, 6)
    features[name][1, 5] = value
    for look in (reader.inspect, reader.attend):
        with pytest.raises(ValueError, match=message):
            look(features)


def test_refuses_a_preprocessor_of_another_layout(make_reader):
    config = make_reader(layers=2).get_config()
    config["joint"] = False
    with pytest.raises(ValueError, match="The preprocessor has joint=True, the model False"):
        type(make_reader(layers=2)).from_config(config)


def test_misspelt_arguments_are_refused(examples):
    unexpected = "unexpected keyword argument 'unit'"
    told = "AttentionSumReader has no argument 'unit'. Did you mean 'units'\\?"
    for make, message in (
        (lambda **options: zoo.GatedAttentionReader(10, 3, **options), unexpected),
        (lambda **options: zoo.AttentionSumReader.from_examples(examples, **options), told),
        (lambda **options: zoo.QueryReductionNetwork(10, 3, 5, **options), unexpected),
    ):
        with pytest.raises(TypeError, match=message):
            make(unit=7)


def test_an_answer_without_a_mention_is_no_unknown_one(make_reader, encoded):
    reader = make_reader("gru")
    reader.compile(jit_compile=JIT)
    row = Encoded(np.array([1, 1]), np.array([1]), 0, chain_ids=np.zeros(3))
    logits = predict(reader, [row], 8, 8)
    assert logits[0].argmax() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"encoder": "coref_gru"},
            "edge_types .* need an encoder that reads sources",
        ),
        ({"edge_units": [2]}, r"edge_units must be one number, or one for each of .*; got \[2\]"),
        ({"edge_units": 4}, "edge_units=4 for each of 2 edge types and units=8"),
        ({"encoder": "dag_rnn", "edge_attention": True}, "edge_attention is for mage_gru and"),
        ({"encoder": "mage_gru_shared", "units": 2}, "units .* at least 3 for mage_gru_shared"),
        ({"edge_types": ["person", "person"]}, "edge_types must be a list of different names"),
    ],
)
def test_edges_that_no_encoder_reads_are_refused(options, message):
    options = {"encoder": "mage_gru", "units": 8, "edge_units": 2, **options}
    with pytest.raises(ValueError, match=message):
        zoo.AttentionSumReader(5, 3, **{"edge_types": ["coreference", "person"], **options})


def test_layers_of_an_attention_sum_reader_follow_each_other(make_reader, encoded):
    reader = make_reader("gru", kind=zoo.AttentionSumReader, layers=2, joint=False)
    (row,) = encoded[:1]
    lengths = len(row.passage), len(row.question)
    features = reader.preprocessor.collate([row], 1, *lengths, reader.features)
    states = {name: reader.get_layer("word_embedding")(features[name]) for name in PARTS}
    for name in PARTS:
        for n in (1, 2):
            states[name] = reader.get_layer(f"{name}_encoder_{n}")(states[name])
    passage, question = (np.asarray(states[name])[0] for name in PARTS)
    half = question.shape[-1] // 2
    scores = np.exp(passage @ np.append(question[-1, :half], question[0, half:]))
    mentions = features["candidates"][0]
    shares = np.bincount(mentions, scores, len(reader.preprocessor.answers))[1:]
    expected = shares / shares.sum()
    got = keras.ops.softmax(reader(features))[0][1:]
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("joint", standing_for([True, False], [False]))
def test_tied_layers_equal_layers_of_the_same_weights(make_reader, encoded, tmp_path, joint):
    # Layer by layer: tracing lasts longer.
    def logits_of(reader):
        return np.asarray(reader({name: features[name] for name in reader.features}))

    options = {"encoder": "mage_gru" if joint else "coref_gru", "joint": joint}
    options["edge_attention"] = joint
    tied, untied = (make_reader(layers=3, tied=tied, **options) for tied in (True, False))
    two = make_reader(layers=2, **options)
    assert tied.count_params() == two.count_params() < untied.count_params()
    for name in ("encoder",) if joint else ("passage_encoder", "question_encoder"):
        for n in range(1, 4):
            source = tied.get_layer(f"{name}_{min(n, 2)}")
            untied.get_layer(f"{name}_{n}").set_weights(source.get_weights())
    untied.get_layer("word_embedding").set_weights(tied.get_layer("word_embedding").get_weights())
    features = tied.preprocessor.collate(encoded[:2], 2, 40, 9)
    expected = logits_of(untied)
    assert np.abs(expected - logits_of(two)).max() > 0.01
    if joint:
        assert tied.attend_to_edges(features) == pytest.approx(untied.attend_to_edges(features))
    tied.save(tmp_path / "tied.keras")
    tied.save_to_preset(tmp_path / "preset")
    loaded = zoo.load(tmp_path / "tied.keras"), zoo.from_preset(tmp_path / "preset")
    for reader in (tied, *loaded):
        assert reader.config["tied"]
        np.testing.assert_allclose(logits_of(reader), expected, rtol=1e-4, atol=1e-4)


def test_files_may_have_an_argument_that_is_gone():
    config = zoo.AttentionSumReader(5, 3, units=4).get_config()
    again = zoo.AttentionSumReader.from_config({**config, "recurrent_dropout": 0.0})
    assert again.get_config() == config
    with pytest.raises(TypeError, match="no argument .recurrent_dropout"):
        zoo.AttentionSumReader.from_config({**config, "recurrent_dropout": 0.1})


def test_any_layer_of_sources_reads_typed_edges(tmp_path):
    layer = MAGEGRU((4, 2, 2), bidirectional=True, return_sequences=True)
    options = {"encoder": layer, "edge_types": ("place", "person"), "embedding_dim": 4}
    reader = zoo.AttentionSumReader.from_examples(simulator.simulate(1, 12), **options)
    assert reader.input["passage_sources"].shape[2:] == (2, 1)
    reader.save(tmp_path / "reader.keras")
    texts = "Mary went to the kitchen.", "Where is Mary?"
    expected = reader.read(*texts).probability
    assert zoo.load(tmp_path / "reader.keras").read(*texts).probability == expected


@pytest.mark.thorough
def test_a_pointer_or_class_is_a_mixture_of_both(make_reader, examples):
    reader = make_reader("coref_gru", answer_head="pointer_or_class")
    features, *_ = reader.batches(examples)[0]
    gate, answer = reader.get_layer("answer_gate"), reader.get_layer("answer")
    pointed, classes = reader.get_layer("attention_sum").output, answer.output
    parts = keras.Model(reader.inputs, [gate.output, pointed, classes])
    parts.compile(jit_compile=JIT)
    g, p, c = map(np.asarray, parts.predict_on_batch(features))
    g, (p, c) = 1 / (1 + np.exp(-g)), (np.asarray(keras.ops.softmax(each)) for each in (p, c))
    found = np.exp(reader.predict_on_batch(features))
    # Number 0, the unknown answer, is never predicted; empty rows fill the batch.
    rows = slice(len(examples)), slice(1, None)
    np.testing.assert_allclose(found[rows], (g * p + (1 - g) * c)[rows], atol=1e-5)
    # Without a mention of any answer there is nothing to point at.
    features["candidates"] = np.zeros_like(features["candidates"])
    found = np.exp(reader.predict_on_batch(features))
    np.testing.assert_allclose(found[rows], c[rows], atol=1e-5)
