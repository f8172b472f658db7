"""`corefmem train`, killed without warning and started again."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "import sys; from zoo import cli; sys.exit(cli.main())", "train"]
EPOCHS = 3
COMMAND += ["--model", "gru", "--epochs", str(EPOCHS), "--set", "learning_rate=0.02"]
for setting in ("units=8", "batch_size=100", "buckets=1", "dropout=0.3"):
    COMMAND += ["--set", setting]


def start(folder):
    command = [*COMMAND, "--output", str(folder / "models"), "--log-dir", str(folder / "logs")]
    quick = "--xla_backend_optimization_level=0"
    environment = {**os.environ, "XLA_FLAGS": quick, "TF_CPP_MIN_LOG_LEVEL": "3"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, env=environment, **pipes)


def finish(folder):
    """What the command prints, and the history that it leaves."""
    process = start(folder)
    out, error = process.communicate()
    assert process.returncode == 0, error
    return out, history_of(folder)


def history_of(folder):
    """The epochs that are on disk."""
    states = list(folder.glob("models/*/state/state.json"))
    return json.loads(states[0].read_text())["history"] if states else []


def kill_after_an_epoch(folder):
    """Starts the command and kills it once an epoch is on disk; returns how many there are."""
    process = start(folder)
    try:
        while not history_of(folder):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
    finally:
        process.kill()
        process.communicate()
    return len(history_of(folder))


@pytest.mark.slow
def test_a_killed_run_ends_as_one_in_one_go(tmp_path):
    out, history = finish(tmp_path / "whole")
    done = kill_after_an_epoch(tmp_path / "killed")
    assert 1 <= done < EPOCHS and not list(tmp_path.glob("killed/models/*/model.keras"))
    continued, found = finish(tmp_path / "killed")
    assert "Found a run with these arguments" not in out
    assert f"Found a run with these arguments, {done} epochs old." in continued
    assert continued.count("\nEpoch ") == EPOCHS - done
    for line in (rf"Best of {EPOCHS} epochs by validation: .*", r"Test accuracy: .* questions"):
        assert re.search(line, continued)[0] == re.search(line, out)[0]
    assert len(found) == len(history) == EPOCHS
    for epoch, expected in zip(found, history, strict=True):
        assert epoch == pytest.approx(expected, rel=1e-4)
    assert history[-1]["loss"] < history[0]["loss"]
