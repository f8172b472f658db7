"""Commands on tiny data: what they train, answer, list and refuse."""

import io
import itertools
import json
import os
import re
import shlex
import zipfile

import keras
import pytest

import zoo
from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.preprocessing import as_text
from keras_corefmem.utils.locks import hold
from tests.support.commands import printed, refused
from tests.support.texts.tiny_babi import write_babi
from tuning.search import Search
from zoo.cli import app as cli
from zoo.experiments.reproduce import execute
from zoo.experiments.results import read_results
from zoo.experiments.runs import Run
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


@pytest.mark.thorough
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
    vectors = {"projector_config.pbtxt", "vectors.tsv", "words.tsv", "words.png"}
    assert logs == {"train", "validation", "best", *vectors}
    assert not list(run.rglob("*partial*"))


@pytest.mark.parametrize(
    ("model", "setting"),
    [
        ("ga-coref-gru", "carry=previous"),
        ("as-gru", "characters=true"),
        ("qrn", "retrieve_hops=2"),
        ("ren", "half_width=2"),
        ("dmn", "teacher_forcing=true"),
    ],
)
def test_settings_that_would_change_nothing_are_refused(model, setting, data_dir, tmp_path, capsys):
    command = ["train", "--model", model, "--data-dir", data_dir, *TINY, "--set", setting]
    error = refused(capsys, *command, "--output", tmp_path, "--log-dir", tmp_path / "logs")
    assert f"--set {setting.partition('=')[0]}: this {model} does not read it" in error
    assert not list(tmp_path.glob("*/*.json"))


def test_a_run_is_kept_if_that_in_its_place_is_refused(data_dir, tmp_path, capsys):
    folder = tmp_path / f"{NAME.replace('qrn', 'ga-coref-gru')}-carry-previous"
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    command = ["train", "--model", "ga-coref-gru", "--data-dir", data_dir, *TINY]
    command += ["--set", "carry=previous", "--output", tmp_path, "--log-dir", tmp_path / "logs"]
    assert "does not read it" in refused(capsys, *command, "--fresh")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == [folder.name]
    assert (folder / "run.json").read_text() == "{}"


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


def test_evaluate_counts_the_words_of_language_models(tmp_path, capsys):
    write_babi(tmp_path, range(1, 21), train=10, valid=2, test=2)
    texts = list(map(as_text, simulator.simulate(1, 10)))
    model = zoo.CharacterLanguageModel.from_examples(texts, units=4, filters=2, word_length=4)
    model.save(tmp_path / "model.keras")
    options = "--dataset", "babi", "--task", "all", "--data-dir", tmp_path
    out = printed(capsys, "evaluate", tmp_path / "model.keras", *options)
    assert re.search(r"babi task all, test: accuracy .*, \d+ of \d+ words\n", out)
    assert len(out.splitlines()) == 2


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


@pytest.mark.thorough
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
    for name in (*zoo.models(), "simulator", "babi-mix", "babi-1k", "ga_coref_gru_babi_1 … 20"):
        assert f"  {name}  " in out
    assert out.count("\n") <= 135 and "ga_gru_lambada" in out
    assert printed(capsys, "list", "studies").startswith("Studies\n  babi-1k  ")
    assert re.search(r"  qrn +Query.*; differs: 400 epochs", printed(capsys, "list", "models"))


def test_presets_are_listed_in_natural_order(capsys):
    lines = printed(capsys, "list", "presets").splitlines()[1:]
    names = [line.split()[0] for line in lines]
    assert names == zoo.presets()
    assert names.index("ga_coref_gru_babi_2") + 1 == names.index("ga_coref_gru_babi_3")
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
        ("train --set units=8 --set units=9", "--set units=9: units is given twice, leave one"),
        ('train --set arguments={"units":8} --set units=9', "units is given twice"),
        ("train --epochs 2 --set epochs=3", "--set epochs=3: epochs is given twice"),
        ("export qrn_babi_1 x --format onnx --no-xla", "--no-xla is for --format saved_model"),
        ("reproduce emory --data-dir x --presets", "Presets of emory have no licence: leave"),
        ("report sst --data-dir x", "--data-dir is of --gains, or of lists of questions"),
        ("report sst --write x.md", "--write fills in what its files name: leave sst out"),
        ("report --search x --write x.md", "leave --search out"),
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
        ("explain x.keras --sentence Mary --number 7", "--number is for passages with a question"),
        ("predict x.keras nowhere.txt", "nowhere.txt"),
        ("predict x.keras --sentence Mary --passage Mary", "--sentence alone"),
        ("explain x.keras", "Give --passage and --question, --sentence, or a file"),
        ("report --write nowhere.md", "nowhere.md"),
        ("report babi-1k --search qdren", "--search is about a search, not about a study: leave"),
    ],
)
def test_bad_input_gives_one_line_and_status_2(command, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, *command.split())
    assert not list(tmp_path.iterdir())


def test_the_folder_of_a_run_is_no_model(capsys, tmp_path):
    (tmp_path / "model.keras").touch()
    message = f"{tmp_path} is the folder of a run: give its model, {tmp_path}/model.keras"
    assert message in refused(capsys, "evaluate", str(tmp_path))


@pytest.mark.parametrize(
    "kind, message",
    [
        ("text", "is damaged (File is not a zip file)"),
        ("truncated", "is damaged (File is not a zip file)"),
        ("damaged", "is damaged (its model.weights.h5 has another checksum)"),
        ("incomplete", "is damaged ("),
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


def test_a_broken_line_of_json_is_named(capsys, monkeypatch):
    texts = '{"passage": "Mary left.", "question": 3}', '{"sentence": ["Mary", "left"]}'
    for line in ('{"passage": 1}', "Mary", "[]", *texts):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{line}\n"))
        error = refused(capsys, "predict", "x.keras")
        assert "standard input, line 1: give an object" in error


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"passage": " ", "question": "Who?"}, "The passage is empty: ' '"),
        ({"passage": "Mary\ud800", "question": "Who?"}, "the passage has half of a surrogate"),
        ({"sentence": "Mary left."}, "qrn_babi_1 reads passage and question, not sentence"),
        (
            {**dict.fromkeys(("passage", "question"), "Mary left."), "edges": [[1, 2, "near"]]},
            "edges",
        ),
        ({**dict.fromkeys(("passage", "question"), "Mary left."), "options": ["Mary"]}, "options"),
    ],
)
def test_a_line_that_is_not_read_is_named(line, message, capsys, monkeypatch):
    lines = {"passage": STORY, "question": "Where is Mary?"}, line
    monkeypatch.setattr("sys.stdin", io.StringIO("\n\n".join(map(json.dumps, lines))))
    assert f"error: standard input, line 3: {message}" in refused(capsys, "predict", "qrn_babi_1")


def test_lines_are_utf_8_with_a_mark_or_without_one(capsys, monkeypatch):
    line = json.dumps(
        {"passage": "Zo\u00eb left.", "question": "Where is Zo\u00eb?"}, ensure_ascii=False
    )
    for mark in ("", "\ufeff"):
        content = io.BytesIO(f"{mark}{line}\n".encode())
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(content, encoding="ascii"))
        with pytest.warns(UserWarning, match="does not know"):
            answered = json.loads(printed(capsys, "predict", "qrn_babi_1"))
        assert (
            answered["question"] == "Where is Zo\u00eb?" and "zo\u00eb" in answered["unknown_words"]
        )
    content = io.BytesIO(b'\n{"passage": "Mary \xff", "question": "Who?"}')
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(content, encoding="utf-8"))
    error = refused(capsys, "predict", "qrn_babi_1")
    assert "standard input, line 2: not UTF-8 text, convert the input" in error


def test_download_names_the_folder(monkeypatch, capsys):
    monkeypatch.setattr(babi, "download", lambda cache_dir, origin: f"{cache_dir}/{origin}")
    out = printed(capsys, "download", "babi", "--cache-dir", "cache", "--origin", "tasks")
    assert "--data-dir cache/tasks\n" in out


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


def test_records_a_search_and_a_run_under_way_are_left_alone(data_dir, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("Mary left.\n")
    (tmp_path / "own.json").write_text('{"units": [4]}')
    options = {"model": "gru", "dataset": "babi", "data_dir": str(data_dir)}
    places = {"space": "own.json", "output": "searches", "log_dir": "logs"}
    options |= {name: str(tmp_path / path) for name, path in places.items()}
    pairs = ((f"--{name}".replace("_", "-"), value) for name, value in options.items())
    command, search = [*itertools.chain.from_iterable(pairs)], Search(**options)
    command = ["search", *command, "--results", tmp_path / "results"]
    annotate = ["annotate", tmp_path / "a.txt", "--output", tmp_path / "out"]
    places = {search.folder: command, search.log_folder: command, tmp_path / "out": annotate}
    for folder, command in places.items():
        with hold(folder):
            error = refused(capsys, *command)
            assert f"{folder} is being written by process {os.getpid()} on " in error
            assert os.listdir(folder) == [".lock"]
    run = Run("babi-1k", "ngram", 1, 0, str(data_dir))
    with hold(run.folder(tmp_path)), pytest.raises(BlockingIOError, match=f"{run.name} is being"):
        execute(run, tmp_path / "results", tmp_path)
    assert not (tmp_path / "results").exists()
