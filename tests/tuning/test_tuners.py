import json

import grpc
import keras_tuner
import pytest

from keras_corefmem.utils.files import write_json
from keras_corefmem.utils.locks import NoRoomError
from tests.support.results import trial_of
from tuning import tuners
from tuning.search import OUTCOME, Search
from tuning.tuners import TrialTuner


@pytest.fixture
def search(tmp_path, monkeypatch):
    """A search whose two trials only write their outcomes."""

    def run_trial(self, trial, chosen):
        content = trial_of(trial)
        write_json(self.trial_folder(trial) / OUTCOME, content)
        return content

    monkeypatch.setattr(Search, "run_trial", run_trial)
    space = tmp_path / "own.json"
    space.write_text(json.dumps({"slots": [2, 3]}))
    return Search("qdren", space=str(space), tuner="grid", output=str(tmp_path / "searches"))


def test_an_oracle_without_a_trial_is_asked_again_after_a_pause(search, monkeypatch):
    events = []
    tuner = TrialTuner(search, report=lambda outcome: events.append(outcome["trial"]))
    create_trial, idle = tuner.oracle.create_trial, iter([False, True, True, False, False])

    def create(tuner_id):
        if next(idle):
            return keras_tuner.engine.trial.Trial(tuner.oracle.get_space(), status="IDLE")
        return create_trial(tuner_id)

    monkeypatch.setattr(tuner.oracle, "create_trial", create)
    monkeypatch.setattr(tuners.time, "sleep", lambda seconds: events.append(seconds))
    tuner.oracle.verbose = 0
    tuner.search()
    assert events == ["0000", 1, 1, "0001"]


def test_a_chief_reports_the_trials_of_its_workers(search, monkeypatch):
    def serve(oracle):
        for status in ("COMPLETED", "FAILED"):
            trial = oracle.create_trial("worker-0")
            if status == "COMPLETED":
                search.run_trial(trial.trial_id, trial.hyperparameters.values)
                oracle.update_trial(trial.trial_id, {"val_accuracy": 0.5})
            trial.status = status
            oracle.end_trial(trial)

    monkeypatch.setattr("keras_tuner.src.distribute.oracle_chief.start_server", serve)
    monkeypatch.setenv("KERASTUNER_TUNER_ID", "chief")
    monkeypatch.setenv("KERASTUNER_ORACLE_IP", "127.0.0.1")
    monkeypatch.setenv("KERASTUNER_ORACLE_PORT", "8000")
    reported = []
    tuners.run_trials(search, lambda outcome: reported.append(outcome["trial"]))
    assert reported == ["0000"]


@pytest.mark.parametrize("error", [NoRoomError, KeyboardInterrupt, SystemExit])
def test_a_search_that_is_stopped_goes_on(search, monkeypatch, error):
    run_trial = Search.run_trial

    def stop(self, trial, chosen):
        raise error("stopped")

    monkeypatch.setattr(Search, "run_trial", stop)
    with pytest.raises(error, match="stopped"):
        tuners.run_trials(search, report=None)
    assert not list(search.folder.glob("*/begun.json")) + list(search.folder.glob("*/error.json"))
    monkeypatch.setattr(Search, "run_trial", run_trial)
    reported = []
    tuners.run_trials(search, lambda outcome: reported.append(outcome["trial"]))
    assert sorted(reported) == ["0000", "0001"] and not search.failures()


class Rpc(grpc.RpcError):
    """An error of gRPC of a code and with details."""

    def __init__(self, *said):
        self.code, self.details = (lambda: said[0]), (lambda: said[1])


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        (
            (grpc.StatusCode.UNKNOWN, tuners.RAISED + "oracle.json cannot be written"),
            ChildProcessError,
            "^oracle.json cannot be written$",
        ),
        (
            (grpc.StatusCode.UNAVAILABLE, "Socket closed"),
            ConnectionError,
            r"^The chief of the search is gone \(Socket closed\)\.$",
        ),
    ],
)
def test_a_worker_says_what_went_wrong_in_its_chief(search, monkeypatch, said, error, message):
    def ask(tuner):
        raise Rpc(*said)

    monkeypatch.setattr(TrialTuner, "search", ask)
    with pytest.raises(error, match=message):
        tuners.run_trials(search, report=None)
