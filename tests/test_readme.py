"""Examples and commands of the README and the guides do what the pages say."""

import configparser
import functools
import itertools
import json
import os
import re
import subprocess
import sys

import keras
import numpy as np
import pytest

import keras_corefmem
import zoo
from keras_corefmem.datasets import simulator
from tests.support.events import read_hparams
from tests.support.pages import BLOCKS, COMMANDS, EXAMPLES, PAGES, ROOT, TEXTS, words_of
from zoo import reports
from zoo.architectures.trainer import TextTrainer
from zoo.cli import app as cli
from zoo.cli.options import parse_settings

# What each `print` of a page prints.
PRINTED = {
    "README": [r"Reading\(answer='(garden|kitchen)', probability=0\.\d+, answers=", "kitchen$"],
    "asks": [
        r"\['word\\trank\\tkind', '.+\\t0\\tword'\]$",
        r"tf\.Tensor\(\[b'\w+' b''\], ",
        r"\[1, 2, 2, 3\]$",
    ],
    "flagship": [r"e,n$", r"one$"],
    "layers": [r"(bathroom|bedroom|garden|hallway|kitchen|office)$"],
    "presets": [
        r"\['\w+_lambada', '\w+_babi_1', .*\]$",
        r"(0\.9\d*|1\.0)$",
        r"Reading\(answer='kitchen', probability=[01]\.\d+, answers=",
        r"\d+ of \d+ words have a vector$",
        r"kitchen$",
    ],
    "real_text": [
        r"\(\(Mention\(start=1, end=2, .* \(\(2, 12, 'coreference'\),\)$",
        r"\[\[0\]$",
        r"\w+ \('\w+', .*\)$",
        r"\w+ \[\['\w+', 0\.\d+\], .*\]$",
        r"\w+ Where did Mary and John$",
        r"\('coref_all', 'coref_previous'\) \d+$",
    ],
    "saved_models": [
        r"tf\.Tensor\(\[b'kitchen'\], .*\) tf\.Tensor\(\[[01]\.\d*\]",
        r"tf\.Tensor\(\[b'\w+'\], .*\) tf\.Tensor\(\[[01]\.\d*\]",
        r"\('kitchen', [01]\.\d*\)$",
        r"\('kitchen', [01]\.\d*\)$",
    ],
}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page == "README" else pytest.mark.slow)
        for page in EXAMPLES
        if page != "recipes"  # tests/test_recipes.py runs each alone.
    ],
)
def test_examples_run_in_order(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # Few stories, small readers, no XLA: what the examples do is the same.
    load = simulator.load
    few = {"train": 40, "valid": 8, "test": 8}
    monkeypatch.setattr(simulator, "load", lambda *args, **kwargs: load(*args, **kwargs | few))
    with_xla = keras.backend.backend() == "jax"
    monkeypatch.setitem(TextTrainer.compile.__kwdefaults__, "jit_compile", with_xla)
    small = functools.partial(zoo.GatedAttentionReader.from_examples, layers=1)
    monkeypatch.setattr(zoo.GatedAttentionReader, "from_examples", small)
    if page == "asks":
        # The page of SavedModels has XLA compile them.
        monkeypatch.setattr(zoo, "export", functools.partial(zoo.export, jit_compile=with_xla))
    namespace = {}
    for example in EXAMPLES[page]:
        # Each example of the README stands alone.
        names = {} if page == "README" else namespace
        exec(compile(example, page, "exec"), names)
        namespace |= names
    lines = iter(capsys.readouterr().out.splitlines())
    for pattern in PRINTED.get(page, ()):
        assert any(re.match(pattern, line) for line in lines), pattern
    if page == "asks":
        row, end = read_hparams("logs/trials/0")
        assert row.hparams["slots"].number_value == 5 and end is not None
    if page == "README":
        assert namespace["reader"].name == "ga_coref_gru_babi_1"
        assert namespace["logits"].shape == (1, 2)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [0, 1])
def test_readers_of_the_readme_answer_as_pasted(number, tmp_path):
    example = EXAMPLES["README"][number]
    (tmp_path / "pasted.py").write_text(example)
    environment = {name: v for name, v in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "pasted.py"]
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "env": environment}
    done = subprocess.run(command, **options)
    assert done.returncode == 0, done.stderr
    assert "kitchen" in done.stdout
    # Some logs come before TensorFlow reads the level.
    logs = re.findall(r"^[IWEF]\d{4} .* (\w+)\.cc:", done.stderr, re.MULTILINE)
    assert set(logs) <= {"port", "cudart_stub"}


@pytest.mark.parametrize("command", [*itertools.chain.from_iterable(COMMANDS.values())])
def test_commands_are_understood(command):
    words = words_of(command)
    if "--help" in words:
        assert cli.main(words) == 0
        return
    context = cli.parse(words)
    parse_settings(context.params.get("settings"))
    assert set(context.params.get("models") or ()) <= set(zoo.models())


@pytest.mark.slow
def test_response_of_the_server_is_what_the_signature_returns(tmp_path):
    import tensorflow as tf

    blocks = [
        text for page, language, text in BLOCKS if (page, language) == ("saved_models", "json")
    ]
    inputs, outputs = json.loads(blocks[0])["inputs"], json.loads(blocks[1])["outputs"]
    zoo.export(zoo.from_preset("ga_coref_gru_babi_1"), tmp_path / "reader" / "1")
    answer = tf.saved_model.load(str(tmp_path / "reader" / "1")).signatures["serving_default"]
    returned = answer(**{name: tf.constant(rows) for name, rows in inputs.items()})
    assert returned.keys() == outputs.keys()
    for name, rows in outputs.items():
        values = returned[name].numpy()
        if name.startswith("answer"):
            assert np.char.decode(values.astype("S")).tolist() == rows
        else:
            np.testing.assert_allclose(values, rows, atol=1e-3)


def test_configurations_of_pages_are_valid(tmp_path):
    from tuning.spaces import space_of
    from zoo.configs.configurations import FOLDER, configuration, read_family

    found = [(page, kind, text) for page, kind, text in BLOCKS if kind not in ("", "python")]
    # Requests and responses of the server are checked above.
    assert [block[:2] for block in found if block[0] != "saved_models"] == [
        ("contributing", "toml"),
        ("searches", "json"),
    ]
    (model,), (space,) = (
        [text for page, _, text in found if page == name] for name in ("contributing", "searches")
    )
    family = configuration("ga-mage-gru").family
    written = (FOLDER / "models" / f"{family}.toml").read_text(encoding="utf-8")
    (tmp_path / "family.toml").write_text(f"{written}\n{model}")
    (name,) = read_family(tmp_path / "family.toml").keys() - set(zoo.models())
    assert f"[models.{name}]" in model
    assert space_of("qdren", json.loads(space)) == json.loads(space)


def test_prose_of_the_readme_has_the_numbers_of_the_results():
    words = ["none", "one", "two", "three", "four", "five"]

    def row(study, start, end=""):
        lines = reports.summary(study, ROOT / "results").splitlines()
        (line,) = (line for line in lines if re.match(rf"\| {start}.*{end} \|", line))
        return [cell.strip() for cell in line.split("|")[2:5]]

    def in_words(number):
        return words[int(number)]

    mean, failed, seeds = row("babi-1k", "`flagship`")
    error, joint_failed, joint_seeds = row("babi-joint", "`flagship`")
    apart = row("babi-1k", "Dehghani", "halting, best of 10")
    together = row("babi-joint", "Dehghani", "best of 10")

    def best(published, how=""):
        return f"(best published{how}: {published[0]}%, {in_words(published[1])})"

    prose = " ".join(re.sub("<!--.*?-->", "", TEXTS["README"]).split())
    claim = f"has {mean.split()[0]}% and fails {in_words(failed)}, at the best of {seeds} seeds"
    how = " from 1,000 questions a task without further information"
    assert f"{claim} by validation {best(apart, how)}" in prose
    claim = f"has {error}% and fails {in_words(joint_failed)}, of {in_words(joint_seeds)} seed"
    assert f"{claim} {best(together)}" in prose


def test_the_changelog_begins_with_the_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)", text, re.MULTILINE)
    assert versions[0] == keras_corefmem.__version__.partition(".dev")[0]
    assert (ROOT / "CITATION.cff").read_text().count(f"\nversion: {versions[1]}\n") == 1


def test_what_pages_print_is_checked():
    counts = {page: "".join(texts).count("print(") for page, texts in EXAMPLES.items()}
    counts.pop("recipes")
    assert {page: len(PRINTED.get(page, ())) for page in counts} == counts


def test_pages_have_examples_commands_and_links_that_lead_somewhere():
    assert {"README", "real_text", "searches", "saved_models", "devices"} <= EXAMPLES.keys()
    commands = [*itertools.chain.from_iterable(COMMANDS.values())]
    shown = {words_of(command)[0] for command in commands}
    names = "train evaluate predict explain export list reproduce report search annotate download"
    assert set(names.split()) <= shown and len(commands) > 20
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXTS[page.stem]):
            assert (page.parent / link).exists(), f"{page.name} links {link}"
    assert TEXTS["README"].count("\n") <= 200
    first_screen = "\n".join(TEXTS["README"].splitlines()[:30])
    pictures = r"^\| !\[.+\]\(docs/demo-answer.png\) \| !\[.+\]\(docs/demo-edited.png\) \|$"
    assert re.search(pictures, first_screen, re.MULTILINE)
    assert commands[0] in first_screen and commands[0].startswith(".venv/bin/corefmem predict ")
    assert "pip install -q -e ." in first_screen and "clone" in first_screen
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    named = re.findall(r"\.\[([\w,]+)\]", "".join(TEXTS.values()))
    assert set(",".join(named).split(",")) <= set(setup["options.extras_require"])
