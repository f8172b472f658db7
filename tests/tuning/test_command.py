import json
import shlex

import pytest

from keras_corefmem.utils.files import write_json
from keras_corefmem.visualization import make_console
from tests.support.commands import printed
from tests.support.results import trial_of
from tuning.running import conclude
from tuning.search import OUTCOME, Search
from zoo.experiments.results import best_trial


def end_trial(given, trial, accuracy, **fields):
    """Ends a trial of a search, as any process does; returns its outcome."""
    content = trial_of(trial, accuracy, epochs=3, seconds=2.0, **fields)
    write_json(given.trial_folder(trial) / OUTCOME, content)
    return content


def test_progress_counts_the_trials_of_other_machines(tmp_path, capsys, monkeypatch):
    def run_trials(given, report):
        end_trial(given, "0", 0.75)
        end_trial(given, "1", 0.5)
        report(end_trial(given, "2", 0.25))

    monkeypatch.setattr("tuning.running.run_trials", run_trials)
    monkeypatch.setattr("tuning.running.conclude", lambda *arguments: 0)
    (tmp_path / "own.json").write_text(json.dumps({"slots": [2, 3]}))
    line = ["search", "--space", str(tmp_path / "own.json"), "--output", str(tmp_path / "searches")]
    shown = "[3/4] trial 2: valid 25.0%, 3 epochs, 2 s; slots 2; best so far: trial 0, 75.0%"
    assert shown in printed(capsys, *line, "--trials", 4)


def test_settings_whose_seeds_failed_are_said_to_rank_last(tmp_path, capsys, monkeypatch):
    given = Search("qdren", output=str(tmp_path / "searches"))
    for trial, (slots, seed, accuracy) in enumerate([(2, 0, 0.5), (2, 1, 0.25), (3, 1, 0.75)]):
        end_trial(given, str(trial), accuracy, chosen={"slots": slots, "seed": seed})
    for name in ("run.json", "model.keras"):
        (given.trial_folder("0") / name).touch()
    tested = {"study": f"searches/{given.name}", "test_accuracy": 0.5}
    monkeypatch.setattr(Search, "test_winner", lambda self: best_trial(self.outcomes()) | tested)
    assert conclude(given, str(tmp_path / "results"), make_console(), 3.0) == 0
    shown = capsys.readouterr().out
    assert "1 of 2 settings lack some of 2 seeds, and so rank last.\n" in shown
    assert "Best of 3 trials by validation: 0, validation accuracy 50.0%" in shown


@pytest.mark.parametrize("dataset, part", [("sst", "development"), ("babi", "test")])
def test_the_part_that_is_reported_has_its_name(dataset, part, tmp_path, capsys, monkeypatch):
    given = Search("dmn", dataset, output=str(tmp_path / "searches"))
    winner = end_trial(given, "0", 0.75)
    for name in ("run.json", "model.keras"):
        (given.trial_folder("0") / name).touch()
    tested = {"study": f"searches/{given.name}", "test_accuracy": 0.5}
    monkeypatch.setattr(Search, "test_winner", lambda self: winner | tested)
    conclude(given, str(tmp_path / "results"), make_console(), 3.0)
    assert f"accuracy 75.0%; its {part} accuracy: 50.0%\n" in capsys.readouterr().out


def test_commands_can_be_pasted_where_names_have_spaces(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "my searches"
    options = {"output": str(folder), "log_dir": str(tmp_path / "my logs")}
    given = Search("qdren", "babi", 5, str(tmp_path / "my data"), **options)
    outcome = end_trial(given, "0", 0.75)
    for name in ("run.json", "model.keras"):
        (given.trial_folder("0") / name).touch()
    winner = {**outcome, "study": f"searches/{given.name}", "test_accuracy": 0.5}
    monkeypatch.setattr(Search, "test_winner", lambda self: winner)
    assert conclude(given, str(tmp_path / "results"), make_console(), 3.0) == 0
    last, board = capsys.readouterr().out.splitlines()[-2:]
    assert shlex.split(last.partition("anew: ")[2]) == [
        *("corefmem", "train", "--best", str(given.folder / "best.json")),
        *("--data-dir", str(tmp_path / "my data")),
    ]
    assert shlex.split(board.partition(": ")[2])[2] == str(tmp_path / "my logs" / given.name)
