"""Without Matplotlib, an extra, everything works that needs no pictures."""

import configparser
import pathlib
import sys

import pytest

import zoo
from keras_corefmem.datasets import simulator
from keras_corefmem.utils.extras import extra
from tests.support.commands import printed, refused
from tests.support.events import read_events

ASKED = "--passage", "Mary went to the kitchen.", "--question", "Where is Mary?"
REMEDY = "pip install 'keras_corefmem[reports]'"


def test_the_extra_is_named():
    with pytest.raises(ImportError, match=r"It needs X: pip install 'keras_corefmem\[demo\]'\."):
        with extra("demo", "It needs X"):
            import no_such_module  # noqa: F401


def test_tests_need_all_extras_but_those_with_a_line_of_their_own():
    setup = configparser.ConfigParser()
    setup.read(pathlib.Path(__file__).parents[2] / "setup.cfg")
    extras = {name: set(text.split("\n")) for name, text in setup["options.extras_require"].items()}
    tests = extras.pop("test")
    assert {"beam", "demo", "docs", "export", "hub", "jax", "reports"} == extras.keys()
    assert set().union(*extras.values()) - tests == extras["jax"] - {""}


@pytest.mark.thorough
def test_training_goes_on_without_pictures(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    examples = simulator.simulate(1, 8)
    reader = zoo.RecurrentEntityNetwork.from_examples(examples, units=4, slots=2)
    with pytest.warns(UserWarning) as warned:
        reader.fit(examples, verbose=0, callbacks=reader.tensorboard_callbacks(tmp_path, examples))
    assert all(str(each.message).endswith(f"{REMEDY}.") for each in warned) and warned
    tags = read_events(tmp_path / "validation").Tags()
    assert not tags["images"] and tags["tensors"]


def test_a_picture_is_refused_and_a_page_is_not(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    command = "explain", "qdren_babi_1", *ASKED, "--output"
    assert REMEDY in refused(capsys, *command, tmp_path / "looked.png")
    printed(capsys, *command, tmp_path / "looked.html")
    assert [path.name for path in tmp_path.iterdir()] == ["looked.html"]
    plots = "report", "babi-1k", "--plots", tmp_path, "--results", "results"
    assert REMEDY in refused(capsys, *plots)
