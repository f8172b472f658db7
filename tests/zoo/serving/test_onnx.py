"""Readers as ONNX, run by onnxruntime."""

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
from zoo.serving.onnx import export_onnx

KEPT = ("as-coref-gru",)
BEYOND = {
    "dmn-plus-retrieving": "retrieves sentences",
    "memn2n-retrieving": "retrieves sentences",
    "bidaf-supervised": "attends in both directions",
    "bidaf-mage-gru": "attends in both directions",
}
WITHIN = [name for name in CASES if name not in BEYOND]
onnx_only = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="ONNX is written on TensorFlow"
)


@onnx_only
@pytest.mark.slow
@pytest.mark.parametrize("name", standing_for(WITHIN, KEPT))
def test_onnx_gives_the_logits_of_the_model(name, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("tf2onnx")
    model, examples = make(name), CASES[name].examples
    zoo.export(model, tmp_path / "onnx", format="onnx")
    session = onnxruntime.InferenceSession(tmp_path / "onnx" / "model.onnx")
    config = json.loads((tmp_path / "onnx" / "preprocessor.json").read_text(encoding="utf-8"))
    preprocessor = keras.saving.deserialize_keras_object(config)
    names = [each.name for each in session.get_inputs()]
    # Batches of several sizes and lengths.
    for count in (1, 7):
        encoded = [preprocessor.encode(example) for example in examples[:count]]
        length = max(map(preprocessor.length, encoded)) + count
        question_length = max(map(preprocessor.question_length, encoded))
        features = preprocessor.collate(encoded, count, length, question_length, names)
        (logits,) = session.run(["logits"], features)
        expected = model(features, training=False)
        np.testing.assert_allclose(logits, expected, atol=1e-4, rtol=1e-4)


@onnx_only
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["ga_coref_gru_babi_1", "qdren_babi_1"])
def test_a_thousand_questions_have_the_answers_of_the_model(name, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("tf2onnx")
    model, examples = zoo.from_preset(name), simulator.load(1).test[:1000]
    export_onnx(model, tmp_path / "onnx")
    session = onnxruntime.InferenceSession(tmp_path / "onnx" / "model.onnx")
    names = [each.name for each in session.get_inputs()]
    readings, preprocessor = read_examples(model, examples), model.preprocessor
    assert len(readings) == 1000
    for start in range(0, 1000, 100):
        encoded = [preprocessor.encode(each) for each in examples[start : start + 100]]
        lengths = (
            max(map(preprocessor.length, encoded)),
            max(map(preprocessor.question_length, encoded)),
        )
        features = preprocessor.collate(encoded, 100, *lengths, names)
        (logits,) = session.run(["logits"], features)
        for row, reading in zip(logits, readings[start : start + 100], strict=True):
            answer, probability = best_answer(row, preprocessor.answers)
            assert answer == reading.answer
            assert probability == pytest.approx(reading.probability, abs=1e-4)


@onnx_only
@pytest.mark.slow
def test_nothing_is_said_of_what_the_converter_leaves_as_it_is(tmp_path, caplog):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tf2onnx")
    export_onnx(make("ren"), tmp_path / "onnx")
    assert "Failed to apply" not in caplog.text and (tmp_path / "onnx" / "model.onnx").exists()


@onnx_only
@pytest.mark.thorough
@pytest.mark.parametrize("name", BEYOND)
def test_what_onnx_does_not_do_is_refused(name, tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tf2onnx")
    with pytest.raises(ValueError, match=f" {BEYOND[name]}, which ONNX does not: write a Saved"):
        export_onnx(make(name), tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()


@onnx_only
def test_a_folder_of_something_else_is_kept(tmp_path):
    pytest.importorskip("tf2onnx")
    model = make("qrn")
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(ValueError, match="is no folder of ONNX: choose another path"):
        export_onnx(model, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
    with pytest.raises(
        ValueError, match="format must be 'saved_model', 'onnx' or 'litert', got 'h5'"
    ):
        zoo.export(model, tmp_path / "model", format="h5")


@pytest.mark.thorough
@onnx_only
def test_the_command_replaces_an_older_one(tmp_path, capsys):
    pytest.importorskip("tf2onnx")
    for _ in range(2):
        command = "export", "qrn_babi_1", tmp_path / "onnx", "--format", "onnx"
        assert printed(capsys, *command).endswith(f"ONNX: {tmp_path / 'onnx'}\n")
    assert {path.name for path in (tmp_path / "onnx").iterdir()} == {
        "model.onnx",
        "preprocessor.json",
    }


def test_what_is_missing_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tf2onnx", None)
    message = refused(capsys, "export", "qrn_babi_1", tmp_path / "onnx", "--format", "onnx")
    remedies = {"tensorflow": "pip install 'keras_corefmem[export]'"}
    assert remedies.get(keras.backend.backend(), "set KERAS_BACKEND=tensorflow") in message
