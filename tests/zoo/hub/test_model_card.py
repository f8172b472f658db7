"""Cards of presets: numbers, licence, and code that runs."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest

import zoo
from tests.support.model_cases import CASES, make, shared
from tests.support.tiers import standing_for


def run_snippet(folder, capsys):
    card = (folder / "README.md").read_text()
    exec(re.search(r"```python\n(.*?)```", card, re.DOTALL)[1], {})
    return card, capsys.readouterr().out


def test_the_card_has_numbers_licence_and_code_that_runs(folder, capsys):
    card, printed = run_snippet(folder, capsys)
    assert "answer='kitchen'" in printed
    assert "| test accuracy | 100.00% |" in card and "CC BY 3.0" in card
    assert card.startswith("---\nlibrary_name: keras_corefmem\npipeline_tag: question-answering\n")


@pytest.mark.filterwarnings("ignore:The reader does not know")
@pytest.mark.parametrize("name", standing_for(["qdren-wind", "dmn-tagger"], ["dmn-tagger"]))
def test_cards_of_other_models_have_code_that_runs(name, tmp_path, capsys):
    shared(name).save_to_preset(tmp_path / "reader", card={"licence": "MIT", "test_accuracy": 0.5})
    card, printed = run_snippet(tmp_path / "reader", capsys)
    assert printed and "\nlicense: mit\n" in card and "| test accuracy | 50.00% |" in card


def test_a_card_names_the_annotator(tmp_path):
    model = make("ga-coref-gru-words")
    model.preprocessor.annotator = "en_core_web_sm"
    model.save_to_preset(tmp_path / "reader")
    assert (
        "annotated by `en_core_web_sm`: give `read`" in (tmp_path / "reader/README.md").read_text()
    )
    assert zoo.from_preset(tmp_path / "reader").preprocessor.annotator == "en_core_web_sm"


def test_a_card_says_what_became_of_the_preset(tmp_path):
    model = zoo.from_preset("qrn_babi_1")
    answer = model.get_layer("answer").kernel
    answer.assign(answer * 2)
    model.save_to_preset(tmp_path / "reader")
    card = json.loads((tmp_path / "reader" / "config.json").read_text())["card"]
    assert card == {"started_from": "qrn_babi_1"}
    assert "100.00%" not in (tmp_path / "reader" / "README.md").read_text()


@pytest.mark.parametrize("changes, kept", [({}, True), ({"passes": 1}, False)])
def test_a_card_repeats_scores_of_the_very_model_alone(changes, kept, tmp_path):
    model = zoo.from_preset("dmn_supervised_babi_3", **changes)
    model.save_to_preset(tmp_path / "reader")
    card = json.loads((tmp_path / "reader" / "config.json").read_text())["card"]
    measured = zoo.DynamicMemoryNetwork.presets["dmn_supervised_babi_3"]
    assert card == (measured if kept else {"started_from": "dmn_supervised_babi_3"})


@pytest.mark.thorough
def test_a_model_of_its_own_has_the_logs_of_fit(tmp_path):
    model = make("qrn")
    examples = CASES["qrn"].examples
    batches = model.batches(examples)
    history = model.fit(batches, initial_epoch=3, epochs=5, verbose=0).history
    model.save_to_preset(tmp_path / "reader")
    card = json.loads((tmp_path / "reader" / "config.json").read_text())["card"]
    assert card["last_epoch"]["epoch"] == 5
    assert card["last_epoch"]["loss"] == pytest.approx(history["loss"][-1])


def test_a_card_leaves_out_metrics_that_are_arrays(original, tmp_path):
    model = keras.models.clone_model(original)
    model.history = SimpleNamespace(epoch=[0], history={"loss": [0.5], "f1": [np.ones(3)]})
    model.save_to_preset(tmp_path / "reader")
    card = json.loads((tmp_path / "reader" / "config.json").read_text())["card"]
    assert card["last_epoch"] == {"epoch": 1, "loss": 0.5}


def test_what_a_card_may_hold(original, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    card = {"test_accuracy": np.float32(0.5), "note": "a | b", "sizes": {"train": np.int64(9)}}
    original.save_to_preset("reader", card=card)
    text, printed = run_snippet(tmp_path / "reader", capsys)
    assert "| test accuracy | 50.00% |" in text and "| sizes | train 9 |" in text
    assert 'from_preset("reader")' in text and "kitchen" in printed
    with pytest.raises((AttributeError, TypeError)):
        original.save_to_preset("reader", card={"note": object()})
    assert json.loads(Path("reader", "config.json").read_text())["card"]["note"] == "a | b"
