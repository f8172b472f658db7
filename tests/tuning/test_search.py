import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from keras_corefmem.datasets import Splits
from keras_corefmem.utils.files import write_json
from tests.support.commands import printed, refused
from tests.support.events import read_hparams
from tests.support.results import trial_of
from tests.support.searches import NAME, command, make_search
from tuning.search import ERROR, OUTCOME, STARTS, Search, trial_name
from tuning.tuners import make_oracle
from zoo import training
from zoo.cli.app import main
from zoo.experiments.results import read_results
from zoo.training.ablation import encode_examples


def test_the_best_model_is_kept_with_its_record(tmp_path):
    search = Search("qdren", output=str(tmp_path))
    for trial in "01":
        search.trial_folder(trial).mkdir(parents=True)
        (search.trial_folder(trial) / "run.json").write_text(trial)
    (search.trial_folder("0") / "model.keras").write_text("0")
    path = search.keep_model({"trial": "0"})
    with pytest.raises(FileNotFoundError):
        search.keep_model({"trial": "1"})
    assert path.read_text() == path.with_name("run.json").read_text() == "0"
    assert len(list(path.parent.iterdir())) == 2


@pytest.mark.thorough
def test_a_search_tests_its_best_trial_alone(files, tmp_path, capsys, monkeypatch):
    arguments = command(files, tmp_path, "--trials", "3", "--epochs", "2", "--seed", "0")
    older = tmp_path / "results" / "searches" / NAME / "trial-12.json"
    older.parent.mkdir(parents=True)
    older.write_text("{}")
    shown = printed(capsys, *arguments)
    assert f"best.json --data-dir {files}" in shown
    best = tmp_path / "output" / NAME / "best" / "model.keras"
    assert f"Its model: {best}\n" in shown
    texts = shown, printed(capsys, "evaluate", best)
    found = [float(re.search(r"test(?::| accuracy:)[^\d]* (\S+)%", text)[1]) for text in texts]
    assert found[0] == pytest.approx(found[1], abs=0.051)
    assert "[3/3] trial 2: valid" in shown and "Best of 3 trials by validation" in shown
    found = read_results(f"searches/{NAME}", tmp_path / "results")
    assert [run["trial"] for run in found] == ["0", "1", "2"] and not older.exists()
    runs = sorted(found, key=lambda run: (-run["valid_accuracy"], run["valid_loss"]))
    assert ["test_accuracy" in run for run in runs] == [True, False, False]
    assert runs[0]["questions"] == {"train": 30, "valid": 5}
    assert len({json.dumps(run["chosen"]) for run in runs}) == 3
    for run in runs:
        assert run["settings"]["arguments"]["slots"] == run["chosen"]["slots"]
        assert run["settings"]["learning_rate"] == run["chosen"]["learning_rate"]
        logs = tmp_path / "log-dir" / NAME / trial_name(run["trial"], run["chosen"])
        assert list((logs / "validation").glob("events.*"))

    # Once more, it knows all and trains nothing; the test part is not read again.
    monkeypatch.setattr("zoo.training.fit", None)
    monkeypatch.setattr("zoo.training.evaluate", None)
    assert "Found 3 trials that are complete" in printed(capsys, *arguments)
    monkeypatch.undo()
    error = refused(capsys, *arguments, "--trials", 2)
    assert "holds a search with another trials: pass --fresh" in error

    best = tmp_path / "output" / NAME / "best.json"
    train = ["train", "--best", str(best), "--data-dir", str(files), "--epochs", "1"]
    train += ["--output", str(tmp_path / "models"), "--log-dir", str(tmp_path / "logs")]
    assert main(train) == 0
    (run,) = (tmp_path / "models").glob("*/run.json")
    record = json.loads(run.read_text())
    assert (record["seed"], record["language"], record["task"]) == (0, None, 1)
    settings = record["settings"]
    assert settings["arguments"] == {"units": 4, "slots": runs[0]["chosen"]["slots"]}
    assert settings["learning_rate"] == runs[0]["chosen"]["learning_rate"]


BEST = {"model": "qdren", "dataset": "simulator", "task": 1, "settings": {}}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"model": "qdrn"}, "no model 'qdrn'; choose of"),
        ({"dataset": ["babi"]}, "dataset: Input should be a valid string"),
        ({"settings": [1]}, "settings: Input should be a valid dictionary"),
        ({"settings": {"arguments": 3}}, "arguments: Input should be a valid dictionary"),
        ({"settings": {"slots": 3}}, "slots: Extra inputs are not permitted"),
    ],
)
def test_a_broken_file_of_the_best_settings_is_refused(tmp_path, capsys, change, message):
    path = tmp_path / "best.json"
    path.write_text(json.dumps({**BEST, **change}))
    error = refused(capsys, "train", "--best", path, "--output", tmp_path / "models")
    assert f"{path}: " in error and message in error
    assert not (tmp_path / "models").exists()
    with pytest.warns(FutureWarning, match="--preset is now called --best"):
        assert message in refused(capsys, "train", "--preset", path)


def test_the_best_settings_say_on_what_and_with_which_seed_it_was_found():
    search = Search("qdren", "babi", 5, language="hn", seed=3, settings={"epochs": 2})
    winner = {"trial": "0", "valid_accuracy": 0.5, "test_accuracy": 0.25, "chosen": {"slots": 4}}
    found = search.describe_best(winner)
    assert found.items() >= {"dataset": "babi", "task": 5, "language": "hn", "seed": 3}.items()
    assert found["settings"] == {"epochs": 2, "arguments": {"slots": 4}}
    again = search.describe_best({**winner, "chosen": {"slots": 4, "seed": 7}})
    assert again == {**found, "seed": 7}


def test_the_best_of_hyperband_is_trained_as_long_as_its_trial():
    search = Search("qdren", tuner="hyperband", settings={"epochs": 9})
    winner = {"trial": "0", "valid_accuracy": 0.5, "test_accuracy": 0.25, "chosen": {"slots": 4}}
    found = search.describe_best({**winner, "settings": {"epochs": 3}})["settings"]
    assert found == {"epochs": 3, "arguments": {"slots": 4}}


def test_the_winner_is_tested_with_the_mentions_it_was_trained_with(files, tmp_path, monkeypatch):
    asked = []

    def encode(examples, preprocessor, mentions, seed):
        asked.append((len(examples), mentions, seed))
        return encode_examples(examples, preprocessor, mentions, seed)

    monkeypatch.setattr("tuning.search.describe_test", lambda *_: {"test_accuracy": 1.0})
    search = make_search(files, tmp_path, "ga-coref-gru", space="mentions", units=2)
    chosen = {"mentions": 0.25}
    seen = Splits(search.splits.train, search.splits.valid, [])
    model, _ = training.prepare(seen, search.experiment(chosen).settings)
    write_json(search.trial_folder("0") / OUTCOME, trial_of("0", chosen=chosen))
    model.save(search.trial_folder("0") / "model.keras")
    monkeypatch.setattr("zoo.training.batches.encode_examples", encode)
    search.test_winner()
    assert asked[-1] == (11, 0.25, 0)


@pytest.mark.slow
def test_a_trial_that_fails_is_no_secret(files, tmp_path, capfd):
    arguments = command(files, tmp_path, "--tuner", "grid", "--epochs", "1", space="broken")
    assert main(arguments) == 1
    shown = capfd.readouterr().out
    assert "Trial 0000 failed: ValueError: train_size=31: there are 30" in shown
    assert "Best of 1 trials by validation: 0001" in shown


# `test_oracles` has what is chosen, the other searches that it is run.
@pytest.mark.thorough
def test_hyperband_goes_on_with_its_better_trials(files, tmp_path):
    search = make_search(files, tmp_path, tuner="hyperband", epochs=4)
    search.start()
    oracle = make_oracle(search)
    assert oracle.max_epochs == 4
    chosen = {"slots": 3, "learning_rate": 0.01, "tuner/epochs": 2}
    assert search.run_trial("0", chosen)["epochs"] == 2
    later = search.run_trial("1", {**chosen, "tuner/epochs": 4, "tuner/trial_id": "0"})
    assert later["epochs"] == 4 and later["chosen"] == {"slots": 3, "learning_rate": 0.01}
    states = [
        json.loads((search.trial_folder(trial) / "state" / "state.json").read_text())["history"]
        for trial in "01"
    ]
    assert states[1][:2] == states[0] and len(states[1]) == 4
    # TensorBoard has what differs between trials alone.
    start, _ = read_hparams(search.log_folder / trial_name("1", later["chosen"]))
    assert set(start.hparams) == {"slots", "learning_rate", "epochs"}


def test_a_process_that_dies_counts_until_a_trial_has_got_further(tmp_path):
    search = Search("qdren", output=str(tmp_path))

    def begin(times, epochs):
        write_json(search.trial_folder("0") / "state" / "state.json", {"history": [{}] * epochs})
        for _ in range(times):
            search.count_start("0")

    begin(3, epochs=0)
    begin(3, epochs=1)
    with pytest.raises(ChildProcessError, match="3 processes died .* after 1 epochs"):
        search.count_start("0")
    search.clear_starts("0")
    begin(3, epochs=1)
    write_json(search.trial_folder("0") / STARTS, {"times": 1})
    with pytest.raises(ValueError, match="begun.json: epochs: Field required .*; start the s"):
        search.count_start("0")


def test_a_trial_that_failed_is_not_under_way(tmp_path):
    search = Search("qdren", output=str(tmp_path))
    for trial in "012":
        write_json(search.trial_folder(trial) / "state" / "state.json", {"history": [{}, {}]})
    # Why it failed, perhaps.
    (search.trial_folder("1") / "state" / "state.json").write_text("{")
    write_json(search.trial_folder("0") / OUTCOME, {})
    write_json(search.trial_folder("1") / ERROR, "OSError: the disk is full")
    assert search.under_way() == {"2": 2}


def wait_for(condition, process):
    """What a condition gives, once it is true, while a process runs."""
    limit = time.monotonic() + 300
    while time.monotonic() < limit:
        found = condition()
        if found:
            return found
        assert process.poll() is None, "the search ended too early"
        time.sleep(0.05)
    raise AssertionError("nothing happened in time")


def children(process):
    """Numbers of the processes of a search, by what `KERASTUNER_TUNER_ID` says they are."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
            if int(text.rpartition(")")[2].split()[1]) == process.pid:
                found[int(path.parent.name)] = path.parent.joinpath("cmdline").read_text()
        except (OSError, ValueError):
            continue
    return sorted(number for number, line in found.items() if "spawn_main" in line)


@pytest.mark.skipif(not pathlib.Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.thorough
def test_two_workers_survive_what_is_killed(files, tmp_path):
    arguments = command(files, tmp_path, "--trials", "3", "--epochs", "20", "--workers", "2")
    line = [sys.executable, "-c", "import sys; from zoo.cli import main; sys.exit(main())"]
    folder = tmp_path / "output" / NAME
    # Where there is JAX, it compiles tiny models in less time.
    backend = "jax" if importlib.util.find_spec("jax") else "tensorflow"
    environment = {
        **os.environ,
        "KERAS_BACKEND": backend,
        "XLA_FLAGS": "--xla_backend_optimization_level=0",
    }

    def start():
        return subprocess.Popen([*line, *arguments], env=environment, stdout=subprocess.PIPE)

    def outcomes():
        return {
            path.parent.name: path.stat().st_mtime for path in folder.glob("trial_*/outcome.json")
        }

    process = start()
    wait_for(lambda: list(folder.glob("trial_*/state/state.json")), process)
    # Chief first, then the workers: one of these dies, and the trial goes on.
    begun = children(process)
    os.kill(begun[-1], signal.SIGKILL)
    wait_for(lambda: set(children(process)) - set(begun), process)
    before = wait_for(outcomes, process)
    process.kill()
    process.wait()
    process.stdout.close()
    process = start()
    shown = process.communicate(timeout=400)[0].decode()
    assert process.returncode == 0, shown
    after = outcomes()
    assert len(after) == 3 and all(after[name] == moment for name, moment in before.items())
    for path in folder.glob("trial_*/trial.json"):
        assert json.loads(path.read_text())["status"] == "COMPLETED"
    for number in children(process):
        raise AssertionError(f"process {number} is left")


def test_names_can_be_read():
    values = {"slots": 30, "dropout": 0.5, "learning_rate": 0.00123456, "supervision": [["x", 3]]}
    name = "trial-03-dropout-0.5-learning_rate-0.00123-slots-30-supervision-x-3"
    assert trial_name("03", values) == name
    search = Search("qdren", "babi", 5, space="a/own.json", settings={"epochs": 3}, trials=7)
    assert search.name == "qdren-babi-task-05-own-random-seed-0"
    expected = "--task 5 --space a/own.json --tuner random --trials 7 --seed 0 --set epochs=3"
    assert search.command == f"corefmem search --model qdren --dataset babi {expected}"
    # What is not downloaded is in a folder of the user.
    assert Search("qdren-sent", "cnn").command.endswith(" --data-dir DIR")


def test_settings_that_are_the_same_in_all_trials_are_no_columns(tmp_path):
    space = tmp_path / "space.json"
    space.write_text(json.dumps({"slots": [2, 3], "l2": [0.0], "dropout": {"low": 0, "high": 1}}))
    assert Search("qdren", space=str(space)).varied == ["slots", "dropout"]
    assert Search("qdren", space=str(space), tuner="hyperband").varied[2:] == ["epochs"]
    names = ["learning_rate", "slots", "l2", "dropout"]
    assert Search("qdren", space="qdren-babi-task-5").varied == names


def test_seeds_are_tried_by_a_grid_and_recorded(files, tmp_path, capsys):
    (files / "seeds.json").write_text(json.dumps({"seed": [4, 5], "slots": [2]}))
    assert "takes --tuner grid" in refused(capsys, *command(files, tmp_path, space="seeds"))
    search = make_search(files, tmp_path, space="seeds", epochs=1, tuner="grid")
    outcome = search.run_trial("0", {"seed": 5, "slots": 2})
    assert outcome["seed"] == outcome["settings"]["seed"] == 5
