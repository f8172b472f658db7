"""Settings of a training run, including the arguments of its model."""

import dataclasses
import warnings
from collections.abc import Iterable
from typing import Any

from keras_corefmem.utils.files import validate
from keras_corefmem.utils.names import did_you_mean
from zoo.architectures.listing import list_arguments
from zoo.configs import TrainingOptions, configuration
from zoo.configs.renamed import RENAMED, rename


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a training run.

    Args:
        model: name of a model of the zoo.
        seed: seed of weights, dropout and shuffling.
        epochs: largest number of epochs.
        patience: epochs without a better validation score after which training stops.
        batch_size: questions per update.
        learning_rate: first learning rate.
        halve_every: number of updates between halvings of the learning rate; `None` or `"never"`
            for none.
        optimizer: `"adam"`, `"rmsprop"`, `"sgd"` or `"adagrad"`.
        clip_norm: largest global norm of the gradients.
        clip_each: whether `clip_norm` bounds the norm of each weight's gradient instead.
        average: momentum of the moving averages of the weights, which are validated and kept
            instead of the weights themselves; 0 for none.
        buckets: largest number of padded passage lengths; each costs a compilation.
        train_size: number of training questions, drawn by the seed; `None` for all.
        mentions: share of the mentions in passages and questions of all parts that the model
            sees, drawn by the seed, or `"random"` for as many mentions at random tokens. `None`
            for all, as when the trained model reads new text.
        unanswerable: share of the questions, drawn by the seed, that training and validation
            repeat without all or half of their evidence (see `RemoveEvidence`) and with the
            answer "unknown". `None` for none.
        augment: augmentations of the training examples, joined by `+`, such as
            `"rename-classes+shuffle"`, or a table of these by kind of question, see
            `keras_corefmem.preprocessing.augmentations`; `None` or `"none"` for none.
        arguments: arguments of the model's `from_examples` that differ from its configuration.

    Raises:
        ValueError: if a field is not as described; the error names it.

    Example:
        >>> zoo.training.Settings("qdren", batch_size=8).batch_size
        8
    """

    model: str = "ga-coref-gru"
    seed: int = 0
    epochs: int = 60
    patience: int = 20
    batch_size: int = 32
    learning_rate: float = 3e-3
    halve_every: int | None = 1000
    optimizer: str = "adam"
    clip_norm: float = 10.0
    clip_each: bool = False
    average: float = 0.0
    buckets: int = 6
    # None also stands for fields that the states of older runs lack.
    train_size: int | None = None
    mentions: float | str | None = None
    unanswerable: float | None = None
    augment: str | dict[str, str] | None = None
    arguments: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        validate("Settings", {name: getattr(self, name) for name in FIELDS}, TrainingOptions)
        for name, none in (("augment", "none"), ("halve_every", "never")):
            if getattr(self, name) == none:
                object.__setattr__(self, name, None)
        if self.augment and self.mentions is not None:
            raise ValueError("Settings: augment and mentions do not go together, leave one out.")
        for old in self.arguments.keys() & RENAMED.keys():
            message = f"The argument {old} is now {RENAMED[old]}."
            warnings.warn(message, DeprecationWarning, stacklevel=3)
        object.__setattr__(self, "arguments", rename(self.arguments))

    @classmethod
    def of(
        cls,
        model: str,
        dataset: str | None = None,
        task: int | str | None = None,
        **changes: Any,
    ) -> "Settings":
        """Returns the default settings of a model, with changes.

        Args:
            model: name of the model.
            dataset: name of the data set, which may have settings of its own.
            task: task of the data set, which may too.
            **changes: fields that differ; in `arguments`, only the arguments that differ.
        """
        chosen = configuration(model)
        defaults = dict(chosen.training_options(dataset, task))
        return cls(model=chosen.name, **merge_settings(defaults, changes))


FIELDS = TrainingOptions.__annotations__.keys()


def split_settings(values: dict[str, Any]) -> dict[str, Any]:
    """Sorts values into fields of `Settings` and, under `arguments`, arguments of a model.

    Args:
        values: fields and arguments by name.

    Example:
        >>> zoo.training.split_settings({"epochs": 3, "units": 8})
        {'epochs': 3, 'arguments': {'units': 8}}
    """
    settings = {name: value for name, value in values.items() if name in FIELDS}
    arguments = {name: value for name, value in values.items() if name not in FIELDS}
    return {**settings, "arguments": arguments} if arguments else settings


def merge_settings(settings: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Merges changes into fields of `Settings`, and into the arguments of the model.

    Args:
        settings: fields by name.
        changes: fields that replace others; `arguments` are merged one by one.

    Example:
        >>> zoo.training.merge_settings({"arguments": {"units": 8}}, {"arguments": {"layers": 1}})
        {'arguments': {'units': 8, 'layers': 1}}
    """
    arguments = {**settings.get("arguments", {}), **changes.get("arguments", {})}
    merged = {**settings, **changes, "arguments": arguments}
    return {name: value for name, value in merged.items() if name != "arguments" or value}


def check_arguments(model: str, names: Iterable[str]) -> None:
    """Checks that a model takes arguments with these names.

    Args:
        model: name of the model.
        names: the names.

    Raises:
        ValueError: if the model does not take one of them, or the model does not exist.

    Example:
        >>> zoo.training.check_arguments("qrn", ["units"])
    """
    known = list_arguments(configuration(model).class_name)
    fields = [name for name in FIELDS if name != "arguments"]
    for name in names:
        if name not in known:
            hint = did_you_mean(name, [*fields, *known])
            raise ValueError(
                f"{name!r} is no argument of {model}.{hint} Its arguments are {', '.join(known)}; "
                f"the settings of its training are {', '.join(fields)}."
            )
