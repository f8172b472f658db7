"""The command line: its words, its help, and what it needs not import."""

import errno
import os
import re
import signal
import subprocess
import sys

import pytest

import keras_corefmem
import zoo
from tests.support.commands import printed, refused
from zoo.cli import app as cli
from zoo.cli.options import parse_settings
from zoo.cli.reproduce import join_seeds


def run_fresh(code, **environment):
    """Runs code in a process of its own."""
    options = {"capture_output": True, "text": True, "env": {**os.environ, **environment}}
    return subprocess.run([sys.executable, "-c", code], **options)


def test_a_command_that_is_terminated_says_how_to_continue(monkeypatch, capsys):
    monkeypatch.setitem(cli.COMMANDS, "list", lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert cli.main(["list"]) == 130
    assert capsys.readouterr().err == "corefmem: interrupted; the same command continues.\n"


def test_help_needs_no_keras():
    code = "import sys; from zoo.cli import main; main(['--help']); main(['train', '--help'])\n"
    heavy = "keras", "numpy", "tensorflow", "spacy", "zoo.experiments.studies", "rich.table"
    code += f"print([name for name in {heavy} if name in sys.modules])"
    assert run_fresh(code).stdout.endswith("\n[]\n")


@pytest.mark.thorough
def test_training_needs_no_reports():
    code = "import sys; from zoo.cli import main; main(['train', '--task', '4'])\n"
    code += "print([name for name in sys.modules if name.startswith('zoo.reports')"
    code += " or name in ('zoo.experiments.studies', 'tuning.search')])"
    done = run_fresh(code)
    assert done.stdout == "[]\n" and "Task 4 cannot be simulated" in done.stderr


def test_answers_that_need_no_model_come_without_keras():
    answers = [
        ("train --set unit=4", ["'unit' is no argument of ga-coref-gru", "mean 'units'?", "carry"]),
        ("train --set UNITS=4", ["'UNITS' is no argument", "Did you mean 'units'?"]),
        ("train --set units=0", ["units: Input should be greater than or equal to 1 (got 0)"]),
        ("search --set dropout=2", ["dropout: Input should be less than or equal to 1 (got 2)"]),
        ('train --set encoder="coref-gr"', ["Keras layer. Did you mean 'coref_gru'?"]),
        ("predict x.keras --passage Mary --question Who?", ["There is no file x.keras"]),
        ("explain x.keras --passage Mary --question Who?", ["There is no file x.keras"]),
        ("evaluate ga_coref_babi_1", ["no preset 'ga_coref_babi_1'; did you mean ga_coref_gru_"]),
        ("export nothing folder", ["There is no preset 'nothing'; zoo.presets() lists all."]),
        ("train --set learning-rat=1", ["Did you mean 'learning_rate'?", "batch_size"]),
        ("search --set slot=3", ["'slot' is no argument of qdren", "mean 'slots'?"]),
        ("reproduce babi-1k --models qrn --set hops=2 --tag x", ["'hops' is no argument of qrn."]),
        ("train --set augment=renam", ["no augmentation 'renam'", "Did you mean 'rename'?"]),
        ("train --epochs 0", ["epochs: Input should be greater than 0"]),
        ("list", ["babi-1k"]),
        ("train --help qdren", ["question_dependent", "learning_rate"]),
    ]
    code = "import sys; from zoo.cli import main; sys.stderr = sys.stdout\n"
    code += f"for words in {[command.split() for command, _ in answers]}:\n    main(words)\n"
    code += "    print([name for name in ('keras', 'tensorflow', 'jax') if name in sys.modules])"
    shown = re.split(r"^\[(.*)\]\n", run_fresh(code).stdout, flags=re.MULTILINE)
    for (command, names), text, imported in zip(answers, shown[::2], shown[1::2], strict=False):
        assert not imported, command
        assert all(name in text for name in names), text
    assert len(shown) == 2 * len(answers) + 1


@pytest.mark.parametrize("command", ["train", "search"])
def test_help_of_a_model_shows_its_settings_and_arguments(command, capsys):
    out = printed(capsys, command, "--help", "ga-mage-gru")
    assert out == printed(capsys, command, "--model", "ga-mage-gru", "--help")
    assert out.startswith(printed(capsys, command, "--help")) and "ga-mage-gru: Gated-Att" in out
    for name in zoo.GatedAttentionReader.arguments():
        assert re.search(rf"^  {name} +\S+ +\S+", out, re.MULTILINE), name
    assert re.search(r"^  encoder +\"mage_gru\" ", out, re.MULTILINE)
    assert re.search(r"^  epochs +60 +largest number of epochs", out, re.MULTILINE)
    assert cli.main([command, "--help", "qdrn"]) == 2
    assert "Did you mean 'qdren'?" in capsys.readouterr().err


def test_an_argument_may_have_the_name_of_a_setting():
    given = ["buckets=2", 'arguments={"buckets": 64}', "order=3"]
    assert parse_settings(given) == {"arguments": {"buckets": 64, "order": 3}, "buckets": 2}
    assert parse_settings(None, 3) == {"epochs": 3}


COMMANDS = [*cli.COMMANDS, "search"]


def test_the_version_is_told(capsys):
    assert printed(capsys, "--version") == f"corefmem {keras_corefmem.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    assert re.search(rf"^ +{command} +[A-Z].*\.$", printed(capsys, "-h"), re.MULTILINE)
    assert f"Usage: corefmem {command} " in printed(capsys, command, "--help")


@pytest.mark.parametrize(
    "command, message",
    [
        ("", "corefmem: error: Missing command."),
        ("trian", "corefmem: error: No such command 'trian'. Did you mean 'train'?"),
        ("train --model rnn", "corefmem train: error: Invalid value for '--model': invalid choice"),
        ("train --dataset rnn", "(choose from simulator, babi, "),
        ("train --dataset bab", "pos, wsj, FILE.jsonl). Did you mean 'babi'?"),
        ("train --dataset my.json", "'my.json' is no file of JSON lines, one object a line: end"),
        ("report babi-2k", "invalid choice: 'babi-2k' (choose from babi-1k, babi-mix"),
        ("report babi-1k --compare ga-gru", "Option '--compare' requires 2 arguments."),
        ("passages novels", "corefmem passages: error: Missing option '--output'."),
        ("reproduce babi-1k --seeds", "Option '--seeds' requires an argument."),
    ],
)
def test_wrong_words_give_usage_and_status_2(command, message, capsys):
    assert cli.main(command.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("Usage: corefmem ") and message in error


def test_options_take_several_values_or_none():
    def options(line):
        # Some versions of typer give several values as a tuple, others as a list.
        found = cli.parse(line.split()).params.items()
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found}

    words = "reproduce babi-1k --models ga-gru qdren --set units=4 --presets --set l2=0 --tasks 1"
    found = options(words)
    assert found["models"] == ["ga-gru", "qdren"] and found["tasks"] == ["1"]
    assert found["settings"] == ["units=4", "l2=0"] and found["presets"] == ""
    assert options("reproduce babi-1k --presets out")["presets"] == "out"
    assert options("reproduce babi-1k")["presets"] is None
    found = options("passages novels --evaluation a b --output=c")
    assert (found["folder"], found["evaluation"], found["output"]) == ("novels", ["a", "b"], "c")
    assert options("report --write a.md b.md")["write"] == ["a.md", "b.md"]
    assert options("report babi-1k --compare a b")["compare"] == ["a", "b"]
    assert options("annotate - --json")["inputs"] == ["-"]
    assert options("train --task -1")["task"] == -1
    assert options("train --dataset my.jsonl")["dataset"] == os.path.abspath("my.jsonl")


def test_seeds_are_numbers_and_ranges(capsys):
    def seeds(*words):
        return join_seeds(cli.parse(["reproduce", "babi-1k", *words]).params["seeds"])

    assert seeds() == [0] and seeds("--seeds", "3") == [3]
    assert seeds("--seeds", "0-4", "7", "3", "6-6") == [0, 1, 2, 3, 4, 7, 6]
    for bad in ("4-2", "x", "-1", "1-", "1.5"):
        assert cli.main(["reproduce", "babi-1k", "--seeds", bad]) == 2
        assert f"'{bad}' is neither a seed" in capsys.readouterr().err


def test_a_backend_that_is_missing_is_named():
    program = "from zoo import cli; sys.exit(cli.main(['evaluate', 'ga_coref_gru_babi_1']))"
    process = run_fresh(f"import sys; sys.modules['jax'] = None; {program}", KERAS_BACKEND="jax")
    assert process.returncode == 2
    remedy = "pip install 'keras_corefmem[jax]'"
    assert process.stderr.endswith(f"jax, which is not installed: {remedy}\n")


def test_errors_of_a_full_disk_say_how_to_go_on(monkeypatch, capsys):
    def fill() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "runs/model.keras")

    monkeypatch.setitem(cli.COMMANDS, "list", fill)
    assert "'runs/model.keras': make room on its disk." in refused(capsys, "list")
