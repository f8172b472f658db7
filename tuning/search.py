"""One search: what its trials are, and how each is run."""

import dataclasses
import functools
import json
import pathlib
import shlex
import shutil

from keras_corefmem.callbacks import HParams, Scalars
from keras_corefmem.datasets import Splits
from keras_corefmem.utils.files import as_name, different_fields, load_json, replacing, write_json
from tuning.spaces import space_of
from tuning.workers import PATIENCE
from zoo.cli.train import hyper_parameters
from zoo.experiments import data
from zoo.experiments.outcome import describe_test, describe_training
from zoo.experiments.reproduce import epochs_done
from zoo.experiments.results import best
from zoo.reports.searches import SEARCHES
from zoo.training import fitting as training

OUTCOME = "outcome.json"
# Why a trial failed.
ERROR = "error.json"
# How often processes began a trial that they neither ended nor brought further.
BEGUN = "begun.json"


@dataclasses.dataclass(frozen=True)
class Search:
    """A search for hyper-parameters.

    Args:
        model: name of a model of the zoo.
        dataset: name of a data set.
        task: its task.
        data_dir: folder of its files.
        language: language of bAbI.
        space: name of a search space or path of a JSON file, see `space_of`.
        tuner: one of `tuning.tuners.TUNERS`.
        trials: largest number of trials; `None` for the whole grid, and for `hyperband`, where it
            depends on the largest number of epochs.
        seed: seed of the tuner and of every trial.
        settings: fields of `zoo.training.Settings` of all trials.
        output: folder of the searches.
        log_dir: folder of TensorBoard's runs.
    """

    model: str
    dataset: str = "simulator"
    task: int | str = 1
    data_dir: str | None = None
    language: str | None = None
    space: str | None = None
    tuner: str = "random"
    trials: int | None = None
    seed: int = 0
    settings: dict = dataclasses.field(default_factory=dict)
    output: str = "searches"
    log_dir: str = "tensorboard_logs"

    @property
    def name(self):
        """A readable name, the same for the same arguments but those that say how."""
        task = f"task-{self.task:02}" if isinstance(self.task, int) else self.task
        space = pathlib.Path(self.space).stem if self.space else ""
        parts = self.model, self.dataset, task, self.language, space, self.tuner
        return "-".join([*filter(None, parts), f"seed-{self.seed}"])

    @property
    def command(self):
        """The command line that repeats the search."""
        words = ["corefmem", "search", "--model", self.model, "--dataset", self.dataset]
        words += ["--task", str(self.task)]
        for name in ("language", "space", "tuner", "trials", "seed"):
            value = getattr(self, name)
            words += [f"--{name}", str(value)] if value is not None else []
        for name, value in self.settings.items():
            words += ["--set", f"{name}={json.dumps(value)}"]
        return shlex.join(words)

    @property
    def folder(self):
        return pathlib.Path(self.output, self.name)

    @functools.cached_property
    def hyper_model(self):
        """The model whose hyper-parameters are searched."""
        from tuning.hyper_model import ZooHyperModel

        entries = space_of(self.model, self.space)
        return ZooHyperModel(
            self.model, None, entries, self.dataset, seed=self.seed, **self.settings
        )

    @functools.cached_property
    def splits(self):
        """The data; trials see nothing of its test part."""
        return data.load(self.dataset, self.task, self.data_dir, self.language)

    def start(self, fresh=False):
        """Makes the folder, and notes there what is searched.

        Args:
            fresh: whether to remove what is there.

        Raises:
            FileNotFoundError: if there is no such data.
            ValueError: if the folder holds another search, or an argument is wrong.
        """
        data.check_model(self.model, self.dataset)
        # What is wrong with it would be wrong in every trial.
        training.draw_parts(self.splits, self.hyper_model.settings_of({}))
        record = {
            "space": self.hyper_model.entries,
            **{name: getattr(self, name) for name in ("trials", "settings")},
        }
        if fresh:
            for old in (self.folder, pathlib.Path(self.log_dir, self.name)):
                shutil.rmtree(old, ignore_errors=True)
        different = different_fields(self.folder / "search.json", record)
        if different:
            raise ValueError(
                f"{self.folder} holds a search with another {', '.join(different)}: pass --fresh "
                "to replace it, or another --output, --log-dir and --results."
            )
        write_json(self.folder / "search.json", record)

    def trial_folder(self, trial):
        return self.folder / f"trial_{trial}"

    def outcome(self, trial):
        """The outcome of a trial, `None` where it has none yet."""
        path = self.trial_folder(trial) / OUTCOME
        return load_json(path) if path.exists() else None

    def begin(self, trial):
        """Notes that this process begins a trial, or goes on with it; `leave` takes that back.

        Raises:
            ChildProcessError: if as many as `PATIENCE` began it before and died, one after the
                other, in the same epoch.
        """
        folder = self.trial_folder(trial)
        now = {"epochs": epochs_done(folder / "state"), "times": 1}
        if (folder / BEGUN).exists():
            before = load_json(folder / BEGUN)
            now["times"] += before["times"] if before["epochs"] == now["epochs"] else 0
        if now["times"] > PATIENCE:
            raise ChildProcessError(
                f"{PATIENCE} processes died in this trial, all after {now['epochs']} epochs: does "
                "it need more memory than there is? The same command tries it again."
            )
        write_json(folder / BEGUN, now)

    def leave(self, trial):
        """Notes that no process has died in a trial: it has ended, or was stopped on purpose."""
        (self.trial_folder(trial) / BEGUN).unlink(missing_ok=True)

    def run_trial(self, trial, chosen):
        """Trains a model, or goes on where an interrupted trial stopped.

        Args:
            trial: number of the trial, a string.
            chosen: values by hyper-parameter, as keras-tuner holds them; of Hyperband also how many
                epochs, and which trial to continue.

        Returns:
            The outcome, which is in the trial's folder too.
        """
        found = self.outcome(trial)
        if found:
            return found
        settings, folder = self.hyper_model.settings_of(chosen), self.trial_folder(trial)
        values = self.hyper_model.chosen(chosen)
        if "tuner/epochs" in chosen:
            settings = dataclasses.replace(settings, epochs=chosen["tuner/epochs"])
        state = folder / "state"
        if chosen.get("tuner/trial_id") and not state.exists():
            with replacing(state) as partial:
                shutil.copytree(self.trial_folder(chosen["tuner/trial_id"]) / "state", partial)
        seen = Splits(self.splits.train, self.splits.valid, [])
        model, batches = training.prepare(seen, settings)
        logs = pathlib.Path(self.log_dir, self.name, trial_name(trial, values))
        record = {name: getattr(self, name) for name in ("dataset", "task", "language")}
        shown = hyper_parameters(model, settings, record)
        watching = [HParams(logs, shown), Scalars(logs, batches["train"].count)]
        progress = training.fit(model, batches, state, settings, watching)
        with replacing(folder / "model.keras") as partial:
            model.save(partial)
        content = {
            "study": f"{SEARCHES}/{self.name}",
            "model": self.model,
            "dataset": self.dataset,
            "task": self.task,
            "seed": self.seed,
            "trial": trial,
            "chosen": values,
            "command": self.command,
            **describe_training(model, settings, batches, progress),
        }
        write_json(folder / OUTCOME, content)
        return content

    def outcomes(self):
        """Outcomes of the trials that are complete, in their order."""
        return [content for content in map(self.outcome, self.begun()) if content]

    def begun(self):
        """Numbers of the trials that have a folder, in their order."""
        return [f.name.removeprefix("trial_") for f in sorted(self.folder.glob("trial_*"))]

    def ended(self):
        """Numbers of the trials that are complete or failed, in their order."""
        names = OUTCOME, ERROR
        return [n for n in self.begun() if any((self.trial_folder(n) / f).exists() for f in names)]

    def under_way(self):
        """Epochs that each trial has behind it which has begun and not ended, by its number."""
        ended = set(self.ended())
        epochs = {n: epochs_done(self.trial_folder(n) / "state") for n in self.begun()}
        return {n: count for n, count in epochs.items() if count and n not in ended}

    def test_winner(self):
        """The outcome of the best trial by validation, with what the test part says of it.

        The test part is read once: what is known of it stays in the trial's folder.
        """
        import zoo

        winner = best(self.outcomes())
        path = self.trial_folder(winner["trial"]) / "tested.json"
        if not path.exists():
            model = zoo.load(self.trial_folder(winner["trial"]) / "model.keras")
            settings = self.hyper_model.settings_of(winner["chosen"])
            batches = training.batch_parts(model, ([], [], self.splits.test), settings)
            tested = describe_test(model, batches["test"], self.splits.test)
            write_json(path, {**winner, **tested})
        return load_json(path)


def trial_name(trial, values):
    """A readable name: `trial-03-dropout-0.5-slots-30`."""
    words = [f"trial-{trial}"]
    for name, value in sorted(values.items()):
        text = f"{value:.3g}" if isinstance(value, float) else json.dumps(value)
        words.append(f"{name}-{as_name(text)}")
    return "-".join(words)
