"""Presets on a stub of the Hugging Face Hub, with its real client."""

import hashlib
import json
import re
import shutil
import sys

import numpy as np
import pytest

import zoo
from tests.support.hub import stub_hub
from tests.support.tiers import standing_for
from zoo.cli import main

TEXT = "Mary went to the kitchen.", "Where is Mary?"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with stub_hub(tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("presets") / "reader"
    zoo.from_preset("qrn_babi_1").save_to_preset(folder)
    return folder


@pytest.fixture
def handle(hub, folder, request):
    """The address of a preset of its own for each test."""
    name = "me/" + re.sub(r"\W+", "-", request.node.name)[-60:].strip("-")
    hub.repositories[name] = [{path.name: path.read_bytes() for path in folder.iterdir()}]
    hub.requests.clear()
    hub.cut.clear()
    hub.down = False
    return f"hf://{name}"


def files_of(hub, handle):
    return hub.repositories[handle.removeprefix("hf://")][-1]


def test_upload_and_load(hub, folder, capsys):
    assert zoo.upload_preset("hf://me/reader", folder) == f"{hub.address}/me/reader"
    (files,) = hub.repositories["me/reader"]
    card = files.pop("README.md").decode()
    assert files == {name: (folder / name).read_bytes() for name in files} and len(files) == 3
    assert 'zoo.from_preset("hf://me/reader")' in card and str(folder) not in card
    model = zoo.QueryReductionNetwork.from_preset("hf://me/reader")
    for weight, own in zip(model.get_weights(), zoo.from_preset(folder).get_weights(), strict=True):
        np.testing.assert_array_equal(weight, own)
    exec(re.search(r"```python\n(.*?)```", card, re.DOTALL)[1], {})
    assert "answer='kitchen'" in capsys.readouterr().out


def test_upload_again_is_a_commit_more(hub, folder):
    zoo.upload_preset("hf://twice", folder)
    other = folder.with_name("other")
    zoo.from_preset("qrn_babi_2").save_to_preset(other)
    zoo.upload_preset("hf://me/twice", other)
    first, second = hub.repositories["me/twice"]
    assert first["config.json"] != second["config.json"]
    assert zoo.from_preset("hf://me/twice").name == "qrn_babi_2"


def test_a_revision(hub, handle, folder):
    name = handle.removeprefix("hf://")
    hub.repositories[name].append({"config.json": b"{}"})
    with pytest.raises(ValueError, match="is not the config.json of a preset"):
        zoo.from_preset(handle)
    from huggingface_hub import hf_hub_download

    newest = hf_hub_download(name, "config.json").split("/")[-2]
    with pytest.raises(ValueError, match="is not the config.json of a preset"):
        zoo.from_preset(f"{handle}@{newest}")
    first = hashlib.sha1(f"{name} 0".encode()).hexdigest()
    assert zoo.from_preset(f"{handle}@{first}").name == "qrn_babi_1"
    with pytest.raises(ValueError, match="no such revision; name a branch"):
        zoo.from_preset(f"{handle}@v9")


def test_files_are_those_of_one_commit(hub, handle, monkeypatch):
    from zoo.hub import folders

    name, read = handle.removeprefix("hf://"), folders.load_json

    def push_meanwhile(path, **kwargs):
        hub.repositories[name].append(dict.fromkeys(files_of(hub, handle), b"newer"))
        return read(path, **kwargs)

    monkeypatch.setattr(folders, "load_json", push_meanwhile)
    assert zoo.from_preset(handle).read(*TEXT).answer == "kitchen"


def test_files_are_kept(hub, handle):
    zoo.from_preset(handle)
    hub.down = True
    assert zoo.from_preset(handle).read(*TEXT).answer == "kitchen"
    assert len(hub.ranges_of(handle[5:] + "/resolve")) == 3


def test_weights_are_downloaded_only_when_needed(hub, handle):
    zoo.from_preset(handle, load_weights=False)
    assert not hub.ranges_of("model.weights.h5")


def test_an_interrupted_download_goes_on(hub, handle):
    hub.cut["model.weights.h5"] = [1000, 2000]
    assert zoo.from_preset(handle).read(*TEXT).answer == "kitchen"
    assert hub.ranges_of("model.weights.h5") == [None, "bytes=1000-", "bytes=3000-"]


def test_a_download_that_fails_goes_on_later(hub, handle):
    hub.cut["model.weights.h5"] = [1000] + [0] * 5
    with pytest.raises(ConnectionError, match="model.weights.h5 was not transferred.*try again"):
        zoo.from_preset(handle)
    hub.requests.clear()
    assert zoo.from_preset(handle).read(*TEXT).answer == "kitchen"
    assert hub.ranges_of("model.weights.h5") and not hub.ranges_of("preprocessor.json")


@pytest.mark.parametrize(
    "name",
    standing_for(["model.weights.h5", "preprocessor.json", "config.json"], ["model.weights.h5"]),
)
def test_a_damaged_download_is_repeated(name, hub, handle):
    zoo.from_preset(handle)
    from huggingface_hub import hf_hub_download

    path = hf_hub_download(handle[5:], name)
    with open(path, "r+b") as file:
        file.write(b"damaged")
    assert zoo.from_preset(handle).read(*TEXT).answer == "kitchen"


def test_a_wrong_checksum_is_refused(hub, handle):
    files_of(hub, handle)["model.weights.h5"] += b"!"
    with pytest.raises(
        ValueError, match="model.weights.h5 does not have the SHA-256 in config.json"
    ):
        zoo.from_preset(handle)


def test_a_missing_file_is_named(hub, handle):
    del files_of(hub, handle)["preprocessor.json"]
    with pytest.raises(FileNotFoundError, match=f"{handle}: preprocessor.json: no such file"):
        zoo.from_preset(handle)


def test_a_newer_format_is_refused(hub, handle):
    files = files_of(hub, handle)
    files["config.json"] = json.dumps({"format": 7, "keras_corefmem": "3.0"}).encode()
    with pytest.raises(
        ValueError, match="format 7, of keras_corefmem 3.0; .*pip install --upgrade"
    ):
        zoo.from_preset(handle)


def test_models_of_others_are_refused(hub, handle):
    files_of(hub, handle)["config.json"] = b'{"model_type": "bert"}'
    with pytest.raises(ValueError, match="is not the config.json of a preset"):
        zoo.from_preset(handle)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ("hf://me/nothing", ValueError, "no such repository, or it is not yours"),
        ("hf://a/b/c", ValueError, "is not an address of the hub: write hf://user/name"),
        ("hf://", ValueError, "is not an address of the hub"),
    ],
)
def test_wrong_addresses(hub, wrong, error, message):
    hub.down = False
    with pytest.raises(error, match=message):
        zoo.from_preset(wrong)


def test_a_hub_out_of_reach(hub, handle):
    hub.down = True
    with pytest.raises(ConnectionError, match="config.json was not transferred.*connection"):
        zoo.from_preset(handle)


def test_what_cannot_be_uploaded(hub, folder, tmp_path):
    with pytest.raises(ValueError, match="uri must be hf://user/name; got 'me/reader'"):
        zoo.upload_preset("me/reader", folder)
    with pytest.raises(FileNotFoundError, match="config.json: no such file"):
        zoo.upload_preset("hf://me/empty", tmp_path)
    shutil.copytree(folder, tmp_path / "latin")
    (tmp_path / "latin/README.md").write_bytes(b"\xe9")
    with pytest.raises(ValueError, match="latin/README.md: no UTF-8 text, pass a Markdown file"):
        zoo.upload_preset("hf://me/latin", tmp_path / "latin")
    assert not {"me/empty", "me/latin"} & hub.repositories.keys()


def test_uploading_needs_a_token(hub, folder, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(ValueError, match="hf://me/secret: .*hf auth login"):
        zoo.upload_preset("hf://me/secret", folder)


def test_without_the_client(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match=r"pip install 'keras_corefmem\[hub\]'"):
        zoo.from_preset("hf://me/reader")


def run(capsys, *arguments):
    status = main(list(arguments))
    assert not status
    return capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.parametrize("place", ["folder", "handle"])
def test_commands_take_presets(place, request, tmp_path, capsys, babi_dir):
    model = str(request.getfixturevalue(place))
    line = run(capsys, "predict", model, "--passage", TEXT[0], "--question", TEXT[1])
    assert json.loads(line)["answer"] == "kitchen"
    assert "100.00%" in run(capsys, "evaluate", model, "--data-dir", str(babi_dir))
    run(capsys, "export", model, str(tmp_path / "saved"))
    assert (tmp_path / "saved" / "saved_model.pb").exists()


PREDICT = "from zoo.cli import main\nresult = main(data)"


@pytest.mark.thorough
def test_a_command_of_its_own_process_takes_a_preset(folder, run_python):
    texts = ["--passage", TEXT[0], "--question", TEXT[1]]
    assert run_python(PREDICT, ["predict", str(folder), *texts]) == 0
