"""Published experiments: their models, tasks and settings, with a TOML file for each."""

import dataclasses
import pathlib
from typing import Any, Literal

import pydantic

from keras_corefmem.datasets import DATASETS
from keras_corefmem.utils.files import BadFileError
from zoo.configs.configurations import FOLDER, TrainingOptions, configuration, models, read_toml

# Default measure of tables.
ERROR = "test error in %"

# Conditions that tables combine, see `zoo.experiments.conditions`.
UNCHANGED, UNANSWERABLE, HALF_TOLD = "unchanged", "unanswerable", "half-told"

STRICT = pydantic.ConfigDict(extra="forbid")


@pydantic.dataclasses.dataclass(frozen=True, config=STRICT)
class Task:
    """The task, data and settings of one row of a study's table.

    Args:
        label: name of the row; a number is followed by the name of the bAbI task.
        data: task of the data set.
        group: name of the rows that differ only in what the study varies, `""` for none; if that
            is an argument of the model, the best of these rows is reported too.
        arguments: arguments of the model.
        settings: fields of `zoo.training.Settings`.
        models: names of the models to run on it; by default, those of the study.
        language: language of bAbI, if it differs from that of the study.
        variant: name of the variant within its group, `""` for none.
    """

    label: str
    data: int | str
    group: str = ""
    arguments: dict[str, Any] = dataclasses.field(default_factory=dict)
    settings: TrainingOptions = dataclasses.field(default_factory=TrainingOptions)
    models: tuple[str, ...] = ()
    language: str | None = None
    variant: str = ""


@pydantic.dataclasses.dataclass(frozen=True, config=STRICT)
class Group:
    """A task of the data set that all `variants` of a study are trained on."""

    data: int | str
    label: str = ""
    arguments: dict[str, Any] = dataclasses.field(default_factory=dict)


@pydantic.dataclasses.dataclass(frozen=True, config=STRICT)
class Variant:
    """Arguments, settings and language that groups of a study, by default all, are trained with."""

    label: str
    groups: tuple[str, ...] = ()
    arguments: dict[str, Any] = dataclasses.field(default_factory=dict)
    settings: TrainingOptions = dataclasses.field(default_factory=TrainingOptions)
    language: str | None = None


@pydantic.dataclasses.dataclass(frozen=True, config=STRICT)
class Study:
    """A published experiment.

    Args:
        description: a one-line description.
        models: names of the models.
        dataset: name of the data set.
        measure: the number in its tables.
        order: place among the studies.
        language: language of bAbI.
        annotated: whether it reads records of `corefmem annotate`.
        word_vectors: whether models start from the pretrained vectors in the folder of the data.
        by: the argument or setting that varies, and its label.
        kinds: labels of the kinds of questions that are counted separately.
        conditions: whether readers are also tested under conditions that differ from training,
            see `measure_conditions`.
        folds: whether its tasks are folds of one set of questions, which are also counted as one.
        settings: fields of `zoo.training.Settings` that differ from the models' defaults.
        families: settings of the models of a family, used in place of `settings`.
        tasks: the tasks by name. The next three arguments add to them.
        numbered_tasks: number N of the data set's tasks 1 to N to add.
        groups: groups of tasks by name; each group is combined with each variant for it.
        variants: variants by name; the combined tasks are named `GROUP-VARIANT`.

    Example:
        >>> study = zoo.experiments.STUDIES["babi-passes"]
        >>> study.tasks["task-3-2"].arguments
        {'passes': 2}
    """

    description: str
    models: tuple[str, ...]
    dataset: str
    measure: Literal["test error in %", "test accuracy in %", "dev accuracy in %"]
    order: int = 100
    language: str | None = None
    annotated: bool = False
    word_vectors: bool = False
    by: tuple[str, str] = ("", "")
    kinds: dict[str, str] = dataclasses.field(default_factory=dict)
    conditions: bool = False
    folds: bool = False
    settings: TrainingOptions = dataclasses.field(default_factory=TrainingOptions)
    families: dict[str, TrainingOptions] = dataclasses.field(default_factory=dict)
    tasks: dict[int | str, Task] = dataclasses.field(default_factory=dict)
    numbered_tasks: int = 0
    groups: dict[str, Group] = dataclasses.field(default_factory=dict)
    variants: dict[str, Variant] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tasks.update({n: Task(str(n), n) for n in range(1, self.numbered_tasks + 1)})
        for name, group in self.groups.items():
            for key, variant in self.variants.items():
                if variant.groups and name not in variant.groups:
                    continue
                self.tasks[f"{name}-{key}"] = Task(
                    f"{group.label or name}, {variant.label}",
                    group.data,
                    name,
                    {**group.arguments, **variant.arguments},
                    variant.settings,
                    language=variant.language,
                    variant=str(key),
                )

    def settings_of(self, model: str) -> TrainingOptions:
        """Returns the fields of `zoo.training.Settings` that this study sets for a model."""
        return self.families.get(configuration(model).family, self.settings)

    def language_of(self, task: int | str) -> str | None:
        """Returns the language of bAbI for a task."""
        return self.tasks[task].language or self.language

    @property
    def needs_folder(self) -> bool:
        """Whether the user must provide the data, because they cannot be downloaded."""
        return not DATASETS[self.dataset].download


def read_study(path: str | pathlib.Path) -> Study:
    """Reads a study.

    Args:
        path: the TOML file.

    Raises:
        ValueError: if a key is unknown, missing or invalid, or the data set, a model, a family or
            a group does not exist; the error names the file and the key.

    Example:
        >>> lines = 'description = "Mine"', 'dataset = "babi"', 'measure = "test error in %"'
        >>> lines += 'models = ["qdren"]', "numbered_tasks = 2"
        >>> open("mine.toml", "w").write("\\n".join(lines)) > 0
        True
        >>> list(zoo.experiments.read_study("mine.toml").tasks)
        [1, 2]
    """
    study = read_toml(path, Study)
    named = {model for task in study.tasks.values() for model in task.models}
    groups = {group for variant in study.variants.values() for group in variant.groups}
    families = {configuration(model).family for model in models()}
    if bool(study.groups) != bool(study.variants):
        raise BadFileError(f"{path}: groups are combined with variants: give both, or neither.")
    for key, names, known in (
        ("dataset", {study.dataset}, DATASETS),
        ("models", {*study.models, *named}, models()),
        ("families", {*study.families}, sorted(families)),
        ("variants", groups, study.groups),
        ("tasks", set() if study.tasks else {"tasks"}, ("a task, or groups and variants",)),
    ):
        for name in sorted(names - set(known)):
            raise BadFileError(f"{path}: {key}: no {name!r:.80}; choose of {', '.join(known)}.")
    return study


def study_names() -> list[str]:
    return sorted(path.stem for path in (FOLDER / "studies").glob("*.toml"))


_READ = {name: read_study(FOLDER / "studies" / f"{name}.toml") for name in study_names()}
STUDIES = dict(sorted(_READ.items(), key=lambda item: item[1].order))


def study_named(name: str) -> Study:
    if name not in STUDIES:
        raise ValueError(f"There is no study {name!r}; choose one of {', '.join(STUDIES)}.")
    return STUDIES[name]
