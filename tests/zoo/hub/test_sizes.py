"""Sizes of presets and models in files, which are compared before there is room for any of them."""

import hashlib
import json
import shutil
import time
import tracemalloc
import zipfile
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from zoo.hub import presets

QRN, READER = "qrn_babi_1", "ga_coref_gru_babi_1"
HUGE = [(QRN, "units", 10**9), (QRN, "units", 100_000), (QRN, "layers", 5000)]
HUGE += [(QRN, "vocabulary_size", 90_000), (READER, "embedding_dim", 90_000)]


@pytest.fixture
def refuses(monkeypatch):
    """Expects that nothing of a model is made, and that it takes no time."""

    def check(match, load, *args, **kwargs):
        monkeypatch.setattr("keras.Model.set_weights", None)
        tracemalloc.start()
        began = time.process_time()
        with pytest.raises(ValueError, match=match) as error:
            load(*args, **kwargs)
        assert time.process_time() - began < 5
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2**27, peak
        return error

    return check


@pytest.mark.parametrize("name, argument, size", HUGE)
@pytest.mark.parametrize("load_weights", [True, False])
def test_bundled_presets_of_huge_sizes_are_refused(
    tmp_path, refuses, name, argument, size, load_weights
):
    for path in Path(zoo.__file__).parent.glob(f"presets/{name}.*"):
        shutil.copy(path, tmp_path)
    path = tmp_path / f"{name}.json"
    content = json.loads(path.read_text())
    content["arguments"][argument] = size
    path.write_text(json.dumps(content))
    options = {"load_weights": load_weights, "folder": tmp_path}
    refuses(f"{name}", zoo.from_preset, name, **options)
    refuses(f"{name}", zoo.from_preset, name, examples=simulator.simulate(1, 8), **options)


@pytest.mark.parametrize("argument, size", [entry[1:] for entry in HUGE[:3]])
def test_folders_of_huge_sizes_are_refused(folder, refuses, argument, size):
    path = folder / "config.json"
    content = json.loads(path.read_text())
    content["arguments"][argument] = size
    path.write_text(json.dumps(content))
    for load_weights in (True, False):
        refuses("reader: the weights are not those of a", zoo.from_preset, folder, load_weights)


@pytest.fixture
def rewritten(original, tmp_path):
    """A function that writes a `.keras` file of which members are others."""
    original.save(tmp_path / "kept.keras")

    def rewrite(change, compression=zipfile.ZIP_STORED):
        path = tmp_path / "a.keras"
        with zipfile.ZipFile(tmp_path / "kept.keras") as old:
            with zipfile.ZipFile(path, "w", compression) as new:
                for name in old.namelist():
                    new.writestr(name, change(name, old.read(name)))
        return str(path)

    return rewrite


@pytest.mark.parametrize("argument, size", [entry[1:] for entry in HUGE[:3]])
def test_models_of_huge_sizes_are_refused(rewritten, refuses, argument, size):
    def change(name, content):
        if name != "config.json":
            return content
        config = json.loads(content)
        config["config"][argument] = size
        return json.dumps(config)

    refuses("a.keras: the weights do not fit the model.* copy it", zoo.load, rewritten(change))


def test_archives_that_unpack_to_much_more_are_refused(rewritten, refuses):
    def change(name, content):
        return content + bytes(2**28) if name == "metadata.json" else content

    path = rewritten(change, zipfile.ZIP_DEFLATED)
    refuses("a.keras is damaged .*unpacks to far more", zoo.load, path)


def test_a_bit_of_a_weight_that_flipped_is_noticed(original, folder, tmp_path):
    path = tmp_path / "a.keras"
    original.save(path)
    kernel = keras.ops.convert_to_numpy(original.get_layer("answer").kernel).tobytes()
    for flipped, load in (
        (path, lambda: zoo.load(path)),
        (folder / "model.weights.h5", lambda: zoo.from_preset(folder)),
    ):
        content = bytearray(flipped.read_bytes())
        content[content.index(kernel) + 5] ^= 1
        flipped.write_bytes(content)
        with pytest.raises(ValueError, match=f"{flipped.name} .*(checksum|SHA-256)"):
            load()


@pytest.mark.parametrize("shapes", [True, False])
def test_arrays_that_unpack_to_more_than_the_weights_are_refused(tmp_path, refuses, shapes):
    for path in Path(zoo.__file__).parent.glob(f"presets/{QRN}.*"):
        shutil.copy(path, tmp_path)
    if not shapes:
        content = json.loads((tmp_path / f"{QRN}.json").read_text())
        (tmp_path / f"{QRN}.json").write_text(json.dumps({**content, "weights": {}}))
    zeros = np.zeros(2**28, "uint8")
    np.savez_compressed(tmp_path / f"{QRN}.npz", low=zeros, high=zeros)
    del zeros
    refuses(f"{QRN}.npz: the weights do not fit", presets.read_bundled(QRN, tmp_path).read_weights)


def test_a_weight_that_is_larger_than_its_file_is_refused(folder, refuses):
    path = folder / "model.weights.h5"
    with h5py.File(path, "a") as file:
        del file["answer/kernel"]
        file.create_dataset("answer/kernel", (10**5, 10**5), "float32", chunks=(10, 10))
    content = json.loads((folder / "config.json").read_text())
    content["weights"]["answer/kernel"] = [10**5, 10**5]
    content["files"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "config.json").write_text(json.dumps(content))
    refuses("h5: answer/kernel is larger than what the file has", zoo.from_preset, folder)


@pytest.mark.parametrize("damage", ["truncated", "text", "other"])
def test_weights_that_are_damaged_or_of_another_model_are_named(original, tmp_path, damage):
    path = tmp_path / "best.weights.h5"
    other = zoo.from_preset(QRN, load_weights=False, units=8)
    (other if damage == "other" else original).save_weights(path)
    content = path.read_bytes()
    if damage != "other":
        path.write_bytes(content[: len(content) // 2] if damage == "truncated" else b"Mary left.")
    with pytest.raises(ValueError, match="best.weights.h5 is damaged .*Save the weights again"):
        original.load_weights(path)
