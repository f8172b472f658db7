"""Progress of a run: the best epoch, when to stop, and how to continue."""

import pathlib
import time
from typing import Any

import keras

from keras_corefmem.utils.files import BadFileError, digest_of, naming_damage, replacing, write_json
from keras_corefmem.utils.locks import check_room, naming_full
from zoo.training.evaluation import evaluate
from zoo.training.state import REMEDY, rank, read_state

# Bytes that a file of weights holds beside the weights.
MARGIN = 2**20


def _random_state(model: Any) -> list:
    """Returns the variables that files of weights lack: the states of random number generators."""
    weights = {id(variable) for variable in model.weights}
    return [variable for variable in model.variables if id(variable) not in weights]


class Progress(keras.callbacks.Callback):
    """Keeps the best weights, and the state to continue from after an interruption.

    If the optimizer averages weights, the averages are validated, saved as the best weights and
    seen by the callbacks after this one, while training continues from the weights themselves.

    Validation uses `predict`, as testing does, so XLA compiles one function less than with Keras'
    `evaluate`. The best epoch has the highest validation accuracy, then the lowest loss. Training
    stops after `patience` epochs without a better one. Unless augmentation changes the examples
    every epoch, it also stops after a quarter of `patience` once the training accuracy is 99.5%,
    and when three epochs in a row answered all validation questions.

    Args:
        batches: `Batches` by part, of which `train` and `valid` are used.
        folder: folder of the state.
        patience: epochs without improvement after which training stops.
        warm_up: number of first epochs that do not count towards `patience`.
        averages: whether the optimizer averages weights.

    Example:
        >>> progress = zoo.training.Progress({}, "run", patience=2)
        >>> progress.history = [{"accuracy": 0.2, "val_accuracy": 0.3, "val_loss": 1.0}] * 3
        >>> progress.best_epoch, progress.finished
        (0, True)
    """

    def __init__(
        self,
        batches: dict[str, Any],
        folder: str | pathlib.Path,
        patience: int,
        warm_up: int = 0,
        averages: bool = False,
    ) -> None:
        super().__init__()
        self.batches, self.folder, self.patience = batches, pathlib.Path(folder), patience
        self.warm_up, self.averages = warm_up, averages
        self.history: list[dict[str, float]] = []
        self.seconds = {"seconds": 0.0, "cpu_seconds": 0.0}
        self.trained: list | None = None
        self.file_size = 0
        # SHA-256 of the files of weights, by their names.
        self.digests: dict[str, str] = {}
        # Whether the callbacks have seen the end of the run.
        self.ended = False

    @property
    def best_epoch(self) -> int:
        """Index of the best epoch so far, -1 before the first."""
        ranks = [rank(logs["val_accuracy"], logs["val_loss"]) for logs in self.history]
        return max(range(len(ranks)), key=ranks.__getitem__, default=-1)

    @property
    def finished(self) -> bool:
        """Whether training has ended."""
        stale = len(self.history) - max(self.best_epoch + 1, self.warm_up)
        if getattr(self.batches.get("train"), "augment", ()):
            # Augmentation always leaves something to learn.
            return stale >= self.patience
        solved = [logs["val_accuracy"] == 1 for logs in self.history[-3:]]
        learned = bool(self.history) and self.history[-1]["accuracy"] >= 0.995
        patience = self.patience / 4 if learned else self.patience
        return len(solved) == 3 and all(solved) or stale >= patience

    def weights_file(self, name: str) -> pathlib.Path:
        """Returns the path of the weights `best` or `epoch-N`."""
        return self.folder / f"{name}.weights.h5"

    def restore(self, model: Any) -> int:
        """Loads the state of an interrupted run and returns the epoch to start with."""
        self.folder.mkdir(parents=True, exist_ok=True)
        state = self.folder / "state.json"
        if state.exists():
            content: dict[str, Any] = {**read_state(state)}
            self.history = content["history"]
            self.seconds = {name: content.get(name, 0.0) for name in self.seconds}
            # Older states lack these.
            self.ended, self.digests = content.get("ended", True), content.get("sha256", {})
            with naming_damage(state, REMEDY):
                name = content["weights"]
            self.load(model, name)
            with naming_damage(state, REMEDY):
                for variable, value in zip(_random_state(model), content["random"], strict=True):
                    variable.assign(value)
        last = self.weights_file(f"epoch-{len(self.history) - 1}")
        for left in self.folder.glob("epoch-*.weights.h5"):
            if left != last:
                left.unlink()
        return len(self.history)

    def load(self, model: Any, name: str) -> None:
        """Loads the weights `best` or `epoch-N`.

        Raises:
            BadFileError: if they are damaged, or belong to another model.
        """
        path = self.weights_file(name)
        with naming_damage(path, REMEDY):
            if name in self.digests and digest_of(path) != self.digests[name]:
                raise BadFileError(f"{path} does not have the SHA-256 in state.json; {REMEDY}")
            model.load_weights(path)

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        if self.trained is not None:
            self.model.set_weights(self.trained)
        self.batches["train"].start_epoch(epoch)
        self.started = _clocks()

    def on_train_begin(self, logs: dict | None = None) -> None:
        # Float32 weights and two moments each; room for the last, the best and a new file.
        self.file_size = 4 * 3 * self.model.count_params() + MARGIN
        check_room(self.folder, 3 * self.file_size, self.file_size)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        saved = self.weights_file(f"epoch-{epoch}")
        self._save_weights(saved)
        if self.averages:
            self.trained = self.model.get_weights()
            self.model.optimizer.finalize_variable_values(self.model.trainable_variables)
        score = evaluate(self.model, self.batches["valid"])
        # Later callbacks see the scores too.
        logs = {} if logs is None else logs
        logs.update({f"val_{name}": score[name] for name in ("accuracy", "loss")})
        self.history.append({name: float(value) for name, value in logs.items()})
        for name, now in _clocks().items():
            self.seconds[name] += now - self.started[name]
        if self.best_epoch == epoch:
            with replacing(self.weights_file("best")) as partial:
                self._save_weights(partial)
        self.model.stop_training = self.model.stop_training or self.finished

    def keep(self, model: Any, ended: bool = False) -> None:
        """Saves the state of a complete epoch, after all callbacks have run.

        Args:
            model: the model.
            ended: whether the run is complete too.
        """
        epoch, self.ended = len(self.history) - 1, ended
        names = f"epoch-{epoch}", "best"
        self.digests = {name: digest_of(self.weights_file(name)) for name in names}
        content = {
            "weights": f"epoch-{epoch}",
            "random": [keras.ops.convert_to_numpy(v).tolist() for v in _random_state(model)],
            "history": self.history,
            "sha256": self.digests,
            **self.seconds,
            "ended": ended,
        }
        write_json(self.folder / "state.json", content)
        self.weights_file(f"epoch-{epoch - 1}").unlink(missing_ok=True)

    def _save_weights(self, path: pathlib.Path) -> None:
        """Saves weights after a check of the disk space, since HDF5 crashes on a full disk."""
        check_room(path.parent, self.file_size, self.file_size)
        with naming_full(path):
            self.model.save_weights(path)
        self.file_size = path.stat().st_size + MARGIN


def _clocks() -> dict[str, float]:
    """Returns the wall time, and the CPU time of all cores, which other processes do not affect."""
    return {"seconds": time.perf_counter(), "cpu_seconds": time.process_time()}
