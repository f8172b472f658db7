"""One experiment: trains a model on data with settings, and measures it."""

import dataclasses
import math
import os
import pathlib
from collections.abc import Callable, Collection, Sequence
from typing import Any

import keras

from keras_corefmem.callbacks import HParams, Scalars
from keras_corefmem.datasets import Splits
from keras_corefmem.datasets.registry import JSON_LINES
from keras_corefmem.preprocessing import as_text
from keras_corefmem.utils.files import digest_of, replacing, write_json
from keras_corefmem.utils.locks import clear, hold, sweep
from zoo import training
from zoo.configs import configuration
from zoo.experiments import data
from zoo.experiments.folders import check_folder, epochs_done, history_of, name_in, state_folder
from zoo.experiments.outcome import Outcome

# Hyper-parameters that TensorBoard shows for every run, even if the user did not set them.
COMPARED = {"model", "seed", "epochs", "batch_size", "learning_rate", "dropout"}
COMPARED |= {"encoder", "units", "layers", "embedding_dim", "slots", "passes"}
MakeCallbacks = Callable[[keras.Model, Splits, dict[str, Any]], Sequence[keras.callbacks.Callback]]


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One training run: a model, its data and its settings.

    Args:
        model: name of a model of the zoo.
        dataset: name of a data set, or path of a file of JSON lines; `None` for your own data,
            passed as `splits`.
        task: task of the data set.
        seed: random seed.
        data_dir: folder of the data.
        language: language of bAbI.
        changes: fields of `zoo.training.Settings` that differ from the model's defaults.
        word_vectors: whether the model starts from the pretrained vectors in `data_dir`.
        valid: file to validate on if the data set is a file of JSON lines.

    Raises:
        ValueError: if a setting is invalid.

    Example:
        >>> experiment = zoo.experiments.Experiment("qdren", task=2, changes={"epochs": 3})
        >>> experiment.name
        'qdren-simulator-task-02-seed-0'
        >>> experiment.settings.learning_rate
        0.005
    """

    model: str
    dataset: str | None = "simulator"
    task: int | str = 1
    seed: int = 0
    data_dir: str | None = None
    language: str | None = None
    changes: dict[str, Any] = dataclasses.field(default_factory=dict)
    word_vectors: bool = False
    valid: str | None = None
    settings: training.Settings = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        where = self.dataset, self.task
        settings = training.Settings.of(self.model, *where, seed=self.seed, **self.changes)
        object.__setattr__(self, "settings", settings)

    @property
    def name(self) -> str:
        """Readable name of the arguments except `epochs`, so that more epochs continue a run."""
        return self.name_in()

    def name_in(self, folder: str | pathlib.Path | None = None) -> str:
        """Returns the name of the run's folder within the folder of all runs."""
        changes = {k: v for k, v in self.changes.items() if k not in ("arguments", "epochs")}
        changes |= self.changes.get("arguments", {})
        words = self.model, self.dataset, self.task, f"seed-{self.seed}", self.language
        return name_in(folder, *words, values=changes)

    @property
    def record(self) -> dict[str, Any]:
        """Content of `run.json` in the run's folder, with the SHA-256 of files of JSON lines."""
        fields = dataclasses.asdict(self)
        kept = ("dataset", "task", "data_dir", "language", "valid", "seed", "changes")
        record = {"settings" if name == "changes" else name: fields[name] for name in kept}
        record["data_dir"] = self.data_dir and os.path.abspath(self.data_dir)
        if not (self.dataset or "").endswith(JSON_LINES):
            return record
        files = filter(None, (self.dataset, self.valid))
        return {**record, "content": {str(path): digest_of(path) for path in files}}

    def load(self) -> Splits:
        """Loads the data. Raises `ValueError` if the model does not read such data."""
        if self.dataset is None:
            raise ValueError("An experiment without a data set needs its splits.")
        data.check_model(self.model, self.dataset)
        splits = data.load(self.dataset, self.task, self.data_dir, self.language, self.valid)
        return splits.map(as_text) if configuration(self.model).reads == "texts" else splits


def run_experiment(
    experiment: Experiment,
    folder: str | pathlib.Path,
    callbacks: MakeCallbacks | None = None,
    splits: Splits | None = None,
    ignoring: Sequence[str] = ("data_dir",),
    remedy: str = "remove it, or choose another folder",
    report: Callable[[str], None] = lambda line: None,
    verbose: int = 0,
    fresh: bool = False,
    chosen: Collection[str] = (),
) -> Outcome:
    """Trains a model in a folder, or continues an interrupted run with the same result.

    The folder contains `run.json`, a description of the run; `state/`, the state of the training;
    and `model.keras`, the trained model.

    Args:
        experiment: the experiment.
        folder: folder of the run.
        callbacks: function of the model, the data and the batches by part that returns further
            Keras callbacks.
        splits: the data, if already loaded; the test part may be empty.
        ignoring: fields of `run.json` or of its settings, such as `"epochs"`, in which a continued
            run may differ.
        remedy: advice in the error about a folder that contains another run.
        report: function called with a line about each step.
        verbose: verbosity of Keras' `fit`.
        fresh: whether to empty the folder first.
        chosen: names of arguments that the model of a new run must read, as the user chose them.

    Returns:
        The trained model and its progress.

    Raises:
        FileNotFoundError: if files of the data are missing.
        BlockingIOError: if another process writes to the folder.
        ValueError: if the folder contains another run, a setting does not fit the data, or there
            is nothing to validate on.

    Example:
        >>> from keras_corefmem.datasets.stories import simulator
        >>> stories = simulator.load(task=1, train=8, valid=4, test=4)
        >>> experiment = zoo.experiments.Experiment("ngram", changes={"epochs": 1, "buckets": 1})
        >>> outcome = zoo.experiments.run_experiment(experiment, "models/ngram", splits=stories)
        >>> outcome.describe()["questions"]
        {'train': 8, 'valid': 4, 'test': 4}
    """
    folder, settings = pathlib.Path(folder), experiment.settings
    splits = experiment.load() if splits is None else splits
    if not splits.valid:
        raise ValueError("There is no example to choose the best epoch by: pass a validation part.")
    with hold(folder):
        sweep(state_folder(folder), machine="")
        counted = {part: len(getattr(splits, part)) for part in training.PARTS}
        record = {**experiment.record, "questions": counted}
        if not fresh:
            # Studies of version 0.1 recorded all settings.
            check_folder(folder, record, dataclasses.asdict(settings), ignoring, remedy)
        if experiment.dataset:
            shown = {**counted, "train": min(settings.train_size or math.inf, counted["train"])}
            counts = ", ".join(f"{n} {part}" for part, n in shown.items())
            report(f"{folder.name}: {counts} {data.find(experiment.dataset).texts}")
        vectors = data.word_vectors(experiment.data_dir or ".") if experiment.word_vectors else None
        options = {"word_vectors": vectors} if vectors else {}
        model, batches = training.prepare(splits, settings, **options)
        before = 0 if fresh else epochs_done(folder)
        if not before and (unread := sorted(model.unread.intersection(chosen))):
            raise ValueError(
                f"--set {unread[0]}: this {experiment.model} does not read it, so that it would "
                "change nothing: leave it out."
            )
        if fresh:
            clear(folder)
        write_json(folder / "run.json", record)
        if before:
            report(f"Found a run with these arguments, {before} epochs old.")
        else:
            report("Compiling for this machine: the first epoch takes longest.")
        watching = callbacks(model, splits, batches) if callbacks else ()
        progress = training.fit(model, batches, state_folder(folder), settings, watching, verbose)
        if configuration(experiment.model).reads != "texts":
            fitted = batches["valid"]
            if settings.unanswerable is not None:
                examples = training.calibration_examples(splits, settings)
                fitted = training.batch_parts(model, ([], examples, []), settings)["valid"]
            training.calibrate(model, fitted)
        with replacing(folder / "model.keras") as partial:
            model.save(partial)
        return Outcome(model, settings, splits, batches, progress, vectors)


def watch(
    experiment: Experiment,
    model: keras.Model,
    batches: dict[str, Any],
    log_dir: pathlib.Path,
    folder: pathlib.Path,
    shown: Collection[str] | None = None,
) -> list[keras.callbacks.Callback]:
    values = hyper_parameters(experiment, model)
    values = {name: value for name, value in values.items() if shown is None or name in shown}
    hparams = HParams(log_dir, values, history_of(folder))
    return [hparams, Scalars(log_dir, batches["train"].count)]


def hyper_parameters(experiment: Experiment, model: keras.Model) -> dict[str, Any]:
    """Returns the hyper-parameters that are compared by default or were changed by the user."""
    settings = dataclasses.asdict(experiment.settings)
    arguments = settings.pop("arguments")
    values = {name: model.config[name] for name in model.arguments() if name in model.config}
    values |= arguments | settings
    changes = {**experiment.changes, **experiment.changes.get("arguments", {})}
    chosen = {n: value for n, value in values.items() if n in COMPARED or n in changes}
    places = {name: getattr(experiment, name) for name in ("dataset", "task", "language")}
    return places | chosen
