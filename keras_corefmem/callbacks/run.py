"""A run as a whole: its curves and its hyper-parameters."""

import json
import math
import pathlib
import time

import keras
import numpy as np

from keras_corefmem.callbacks.events import EventFile
from keras_corefmem.optimizers import MeasuresGradients

PROBABILITY = "epoch_probability"
# Charts of the tab Custom Scalars: title and end of the tags.
CHARTS = (
    ("Accuracy", "epoch_accuracy"),
    ("Loss", "epoch_loss"),
    ("Probability of the right answer, exp(-loss)", PROBABILITY),
    ("Gradient norm before clipping", "/gradient_norm"),
    ("Learning rate", "/learning_rate"),
    ("Training examples per second", "/examples_per_second"),
    ("Attention mass on targets", "_attention_mass"),
    ("Losses of supervised heads", "_loss"),
)


class Scalars(keras.callbacks.Callback):
    """Writes loss, metrics, learning rate, gradient norm and speed of every epoch.

    The runs `train` and `validation` have the tags of `keras.callbacks.TensorBoard`, such as
    `epoch_loss`, followed by `training/learning_rate` and, with the optimizers of
    `keras_corefmem.optimizers`, `training/gradient_norm`. `epoch_probability` of validation is
    exp(-loss): if the loss is the cross-entropy of answers, it is the geometric mean of the
    probabilities of the right answers (Figure 3 of
    [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620)). Metrics that are arrays are left out.
    The tab Custom Scalars has all charts side by side.

    Args:
        log_dir: folder of the run.
        examples: number of training examples; adds `training/examples_per_second`.

    Example:
        >>> callbacks = [keras_corefmem.callbacks.Scalars("logs/run", examples=1000)]
    """

    def __init__(self, log_dir, examples=None):
        super().__init__()
        self.run = EventFile(log_dir)
        parts = (pathlib.Path(log_dir) / part for part in ("train", "validation"))
        self.train, self.validation = map(EventFile, parts)
        self.examples, self.has_charts = examples, False

    @property
    def optimizer(self):
        """The optimizer that gets the gradients, which another one wraps in half precision."""
        return getattr(self.model.optimizer, "inner_optimizer", self.model.optimizer)

    def on_epoch_begin(self, epoch, logs=None):
        if isinstance(self.optimizer, MeasuresGradients):
            self.optimizer.reset_gradient_norm()
        self.started = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        # Validation does not count.
        self.seconds = time.perf_counter() - self.started

    def on_epoch_end(self, epoch, logs=None):
        train, validation = {}, {}
        for name, value in (logs or {}).items():
            if np.ndim(value):
                continue
            part = validation if name.startswith("val_") else train
            part[f"epoch_{name.removeprefix('val_')}"] = float(value)
        if "epoch_loss" in validation:
            validation[PROBABILITY] = float(np.exp(-validation["epoch_loss"]))
        train["training/learning_rate"] = float(self.model.optimizer.learning_rate)
        norm = getattr(self.optimizer, "gradient_norm", None)
        if norm is not None:
            train["training/gradient_norm"] = norm
        if self.examples:
            train["training/examples_per_second"] = self.examples / self.seconds
        self.train.scalars(epoch, train)
        if validation:
            self.validation.scalars(epoch, validation)
        if not self.has_charts:
            self.run.charts("Learning", _charts_of([*train, *validation.keys() - train.keys()]))
            self.has_charts = True


def _charts_of(tags):
    """Groups tags by the title of their chart, the first of `CHARTS` that takes them."""
    charts = {}
    for tag in tags:
        title = next((title for title, end in CHARTS if tag.endswith(end)), None)
        charts.setdefault(title, []).append(tag)
    return {title: charts[title] for title, _ in CHARTS if title in charts}


class HParams(keras.callbacks.Callback):
    """Writes the hyper-parameters of a run as a row of TensorBoard's tab HParams.

    Runs below one folder share the table, whatever their hyper-parameters are; its metrics are the
    scalars that runs write. The run `best` below `log_dir` has `epoch_accuracy` and `epoch_loss` of
    the epoch with the highest validation accuracy and, in a tie, the lowest loss; the table opens
    with these metrics. Other metrics are those of the last epoch. An interrupted run has no end.

    Args:
        log_dir: folder of the run.
        values: hyper-parameters by name: strings, numbers and booleans; others are shown as JSON
            and `None` not at all.
        history: logs of the previous epochs, if a run continues.

    Example:
        >>> callbacks = [keras_corefmem.callbacks.HParams("logs/run", {"units": 64})]
    """

    def __init__(self, log_dir, values, history=()):
        super().__init__()
        self.events, self.history = EventFile(log_dir), list(history)
        # TensorBoard's table opens with the first five metrics by name, then by group.
        self.best = EventFile(pathlib.Path(log_dir) / "best")
        self.values = {name: _shown(value) for name, value in values.items() if value is not None}

    def on_train_begin(self, logs=None):
        self.events.session_start(self.values)

    def on_epoch_end(self, epoch, logs=None):
        self.history.append(logs or {})
        best = max(self.history, key=_validation_rank)
        names = (name for name in ("accuracy", "loss") if f"val_{name}" in best)
        values = {f"epoch_{name}": float(best[f"val_{name}"]) for name in names}
        if values:
            self.best.scalars(epoch, values)

    def on_train_end(self, logs=None):
        self.events.session_end()


def _validation_rank(logs):
    """Returns a sort key that is greater for better epochs: validation accuracy, then loss."""
    loss = logs.get("val_loss", 0.0)
    # NaN compares with no number: the first of two epochs would always win.
    return logs.get("val_accuracy", 0.0), -math.inf if math.isnan(loss) else -loss


def _shown(value):
    """Returns a string, number or boolean, also of NumPy, as Python's; other values as JSON."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float) else json.dumps(value, default=str)
