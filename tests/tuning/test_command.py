import json

from keras_corefmem.files import write_json
from tuning.search import OUTCOME
from zoo.cli import main

COMMON = {"valid_loss": 1.0, "epochs": 3, "seconds": 2.0, "chosen": {"slots": 2}}


def end_trial(given, trial, accuracy):
    """Ends a trial of a search, as any process does; returns its outcome."""
    content = {**COMMON, "trial": trial, "valid_accuracy": accuracy}
    write_json(given.trial_folder(trial) / OUTCOME, content)
    return content


def test_progress_counts_the_trials_of_other_machines(tmp_path, capsys, monkeypatch):
    def run_trials(given, report):
        end_trial(given, "0", 0.75)
        end_trial(given, "1", 0.5)
        report(end_trial(given, "2", 0.25))

    monkeypatch.setattr("tuning.command.run_trials", run_trials)
    monkeypatch.setattr("tuning.command.conclude", lambda *arguments: 0)
    (tmp_path / "own.json").write_text(json.dumps({"slots": [2, 3]}))
    line = ["search", "--space", str(tmp_path / "own.json"), "--output", str(tmp_path / "searches")]
    assert main([*line, "--trials", "4"]) == 0
    assert (
        "[3/4] trial 2: valid 25.0%, 3 epochs, 2 s; slots 2; best so far: trial 0, 75.0%"
        in capsys.readouterr().out
    )
