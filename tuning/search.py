"""A search and its trials."""

import dataclasses
import functools
import json
import math
import pathlib
import shlex
import shutil
from typing import Any, ClassVar

from typing_extensions import TypedDict

from keras_corefmem.datasets import Splits
from keras_corefmem.datasets.registry import find
from keras_corefmem.utils.files import (
    BadFileError,
    different_fields,
    load_json,
    replacing,
    replacing_folder,
    write_json,
)
from keras_corefmem.utils.locks import clear
from keras_corefmem.utils.names import in_natural_order
from tuning.hyper_model import ZooHyperModel
from tuning.spaces import varies
from zoo import training
from zoo.architectures.loading import load
from zoo.experiments import Experiment, run_experiment
from zoo.experiments.experiment import watch
from zoo.experiments.folders import epochs_done, name_in, run_name
from zoo.experiments.outcome import describe_test
from zoo.experiments.results import SEARCHES, SEED, Tested, Trial, best_trial
from zoo.experiments.runs import settings_options

OUTCOME = "outcome.json"
TESTED = "tested.json"
# The file with the error of a failed trial.
ERROR = "error.json"
# The file with the number of times that a trial was started and died without a further epoch.
STARTS = "begun.json"
REMEDY = "start the search again with --fresh."


class _Starts(TypedDict):
    epochs: int
    times: int


class _State(TypedDict):
    """The fields of keras-tuner's `trial.json` that a search reads."""

    trial_id: str
    status: str


@dataclasses.dataclass(frozen=True)
class Search:
    """A search for hyper-parameters, which continues after an interruption.

    Args:
        model: name of a model of the zoo.
        dataset: name of a data set.
        task: task of the data set.
        data_dir: folder of its files.
        language: language of bAbI.
        space: name of a search space or path of a JSON file, see `tuning.spaces.space_of`.
        tuner: name of a tuner in `tuning.tuners.TUNERS`.
        trials: largest number of trials, which may grow later; `None` for the whole grid, and for
            `hyperband`, where it depends on the largest number of epochs.
        seed: seed of the tuner and, unless the space has seeds, of all trials.
        settings: fields of `zoo.training.Settings` of all trials.
        output: folder of the searches.
        log_dir: folder of TensorBoard's runs.

    Example:
        >>> import tuning
        >>> tuning.Search("qdren", "babi", task=5, trials=12).name
        'qdren-babi-task-05-random-seed-0'
    """

    # Number of deaths in a row of processes in a trial, or of one process before a trial ends.
    PATIENCE: ClassVar[int] = 3

    model: str
    dataset: str = "simulator"
    task: int | str = 1
    data_dir: str | None = None
    language: str | None = None
    space: str | None = None
    tuner: str = "random"
    trials: int | None = None
    seed: int = 0
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    output: str = "searches"
    log_dir: str = "tensorboard_logs"

    @functools.cached_property
    def name(self) -> str:
        """Readable name of the model, the data, the space, the tuner and the seed."""
        space = pathlib.Path(self.space).stem if self.space else None
        words = self.language, space, self.tuner, f"seed-{self.seed}"
        return name_in(self.output, self.model, self.dataset, self.task, *words)

    @property
    def command(self) -> str:
        words = ["corefmem", "search", "--model", self.model, "--dataset", self.dataset]
        words += ["--task", str(self.task)]
        for name in ("language", "space", "tuner", "trials", "seed"):
            value = getattr(self, name)
            words += [f"--{name}", str(value)] if value is not None else []
        known = find(self.dataset)
        if known.files and not known.download:
            words += ["--data-dir", "DIR"]
        return shlex.join(words + settings_options(self.settings))

    @property
    def folder(self) -> pathlib.Path:
        return pathlib.Path(self.output, self.name)

    @property
    def log_folder(self) -> pathlib.Path:
        return pathlib.Path(self.log_dir, self.name)

    @functools.cached_property
    def hyper_model(self) -> ZooHyperModel:
        settings = {"seed": self.seed, **self.settings}
        return ZooHyperModel(self.model, None, self.space, self.dataset, **settings)

    @property
    def varied(self) -> list[str]:
        """Names of the hyper-parameters that may differ between trials."""
        entries = self.hyper_model.entries
        varied = [name for name, entry in entries.items() if varies(entry)]
        if self.tuner == "hyperband":
            varied.append("epochs")
        # Without hyper-parameters, TensorBoard would not show a table of trials.
        return varied or list(entries)

    @functools.cached_property
    def splits(self) -> Splits:
        """The data, of which trials do not use the test part."""
        return self.experiment({}).load()

    def experiment(self, values: dict[str, Any]) -> Experiment:
        """Returns the experiment of a trial from the values of keras-tuner."""
        places = {name: getattr(self, name) for name in ("task", "data_dir", "language")}
        return dataclasses.replace(self.hyper_model.experiment(values), **places)

    def start(self, fresh: bool = False) -> None:
        """Makes the folder, and records the search in it.

        Args:
            fresh: whether to empty the folder first.

        Raises:
            FileNotFoundError: if the data do not exist.
            ValueError: if the folder contains another search, or an argument is invalid, or no
                trial would read it.
        """
        # Finds errors here that all trials would have.
        experiment = self.experiment({})
        train, *_ = training.draw_parts(self.splits, experiment.settings)
        entries = self.hyper_model.entries
        record = {"space": entries, "trials": self.trials, "settings": self.settings}
        # Older searches did not record these.
        data = {
            "questions": {part: len(getattr(self.splits, part)) for part in training.PARTS},
            "content": sorted(experiment.record.get("content", {}).values()),
        }
        note = self.folder / "search.json"
        if fresh or not note.exists():
            self.hyper_model.check_read(train)
        if fresh:
            for old in (self.folder, self.log_folder):
                clear(old)

        def comparable(content: dict[str, Any]) -> dict[str, Any]:
            # A search may go on with more trials.
            most = max(content.get("trials") or math.inf, self.trials or math.inf)
            return data | content | {"trials": most}

        different = different_fields(note, record | data, comparable, REMEDY)
        if different:
            raise ValueError(
                f"{self.folder} holds a search with another {', '.join(different)}: pass --fresh "
                "to replace it, or another --output, --log-dir and --results."
            )
        write_json(note, record | data)

    def trial_folder(self, trial: str) -> pathlib.Path:
        return self.folder / f"trial_{trial}"

    def outcome(self, trial: str) -> dict[str, Any] | None:
        """Returns the outcome of a trial, or `None` if it has none yet."""
        path = self.trial_folder(trial) / OUTCOME
        content = load_json(path, remedy=REMEDY, kind=Trial) if path.exists() else None
        if content and (other := content["trial"]) != trial:
            raise BadFileError(f"{path}: trial: it is of {other!r:.80}, not {trial!r}; {REMEDY}")
        return content

    def count_start(self, trial: str) -> None:
        """Records that this process starts or continues a trial, see `clear_starts`.

        Raises:
            ChildProcessError: if too many processes have died in it without a further epoch.
        """
        folder = self.trial_folder(trial)
        now = {"epochs": epochs_done(folder), "times": 1}
        if (folder / STARTS).exists():
            before = load_json(folder / STARTS, remedy=REMEDY, kind=_Starts)
            now["times"] += before["times"] if before["epochs"] == now["epochs"] else 0
        if now["times"] > self.PATIENCE:
            raise ChildProcessError(
                f"{self.PATIENCE} processes died in this trial, all after {now['epochs']} epochs: "
                "does it need more memory than there is? The same command tries it again."
            )
        write_json(folder / STARTS, now)

    def clear_starts(self, trial: str) -> None:
        """Records that a trial did not die: it has ended, or was stopped on purpose."""
        (self.trial_folder(trial) / STARTS).unlink(missing_ok=True)

    def run_trial(self, trial: str, values: dict[str, Any]) -> dict[str, Any]:
        """Runs a trial, or continues an interrupted one, and returns its outcome."""
        known = self.outcome(trial)
        if known:
            return known
        experiment, folder = self.experiment(values), self.trial_folder(trial)
        chosen, state = self.hyper_model.chosen(values), folder / "state"
        if values.get("tuner/trial_id") and not state.exists():
            with replacing(state) as partial:
                shutil.copytree(self.trial_folder(values["tuner/trial_id"]) / "state", partial)
        log_dir = self.log_folder / trial_name(trial, chosen)
        outcome = run_experiment(
            experiment,
            folder,
            lambda model, _, batches: watch(
                experiment, model, batches, log_dir, folder, self.varied
            ),
            Splits(self.splits.train, self.splits.valid, []),
        )
        content = {
            "study": f"{SEARCHES}/{self.name}",
            **{name: getattr(self, name) for name in ("model", "dataset", "task")},
            "seed": experiment.seed,
            "trial": trial,
            "chosen": chosen,
            "command": self.command,
            **outcome.describe(),
        }
        write_json(folder / OUTCOME, content)
        return content

    def outcomes(self) -> list[dict[str, Any]]:
        """Returns the outcomes of complete trials, in order."""
        return [content for content in map(self.outcome, self.started_trials()) if content]

    def started_trials(self) -> list[str]:
        trials = (f.name.removeprefix("trial_") for f in self.folder.glob("trial_*"))
        return in_natural_order(trials)

    def finished_trials(self) -> list[str]:
        started = ((n, self.trial_folder(n)) for n in self.started_trials())
        return [n for n, f in started if (f / OUTCOME).exists() or (f / ERROR).exists()]

    def under_way(self) -> dict[str, int]:
        """Returns the number of complete epochs of each unfinished trial, if it has any."""
        ended = set(self.finished_trials())
        begun = [n for n in self.started_trials() if n not in ended]
        epochs = {n: epochs_done(self.trial_folder(n)) for n in begun}
        return {n: count for n, count in epochs.items() if count}

    def failures(self) -> dict[str, str]:
        """Returns the last line of the error of each failed trial, by the trial's number."""
        failed = {}
        states = (self.trial_folder(trial) / "trial.json" for trial in self.started_trials())
        for path in filter(pathlib.Path.exists, states):
            content = load_json(path, remedy=REMEDY, kind=_State)
            if content["status"] != "COMPLETED":
                error = path.with_name(ERROR)
                message = load_json(error, kind=str) if error.exists() else content["status"]
                failed[content["trial_id"]] = (message.strip().splitlines() or [""])[-1]
        return failed

    def test_winner(self) -> dict[str, Any]:
        """Tests the best trial by validation, unless already done, and returns its outcome."""
        winner = best_trial(self.outcomes())
        path = self.trial_folder(winner["trial"]) / TESTED
        if not path.exists():
            model = load(self.trial_folder(winner["trial"]) / "model.keras")
            settings = self.experiment(winner["chosen"]).settings
            batches = training.batch_parts(model, ([], [], self.splits.test), settings)
            tested = describe_test(model, batches["test"], self.splits.test)
            write_json(path, {**winner, **tested})
        return load_json(path, remedy=REMEDY, kind=Tested)

    def keep_model(self, winner: dict[str, Any]) -> pathlib.Path:
        """Copies the model of the best trial, and the record of its run, to the folder `best`."""
        with replacing_folder(best := self.folder / "best") as partial:
            for name in ("run.json", "model.keras"):
                shutil.copy(self.trial_folder(winner["trial"]) / name, partial)
        return best / "model.keras"

    def describe_best(self, winner: dict[str, Any]) -> dict[str, Any]:
        """Returns the content of `best.json`: a model, its data, its settings and its scores."""
        chosen = {**winner["chosen"]}
        seed = chosen.pop(SEED, self.seed)
        if self.tuner == "hyperband":
            chosen["epochs"] = winner["settings"]["epochs"]
        names = ("model", "dataset", "task", "language")
        scores = ("trial", "valid_accuracy", "test_accuracy")
        return {
            **{name: getattr(self, name) for name in names},
            "seed": seed,
            "settings": training.merge_settings(self.settings, training.split_settings(chosen)),
            "search": self.name,
            **{name: winner[name] for name in scores},
        }


def trial_name(trial: str, values: dict[str, Any]) -> str:
    short = {n: f"{v:.3g}" if isinstance(v, float) else json.dumps(v) for n, v in values.items()}
    return run_name("trial", trial, values=short)
