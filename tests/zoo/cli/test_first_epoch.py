import io
import time

import keras
import numpy as np
import pytest
import rich.console

from zoo.cli import first_epoch, train
from zoo.cli.first_epoch import FirstEpoch
from zoo.experiments import Experiment


def test_the_first_epoch_tells_how_far_it_is_and_later_ones_do_not(monkeypatch):
    monkeypatch.setattr(first_epoch, "PULSE", 0.05)
    file, lines = io.StringIO(), []
    console = rich.console.Console(file=file)
    slow = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: time.sleep(0.2),
        on_epoch_end=lambda epoch, logs: lines.append(file.getvalue().splitlines()),
    )
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(loss="mse")
    data = np.zeros((4, 2)), np.zeros((4, 1))
    model.fit(*data, batch_size=2, epochs=2, verbose=0, callbacks=[FirstEpoch(console, 2), slow])
    assert any("  first epoch: 1 of 2 batches, " in line for line in lines[0])
    assert len(lines[1]) <= len(lines[0]) + 1


def test_a_terminal_shows_that_the_model_compiles_until_keras_has_a_bar():
    file = io.StringIO()
    callback = FirstEpoch(rich.console.Console(file=file, force_terminal=True), 2)
    callback.on_train_begin()
    assert callback.status._live.is_started
    callback.on_train_batch_end(0)
    assert not callback.status._live.is_started and "Compiling the model" in file.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_an_interrupted_first_epoch_leaves_no_line_and_no_thread(terminal, tmp_path, monkeypatch):
    made = []

    def interrupt(experiment, folder, callbacks, splits, **options):
        made.append(callbacks(Reader(), splits, {"train": [1, 2]})[0])
        made[0].on_train_begin()
        assert made[0].status._live.is_started if terminal else made[0].thread.is_alive()
        raise KeyboardInterrupt

    class Reader:
        unread = frozenset()

        def tensorboard_callbacks(self, log_dir, examples):
            return []

    console = rich.console.Console(file=io.StringIO(), force_terminal=terminal)
    monkeypatch.setattr("keras_corefmem.visualization.make_console", lambda: console)
    monkeypatch.setattr("zoo.experiments.run_experiment", interrupt)
    monkeypatch.setattr("zoo.experiments.experiment.watch", lambda *arguments: [])
    with pytest.raises(KeyboardInterrupt):
        train.run(Experiment("ngram"), tmp_path, tmp_path, False)
    assert not made[0].thread.is_alive() and not (terminal and made[0].status._live.is_started)
