"""Each recipe of the guide runs alone, in at most fifteen lines, and does what it says."""

import functools
import json
import re
from pathlib import Path

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from tests.support.hub import stub_hub
from zoo.architectures.trainer import TextTrainer

PAGE = (Path(__file__).parents[1] / "docs" / "recipes.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
WHERE = "Mary went to the kitchen.", "Where is Mary?"

pytestmark = pytest.mark.slow


@pytest.fixture
def cook(tmp_path, monkeypatch):
    """A function that runs a recipe on few stories, without XLA, and returns its names."""
    monkeypatch.chdir(tmp_path)
    few = functools.partial(simulator.load, train=40, valid=8, test=8)
    monkeypatch.setattr(simulator, "load", few)
    with_xla = keras.backend.backend() == "jax"
    monkeypatch.setitem(TextTrainer.compile.__kwdefaults__, "jit_compile", with_xla)
    rows = [
        {"passage": example.passage, "question": example.question, "answer": example.answer}
        for example in simulator.simulate(1, 40)
    ]
    (tmp_path / "my.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(title):
        code = RECIPES[title]
        assert len([line for line in code.splitlines() if line.strip()]) <= 15
        names = {}
        exec(compile(code, title, "exec"), names)
        return names

    return run


@pytest.mark.thorough
def test_json_lines(cook):
    names = cook("Train on JSON lines")
    assert len(names["examples"]) == 40 and isinstance(names["examples"][0].answer, str)
    assert {"accuracy", "loss"} <= names["reader"].evaluate(
        names["examples"], return_dict=True
    ).keys()
    assert len(names["reader"].history.history["val_accuracy"]) == 5


@pytest.mark.thorough
def test_a_language_model(cook):
    names = cook("A language model under a reader")
    losses = names["model"].history.history["loss"]
    assert losses[1] < losses[0]
    assert names["reader"].get_layer("contextual_vectors").mix.scores.shape == (3,)


def test_edges(cook):
    names = cook("Read edges of your own")
    reader, examples = names["reader"], names["examples"]
    assert len([line for line in RECIPES["Read edges of your own"].splitlines() if line]) <= 11
    assert examples[0].passage == examples[1].passage
    assert reader.evaluate(examples, return_dict=True)["accuracy"] == 1


def test_hugging_face_dataset(cook):
    pytest.importorskip("datasets")
    names = cook("Train on a `datasets.Dataset`")
    reader, parts = names["reader"], names["parts"]
    assert len(parts["test"]) == len(reader.predict(parts["test"], verbose=0)) == 8
    assert set(reader.preprocessor.answers[1:]) == set(parts["train"]["answer"])


@pytest.mark.thorough
def test_spacy_docs(cook):
    names = cook("Read spaCy Docs")
    first, second = names["examples"]
    assert first.answer == "Mary" and len(names["reader"].history.history["loss"]) == 2
    encoded = names["reader"].preprocessor.encode(second)
    # John and He are one chain.
    assert (np.bincount(encoded.chain_ids)[1:] > 1).any()


@pytest.mark.thorough
def test_fine_tuned_preset(cook):
    reader, preset = cook("Fine-tune a preset")["reader"], zoo.from_preset("ga_coref_gru_babi_1")
    assert len(reader.coverage.missing) < reader.coverage.words
    assert len(reader.history.history["val_loss"]) == 3
    assert reader.preprocessor.vocabulary.known != preset.preprocessor.vocabulary.known


@pytest.mark.thorough
def test_encoders(cook):
    names = cook("Swap the encoder")
    layers = names["reader"].get_config()["encoder"]
    assert layers["class_name"] == "Bidirectional"
    assert np.isfinite(names["reader"].history.history["loss"]).all()


def test_classifier(cook):
    names = cook("A `CorefGRU` in a classifier")
    assert names["last_mentions"].tolist()[0] == [0, 0, 0, 0, 1, 0, 0, 0]
    model, words = names["model"], names["lookup"](names["words"])
    links = [names["last_mentions"], np.zeros_like(names["last_mentions"])]
    linked, plain = (model.predict([words, link], verbose=0) for link in links)
    assert np.abs(linked[0] - plain[0]).max() > 1e-6
    np.testing.assert_allclose(linked[1], plain[1], atol=1e-6)


@pytest.mark.thorough
def test_metrics_and_callbacks(cook):
    names = cook("Metrics and callbacks of your own")
    history = names["reader"].history.history
    assert {"val_top_3", "val_accuracy", "learning_rate"} <= history.keys()
    assert all(top >= best for top, best in zip(history["top_3"], history["accuracy"], strict=True))


def test_preset_folder(cook):
    names = cook("Save as a preset")
    reader, again = (names[name].read(*WHERE) for name in ("reader", "again"))
    assert reader.probabilities == pytest.approx(again.probabilities)
    assert "cc-by-4.0" in Path("my_reader/README.md").read_text()


def test_hub(cook, tmp_path):
    with stub_hub(tmp_path / "home") as hub:
        names = cook("Share it on the Hugging Face Hub")
        assert list(hub.repositories) == ["me/my-reader"]
    assert names["reader"].read(*WHERE).answer == "kitchen"


@pytest.mark.thorough
def test_search(cook):
    names = cook("Search, and use the best model")
    assert names["best"].read(*WHERE).answer in names["best"].preprocessor.answers
    scores = [trial.score for trial in names["tuner"].oracle.get_best_trials(2)]
    assert names["best"].evaluate(names["stories"].valid, return_dict=True, verbose=0)[
        "accuracy"
    ] == pytest.approx(max(scores))


def test_page_has_twelve():
    assert len(RECIPES) == 12
