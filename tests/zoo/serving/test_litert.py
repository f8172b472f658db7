"""Readers as LiteRT, run by its runtime."""

import json
import sys

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from keras_corefmem.preprocessing import best_answer
from tests.support.commands import printed, refused
from tests.support.model_cases import CASES, make
from tests.support.tiers import standing_for
from zoo.reading import read_examples
from zoo.serving.litert import export_litert

BEYOND = {
    "as-coref-gru": "follows edges",
    "memn2n-retrieving": "retrieves sentences",
}
WITHIN = ("as-gru", "dmn-plus", "memn2n", "qdren", "qrn")
LENGTHS = {"length": 120, "question_length": 12}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        keras.backend.backend() != "tensorflow", reason="LiteRT is written on TensorFlow"
    ),
]


def load(folder):
    """The function from features to logits, and the preprocessor."""
    from ai_edge_litert.interpreter import Interpreter

    config = json.loads((folder / "preprocessor.json").read_text(encoding="utf-8"))
    run = Interpreter(str(folder / "model.tflite")).get_signature_runner()
    return run, keras.saving.deserialize_keras_object(config)


@pytest.mark.parametrize("name", standing_for(WITHIN, ("qdren",)))
def test_litert_gives_the_logits_of_the_model(name, tmp_path):
    pytest.importorskip("ai_edge_litert")
    model = make(name)
    zoo.export(model, tmp_path / "lite", format="litert", **LENGTHS)
    run, preprocessor = load(tmp_path / "lite")
    for example in CASES[name].examples[:7]:
        encoded = preprocessor.encode(example)
        features = preprocessor.collate([encoded], 1, *LENGTHS.values(), list(model.input))
        expected = model(features, training=False)
        np.testing.assert_allclose(run(**features)["logits"], expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", standing_for(["qdren_babi_1", "memn2n_babi_1"], ["memn2n_babi_1"]))
def test_a_thousand_questions_have_the_answers_of_the_model(name, tmp_path):
    pytest.importorskip("ai_edge_litert")
    model, examples = zoo.from_preset(name), simulator.load(1).test[:1000]
    export_litert(model, tmp_path / "lite")
    run, preprocessor = load(tmp_path / "lite")
    readings = read_examples(model, examples)
    assert len(readings) == 1000
    for example, reading in zip(examples, readings, strict=True):
        encoded = preprocessor.encode(example)
        features = preprocessor.collate([encoded], 1, 100, 20, list(model.input))
        answer, probability = best_answer(run(**features)["logits"][0], preprocessor.answers)
        assert answer == reading.answer
        assert probability == pytest.approx(reading.probability, abs=1e-4)


@pytest.mark.parametrize("name", BEYOND)
def test_what_litert_does_not_do_is_refused(name, tmp_path):
    pytest.importorskip("ai_edge_litert")
    with pytest.raises(ValueError, match=f" {BEYOND[name]}, which LiteRT does not: write a Saved"):
        export_litert(make(name), tmp_path / "lite", **LENGTHS)
    assert not (tmp_path / "lite").exists()


def test_its_converter_takes_no_lengths_that_vary():
    """As long as this holds, `export_litert` writes fixed lengths."""
    import tensorflow as tf
    from tensorflow.lite.python.convert import ConverterError

    from zoo.serving.portable import trace

    model = make("qdren")
    function, _ = trace(model, {name: each.shape for name, each in model.input.items()})
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])
    with pytest.raises(ConverterError, match="StridedSlice"):
        converter.convert()


def test_the_command_takes_lengths(tmp_path, capsys, monkeypatch):
    pytest.importorskip("ai_edge_litert")
    command = "export", "qrn_babi_1", tmp_path / "lite", "--format", "litert"
    printed_last = printed(capsys, *command, "--length", 30).splitlines()[-1]
    assert printed_last == f"LiteRT: {tmp_path / 'lite'}"
    run, _ = load(tmp_path / "lite")
    assert run.get_input_details()["sentences"]["shape"][1] == 30
    assert "length must be an integer" in refused(capsys, *command, "--length", 0)
    saved_model = "export", "qrn_babi_1", tmp_path / "model", "--length", 30
    assert "--format litert" in refused(capsys, *saved_model)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    assert "pip install 'keras_corefmem[export]'" in refused(capsys, *command)
