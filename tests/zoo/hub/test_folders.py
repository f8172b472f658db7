"""Presets in folders: whole, readable, verified, and the same model."""

import doctest
import hashlib
import json
import os
import shutil
import traceback
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.utils.locks import NoRoomError
from tests.support.limits import file_limit
from tests.support.model_cases import CASES, DISTINCT, Counted, make, shared
from zoo.architectures import preset_model
from zoo.architectures.text_model import TextModel
from zoo.hub import folders

FILES = {"config.json", "preprocessor.json", "model.weights.h5", "README.md"}
TEXT = "Mary went to the kitchen.", "Where is Mary?"


def equal(one, other):
    return all(map(np.array_equal, one.get_weights(), other.get_weights()))


@pytest.mark.parametrize("name", DISTINCT)
def test_a_model_is_the_same_from_its_folder(name, tmp_path):
    model = shared(name)
    before, config = model.get_weights(), model.get_config()
    model.save_to_preset(tmp_path / "reader")
    assert {path.name for path in (tmp_path / "reader").iterdir()} == FILES
    assert all(map(np.array_equal, model.get_weights(), before)) and model.get_config() == config
    loaded = zoo.from_preset(tmp_path / "reader")
    assert type(loaded) is type(model) and loaded.get_config() == config
    assert equal(loaded, model) and loaded.compiled


def test_examples_of_the_methods_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(preset_model, extraglobs={"zoo": zoo}) == (0, 5)


def test_the_folder_is_readable(original, folder):
    content = json.loads((folder / "config.json").read_text())
    assert content["class"] == "QueryReductionNetwork" and content["arguments"]["units"] == 50
    for name, digest in content["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert content["files"].keys() == {"preprocessor.json", "model.weights.h5"}
    preprocessor = json.loads((folder / "preprocessor.json").read_text())
    assert "kitchen" in preprocessor["config"]["answers"]
    with h5py.File(folder / "model.weights.h5") as file:
        for weight in original.weights:
            np.testing.assert_array_equal(file[weight.path], weight)


def test_arguments_are_overridden(folder):
    model = zoo.from_preset(folder, l2=0.5, name="mine")
    assert model.config["l2"] == 0.5 and model.name == "mine"
    assert zoo.from_preset(folder, dtype="mixed_bfloat16").dtype_policy.name == "mixed_bfloat16"
    assert keras.config.dtype_policy().name == "float32"
    wide = zoo.from_preset(folder, load_weights=False, units=8)
    assert wide.get_layer("answer").kernel.shape == (8, 7)
    with pytest.raises(
        ValueError, match="reader: its weights do not fit units: leave that out, or"
    ):
        zoo.from_preset(folder, units=8)
    with pytest.raises((TypeError, ValueError), match="unit_s"):
        zoo.from_preset(folder, unit_s=8)


def test_without_weights_they_are_new(original, folder):
    (folder / "model.weights.h5").unlink()
    model = zoo.from_preset(folder, load_weights=False)
    config = original.get_config()
    # New weights are not calibrated.
    del config["temperature"]
    assert not equal(model, original) and model.get_config() == config


def test_half_precision_weights_are_kept(tmp_path):
    model = zoo.from_preset("qrn_babi_1", dtype="bfloat16")
    model.save_to_preset(tmp_path / "reader")
    loaded = zoo.from_preset(tmp_path / "reader")
    assert loaded.dtype_policy.name == "bfloat16" and equal(loaded, model)


def test_classes_load_their_presets(folder):
    assert zoo.QueryReductionNetwork.from_preset(folder).name == "qrn_babi_1"
    assert TextModel.from_preset(str(folder)).name == "qrn_babi_1"
    with pytest.raises(ValueError, match="is a QueryReductionNetwork, not a GatedAttentionReader"):
        zoo.GatedAttentionReader.from_preset(folder)


LOAD = """
from zoo.architectures.text_model import TextModel
result = [type(TextModel.from_preset(data)).__name__, len(TextModel.presets)]
"""


@pytest.mark.thorough
def test_base_classes_load_what_was_not_imported(folder, run_python):
    assert run_python(LOAD, str(folder)) == ["QueryReductionNetwork", len(zoo.presets())]


def test_a_layer_for_an_encoder(tmp_path):
    lstm = keras.layers.Bidirectional(keras.layers.LSTM(6, return_sequences=True))
    model = make("ga-gru", encoder=lstm)
    model.save_to_preset(tmp_path / "reader")
    assert "| encoder | `Bidirectional` |" in (tmp_path / "reader" / "README.md").read_text()
    loaded = zoo.from_preset(tmp_path / "reader")
    assert loaded.get_config() == model.get_config() and equal(loaded, model)
    adapted = zoo.from_preset(tmp_path / "reader", examples=CASES["ga-gru"].examples)
    assert equal(adapted, model)


def test_classes_list_their_presets():
    cards = zoo.QueryReductionNetwork.presets
    assert set(cards) == {name for name in zoo.presets() if name.startswith("qrn_")}
    assert cards["qrn_babi_1"]["test_accuracy"] == 1.0
    assert set(TextModel.presets) == set(zoo.presets())


def test_subclasses_of_users(tmp_path):
    class Mine(zoo.QueryReductionNetwork):
        pass

    model = Mine(9, 3, 4, units=4)
    model.save_to_preset(tmp_path / "reader")
    assert type(Mine.from_preset(tmp_path / "reader")) is Mine
    path = tmp_path / "reader" / "config.json"
    path.write_text(path.read_text().replace('"Mine"', '"Yours"'))
    with pytest.raises(
        ValueError, match="class 'Yours' is not .* import the module that defines it"
    ):
        zoo.from_preset(tmp_path / "reader")


@pytest.mark.parametrize(
    "name", ["load", "zoo>load", "keras_corefmem>CorefGRU", "TextModel", "StoryModel", "Functional"]
)
def test_classes_that_are_not_models_are_refused(folder, name):
    damage(folder, "config.json", **{"class": name})
    for cls in (zoo, zoo.QueryReductionNetwork):
        with pytest.raises(ValueError, match=f"reader: the class '{name}' is not a model of the z"):
            cls.from_preset(folder)


def test_weights_load_into_a_model_in_hand(original, folder, tmp_path):
    model = zoo.from_preset(folder, load_weights=False)
    model.load_weights(folder / "model.weights.h5")
    assert equal(model, original)
    original.save_weights(tmp_path / "own.weights.h5")
    model.set_weights([weight * 0 for weight in model.get_weights()])
    model.load_weights(tmp_path / "own.weights.h5")
    assert equal(model, original)


def test_names_that_keras_counted_may_differ(tmp_path):
    model = Counted(9, 3, 4)
    model.save_to_preset(tmp_path / "reader")
    loaded = Counted.from_preset(tmp_path / "reader")
    assert [w.path for w in loaded.weights] != [w.path for w in model.weights]
    assert equal(loaded, model)
    other = Counted(9, 3, 4)
    other.load_weights(tmp_path / "reader" / "model.weights.h5")
    assert equal(other, model)


def damage(folder, name, **changes):
    path = folder / name
    if not changes:
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    else:
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("model.weights.h5", {}, r"model.weights.h5 does not have the SHA-256 in config.json; it"),
        ("preprocessor.json", {}, "preprocessor.json does not have the SHA-256"),
        ("config.json", {}, "config.json:.*: no JSON .*save or download the preset again"),
        ("config.json", {"format": 2, "keras_corefmem": "9.1"}, "format 2, of .* 9.1; .*upgrade"),
        ("config.json", {"format": None}, "is not the config.json of a preset"),
        ("config.json", {"arguments": 3}, "config.json: arguments: "),
        ("config.json", {"files": {}}, "the SHA-256 of preprocessor.json is missing"),
        (
            "config.json",
            {"weights": {"answer/kernel": [90, 90]}},
            "model.weights.h5 lacks answer/k",
        ),
        (
            "config.json",
            {"weights": {}},
            "weights are not those of a Query.*install keras_corefmem",
        ),
    ],
)
def test_damaged_files_are_named(folder, name, changes, message):
    damage(folder, name, **changes)
    with pytest.raises(ValueError, match=message):
        zoo.from_preset(folder)


@pytest.mark.parametrize("name", sorted(FILES - {"README.md"}))
def test_missing_files_are_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"{name}: no such file.*copy all of its folder"):
        zoo.from_preset(folder)


def test_handles_that_name_nothing():
    with pytest.raises(ValueError, match="no folder './nothing': `model.save_to_preset"):
        zoo.from_preset("./nothing")
    with pytest.raises(ValueError, match="'user/name': .* of the Hugging Face Hub is hf://user"):
        zoo.from_preset("user/name")
    with pytest.raises(ValueError, match="'gs://bucket/reader' is not the handle"):
        zoo.from_preset("gs://bucket/reader")


def test_links_to_other_files_are_refused(folder, tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["answer"] = np.zeros((50, 7), "float32")
    path = folder / "model.weights.h5"
    with h5py.File(path, "a") as file:
        del file["answer/kernel"]
        file["answer/kernel"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/answer")
    content = json.loads((folder / "config.json").read_text())
    content["files"]["model.weights.h5"] = hashlib.sha256(path.read_bytes()).hexdigest()
    damage(folder, "config.json", **content)
    with pytest.raises(ValueError, match="answer/kernel lies in another file"):
        zoo.from_preset(folder)


def test_a_failure_leaves_the_older_preset(original, folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(folders, "write_card", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make("qrn").save_to_preset(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert os.listdir(folder.parent) == ["reader"]


def test_a_full_disk_leaves_the_older_preset(original, folder):
    before = sorted(os.listdir(folder))
    with file_limit(8192):
        with pytest.raises(
            NoRoomError, match=r"reader cannot be written \(File too large\): raise"
        ):
            original.save_to_preset(folder)
    assert os.listdir(folder.parent) == ["reader"] and sorted(os.listdir(folder)) == before
    assert equal(zoo.from_preset(folder), original)


def test_an_error_of_a_full_disk_keeps_no_buffer_of_memory(tmp_path):
    with file_limit(8192), pytest.raises(OSError) as caught:
        folders.write_weights(tmp_path / "weights.h5", {"kernel": np.zeros(10_000, "float32")})
    values = [v for frame, _ in traceback.walk_tb(caught.tb) for v in frame.f_locals.values()]
    views = [value for value in values if isinstance(value, memoryview)]
    assert views and all(isinstance(view.obj, bytes) for view in views)


def test_an_interruption_leaves_the_older_preset(original, folder, monkeypatch):
    replace, before = os.replace, sorted(os.listdir(folder))

    def interrupted(source, target):
        if Path(source).name == "new":
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make("qrn").save_to_preset(folder)
    assert os.listdir(folder.parent) == ["reader"] and sorted(os.listdir(folder)) == before
    assert equal(zoo.from_preset(folder), original)


def test_a_tilde_is_the_home(original, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    original.save_to_preset("~/reader")
    original.save(tmp_path / "reader.keras")
    folders.verify_folder("~/reader")
    assert os.listdir(tmp_path / "reader") and not (tmp_path / "~").exists()
    assert equal(zoo.from_preset("~/reader"), original)
    assert equal(zoo.load("~/reader.keras"), original)


def test_a_preset_is_replaced(folder):
    model = make("memn2n")
    model.save_to_preset(folder)
    assert equal(zoo.from_preset(folder), model) and os.listdir(folder.parent) == ["reader"]


def test_nothing_else_is_overwritten(original, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds thesis.txt, which is not part of a preset"):
        original.save_to_preset(tmp_path)
    with pytest.raises(ValueError, match="thesis.txt is a file"):
        original.save_to_preset(tmp_path / "thesis.txt")
    with pytest.raises(ValueError, match=r"hf://me/it is not a folder: .*zoo.upload_preset"):
        original.save_to_preset("hf://me/it")
    assert os.listdir(tmp_path) == ["thesis.txt"]


@pytest.mark.parametrize(
    ("method", "argument"),
    [pytest.param("quantize", "int8", marks=pytest.mark.thorough), ("enable_lora", 2)],
)
def test_layers_unlike_their_arguments_are_refused(method, argument, tmp_path):
    model = zoo.from_preset("qrn_babi_1")
    getattr(model.get_layer("answer"), method)(argument)
    with pytest.raises(ValueError, match="answer of qrn_babi_1 is quantized or has LoRA"):
        model.save_to_preset(tmp_path / "reader")


def test_files_are_no_presets(original, tmp_path, folder):
    original.save(tmp_path / "reader.keras")
    with pytest.raises(ValueError, match=r"reader.keras is a file, not a preset: zoo.load"):
        zoo.from_preset(tmp_path / "reader.keras")
    with pytest.raises(ValueError, match="reader is a folder: zoo.from_preset"):
        zoo.load(folder)


@pytest.mark.parametrize("name", ["qrn_babi_1", "qrn-babi-1", "hf://me/reader"])
def test_presets_are_not_files(name):
    with pytest.raises(ValueError, match=f"no file {name}: zoo.from_preset.'{name}'. loads the p"):
        zoo.load(name)


def test_bundled_presets_of_folders(tmp_path):
    for path in Path(zoo.__file__).parent.glob("presets/qrn_babi_1.*"):
        shutil.copy(path, tmp_path)
    with pytest.warns(DeprecationWarning, match="write folder="):
        assert zoo.from_preset("qrn_babi_1", tmp_path).read(*TEXT).answer == "kitchen"
    assert zoo.from_preset("qrn_babi_1", folder=tmp_path).name == "qrn_babi_1"
    assert zoo.from_preset("qrn-babi-1", folder=tmp_path).name == "qrn_babi_1"
    assert zoo.from_preset("memn2n_babi_1", folder=tmp_path, load_weights=False)
    (tmp_path / "qrn_babi_1.npz").unlink()
    with pytest.raises(FileNotFoundError, match="qrn_babi_1.npz: no such file; install"):
        zoo.from_preset("qrn_babi_1", folder=tmp_path)
    with pytest.raises(ValueError, match="There is no folder '.*nothing': give another folder="):
        zoo.from_preset("qrn_babi_1", folder=tmp_path / "nothing")
