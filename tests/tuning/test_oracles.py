import collections
import json
import sys

import pytest

from keras_corefmem.utils.files import BadFileError, write_json
from tests.support.results import trial_of
from tuning.oracles import Lasting
from tuning.search import OUTCOME, Search
from tuning.tuners import make_oracle, run_trials

SPACE = {"slots": [2, 3], "units": {"low": 4, "high": 6}}


class Killed(BaseException):
    """Ends a search as a signal does, at once."""


@pytest.fixture
def search(tmp_path, monkeypatch):
    """A function that starts a search whose trials only note that they ran, or fail."""
    space, ran, reported = tmp_path / "own.json", [], []
    space.write_text(json.dumps(SPACE))

    def run_trial(self, trial, chosen):
        if self.outcome(trial):
            return self.outcome(trial)
        if len(ran) == run_trial.limit or int(trial) in run_trial.killing:
            raise Killed
        if int(trial) in run_trial.failing:
            raise OSError("the disk is full")
        ran.append({**self.hyper_model.chosen(chosen), "epochs": chosen.get("tuner/epochs")})
        write_json(self.trial_folder(trial) / OUTCOME, trial_of(trial, chosen["units"] / 10))
        return self.outcome(trial)

    def start(tuner, trials=None, epochs=9, limit=None, failing=(), killing=(), fresh=False):
        made = Search(
            "qdren",
            space=str(space),
            tuner=tuner,
            trials=trials,
            settings={"epochs": epochs},
            output=str(tmp_path / "searches"),
        )
        made.start(fresh)
        run_trial.limit, run_trial.failing, run_trial.killing = limit, failing, killing
        reported.clear()
        run_trials(made, lambda outcome: reported.append(int(outcome["trial"])))
        return made

    def clear_starts(self, trial, clear=Search.clear_starts):
        # A process that a signal kills clears nothing.
        if sys.exc_info()[0] is not Killed:
            clear(self, trial)

    monkeypatch.setattr(Search, "run_trial", run_trial)
    monkeypatch.setattr(Search, "clear_starts", clear_starts)
    start.ran, start.reported = ran, reported
    return start


GRID = [{"slots": slots, "units": units, "epochs": None} for slots in (2, 3) for units in (4, 5, 6)]


def test_a_grid_is_complete_and_has_an_order(search):
    assert len(search("grid").outcomes()) == 6
    assert search.ran == GRID


def test_a_grid_has_integers_on_a_logarithmic_scale(tmp_path):
    space = tmp_path / "own.json"
    ranges = {"low": 1, "high": 4, "log": True}
    space.write_text(json.dumps({"slots": {**ranges, "step": 2}, "units": ranges, "l2": [0.5]}))
    oracle = make_oracle(Search("qdren", space=str(space), tuner="grid"))
    values = []
    while (drawn := oracle.populate_space("0"))["status"] != "STOPPED":
        values.append(drawn["values"])
        oracle.start_order.append("0")
    assert {type(each[name]) for each in values for name in ("slots", "units")} == {int}
    assert sorted({each["slots"] for each in values}) == [1, 2, 4]
    assert len(values) == 12 and all(each["l2"] == 0.5 for each in values)


@pytest.mark.parametrize("tuner, trials", [("random", 6), ("bayesian", 6), ("grid", None)])
def test_a_search_that_goes_on_repeats_no_trial_but_those_that_failed(search, tuner, trials):
    made = search(tuner, trials, failing=(1, 3))
    assert len(made.outcomes()) == 4
    failures = {int(trial): message for trial, message in made.failures().items()}
    assert failures == dict.fromkeys((1, 3), "OSError: the disk is full")
    for failing, reported in (((3,), [1]), ((), [3]), ((), [])):
        search(tuner, trials, failing=failing)
        assert search.reported == reported
        assert [int(trial) for trial in made.failures()] == list(failing)
    assert len(made.outcomes()) == len(search.ran) == 6
    assert sorted(search.ran, key=json.dumps) == GRID
    ended = json.loads((made.folder / "oracle.json").read_text())["end_order"]
    assert sorted(map(int, ended)) == list(range(6))


@pytest.mark.parametrize("tuner, trials", [("random", 12), ("bayesian", 6), ("grid", None)])
def test_a_search_that_grows_ends_as_one_of_that_size(search, tuner, trials):
    ran = []
    for sizes in ((2, trials), (trials,)):
        search.ran.clear()
        for size in sizes:
            made = search(tuner, size, fresh=size == sizes[0])
        ran.append([*search.ran])
        assert list(map(int, made.started_trials())) == list(range(6))
    assert ran[0] == ran[1] and sorted(ran[0], key=json.dumps) == GRID


def test_a_trial_that_kills_every_process_fails_and_the_search_goes_on(search):
    for _ in range(Search.PATIENCE):
        with pytest.raises(Killed):
            search("grid", killing=[2])
    made = search("grid", killing=[2])
    assert len(made.outcomes()) == len(search.ran) == 5
    (message,) = made.failures().values()
    assert message.startswith("ChildProcessError: 3 processes died in this trial, all after 0 ")
    # As any trial that failed it is tried again, as often as before.
    with pytest.raises(Killed):
        search("grid", killing=[2])
    assert not search("grid").failures()
    assert search.reported == [2]


def test_trials_that_failed_take_part_in_later_rounds(search):
    search("hyperband", epochs=9, failing=range(6))
    assert not search.ran
    made = search("hyperband", epochs=9)
    assert not made.failures()
    assert search.ran[-1]["epochs"] == 9


@pytest.mark.parametrize("tuner, trials", [("random", 6), ("bayesian", 6), ("grid", None)])
@pytest.mark.parametrize("moment", ["in a trial", "before saving", "after saving"])
def test_searches_go_on_after_a_kill(search, tuner, trials, moment, monkeypatch):
    save = Lasting.save

    def save_and_die(self):
        if moment == "after saving":
            save(self)
        if len(self.trials) == 3:
            raise Killed
        save(self)

    with monkeypatch.context() as patch:
        if moment != "in a trial":
            # Of the third trial there is a file by now.
            patch.setattr(Lasting, "save", save_and_die)
        with pytest.raises(Killed):
            search(tuner, trials, limit=2 if moment == "in a trial" else None)
    made = search(tuner, trials)
    assert len(made.outcomes()) == len(search.ran) == 6
    assert sorted(search.ran, key=json.dumps) == GRID
    assert not made.failures()


@pytest.mark.parametrize(
    "name, content",
    [
        ("oracle.json", '{"start_order": ["0000"]}'),
        ("oracle.json", '{"start_order": 3}'),
        ("trial_0000/trial.json", '{"trial_id": "0000", "status": "COMPLETED"}'),
        ("trial_0000/outcome.json", '{"trial": "0000"}'),
        ("trial_0000/outcome.json", json.dumps(trial_of("0001"))),
        ("search.json", "[]"),
    ],
)
def test_files_that_are_damaged_are_named(search, name, content):
    made = search("grid")
    (made.folder / name).write_text(content)
    with pytest.raises(BadFileError, match=f"{name}.*; start the search again with --fresh"):
        search("grid")
        made.outcomes()


def test_hyperband_halves_where_a_space_is_small(search):
    with pytest.raises(Killed):
        search("hyperband", epochs=81, limit=3)
    made = search("hyperband", epochs=81)
    counts = collections.Counter(run["epochs"] for run in search.ran)
    assert counts == {1: 6, 3: 2, 9: 1, 27: 1, 81: 1}
    assert search.ran[-1]["units"] == 6 and not made.failures()


def test_a_random_search_ends_where_it_has_tried_all(search):
    assert len(search("random", trials=50).outcomes()) == 6
