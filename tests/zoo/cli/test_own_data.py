"""`corefmem train` and `evaluate` on files of JSON lines."""

import json
import re

import pytest

from keras_corefmem.datasets import as_examples, simulator
from keras_corefmem.utils.files import write_json
from tests.support.commands import printed, refused
from zoo import NGramClassifier
from zoo.experiments import Experiment
from zoo.experiments.folders import check_folder


@pytest.mark.parametrize(
    "words, message",
    [
        ("--dataset none.jsonl", "/none.jsonl: no such file, pass the path of a JSON lines file"),
        ("--dataset my.jsonl", "/my.jsonl:2: no answer among passage, question; name your column"),
        ("--dataset my.jsonl --valid none.jsonl", "/my.jsonl:2: no answer"),
        ("--dataset good.jsonl --valid none.jsonl", "/none.jsonl: no such file"),
        ("--dataset good.jsonl --valid good.jsonl --data-dir .", "--data-dir .: "),
        ("--dataset good.jsonl --valid good.jsonl --language en", "--language en: "),
        ("--dataset few.jsonl", "/few.jsonl: a share of 1 cannot be held out of 1: give more"),
        ("--dataset good.jsonl --task 5", "/good.jsonl has one task; leave --task out"),
        ("--dataset good.jsonl --data-dir .", "/good.jsonl reads no files of a folder"),
        ("--dataset simulator --valid my.jsonl", "simulator has its own validation part; leave"),
        ("--dataset my.jsonl --valid ./my.jsonl", "/my.jsonl is --dataset itself: give other"),
        ("--dataset tags.jsonl", "ga-coref-gru does not read "),
    ],
)
def test_files_of_ones_own_are_checked(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"passage": f"Mary has {n}.", "question": "How many?", "answer": n} for n in range(30)]
    bad = [rows[0], {"passage": "Mary left.", "question": "Who?"}]
    tags = [{"words": ["Mary"], "tags": ["NNP"]}]
    for name, content in (("my", bad), ("good", rows), ("few", rows[:1]), ("tags", tags * 9)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, content)))
    assert message in refused(capsys, "train", *words.split())


@pytest.mark.thorough
def test_a_file_of_ones_own_is_trained_on_and_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("my", 0), ("valid", 1)):
        rows = map(vars, simulator.simulate(1, 60, seed))
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with open("valid.jsonl", "a", encoding="utf-8") as file:
        file.write('\n{"passage": "Mary left.", "question": "Where is Mary?", "answer": "moon"}')
    train = "train --model ngram --dataset my.jsonl --epochs 1 --set buckets=1".split()
    assert "ngram-my-seed-0-buckets-1: 50 train, 5 valid, 5 test questions" in printed(
        capsys, *train
    )
    train += ["--output", "more", "--valid", "valid.jsonl"]
    with pytest.warns(UserWarning, match="^2% of the answers were not .*/valid.jsonl:61': leave"):
        out = printed(capsys, *train)
    assert "ngram-my-seed-0-buckets-1: 55 train, 61 valid, 5 test questions" in out
    model = "more/ngram-my-seed-0-buckets-1/model.keras"
    assert re.search(r"/my.jsonl, test: accuracy .* of 5 ques", printed(capsys, "evaluate", model))
    for words, counts in (("valid.jsonl", "all"), ("my.jsonl --part valid", "valid")):
        out = printed(capsys, "evaluate", model, "--dataset", *words.split())
        assert re.search(f"{words.split()[0]}, {counts}: accuracy .* of 61 questions", out)


def test_a_file_that_changed_since_training_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    result = {"accuracy": 1.0, "count": 1, "calibration_error": 0.0, "wrong": []}
    monkeypatch.setattr("zoo.training.evaluate", lambda reader, batches: result)
    files = [tmp_path / name for name in ("my.jsonl", "valid.jsonl")]
    for seed, file in enumerate(files):
        file.write_text("\n".join(json.dumps(vars(e)) for e in simulator.simulate(1, 60, seed)))
    experiment = Experiment("ngram", str(files[0]), valid=str(files[1]))
    write_json("run.json", experiment.record)
    NGramClassifier.from_examples(as_examples(files[0])).save("model.keras")
    for part in ("test", "valid"):
        assert printed(capsys, "evaluate", "model.keras", "--part", part)
    (tmp_path / "copy.jsonl").symlink_to("my.jsonl")
    with pytest.warns(UserWarning, match=f"copy.jsonl is a copy of {files[0]}, which model.keras"):
        assert "copy.jsonl, all" in printed(
            capsys, "evaluate", "model.keras", "--dataset", "copy.jsonl"
        )
    # A file that it was not trained on has no parts, no folder and no language.
    for more in (["--part", "valid"], ["--data-dir", "."], ["--language", "en"]):
        error = refused(capsys, "evaluate", "model.keras", "--dataset", "valid.jsonl", *more)
        assert f"{' '.join(more)}: " in error
    for file in files:
        before = file.read_text()
        file.write_text(before.replace("Mary", "Maria"))
        with pytest.warns(UserWarning, match=f"^{file} has changed since model.keras was trained"):
            printed(capsys, "evaluate", "model.keras")
        with pytest.raises(ValueError, match="holds a run with another content"):
            check_folder(tmp_path, experiment.record, {}, (), "stop")
        file.write_text(before)
    # Without the file, another one is measured still.
    files[0].unlink()
    assert printed(capsys, "evaluate", "model.keras", "--dataset", "valid.jsonl")
    assert "my.jsonl: no such file" in refused(capsys, "evaluate", "model.keras")


def test_answers_that_a_model_does_not_know_are_named(tmp_path, monkeypatch, capsys):
    result = {"accuracy": 0.0, "count": 4, "calibration_error": 0.0, "wrong": [0, 1, 2, 3]}
    monkeypatch.setattr("zoo.training.evaluate", lambda reader, batches: result)
    path, model = tmp_path / "my.jsonl", tmp_path / "model.keras"
    stories = simulator.simulate(1, 20)
    NGramClassifier.from_examples(stories).save(model)
    rows = [*map(vars, stories[:3]), {**vars(stories[3]), "answer": "moon"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.warns(UserWarning, match="^25% of the answers were not learned .* 'moon': "):
        printed(capsys, "evaluate", model, "--dataset", path)


def test_the_task_that_a_model_was_trained_on_is_none_of_another_data_set(
    tmp_path, monkeypatch, capsys
):
    result = {"accuracy": 1.0, "count": 4, "calibration_error": 0.0, "wrong": []}
    monkeypatch.setattr("zoo.training.evaluate", lambda reader, batches: result)
    path, model = tmp_path / "my.jsonl", "ga_mage_gru_babi_2"
    path.write_text("\n".join(json.dumps(vars(e)) for e in simulator.simulate(2, 4)))
    assert f"{path}, all: accuracy" in printed(capsys, "evaluate", model, "--dataset", path)
    assert "cbt has no download" in refused(capsys, "evaluate", model, "--dataset", "cbt")
    # The tasks of the simulator are those of bAbI.
    assert "simulator task 2, " in printed(capsys, "evaluate", model, "--dataset", "simulator")


def test_an_empty_name_of_a_file_is_not_standard_input(capsys):
    assert ": no such file, pass" in refused(capsys, "predict", "qrn_babi_1", "")


def test_tables_are_refused_with_their_conversion(capsys):
    error = refused(capsys, "predict", "qrn_babi_1", "my.csv")
    assert (
        'my.csv: give JSON lines, FILE.jsonl; pandas makes them of a table by `to_json("' in error
    )


def test_sentences_among_questions_are_refused(tmp_path, capsys):
    rows = {"passage": "Mary left.", "question": "Who?"}, {"sentence": "Mary left."}
    path = tmp_path / "my.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert f"{path} has single sentences" in refused(capsys, "predict", "qrn_babi_1", path)
