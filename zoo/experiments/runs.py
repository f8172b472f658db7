"""The runs of a study, their names and their commands."""

import dataclasses
import itertools
import json
import pathlib
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from keras_corefmem.utils.files import as_name, parse_json
from zoo.configs import configuration
from zoo.configs.configurations import models as known_models
from zoo.configs.renamed import rename
from zoo.experiments import data
from zoo.experiments.folders import run_name
from zoo.experiments.results import Result, identity_of
from zoo.experiments.studies import STUDIES, study_named
from zoo.training.settings import Settings, merge_settings

if TYPE_CHECKING:
    from zoo.experiments.experiment import Experiment

# The tasks of bAbI that take longest, which are run first.
LONGEST = (3, 5, 2, 8, 7)


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a study.

    Args:
        study: name of the study.
        model: name of the model.
        task: name of a task of the study; the number of a bAbI task.
        seed: random seed.
        data_dir: folder of the data set; `None` for that of `corefmem download`.
        settings: fields of `zoo.training.Settings` that differ from those of the study.
        tag: name of these settings, part of the run's name.

    Example:
        >>> zoo.experiments.Run("babi-1k", "qdren", task=3, seed=1, tag="small").name
        'qdren-small-task-03-seed-1'
    """

    study: str
    model: str
    task: int | str
    seed: int
    data_dir: str | None = None
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    tag: str = ""

    @property
    def name(self) -> str:
        """Name of the result and of the folder."""
        return run_name(self.model, self.tag, self.task, f"seed-{self.seed}")

    @property
    def experiment(self) -> "Experiment":
        """The experiment, whose settings come from the study, its task and this run."""
        # Not at the top: workers choose their cores before Keras is imported.
        from zoo.experiments.experiment import Experiment

        study = STUDIES[self.study]
        where = study.dataset, study.tasks[self.task].data, self.seed
        place = self.data_dir, study.language_of(self.task)
        return Experiment(self.model, *where, *place, self.changes, self.word_vectors)

    @property
    def changes(self) -> dict[str, Any]:
        """Fields of `Settings` of the study, overridden by its task, then by this run."""
        study = STUDIES[self.study]
        task = study.tasks[self.task]
        changes: dict[str, Any] = {**study.settings_of(self.model)}
        for more in ({**task.settings}, {"arguments": task.arguments}, self.settings):
            changes = merge_settings(changes, more)
        return {"arguments": {}, **changes}

    @property
    def word_vectors(self) -> bool:
        """Whether the study or its model starts from the pretrained vectors in `data_dir`."""
        study, known = STUDIES[self.study], configuration(self.model)
        own = known.datasets.get(study.dataset, {}).get("word_vectors", known.word_vectors)
        return study.word_vectors or own

    def folder(self, runs: str | pathlib.Path) -> pathlib.Path:
        return pathlib.Path(runs) / self.study / self.name

    @property
    def command(self) -> str:
        words = ["corefmem", "reproduce", self.study, "--models", self.model]
        words += ["--tasks", str(self.task), "--seeds", str(self.seed)]
        if STUDIES[self.study].needs_folder or self.word_vectors:
            words += ["--data-dir", "DIR"]
        words += settings_options(self.settings)
        return shlex.join(words + (["--tag", self.tag] if self.tag else []))

    def find_result(self, results: Iterable[Result]) -> Result | None:
        """Finds the result with this run's model, tag, task and seed among those of the study.

        Raises:
            ValueError: if the command of that result has other settings.
        """
        own = identity_of(vars(self))
        result = next((each for each in results if identity_of(each) == own), None)
        if result is None:
            return None
        command = result.get("command", "")
        place = f"The command of {self.name} in the results of {self.study}"
        if _settings_in(command, place) != _settings_in(self.command, place):
            raise ValueError(
                f"The result of {self.name} in {self.study} is that of `{command}`: give this run "
                "a --tag of its own, or remove its line."
            )
        return result

    def changed_since(self, result: Result) -> list[str]:
        """Returns the names of settings that differ between a result and this run today."""
        study = STUDIES[self.study]
        where = study.dataset, study.tasks[self.task].data
        settings = Settings.of(self.model, *where, seed=self.seed, **self.changes)
        today = json.loads(json.dumps(dataclasses.asdict(settings)))
        before = result.get("settings", {})
        own, other = today.pop("arguments"), rename(before.get("arguments", {}))
        changed = [name for name, value in today.items() if before.get(name, value) != value]
        missing, names = object(), own.keys() | other.keys()
        changed += [name for name in names if own.get(name, missing) != other.get(name, missing)]
        return sorted(changed)


def settings_options(settings: dict[str, Any]) -> list[str]:
    pairs = (("--set", f"{name}={json.dumps(value)}") for name, value in settings.items())
    return list(itertools.chain.from_iterable(pairs))


def _check_tag(model: str, tag: str) -> None:
    """Checks that a tag can be part of a file name and gives no run the name of another model's."""
    if as_name(tag) != tag:
        raise ValueError(
            f"--tag {tag}: it is part of the names of files: give letters and digits alone, with "
            "'-', '.' or '_' between them."
        )
    name = f"{model}-{tag}"
    for other in known_models():
        if len(other) > len(model) and f"{name}-".startswith(f"{other}-"):
            raise ValueError(
                f"--tag {tag}: the runs of {model} would have the names of those of the model "
                f"{other}: give another --tag."
            )


def _settings_in(command: str, place: str) -> dict[str, Any]:
    pairs = itertools.pairwise(shlex.split(command))
    chosen = (word.partition("=") for option, word in pairs if option == "--set")
    return {name: parse_json(value, place, "remove its line.") for name, _, value in chosen}


def choose_tasks(study: str, names: Iterable[int | str] | None = None) -> list[int | str]:
    """Returns the tasks of a study with these names or groups, all by default."""
    tasks, chosen = STUDIES[study].tasks, {}
    for name in names or tasks:
        named = [key for key, task in tasks.items() if str(name) in (str(key), task.group)]
        if not named:
            raise ValueError(
                f"The study {study} has no task {name}; choose of {', '.join(map(str, tasks))}."
            )
        chosen.update(dict.fromkeys(named))
    return list(chosen)


def plan(
    study: str,
    data_dir: str | None = None,
    models: Sequence[str] | None = None,
    tasks: Iterable[int | str] | None = None,
    seeds: Iterable[int] = (0,),
    settings: dict[str, Any] | None = None,
    tag: str = "",
) -> list[Run]:
    """Plans the runs of a study, the longest tasks first.

    Args:
        study: name of the study.
        data_dir: folder of the data set.
        models: names of models; by default, those of the study.
        tasks: names of tasks or of groups of them; all by default.
        seeds: random seeds.
        settings: fields of `zoo.training.Settings` that differ from those of the study.
        tag: name of these settings.

    Raises:
        ValueError: if a study, model or task does not exist, no task is for the models, a model
            with the tag has the name of another model, or the tag cannot be part of a file name.

    Example:
        >>> [run.name for run in zoo.experiments.plan("babi-1k", models=["qdren"], tasks=[1, 3])]
        ['qdren-task-03-seed-0', 'qdren-task-01-seed-0']
    """
    known = study_named(study)
    models = list(dict.fromkeys(configuration(name).name for name in models or known.models))
    for model in models:
        data.check_model(model, known.dataset)
        if tag:
            _check_tag(model, tag)
    tasks = sorted(choose_tasks(study, tasks), key=lambda task: task not in LONGEST)
    runs = [
        Run(study, model, task, seed, data_dir, settings or {}, tag)
        for model in models
        for seed in dict.fromkeys(seeds)
        for task in tasks
        if model in (known.tasks[task].models or models)
    ]
    if not runs:
        raise ValueError(
            f"None of the tasks {', '.join(map(str, tasks))} of {study} is for "
            f"{' or '.join(models)}: leave --tasks or --models out."
        )
    return runs
