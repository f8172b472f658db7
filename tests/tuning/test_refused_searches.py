"""Searches whose arguments are wrong, or whose folder holds another search."""

import json
import shutil

import pytest

from keras_corefmem.datasets.stories import simulator
from keras_corefmem.utils.files import write_json
from tests.support.commands import refused
from tests.support.searches import NAME, command, make_search
from tuning.running import check_space
from tuning.search import Search


@pytest.mark.parametrize(
    "more, message",
    [
        (["--space", "dmn"], "--space dmn is for"),
        (["--set", "hops=2"], "'hops' is no argument of qdren"),
        (["--workers", "0"], "--workers must be at least 1"),
        (["--trials", "0"], "--trials must be at least 1"),
        (["--trials", "3", "--tuner", "hyperband"], "give these instead"),
        (["--data-dir", "nowhere"], "nowhere"),
        (["--task", "21"], "no bAbI task 21"),
        (["--set", "train_size=31"], "there are 30 training questions"),
        (["--set", "max_words=9"], "max_words: no qdren that was tried"),
        (["--epochs", "1", "--set", "epochs=2"], "--set epochs=2: epochs is given twice"),
        (["--set", "slots=3"], "own.json chooses slots; leave out --set slots"),
        (["--set", 'arguments={"slots": 3}'], "own.json chooses slots; leave out --set slots"),
        (["--space", "qdren-babi", "--set", "l2=0.1"], "The search space qdren-babi chooses l2"),
    ],
)
def test_wrong_arguments_are_refused(files, tmp_path, capsys, more, message):
    assert message in refused(capsys, *command(files, tmp_path, *more))
    assert not (tmp_path / "output").exists()


def test_a_number_of_epochs_that_no_trial_would_have_is_refused(files, tmp_path, capsys):
    (tmp_path / "long.json").write_text(json.dumps({"epochs": [1, 2]}))
    arguments = command(files, tmp_path, "--space", str(tmp_path / "long.json"))
    error = refused(capsys, *arguments, "--epochs", 3)
    assert "long.json chooses epochs; leave out --epochs" in error
    error = refused(capsys, *arguments, "--tuner", "hyperband")
    assert "hyperband decides itself how many epochs" in error


def test_trials_that_would_count_different_questions_are_refused(files, tmp_path, capsys):
    for shares in ([None, 0.2], {"low": 0.1, "high": 0.5}):
        (files / "shares.json").write_text(json.dumps({"unanswerable": shares}))
        error = refused(capsys, *command(files, tmp_path, space="shares"))
        assert "shares.json: unanswerable adds questions to those that trials are" in error
    (files / "shares.json").write_text(json.dumps({"unanswerable": [0.2]}))
    check_space(make_search(files, tmp_path, space="shares"), None)


PART = {
    "KERASTUNER_TUNER_ID": "worker-0",
    "KERASTUNER_ORACLE_IP": "127.0.0.1",
    "KERASTUNER_ORACLE_PORT": "8000",
}


@pytest.mark.parametrize("empty", [True, False])
@pytest.mark.parametrize("missing", PART)
def test_a_part_of_the_environment_of_several_machines_is_refused(
    files, tmp_path, capsys, monkeypatch, missing, empty
):
    for name, value in PART.items():
        if name != missing or empty:
            monkeypatch.setenv(name, "" if name == missing else value)
    assert f"set {missing} too, or none" in refused(capsys, *command(files, tmp_path))
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(
    "part, more, message",
    [
        (PART, ["--workers", "2"], "leave out --workers"),
        (PART, ["--fresh"], "--fresh would remove"),
        ({}, ["--fresh", "--set", "train_size=31"], "there are 30 training questions"),
    ],
)
def test_wrong_arguments_leave_an_earlier_search_alone(
    files, tmp_path, capsys, monkeypatch, part, more, message
):
    for name, value in part.items():
        monkeypatch.setenv(name, value)
    kept = tmp_path / "output" / NAME / "trial_0" / "outcome.json"
    write_json(kept, {})
    assert message in refused(capsys, *command(files, tmp_path, *more))
    assert kept.exists() and len(list((tmp_path / "output").rglob("*.*"))) == 1


def test_other_questions_are_another_search(tmp_path):
    file, arguments = tmp_path / "mine.jsonl", {"output": str(tmp_path / "output"), "trials": 2}
    for count, task, other in ((40, 1, ""), (60, 1, "questions, content"), (60, 2, "content")):
        rows = [
            {"passage": e.passage, "question": e.question, "answer": e.answer}
            for e in simulator.simulate(task, count)
        ]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        search = Search("ngram", str(file), **arguments)
        if other:
            with pytest.raises(ValueError, match=f"a search with another {other}: pass --fresh"):
                search.start()
        search.start(fresh=True)
    # One of before did not note them.
    note = search.folder / "search.json"
    known = ("space", "trials", "settings")
    write_json(note, {name: json.loads(note.read_text())[name] for name in known})
    search.start()


def test_a_search_may_have_more_trials_later(files, tmp_path):
    for trials in (2, 12, None):
        make_search(files, tmp_path, trials=trials).start()
    with pytest.raises(ValueError, match="holds a search with another trials"):
        make_search(files, tmp_path, trials=12).start()


def test_another_machine_may_have_the_data_elsewhere(files, tmp_path):
    shutil.copytree(files, tmp_path / "elsewhere")
    for folder in (files, tmp_path / "elsewhere"):
        make_search(folder, tmp_path).start()
    with pytest.raises(ValueError, match="holds a search with another trials"):
        make_search(files, tmp_path, trials=3).start()
