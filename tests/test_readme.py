"""What the README shows does what it says."""

import functools
import re
import shlex
from pathlib import Path

import keras
import pytest

import zoo
from keras_corefmem.datasets.stories import simulator
from zoo.architectures.text_model import TextModel
from zoo.cli import app as cli
from zoo.cli.commands import parse_settings

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
EXAMPLES = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [
    command.strip()
    for language, text in BLOCKS
    if language != "python"
    for line in text.replace("\\\n", " ").splitlines()
    for command in line.split("&&")
    if re.match(r"\s*([A-Z_]+=\S+ +)*(\S*/)?corefmem( |$)", command)
]


def test_examples_run_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # Few stories, one layer, no XLA: what the examples do is the same.
    few = functools.partial(simulator.load, train=40, valid=8, test=8)
    monkeypatch.setattr(simulator, "load", few)
    make = zoo.GatedAttentionReader.__init__
    monkeypatch.setattr(make, "__defaults__", (*make.__defaults__[:-1], 1))
    quick = keras.backend.backend() == "jax"
    monkeypatch.setitem(TextModel.compile.__kwdefaults__, "jit_compile", quick)
    namespace = {}
    for example in EXAMPLES:
        if "saved_model" in example:
            zoo.export(zoo.load("reader.keras"), "saved_model")
        exec(compile(example, "README.md", "exec"), namespace)
    out = capsys.readouterr().out
    assert re.search(r"Reading\(answer='(garden|kitchen)', probability=0\.\d+, answers=", out)
    assert namespace["reader"].name == "ga_coref_gru_babi_1"
    assert namespace["logits"].shape == (1, 2)
    assert re.search(r"tf\.Tensor\(\[b'(garden|kitchen)'\], .*\) tf\.Tensor\(\[0\.\d+\]", out)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_understood(command):
    words = [
        word for word in shlex.split(command, comments=True) if not re.match(r"[A-Z_]+=", word)
    ]
    args = cli.build_parser().parse_args(words[1:])
    assert args.command in cli.COMMANDS
    parse_settings(getattr(args, "set", []))
    assert set(getattr(args, "models", None) or []) <= set(zoo.models())


def test_there_are_examples_and_commands():
    assert len(EXAMPLES) > 3 and len(COMMANDS) > 20
    shown = {re.search(r"corefmem ?(\S*)", command)[1] for command in COMMANDS}
    assert {
        "train",
        "evaluate",
        "predict",
        "explain",
        "export",
        "list",
        "reproduce",
        "search",
    } <= shown
