"""The outcome of an experiment, and its description in results."""

import dataclasses
import importlib.metadata
import pathlib
import platform
from collections.abc import Sequence
from typing import Any

import keras

import keras_corefmem
from keras_corefmem.datasets import Splits
from keras_corefmem.datasets.example import count_kinds
from keras_corefmem.text.tokenizers import lower
from zoo import training
from zoo.experiments.attention_mass import measure_attention_mass

PACKAGES = ("keras", "tensorflow", "jax", "numpy")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A trained model and its training.

    Args:
        model: the model, with the weights of its best epoch.
        settings: settings of the training.
        splits: the data.
        batches: `Batches` by part of the data.
        progress: `history`, `best_epoch` and `seconds` of the training.
        vectors: the file of pretrained vectors that it started from, if any.
    """

    model: keras.Model
    settings: training.Settings
    splits: Splits
    batches: dict[str, Any]
    progress: training.Progress
    vectors: pathlib.Path | None = None

    @property
    def best(self) -> dict[str, float]:
        """Accuracies and losses of the best epoch."""
        return self.progress.history[self.progress.best_epoch]

    def describe(self) -> dict[str, Any]:
        """Returns the record of the training and, if there is a test part, of the test scores."""
        content = {
            "settings": dataclasses.asdict(self.settings),
            "head": self.model.config.get("answer_head", "classification"),
            "parameters": self.model.count_params(),
            "questions": {part: batches.count for part, batches in self.batches.items()},
            "epochs": len(self.progress.history),
            "best_epoch": self.progress.best_epoch + 1,
            "valid_accuracy": self.best["val_accuracy"],
            "valid_loss": self.best["val_loss"],
            "valid_losses": [round(logs["val_loss"], 4) for logs in self.progress.history],
            **{name: round(seconds, 1) for name, seconds in self.progress.seconds.items()},
            "temperature": round(self.model.temperature, 4),
            "backend": keras.backend.backend(),
            "package": keras_corefmem.__version__,
            "versions": versions(),
            "python": platform.python_version(),
        }
        if self.vectors:
            coverage = str(self.model.coverage)
            content["word_vectors"] = {"file": self.vectors.name, "coverage": coverage}
        if "test" in self.batches:
            content |= describe_test(self.model, self.batches["test"], self.splits.test)
        return content


def describe_test(model: keras.Model, batches: Any, examples: Sequence[Any]) -> dict[str, Any]:
    test = training.evaluate(model, batches, texts=True)
    scores = ("accuracy", "wrong", "predicted", "calibration_error")
    content = {f"test_{name}": test[name] for name in scores}
    content |= _describe_kinds(examples, test["wrong"])
    if model.config.get("self_attention", "none") != "none":
        content["attention_mass"] = measure_attention_mass(model, examples)
    if model.config.get("edge_attention"):
        shares = model.edge_shares(batches)
        content["edge_attention"] = {"shares": shares.shares, "even": shares.even}
    return content


def _describe_kinds(examples: Sequence[Any], wrong: list[int]) -> dict[str, Any]:
    """Counts answers of the model and of baselines by kind of question."""
    kinds = count_kinds(examples, wrong)
    content: dict[str, Any] = {"test_kinds": kinds} if kinds else {}
    guesses = [getattr(example, "guesses", {}) for example in examples]
    names = dict.fromkeys(name for each in guesses for name in each)
    baselines = {}
    for name in names:
        pairs = zip(examples, guesses, strict=True)
        missed = [n for n, (e, made) in enumerate(pairs) if made.get(name) != lower(e.answer)]
        baselines[name] = {"wrong": len(missed), "kinds": count_kinds(examples, missed)}
    return {**content, "baselines": baselines} if baselines else content


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Returns the versions of installed packages that results depend on."""
    installed = {d.name.lower(): d.version for d in importlib.metadata.distributions()}
    return {name: installed[name] for name in packages if name in installed}
