"""Models of the zoo for the tuners of keras-tuner."""

import os
from collections.abc import Sequence
from typing import Any

import keras
import keras_tuner

from keras_corefmem.datasets import Splits
from tuning.spaces import Space, declare, nearest_values, space_of, values_of
from zoo import training
from zoo.architectures.listing import check_values
from zoo.configs import configuration, rename
from zoo.experiments import Experiment
from zoo.experiments.results import SEED

# Number of examples of which models are made to see what they read.
FEW = 200
# Arguments of Keras' `fit` that the data and settings of a trial replace.
TAKEN = "x", "y", "batch_size", "shuffle", "sample_weight", "validation_split"


class ZooHyperModel(keras_tuner.HyperModel):
    """A model of the zoo whose hyper-parameters a tuner chooses.

    `build` calls the model's `from_examples` and `compile`, as users do. `fit` trains on batches of
    the training part for all `epochs`, and validates on the validation part. Only `corefmem search`
    stops early by `patience`, and validates averaged weights. All executions of a trial have its
    seed, and so the same result: let the space choose a `seed` instead of `executions_per_trial`.

    Args:
        model: name of a model of the zoo.
        splits: `Splits`, of which the training and the validation part are used.
        space: name of a search space, path of a JSON file, a `tuning.Space`, or a dictionary of its
            entries; `None` for the first space that fits the model.
        dataset: name of the data set, whose settings are the defaults.
        **settings: fields of `zoo.training.Settings`, and arguments of the model, that differ from
            the defaults and are not searched.

    Raises:
        ValueError: if the model or space does not exist, or an entry is invalid, or neither a
            setting nor an argument of the model.

    Example:
        >>> import keras_tuner
        >>> import tuning
        >>> from keras_corefmem.datasets.stories import simulator
        >>> hyper_model = tuning.ZooHyperModel("qdren", simulator.load(task=1, train=20), epochs=20)
        >>> tuner = keras_tuner.RandomSearch(hyper_model, objective="val_accuracy", max_trials=10)
        >>> tuner.search()  # doctest: +SKIP
    """

    def __init__(
        self,
        model: str,
        splits: Splits | None = None,
        space: str | os.PathLike | dict[str, Any] | Space | None = None,
        dataset: str | None = None,
        **settings: Any,
    ) -> None:
        model = configuration(model).name
        super().__init__(name=model)
        self.entries = space_of(model, space)
        self.model, self.splits, self.dataset = model, splits, dataset
        self.seed = settings.pop(SEED, 0)
        arguments = {"arguments": settings.pop("arguments", {})}
        self.fixed = training.merge_settings(arguments, training.split_settings(settings))
        training.check_arguments(model, self.arguments)
        # Raises errors in settings before any trial starts.
        self.check_values()

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the model that are fixed, and entries of those that are searched."""
        searched = {name: entry for name, entry in self.entries.items() if name != SEED}
        known = training.merge_settings(self.fixed, training.split_settings(searched))
        return known.get("arguments", {})

    def check_values(self) -> None:
        """Checks the fixed settings, and each value of the search space by itself.

        Raises:
            ValueError: if a value is not one of its setting or argument.
        """
        kind = configuration(self.model).class_name
        check_values(kind, self.experiment({}).settings.arguments)
        for name, entry in self.entries.items():
            for values in nearest_values({name: entry}):
                try:
                    check_values(kind, self.experiment(values).settings.arguments)
                except ValueError as error:
                    raise ValueError(f"The search space: {error}") from None

    def check_read(self, examples: Sequence) -> None:
        """Checks that the model of some trial reads each argument.

        An argument may be read only beside certain values of others: models are made whose values
        differ from the first ones in up to two entries.

        Args:
            examples: training examples.

        Raises:
            ValueError: if no such model reads an argument, so that it would change nothing.
        """
        unread = {*rename(self.arguments)}
        searched = {name: entry for name, entry in self.entries.items() if name in self.arguments}
        for values in nearest_values(searched):
            if not unread:
                return
            try:
                model = training.make_model(examples[:FEW], self.experiment(values).settings)
            except (ValueError, TypeError):
                # Such a trial will say why it failed, and what it reads is unknown.
                return
            unread &= model.unread
        if unread:
            raise ValueError(
                f"{min(unread)}: no {self.model} that was tried from this search space reads it, "
                "so that it would change nothing: leave it out."
            )

    def declare_hyperparameters(self, hp: keras_tuner.HyperParameters) -> None:
        """Declares the entries of the search space."""
        declare(hp, self.entries)

    def chosen(self, values: dict[str, Any]) -> dict[str, Any]:
        """Returns the values of a trial for the entries, by name, without values of the tuner."""
        return values_of(values, self.entries)

    def experiment(self, values: dict[str, Any]) -> Experiment:
        """Returns the experiment of a trial; Hyperband's number of epochs overrides `epochs`."""
        chosen = self.chosen(values)
        seed = chosen.pop(SEED, self.seed)
        changes = training.merge_settings(self.fixed, training.split_settings(chosen))
        if "tuner/epochs" in values:
            changes["epochs"] = values["tuner/epochs"]
        return Experiment(self.model, self.dataset, seed=seed, changes=changes)

    def build(self, hp: keras_tuner.HyperParameters) -> keras.Model:
        """Makes the compiled model of a trial."""
        # A hypermodel that wraps this one may have declared none, or some of its own.
        declare(hp, {name: e for name, e in self.entries.items() if name not in hp.values})
        settings = self.experiment(hp.values).settings
        train, *_ = self._draw_parts(settings)
        return training.make_model(train, settings)

    def fit(
        self, hp: keras_tuner.HyperParameters, model: keras.Model, *args: Any, **kwargs: Any
    ) -> Any:
        """Trains a model made by `build`, with further arguments of Keras' `fit`.

        Raises:
            ValueError: if one of them is about data or batches, which this brings itself.
        """
        if taken := [*TAKEN[: len(args)], *(name for name in TAKEN if name in kwargs)]:
            raise ValueError(
                f"search takes no {taken[0]}: data are those of ZooHyperModel(…, splits), and "
                "batch_size is one of its settings, ZooHyperModel(…, batch_size=32)."
            )
        settings = self.experiment(hp.values).settings
        train, valid, _ = self._draw_parts(settings)
        batches = training.batch_parts(model, (train, valid, []), settings)
        kwargs = {"epochs": settings.epochs, "validation_data": batches.get("valid"), **kwargs}
        return model.fit(batches["train"], **kwargs)

    def _draw_parts(self, settings: training.Settings) -> tuple[list, list, list]:
        if not isinstance(self.splits, Splits):
            raise ValueError(
                "A ZooHyperModel needs data to build and fit models: pass splits=, "
                f"keras_corefmem.datasets.Splits(train, valid, test), not {self.splits!r:.80}."
            )
        return training.draw_parts(self.splits, settings)
