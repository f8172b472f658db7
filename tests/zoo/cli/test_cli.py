import errno
import io
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile

import keras
import pytest

import keras_corefmem
import zoo
from keras_corefmem.datasets.stories import babi
from keras_corefmem.utils.locks import hold
from tests.support.commands import printed, refused
from tests.support.tiny_babi import write_babi
from zoo.cli import app as cli
from zoo.cli.reproduce import join_seeds
from zoo.experiments.results import read_results
from zoo.hub import presets as preset
from zoo.reports import tables as report

TINY = ["--set", "units=4", "--set", "buckets=1", "--set", "batch_size=50"]
STORY = "Mary went to the kitchen. John went to the garden."


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    """A tiny bAbI with task 1 alone."""
    return write_babi(tmp_path_factory.mktemp("data"), train=50, valid=10, test=12)


@pytest.fixture(scope="session")
def trained(data_dir, tmp_path_factory):
    """The folder in which a tiny reader was trained, and the arguments that trained it."""
    folder = tmp_path_factory.mktemp("train")
    command = ["train", "--model", "qrn", "--data-dir", str(data_dir), *TINY]
    command += ["--output", str(folder / "models"), "--log-dir", str(folder / "logs")]
    assert cli.main([*command, "--epochs", "1"]) == 0
    return folder, command


NAME = "qrn-babi-task-01-seed-0-batch_size-50-buckets-1-units-4"


def run_fresh(code, **environment):
    """Runs code in a process of its own."""
    options = {"capture_output": True, "text": True, "env": {**os.environ, **environment}}
    return subprocess.run([sys.executable, "-c", code], **options)


def test_help_needs_no_keras():
    code = "import sys; from zoo.cli import main; main(['--help']); main(['train', '--help'])\n"
    heavy = "keras", "numpy", "tensorflow", "spacy", "zoo.experiments.studies", "rich.table"
    code += f"print([name for name in {heavy} if name in sys.modules])"
    assert run_fresh(code).stdout.endswith("\n[]\n")


@pytest.mark.slow
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


@pytest.mark.slow
def test_training_says_where_everything_is(trained, capsys):
    folder, command = trained
    out = printed(capsys, *command, "--epochs", 2)
    assert f"{NAME}: 50 train, 10 valid, 12 test questions" in out
    assert "Found a run with these arguments, 1 epochs old." in out
    assert "nothing left to train" not in out
    assert re.search(r"Best of 2 epochs by validation: [12], validation accuracy \d+\.\d%", out)
    assert re.search(r"Test accuracy: \d+\.\d% of 12 questions", out)
    answer = r"^  .*\n  .*\?  \w+ \(\d+%\), (right|wrong: \w+)$"
    assert len(re.findall(answer, out, re.MULTILINE)) == 3
    (question,) = re.findall(r"^Ask it: +corefmem (predict .*)$", out, re.MULTILINE)
    assert json.loads(printed(capsys, *shlex.split(question)))["answer"] and "unknown" not in out
    run = folder / "models" / NAME
    for path in (run / "model.keras", run / "saved_model"):
        assert path.exists() and str(path) in out
    assert f"tensorboard --logdir {folder / 'logs'}" in out
    logs = {path.name for path in (folder / "logs" / NAME).iterdir() if "tfevents" not in path.name}
    vectors = {"projector_config.pbtxt", "vectors.tsv", "words.tsv"}
    assert logs == {"train", "validation", "best", *vectors}
    assert not list(run.rglob("*partial*"))


@pytest.mark.slow
def test_a_finished_run_is_not_trained_again_unless_fresh(trained, capsys):
    folder, command = trained
    run = folder / "models" / NAME
    epochs = len(json.loads((run / "state" / "state.json").read_text())["history"])
    before = (run / "state" / "state.json").stat().st_mtime_ns
    out = printed(capsys, *command, "--epochs", epochs)
    assert "nothing left to train. Pass --fresh to start again." in out
    assert (run / "state" / "state.json").stat().st_mtime_ns == before


@pytest.mark.slow
def test_another_run_of_the_same_name_is_kept(trained, data_dir, tmp_path, capsys):
    folder, command = trained
    for path in data_dir.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    command = [str(tmp_path) if word == str(data_dir) else word for word in command]
    assert "holds a run with another data_dir: pass --fresh" in refused(capsys, *command)


@pytest.mark.slow
def test_evaluate_predict_and_export_agree(trained, data_dir, tmp_path, capsys, monkeypatch):
    path = trained[0] / "models" / NAME / "model.keras"
    out = printed(capsys, "evaluate", path)
    found = re.search(r"babi task 1, test: accuracy (\S+)%, (\d+) of 12", out)
    assert float(found[1]) == pytest.approx(100 * int(found[2]) / 12, abs=0.01)

    assert "no bAbI task 0" in refused(capsys, "evaluate", path, "--task", 0)
    words = "evaluate", path, "--part", "valid"
    assert "No files qa1_" in refused(capsys, *words, "--language", "en")
    # The folder it was trained on is no matter of another data set.
    out = printed(capsys, *words, "--dataset", "simulator")
    assert "simulator task 1, valid: accuracy" in out

    out = printed(capsys, "predict", path, data_dir / "qa1_test.txt")
    lines = list(map(json.loads, out.splitlines()))
    assert sum(line["answer"] == line["expected"] for line in lines) == int(found[2])
    assert sum(lines[0]["answers"].values()) <= 1.001
    assert lines[0]["answer"] == next(iter(lines[0]["answers"]))

    question = {"passage": STORY, "question": "Where is Mary?"}
    words = "--passage", STORY, "--question", "Where is Mary?"
    alone = printed(capsys, "predict", path, *words)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{json.dumps(question)}\n\n"))
    assert printed(capsys, "predict", path) == alone
    assert zoo.load(path).read(STORY, "Where is Mary?").answer == json.loads(alone)["answer"]

    printed(capsys, "export", path, tmp_path / "saved")
    assert (tmp_path / "saved" / "saved_model.pb").exists()


@pytest.mark.slow
def test_reproduce_makes_results_presets_and_a_table(data_dir, tmp_path, capsys):
    results, runs, presets = (str(tmp_path / name) for name in ("results", "runs", "presets"))
    command = ["reproduce", "babi-1k", "--models", "qrn", "--tasks", "1", "--jobs", "1"]
    command += ["--data-dir", str(data_dir), "--results", results, "--runs", runs, "--resume"]
    command += [*TINY, "--set", "epochs=1", "--tag", "tiny", "--presets", presets]
    out = printed(capsys, *command)
    assert "[1/1] qrn-tiny-task-01-seed-0: valid" in out
    assert report.tables_of("babi-1k", results) in out
    card = preset.read_preset("qrn_babi_1", presets)["card"]
    assert card["result"] == "babi-1k/qrn-tiny-task-01-seed-0"
    (content,) = read_results("babi-1k", results)
    # Half precision may change an answer of eleven.
    assert abs(card["test_accuracy"] - content["test_accuracy"]) < 0.1
    assert zoo.from_preset("qrn_babi_1", folder=presets).read(STORY, "Where is Mary?").answer


@pytest.mark.slow
def test_a_failed_run_makes_a_failed_command(data_dir, tmp_path, capsys):
    command = ["reproduce", "babi-1k", "--models", "as-coref-gru", "--jobs", "1"]
    command += ["--data-dir", str(data_dir), "--results", str(tmp_path), "--runs", str(tmp_path)]
    command += ["--tasks", "1"]
    for units, status in (("none", 2), ("-4", 2), ("3", 1)):
        assert cli.main([*command, "--set", f"units={units}", "--tag", "bad"]) == status
    captured = capsys.readouterr()
    assert "as-coref-gru-bad-task-01-seed-0: failed: " in captured.out and "units" in captured.out
    assert "No run of `babi-1k` is recorded yet" in captured.out


def test_list_names_everything_in_few_lines(capsys):
    out = printed(capsys, "list")
    for name in (*zoo.models(), "simulator", "babi-mix", "babi-1k", "qdren_babi_1 … 20"):
        assert f"  {name}  " in out
    assert out.count("\n") < 120 and "ga_gru_lambada" in out
    assert printed(capsys, "list", "studies").startswith("Studies\n  babi-1k  ")


def test_presets_are_listed_in_natural_order(capsys):
    lines = printed(capsys, "list", "presets").splitlines()[1:]
    names = [line.split()[0] for line in lines]
    assert sorted(names) == zoo.presets()
    assert names.index("qdren_babi_2") + 1 == names.index("qdren_babi_3")
    out = printed(capsys, "list", "presets", "ga-coref-gru")
    assert [name for name in names if name.startswith("ga_coref_gru_")] == [
        line.split()[0] for line in out.splitlines()[1:]
    ]
    assert re.search(r"lambada, seed \d: validation \d+.\d%, development \d", out)
    assert re.search(r"babi task 20, seed \d: validation \d+.\d%, test \d", out)
    assert "list presets MODEL" in refused(capsys, "list", "studies", "qdren")


@pytest.mark.parametrize(
    "command, message",
    [
        ("evaluate ga_mage_gru_babi_99", "There is no preset 'ga_mage_gru_babi_99'"),
        ("export nowhere.keras folder", "There is no file nowhere.keras"),
        ("train --data-dir nowhere", "No files qa1_"),
        ("train --task 4", "Task 4 cannot be simulated"),
        ("train --task fine", "Task 'fine' cannot be simulated"),
        ("train --model dmn-sentiment", "does not read simulator; it reads sst, pos, wsj."),
        ("train --model dmn-tagger", "dmn-tagger does not read simulator; it reads sst, pos"),
        ("train --dataset sst --data-dir x", "ga-coref-gru does not read sst; it reads simulator"),
        ("reproduce sst", "sst needs the folder of sst: give it as --data-dir"),
        ("train --set units", "the value is no JSON"),
        ("train --set shuffle=True", "the value is no JSON"),
        ("train --set arguments=1", "give an object"),
        ("reproduce babi-1k --data-dir nowhere", "No files qa"),
        ("reproduce babi-1k --set epochs=1", "give --tag NAME with --set"),
        ("train --language hn", "--language hn: simulator has no languages, only babi and"),
        ("train --dataset simulator --data-dir x", "--data-dir x: simulator reads no files"),
        (
            "train --model dmn-tagger --dataset pos --data-dir x --language hn",
            "--language hn: pos has no languages",
        ),
        ("evaluate ga_coref_gru_babi_1 --dataset simulator --language hn", "--language hn: sim"),
        ("predict x.keras --passage Mary", "--passage and --question, which go together"),
        ("predict x.keras nowhere.txt", "nowhere.txt"),
        ("predict x.keras --sentence Mary --passage Mary", "--sentence alone"),
        ("explain x.keras", "Give --passage and --question, --sentence, or a file"),
        ("report --write nowhere.md", "nowhere.md"),
    ],
)
def test_bad_input_gives_one_line_and_status_2(command, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, *command.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "kind, message",
    [
        ("text", "is damaged, or does not hold a reader of this zoo (File is not a zip file)"),
        ("truncated", "is damaged, or does not hold a reader of this zoo (File is not a zip file)"),
        ("damaged", "is damaged, or does not hold a reader of this zoo (Bad CRC-32"),
        ("incomplete", "is damaged, or does not hold a reader of this zoo ("),
        ("foreign", "holds a Sequential, not a reader of this zoo"),
        ("wordless", "has no preprocessor and reads ids alone"),
    ],
)
def test_files_that_hold_no_reader_of_text_are_refused(
    kind, message, make_reader, tmp_path, capsys
):
    path = tmp_path / "model.keras"
    reader = make_reader("gru")
    if kind == "foreign":
        reader = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    elif kind == "wordless":
        reader.preprocessor = None
    reader.save(path)
    content = bytearray(path.read_bytes())
    if kind == "text":
        content = b"Mary went to the kitchen."
    elif kind == "truncated":
        content = content[: len(content) // 2]
    elif kind == "damaged":
        content[len(content) // 2] ^= 1
    path.write_bytes(content)
    if kind == "incomplete":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("metadata.json", "{}")
    if kind == "wordless":
        assert zoo.load(path).preprocessor is None
    else:
        with pytest.raises(ValueError, match=re.escape(f"{path} {message}")):
            zoo.load(path)
    texts = ["--passage", STORY, "--question", "Where is Mary?"]
    for command in (
        ["predict", str(path), *texts],
        ["explain", str(path), *texts],
        ["evaluate", str(path), "--dataset", "simulator", "--task", "1"],
        ["export", str(path), str(tmp_path / "saved")],
    ):
        error = refused(capsys, *command)
        assert str(path) in error and message in error
    assert not (tmp_path / "saved").exists()


def test_seeds_are_numbers_and_ranges(capsys):
    def seeds(*words):
        return join_seeds(cli.parse(["reproduce", "babi-1k", *words]).params["seeds"])

    assert seeds() == [0] and seeds("--seeds", "3") == [3]
    assert seeds("--seeds", "0-4", "7", "3", "6-6") == [0, 1, 2, 3, 4, 7, 6]
    for bad in ("4-2", "x", "-1", "1-", "1.5"):
        assert cli.main(["reproduce", "babi-1k", "--seeds", bad]) == 2
        assert f"'{bad}' is neither a seed" in capsys.readouterr().err


def test_a_broken_line_of_json_is_named(capsys, monkeypatch):
    texts = '{"passage": "Mary left.", "question": 3}', '{"sentence": ["Mary", "left"]}'
    for line in ('{"passage": 1}', "Mary", "[]", *texts):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{line}\n"))
        error = refused(capsys, "predict", "x.keras")
        assert "standard input, line 1: give an object" in error


def test_download_names_the_folder(monkeypatch, capsys):
    monkeypatch.setattr(babi, "download", lambda cache_dir, origin: f"{cache_dir}/{origin}")
    out = printed(capsys, "download", "babi", "--cache-dir", "cache", "--origin", "tasks")
    assert "--data-dir cache/tasks\n" in out


def test_a_backend_that_is_missing_is_named():
    program = "from zoo import cli; sys.exit(cli.main(['evaluate', 'ga_coref_gru_babi_1']))"
    process = run_fresh(f"import sys; sys.modules['jax'] = None; {program}", KERAS_BACKEND="jax")
    assert process.returncode == 2
    assert process.stderr.endswith("jax, which is not installed: pip install jax\n")


def test_errors_of_a_full_disk_say_how_to_go_on(monkeypatch, capsys):
    def fill() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "runs/model.keras")

    monkeypatch.setitem(cli.COMMANDS, "list", fill)
    assert "'runs/model.keras': make room on its disk." in refused(capsys, "list")


def test_a_run_under_way_is_left_alone(tmp_path, capsys):
    command = ["train", "--model", "gru", "--output", tmp_path, "--log-dir", tmp_path / "logs"]
    name = zoo.experiments.Experiment("gru").name
    with hold(tmp_path / "logs" / name):
        error = refused(capsys, *command)
    assert f"logs/{name} is being written by process {os.getpid()} on " in error
    assert error.endswith("wait until that ends, or choose another --log-dir.\n")
    assert not os.listdir(tmp_path)
    folder = tmp_path / name
    with hold(folder):
        (folder / "model.keras").touch()
        error = refused(capsys, *command, "--fresh")
    assert f"is being written by process {os.getpid()} on " in error
    assert os.listdir(folder) == ["model.keras"]
