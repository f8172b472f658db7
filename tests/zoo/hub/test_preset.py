import functools
import json

import numpy as np
import pytest

import zoo
from tests.support.conformance.evaluation import JIT, assert_same_weights
from tests.support.tiers import standing_for
from zoo import training
from zoo.experiments import data
from zoo.experiments.presets import preset_name
from zoo.experiments.results import read_results, result_name
from zoo.experiments.studies import STUDIES
from zoo.hub import presets as preset

NAME = "ga_mage_gru_babi_2"
CARD = {"dataset": "babi", "task": 2, "valid_accuracy": 0.5, "test_accuracy": 0.25}
TEXT = "Mary went to the kitchen. Mary took the milk there.", "Where is Mary?"


@pytest.fixture(scope="session")
def saved(tmp_path_factory, make_reader):
    """A reader and the folder that holds it as a preset."""
    folder = tmp_path_factory.mktemp("presets")
    model = make_reader("mage_gru", layers=2, carry="previous")
    before = model.get_weights()
    preset.save_preset(model, NAME, CARD, folder)
    assert all(map(np.array_equal, model.get_weights(), before))
    model.set_weights([weight.astype("float16") for weight in before])
    return model, folder


def test_a_preset_answers_as_the_model_with_rounded_weights(saved):
    model, folder = saved
    loaded = zoo.from_preset(NAME, folder=folder)
    assert type(loaded) is type(model) and loaded.config == model.config
    assert loaded.preprocessor.get_config() == model.preprocessor.get_config()
    assert_same_weights(loaded, model)
    assert all((weight == weight.astype("float16")).all() for weight in loaded.get_weights())
    assert loaded.read(*TEXT).answers == model.read(*TEXT).answers
    assert loaded.optimizer is not None and loaded.jit_compile


def test_names_and_cards(saved):
    _, folder = saved
    assert preset.presets(folder) == [NAME]
    assert preset.read_preset(NAME, folder)["card"] == CARD
    assert preset_name("ga-mage-gru", "babi-1k", 2) == "ga_mage_gru_babi_2"
    assert preset_name("ga-mage-gru", "babi-mix", 20) == "ga_mage_gru_babi_mix_20"
    assert preset_name("ga-gru", "lambada", "passages") == "ga_gru_lambada"
    assert preset_name("qdren", "babi-robustness", "task-6-usual") == "qdren_usual_babi_6"
    assert preset_name("ga-gru", "babi-ingredients", "task-14-both") == "ga_gru_both_babi_14"
    assert preset_name("dmn", "babi-passes", "task-3-1") == "dmn_babi_passes_task_3_1"
    assert sorted(path.name for path in folder.iterdir()) == [f"{NAME}.json", f"{NAME}.npz"]


def test_no_two_readers_of_studies_share_a_name():
    places = [
        (model, study, number)
        for study, known in STUDIES.items()
        for number, task in known.tasks.items()
        for model in task.models or known.models
    ]
    assert len({preset_name(*place) for place in places}) == len(places)


def test_an_unknown_name_brings_near_matches(saved):
    with pytest.raises(ValueError, match="no preset 'ga_mage_babi_2'; did you mean ga_mage_gru_"):
        zoo.from_preset("ga_mage_babi_2", folder=saved[1])
    message = "no preset 'nothing'.* in the folder presets/ of the repository: install that, or"
    with pytest.raises(ValueError, match=message):
        zoo.from_preset("nothing")


@pytest.fixture
def copy(saved, tmp_path):
    """A copy of the preset, and what its JSON holds."""
    for path in saved[1].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path, json.loads((tmp_path / f"{NAME}.json").read_text())


def test_weights_are_matched_by_name(saved, copy):
    tmp_path, content = copy
    assert list(content["weights"]) == [weight.path for weight in saved[0].weights]
    assert len({tuple(shape) for shape in content["weights"].values()}) < len(content["weights"])
    names, weights = list(content["weights"]), saved[0].get_weights()
    turned = preset._pack([weight.astype("float16") for weight in weights[::-1]])
    np.savez(tmp_path / f"{NAME}.npz", **turned)
    content["weights"] = {name: content["weights"][name] for name in names[::-1]}
    (tmp_path / f"{NAME}.json").write_text(json.dumps(content))
    assert_same_weights(zoo.from_preset(NAME, folder=tmp_path), saved[0])


def test_the_temperature_is_that_of_the_weights(make_reader, tmp_path):
    model = make_reader("gru")
    model.temperature = 2.5
    preset.save_preset(model, NAME, CARD, tmp_path)
    for load_weights, temperature in ((True, 2.5), (False, 1.0)):
        found = zoo.from_preset(NAME, folder=tmp_path, load_weights=load_weights)
        assert found.temperature == temperature


def test_presets_of_the_first_version_load(saved, copy):
    tmp_path, content = copy
    del content["weights"]
    (tmp_path / f"{NAME}.json").write_text(json.dumps(content))
    weights = {f"{n:03}": w.astype("float16") for n, w in enumerate(saved[0].get_weights())}
    np.savez_compressed(tmp_path / f"{NAME}.npz", **weights)
    assert_same_weights(zoo.from_preset(NAME, folder=tmp_path), saved[0])


@pytest.mark.parametrize("change", ["missing", "renamed", "short", "short in version 0.1"])
def test_weights_that_do_not_fit_are_refused(change, copy):
    tmp_path, content = copy
    if change == "short":
        np.savez(tmp_path / f"{NAME}.npz", **preset._pack([np.zeros(3, "float16")]))
    elif change.endswith("0.1"):
        np.savez(tmp_path / f"{NAME}.npz", **{"000": np.zeros((2, 3), "float16")})
        del content["weights"]
    else:
        shape = content["weights"].pop("word_embedding/embeddings")
        content["weights"] |= {"words": shape} if change == "renamed" else {}
    (tmp_path / f"{NAME}.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="do not fit ga_mage_gru_babi_2.json"):
        zoo.from_preset(NAME, folder=tmp_path)


def test_weights_of_one_name_are_refused(make_reader, tmp_path):
    model = make_reader("gru", layers=2)
    model.get_layer("encoder_1").name = "encoder_2"
    for weight in model.get_layer("encoder_2").weights:
        weight._path = weight.path.replace("encoder_1", "encoder_2")
    with pytest.raises(ValueError, match="several weights named encoder_2/"):
        preset.save_preset(model, "twins", CARD, tmp_path)


def test_pickled_weights_are_refused(copy):
    tmp_path, _ = copy
    np.savez(tmp_path / f"{NAME}.npz", low=np.array([{}], object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        zoo.from_preset(NAME, folder=tmp_path)


def test_weights_too_large_for_half_precision_are_refused(make_reader, tmp_path):
    model = make_reader("gru")
    model.set_weights([weight + 1e5 for weight in model.get_weights()])
    with pytest.raises(ValueError, match="half precision cannot hold"):
        preset.save_preset(model, "large", CARD, tmp_path)
    assert preset.presets(tmp_path) == []


def result_of(card):
    """What the run that a preset was made of has on record."""
    # Cards of version 0.1 have the path of a file.
    study, run = card["result"].removesuffix(".json").split("/")[-2:]
    return recorded(study)[run]


@functools.cache
def recorded(study):
    results = read_results(study, preset.FOLDER.parents[1] / "results")
    return {result_name(result): result for result in results}


@pytest.mark.parametrize("name", preset.presets())
def test_presets_say_what_they_are(name):
    content = preset.read_preset(name)
    card = content["card"]
    assert hasattr(zoo, content["class"]) and content["preprocessor"]
    assert 0 <= card["test_accuracy"] <= 1 and 0 <= card["valid_accuracy"] <= 1
    assert card["command"].startswith("corefmem reproduce ") and card["licence"]
    assert result_of(card)["seed"] == card["seed"]


def presets_by_kind():
    """Names of presets that differ in sizes and shares alone, in lists."""
    kinds = {}
    for name, content in preset.read_presets().items():
        arguments = content["arguments"].items()
        options = {k: v if isinstance(v, str | bool) else v == 1 for k, v in arguments}
        kind = content["class"], content.get("weights", {}).keys(), options
        kinds.setdefault(str(kind), []).append(name)
    return list(kinds.values())


@pytest.mark.parametrize("names", presets_by_kind(), ids=lambda names: names[0])
def test_presets_load(names):
    model = zoo.from_preset(names[0])
    assert model.preprocessor.answers[0] == "[unknown]"
    dimensions = [len(weight.shape) for weight in model.weights]
    for name in names[1:]:
        weights = preset.read_bundled(name).read_weights().values()
        assert sorted(weight.ndim for weight in weights) == sorted(dimensions), name
        assert all(np.isfinite(weight).all() for weight in weights), name


# `test_legacy` has the answers of the others.
ANSWERING = ["flagship_babi_19", "memn2n_babi_2", "qrn_babi_2"]
OTHERS = ["ga_coref_gru_babi_17", "ga_mage_gru_babi_2", "qdren_babi_5", "ren_babi_1"]
OTHERS += ["dmn_supervised_babi_3"]


@pytest.mark.parametrize("name", standing_for([*ANSWERING, *OTHERS], ANSWERING))
def test_shipped_presets_answer_as_the_run_on_record(name, babi_dir):
    model, card = zoo.from_preset(name), preset.read_preset(name)["card"]
    model.compile(jit_compile=JIT)
    examples = data.load(card["dataset"], card["task"], babi_dir, card["language"]).test
    batches = model.batches(examples[:160])
    found, result = training.evaluate(model, batches), result_of(card)
    wrong = [n for n in result["test_wrong"] if n < 160]
    assert found["count"] == 160
    # The run had weights in full precision: the card says how many answers the half changed.
    changed = abs(card["test_accuracy"] - result["test_accuracy"]) * len(examples)
    assert len(set(found["wrong"]) ^ set(wrong)) <= round(changed)


def test_the_zoo_lists_models_and_presets(monkeypatch):
    assert len(zoo.presets()) == 171 and len(preset.presets(preset.FOLDER)) == 61
    monkeypatch.setattr(preset, "_OTHERS", [])
    assert zoo.presets() == preset.presets(preset.FOLDER)
    assert "ga-coref-gru" in zoo.models() and zoo.models() == sorted(zoo.models())
