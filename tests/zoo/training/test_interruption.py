"""Training, interrupted and started again."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import keras
import pytest

from keras_corefmem.datasets import simulator
from keras_corefmem.utils.files import BadFileError
from tests.support.tiers import standing_for
from zoo import training

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "import sys; from zoo import cli; sys.exit(cli.main())", "train"]
EPOCHS = 3
COMMAND += ["--model", "gru", "--epochs", str(EPOCHS), "--set", "learning_rate=0.02"]
for setting in ("units=8", "batch_size=50", "train_size=300", "buckets=1", "dropout=0.3"):
    COMMAND += ["--set", setting]


def run(folder, killed=False):
    """Runs the command, or kills it once an epoch is on disk: what it prints, and its history."""
    command = [*COMMAND, "--output", str(folder / "models"), "--log-dir", str(folder / "logs")]
    quick = {"XLA_FLAGS": "--xla_backend_optimization_level=0", "TF_CPP_MIN_LOG_LEVEL": "3"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **quick}, **pipes)
    try:
        while killed and not list(folder.glob("models/*/state/state.json")):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
    finally:
        if killed:
            process.kill()
    out, error = process.communicate()
    assert killed or process.returncode == 0, error
    (state,) = folder.glob("models/*/state/state.json")
    return out, json.loads(state.read_text())["history"]


@pytest.mark.thorough
def test_a_killed_run_ends_as_one_in_one_go(tmp_path):
    out, history = run(tmp_path / "whole")
    done = len(run(tmp_path / "killed", killed=True)[1])
    assert 1 <= done < EPOCHS and not list(tmp_path.glob("killed/models/*/model.keras"))
    continued, found = run(tmp_path / "killed")
    assert "Found a run with these arguments" not in out
    assert f"Found a run with these arguments, {done} epochs old." in continued
    assert continued.count("\nEpoch ") == EPOCHS - done
    for line in (rf"Best of {EPOCHS} epochs by validation: .*", r"Test accuracy: .* questions"):
        assert re.search(line, continued)[0] == re.search(line, out)[0]
    assert len(found) == len(history) == EPOCHS
    for epoch, expected in zip(found, history, strict=True):
        assert epoch == pytest.approx(expected, rel=1e-4)
    assert history[-1]["loss"] < history[0]["loss"]


class Dies(keras.callbacks.Callback):
    """Notes what it sees, and raises where it is told to."""

    def __init__(self, *places):
        super().__init__()
        self.places, self.seen = places, []

    def see(self, place):
        if place in self.places:
            raise InterruptedError
        self.seen.append(place)

    def on_epoch_end(self, epoch, logs=None):
        self.see(epoch)

    def on_train_end(self, logs=None):
        self.see("end")


def test_callbacks_see_each_epoch_and_the_end_of_a_run_that_died(tmp_path):
    splits = simulator.load(1, train=8, valid=4, test=4)
    changes = {"epochs": 2, "buckets": 1, "arguments": {"units": 4}}
    settings = training.Settings.of("memn2n", **changes)

    def fit(*places):
        watching = Dies(*places)
        with pytest.raises(InterruptedError) if places else contextlib.nullcontext():
            model, batches = training.prepare(splits, settings)
            training.fit(model, batches, tmp_path, settings, [watching])
        return watching.seen

    assert fit(1) == [0]
    assert os.path.exists(tmp_path / "epoch-1.weights.h5")
    assert fit("end") == [1]
    assert sorted(os.listdir(tmp_path)) == [
        "best.weights.h5",
        "epoch-1.weights.h5",
        "state.json",
    ]
    assert fit() == ["end"]
    assert fit() == []


WRITTEN = "best.weights.h5", "epoch-1.weights.h5", "state.json"
DAMAGES = [(how, name) for how in ("a bit", "the end") for name in WRITTEN]


@pytest.mark.parametrize(
    "change", standing_for(DAMAGES, [("a bit", "best.weights.h5"), ("the end", "state.json")])
)
def test_weights_of_a_run_that_changed_are_named(tmp_path, change):
    damage, name = change
    splits = simulator.load(1, train=8, valid=4, test=4)
    settings = training.Settings.of("memn2n", epochs=2, buckets=1, arguments={"units": 4})
    training.fit(*training.prepare(splits, settings), tmp_path, settings)
    content = bytearray((tmp_path / name).read_bytes())
    content[-1] ^= 1
    (tmp_path / name).write_bytes(content if damage == "a bit" else content[:-200])
    with pytest.raises(BadFileError, match=f"{name}.*start the run again with --fresh, or remove"):
        training.fit(*training.prepare(splits, settings), tmp_path, settings)
