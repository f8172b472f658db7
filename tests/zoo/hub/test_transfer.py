"""Presets that start models for other tasks and vocabularies."""

import dataclasses
import warnings

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets.stories import simulator
from tests.support.conformance.evaluation import QUICK
from tests.support.model_cases import CASES, DISTINCT, make, shared
from tests.support.tiers import standing_for
from zoo.architectures import preset_model
from zoo.training import evaluate

NEW = {"Mary": "Julie", "John": "Fred", "Sandra": "Bill", "kitchen": "cellar", "garden": "park"}
# Learned from the data at hand: numbers of hashed n-grams, and how rare words are.
OF_DATA = {"weights/embeddings", "retrieve/idf"}


def translate(text):
    for old, new in NEW.items():
        text = text.replace(old, new)
    return text


def translated(task, count, seed):
    return [
        dataclasses.replace(
            example,
            sentences=tuple(map(translate, example.sentences)),
            question=translate(example.question),
            answer=translate(example.answer),
        )
        for example in simulator.simulate(task, count, seed=seed)
    ]


TRAIN = translated(1, 60, 1)


# One of each class.
STARTED = ["as-coref-gru", "ga-mage-gru-typed", "bidaf-mage-gru", "qdren", "dmn-lists", "memn2n"]
STARTED += ["qrn", "lstm", "ngram", "dmn-tagger", "character-lm"]


@pytest.mark.parametrize("name", standing_for(DISTINCT, STARTED))
def test_settings_are_the_presets_and_weights_are_kept(name, tmp_path):
    model, case = shared(name), CASES[name]
    model.save_to_preset(tmp_path / "reader")
    again = zoo.from_preset(tmp_path / "reader", examples=case.examples)
    # How often a word had to occur is not on record.
    if "min_count" not in case.options:
        assert again.config == model.config
        assert again.preprocessor.get_config() == model.preprocessor.get_config()
        assert again.coverage.missing == ()
    for weight, old in zip(again.weights, model.weights, strict=True):
        if weight.shape == old.shape and weight.path not in OF_DATA:
            np.testing.assert_array_equal(weight, old)


@pytest.fixture(scope="module")
def adapted():
    old = zoo.from_preset("dmn_supervised_babi_1")
    return old, zoo.from_preset("dmn_supervised_babi_1", examples=TRAIN)


def test_vectors_of_words_that_both_know_are_copied(adapted):
    (old, new), rows = adapted, {}
    tables = [
        keras.ops.convert_to_numpy(model.get_layer("word_embedding").embeddings)
        for model in adapted
    ]
    assert tables[0].shape == tables[1].shape
    known = set(old.preprocessor.vocabulary.words)
    for row, word in enumerate(new.preprocessor.vocabulary.words):
        if word in known:
            before = tables[0][old.preprocessor.vocabulary.words.index(word)]
            rows[word] = np.array_equal(tables[1][row], before)
    assert all(rows.values()) and {"", "[unknown]", "where", "bathroom"} <= rows.keys()
    assert set(new.coverage.missing) == {translate(word).lower() for word in NEW.values()}


def test_weights_of_answers_that_both_have_are_copied(adapted):
    (old, new), kept = adapted, []
    kernels = [keras.ops.convert_to_numpy(model.get_layer("answer").kernel) for model in adapted]
    for n, answer in enumerate(new.preprocessor.answers):
        number = old.preprocessor.answer_numbers.get(answer)
        if number is not None:
            np.testing.assert_array_equal(kernels[1][:, n], kernels[0][:, number])
            kept.append(answer)
        else:
            assert not (kernels[0] == kernels[1][:, n, None]).all(axis=0).any()
    assert kept == ["[unknown]", "bathroom", "bedroom", "hallway", "office"]


def test_a_memory_network_keeps_rows_of_words_ages_and_answers(tmp_path):
    model = make("memn2n")
    model.save_to_preset(tmp_path / "reader")
    new = zoo.from_preset(tmp_path / "reader", examples=translated(1, 12, 3))
    words, before = new.preprocessor.vocabulary.words, model.preprocessor.vocabulary.words
    tables = [
        keras.ops.convert_to_numpy(each.get_layer("memory").tables[1]) for each in (new, model)
    ]
    both = [word for word in words if word in before]
    assert len(both) > 10
    np.testing.assert_array_equal(
        tables[0][[words.index(word) for word in both]],
        tables[1][[before.index(word) for word in both]],
    )
    ages = [keras.ops.convert_to_numpy(each.get_layer("memory").times[0]) for each in (new, model)]
    shortest = min(map(len, ages))
    np.testing.assert_array_equal(ages[0][:shortest], ages[1][:shortest])


@pytest.mark.thorough
def test_a_preset_learns_faster_than_from_scratch():
    test, accuracies = translated(1, 200, 2), []
    for load_weights in (True, False):
        keras.utils.set_random_seed(0)
        model = zoo.from_preset("qrn_babi_1", load_weights, TRAIN)
        model.compile(**QUICK)
        model.fit(model.batches(TRAIN, shuffle=True), epochs=3, verbose=0)
        accuracies.append(evaluate(model, model.batches(test))["accuracy"])
    assert accuracies[0] > accuracies[1] + 0.2


def test_arguments_of_from_examples_are_overridden():
    model = zoo.from_preset("ga_coref_gru_babi_1", examples=TRAIN, encoder="gru", dropout=0.5)
    old = zoo.from_preset("ga_coref_gru_babi_1")
    assert model.config["encoder"] == "gru" and model.config["dropout"] == 0.5
    np.testing.assert_array_equal(
        model.get_layer("encoder_2").weights[0], old.get_layer("encoder_2").weights[0]
    )


def test_encoders_of_edges_of_other_types_start_anew(tmp_path):
    model, case = shared("ga-mage-gru-typed"), CASES["ga-mage-gru-typed"]
    model.save_to_preset(tmp_path / "reader")
    types = ["near", "coreference", "near^-1"]
    with pytest.warns(UserWarning, match="start untrained, .* 1 units of coreference, 2 units of"):
        new = zoo.from_preset(tmp_path / "reader", examples=case.examples, edge_types=types)
    assert [weight.shape for weight in new.weights] == [weight.shape for weight in model.weights]
    for weight, old in zip(new.weights, model.weights, strict=True):
        is_kept = "encoder" not in weight.path
        assert np.array_equal(weight, old) == is_kept, weight.path


def test_encoders_of_the_same_edges_are_kept():
    name = "ga_mage_gru_prepared_babi_1"
    with warnings.catch_warnings(action="error", category=UserWarning):
        model = zoo.from_preset(name, examples=TRAIN, edge_units=[24])
    old = zoo.from_preset(name)
    np.testing.assert_array_equal(
        model.get_layer("encoder_1").weights[0], old.get_layer("encoder_1").weights[0]
    )


def test_weights_of_other_widths_are_told():
    with pytest.warns(UserWarning, match="weights of qrn_babi_1 .* shape .*word_embedding/embedd"):
        model = zoo.from_preset("qrn_babi_1", examples=TRAIN, units=20)
    assert model.coverage.missing == tuple(model.preprocessor.vocabulary.known)


def test_frozen_layers_that_are_trained_again_are_told(tmp_path):
    model = zoo.from_preset("qrn_babi_1")
    model.get_layer("word_embedding").trainable = False
    model.save_to_preset(tmp_path / "reader")
    with warnings.catch_warnings(action="error", category=UserWarning):
        assert not zoo.from_preset(tmp_path / "reader").get_layer("word_embedding").trainable
    with pytest.warns(UserWarning, match="frozen layers, word_embedding, which are trained here"):
        again = zoo.from_preset(tmp_path / "reader", examples=TRAIN)
    assert again.get_layer("word_embedding").trainable


def test_passages_without_their_answers_take_another_head():
    examples = [dataclasses.replace(example, answer="nowhere") for example in TRAIN]
    model = zoo.from_preset("ga_coref_gru_babi_1", examples=examples)
    assert model.config["answer_head"] == "classification"


def test_what_it_was_started_from_is_on_the_card(adapted, tmp_path):
    adapted[1].save_to_preset(tmp_path / "reader")
    text = (tmp_path / "reader" / "README.md").read_text()
    assert "| started from | dmn_supervised_babi_1 |" in text and "test accuracy" not in text


def test_what_has_no_preprocessor_or_names_is_refused(tmp_path, monkeypatch):
    zoo.QueryReductionNetwork(9, 3, 4, units=4).save_to_preset(tmp_path / "reader")
    with pytest.raises(ValueError, match="has no preprocessor .*from_examples"):
        zoo.from_preset(tmp_path / "reader", examples=TRAIN)
    opened = preset_model.open_preset("qrn_babi_1")
    numbered = dataclasses.replace(opened, read_weights=lambda: {"000": np.zeros(3)})
    monkeypatch.setattr(preset_model, "open_preset", lambda *_: numbered)
    with pytest.raises(ValueError, match="qrn_babi_1 has weights of version 0.1, .*save_to_preset"):
        zoo.from_preset("qrn_babi_1", examples=TRAIN)
