import dataclasses

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.layers import WordPieces
from keras_corefmem.preprocessing.batching.batches import Batches
from keras_corefmem.preprocessing.encoding.features import target_name
from tests.support.conformance.evaluation import JIT, QUICK
from tests.support.model_cases import ANNOTATED, BIDAF, SPANS, UNSEEN, features_of, make, shared
from tests.support.tiers import standing_for
from zoo.architectures.passage.supervision import Supervision, plan_supervision
from zoo.configs import configuration

SMALL = {**BIDAF, "units": 4, "embedding_dim": 6, "characters": False}
LAYERS = {"early": 4, "late": 1}


def build(examples=ANNOTATED, **arguments):
    return zoo.BiDAFReader.from_examples(examples, **{**SMALL, **arguments})


def pieces(count):
    """Pieces of so many words, for a tiny backbone."""
    ids = keras.Input((None,), dtype="int32", name="token_ids")
    backbone = keras.Model({"token_ids": ids}, keras.layers.Embedding(9, 4)(ids))
    return WordPieces(backbone, [[n] for n in range(count)])


# Every place, signal and encoder once.
VARIANTS = ["bidaf", "bidaf-coref-gru", "bidaf-sa-early-coref-all-narrative", "bidaf-sa-early-elmo"]
VARIANTS += [
    "bidaf-sa-early-dependency",
    "bidaf-sa-late-coref-all",
    "bidaf-sa-both-coref-all-early",
]


@pytest.mark.parametrize("name", standing_for(zoo.models("bidaf"), VARIANTS))
def test_every_variant_is_what_its_name_says(name, tmp_path):
    arguments = configuration(name).arguments
    if name.endswith("-elmo"):
        shared("character-lm").save(tmp_path / "lm.keras")
        arguments = {**arguments, "language_model": tmp_path / "lm.keras"}
    model = build(**arguments)
    layers = {layer.name for layer in model.layers}
    for place in ("early", "late"):
        expected = f"-sa-{place}" in name or "-sa-both" in name
        assert (f"{place}_attention" in layers) == expected
    signals = [signal for signal in ("dependency", "narrative") if signal in name]
    signals += [f"coref_{w}" for w in ("all", "previous", "next") if f"coref-{w}" in name]
    assert sorted(model.signals) == sorted(signals)
    # The paper supervises layer 3 of its 4 early ones, or the late one; each signal has a head.
    options = arguments.get("supervision", ()), arguments.get("self_attention", "none")
    planned = plan_supervision(*options, LAYERS, 4)
    place, layer = ("late", 1) if "-sa-late" in name or name.endswith("-late") else ("early", 3)
    heads = {(place, layer, n) for n in range(len(signals))}
    assert {tuple(each)[1:] for each in planned} == heads
    assert ("passage_sentences" in model.features) == ("dependency" in signals)
    assert ("passage_antecedents" in model.features) == name.endswith("coref-gru")
    # Variants differ in what they are called after alone: none reads the question with the passage.
    assert not model.config["joint"] and not model.preprocessor.joint


def test_arguments_of_absent_parts_are_known_to_be_unread():
    of_loss = {"loss_weight", "row_weight"}
    model = build(self_attention="early")
    assert {*of_loss, "encoder_at", "late_layers", "carry"} <= model.unread
    assert not of_loss & build(self_attention="early", supervision=["coref_all"]).unread
    assert "encoder_at" not in build(encoder="coref_gru", encoder_at="modeling").unread


@pytest.mark.thorough
def test_targets_change_the_loss_alone():
    model = make("bidaf-supervised")
    model.compile(**QUICK)
    features = features_of(model, SPANS[:8], 20)
    answers = np.array([model.preprocessor.encode(example).answer for example in SPANS[:8]])
    blank = {k: v * 0 if k.startswith("passage_targets") else v for k, v in features.items()}
    np.testing.assert_array_equal(*(model.predict_on_batch(f) for f in (features, blank)))
    logs = [model.test_on_batch(f, answers, return_dict=True) for f in (features, blank)]
    assert logs[0]["loss"] > logs[1]["loss"] and logs[0]["accuracy"] == logs[1]["accuracy"]
    for signal in model.signals:
        assert logs[0][f"{signal}_loss"] > 0 and logs[1][f"{signal}_loss"] == 0
        assert 0 < logs[0][f"{signal}_attention_mass"] < 1


# The loss, its gradients and its place in a reader have tests of their own.
@pytest.mark.thorough
def test_a_supervised_head_learns_its_targets():
    keras.utils.set_random_seed(0)
    model = build(self_attention="early", supervision="coref_all", loss_weight=1.0, dropout=0.0)
    model.compile(optimizer=keras.optimizers.Adam(0.02), jit_compile=JIT)
    encoded = [model.preprocessor.encode(example) for example in ANNOTATED]
    batches = Batches(encoded, model.preprocessor, model.features, batch_size=24, shuffle=True)
    history = model.fit(batches, epochs=40, verbose=0).history
    rates = history["coref_all_attention_mass"]
    assert rates[-1] > 0.7 > 3 * rates[0]
    features = features_of(model, ANNOTATED[:2], 20)
    attention = model.look(features)["coref_all"]
    pairs = features[target_name("coref_all")][0]
    rows = {int(row) for row, _ in pairs if row}
    for row in rows:
        columns = [column - 1 for own, column in pairs if own == row]
        assert attention[0, row - 1, columns].sum() > 0.5


@pytest.mark.thorough
def test_looking_at_heads():
    model = shared("bidaf-supervised")
    features = features_of(model, SPANS[:3], 20)
    shown = model.look(features)
    assert list(shown) == ["coref_all", "dependency", "roles"]
    real = features["passage"] != 0
    for attention in shown.values():
        assert attention.shape == (3, 20, 20) and attention.dtype == np.float32
        np.testing.assert_allclose(attention.sum(axis=-1), real, atol=1e-5)
        assert not attention[~np.broadcast_to(real[:, None], attention.shape)].any()
    sentences = features["passage_sentences"]
    apart = sentences[:, :, None] != sentences[:, None]
    assert not shown["dependency"][apart].any() and shown["coref_all"][apart].any()
    with pytest.raises(ValueError, match="No head of this reader is supervised"):
        shared("bidaf-mage-gru").look(features)


@keras.saving.register_keras_serializable("tests")
class Doubling(keras.layers.Layer):
    """A small encoder of two layers: what words are, and what is around them."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.table = keras.layers.Embedding(100, 6, name="table")
        self.mix = keras.layers.Conv1D(6, 3, padding="same", name="mix")

    def build(self, shape):
        self.table.build(shape)
        self.mix.build((*shape, 6))

    def call(self, words):
        first = self.table(words)
        return [first, self.mix(first)]

    def compute_output_spec(self, words):
        return [keras.KerasTensor((*words.shape, 6), dtype="float32")] * 2


@pytest.mark.thorough
@pytest.mark.parametrize("freeze", [True, False])
def test_contextual_vectors(freeze, tmp_path):
    model = build(word_encoder=Doubling(), freeze_word_encoder=freeze)
    own = [w.path for w in model.trainable_weights if "doubling" in w.path]
    assert bool(own) != freeze
    mixed = [w for w in model.trainable_weights if "mix/scores" in w.path]
    assert len(mixed) == 1 and tuple(mixed[0].shape) == (2,)
    features = features_of(model, ANNOTATED[:2], 20)
    expected = model.inspect(features)[0]
    model.save(tmp_path / "model.keras")
    loaded = zoo.load(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded.inspect(features)[0], expected, atol=1e-6)


@pytest.mark.parametrize("is_frozen", [True, False])
def test_frozen_word_vectors_stay_as_they_are(is_frozen, tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("mary 1 1 1\n")
    model = build(word_vectors=path, embedding_dim=3, freeze_word_vectors=is_frozen)
    model.compile(**QUICK)
    table = model.get_layer("word_embedding").embeddings
    before = keras.ops.convert_to_numpy(table).copy()
    assert [1, 1, 1] in before.tolist()
    model.fit(ANNOTATED, epochs=1, verbose=0)
    assert (keras.ops.convert_to_numpy(table) == before).all() == is_frozen


def test_supervision_is_filled_in():
    def plan(supervision, self_attention="both", layers=LAYERS):
        return plan_supervision(supervision, self_attention, layers, 4)

    assert plan("coref_all") == [Supervision("coref_all", "early", 3, 0)]
    several = plan(["coref_all", "roles", ["dependency", "late"], ["narrative", "early", 3]])
    places = [("early", 3, 0), ("early", 3, 1), ("late", 1, 0), ("early", 3, 2)]
    assert [tuple(each)[1:] for each in several] == places
    assert plan([["roles", "early", 2, 3]], "early")[0].head == 3
    assert plan("roles", "early", {"early": 2, "late": 1})[0].layer == 2
    assert plan("roles", "late")[0] == Supervision("roles", "late", 1, 0)


@pytest.mark.parametrize(
    ("supervision", "self_attention", "message"),
    [
        ("coref", "early", "no signal 'coref'; choose one of"),
        ("roles", "none", "supervision by roles needs self_attention"),
        ([["roles", "late"]], "early", "no self-attention 'late', but early"),
        ([["roles", "early", 5]], "early", "no head 0 of layer 5; early has 4 layers of 4 heads"),
        ([["roles", "early", 1, 4]], "early", "no head 4 of layer 1"),
        (["roles", "roles"], "early", "give each signal once"),
        (None, "early", "supervision must be a list of signals, got None"),
        (["roles", 3], "early", "sequences of signal, place, layer and head.*; got 3"),
        ([["roles", "early", "3"]], "early", "supervision by roles: layer must be an integer"),
        ([["roles", "early", 3, 0.5]], "early", "head must be an integer, got 0.5"),
        ([["roles", "early", 3, 1, 0]], "early", "place, layer and head"),
        ([["roles", "early", 3, 1], ["coref_all", "early", 3, 1]], "both", "each head one signal"),
    ],
)
def test_supervision_that_cannot_be(supervision, self_attention, message):
    with pytest.raises(ValueError, match=message):
        plan_supervision(supervision, self_attention, LAYERS, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"encoder": "coref_gru", "self_attention": "early"}, 'take encoder_at="modeling"'),
        ({"encoder": "one_hot", "encoder_at": "modeling"}, "one_hot is no encoder of the model"),
        ({"word_vectors": "a", "make_word_encoder": len}, "word_vectors are not read where there"),
        ({"units": 3, "heads": 4, "self_attention": "late"}, "3 units are no multiple of half of"),
        ({"word_encoder": pieces(2)}, "word_encoder knows 2 words, the vocabulary has"),
        ({"joint": "yes"}, "joint: Input should be a valid boolean"),
    ],
)
def test_refuses_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        build(**arguments)


def test_signals_without_targets_are_refused():
    plain = [dataclasses.replace(example, structure=None) for example in ANNOTATED]
    arguments = {"self_attention": "early", "supervision": ["coref_all", "dependency"]}
    with pytest.raises(ValueError, match="No training example has targets of coref_all, depend"):
        build(plain, **arguments)


def test_structure_read_by_the_contextual_layer_is_that_of_the_question_too():
    model = build(encoder="coref_gru")
    assert model.config["joint"] and model.preprocessor.joint


# `test_legacy` has one read raw text.
@pytest.mark.thorough
def test_reads_raw_text():
    with pytest.warns(UserWarning, match="zoë"):
        readings = shared("bidaf-mage-gru").read(UNSEEN["passage"], UNSEEN["question"])
    assert readings[0].answer in UNSEEN["passage"][0].lower().split()


def test_a_preprocessor_without_targets_is_refused():
    config = build(self_attention="early").get_config()
    with pytest.raises(ValueError, match="makes no targets of coref_all: give it as signals"):
        zoo.BiDAFReader.from_config({**config, "supervision": ["coref_all"]})
