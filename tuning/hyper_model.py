"""Models of the zoo for the tuners of keras-tuner."""

from typing import Any

import keras
import keras_tuner

from keras_corefmem.datasets import Splits
from tuning.spaces import declare, space_of, values_of
from zoo import training
from zoo.experiments import Experiment
from zoo.experiments.results import SEED


class ZooHyperModel(keras_tuner.HyperModel):
    """Model of the zoo whose hyper-parameters a tuner chooses.

    `build` calls what users call, the model's `from_examples` and `compile`; `fit` makes batches of
    the training and validation part and trains on them, for all `epochs`: `patience` and the
    validation of averaged weights are what `corefmem search` adds.

    Args:
        model: name of a model of the zoo.
        splits: `Splits`, of which training and validation part are used.
        space: name of a search space, path of a JSON file, or a dictionary of entries as in
            `tuning.spaces.Space`; `None` for the space that is made for the model.
        dataset: name of the data set, whose settings are the defaults.
        **settings: fields of `zoo.training.Settings` that no entry has and that differ from the
            defaults.

    Raises:
        ValueError: if there is no such model or space, or an entry is broken or is neither a
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
        space: str | dict[str, Any] | None = None,
        dataset: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(name=model)
        self.entries = space_of(model, space)
        self.model, self.splits, self.dataset, self.fixed = model, splits, dataset, settings
        self.seed = settings.pop(SEED, 0)
        searched = {name: entry for name, entry in self.entries.items() if name != SEED}
        known = training.merge_settings(settings, training.split_settings(searched))
        training.check_arguments(model, known.get("arguments", {}))
        # Refuses what is fixed before any trial starts.
        self.experiment({})

    def declare_hyperparameters(self, hp: keras_tuner.HyperParameters) -> None:
        """Adds the entries of the search space."""
        declare(hp, self.entries)

    def chosen(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values of a trial as the entries have them, by name, without a tuner's own."""
        return values_of(values, self.entries)

    def experiment(self, values: dict[str, Any]) -> Experiment:
        """The experiment of a trial; Hyperband's number of epochs goes before that of settings."""
        chosen = self.chosen(values)
        seed = chosen.pop(SEED, self.seed)
        changes = training.merge_settings(self.fixed, training.split_settings(chosen))
        if "tuner/epochs" in values:
            changes["epochs"] = values["tuner/epochs"]
        return Experiment(self.model, self.dataset, seed=seed, changes=changes)

    def build(self, hp: keras_tuner.HyperParameters) -> keras.Model:
        """Makes the compiled model of a trial."""
        settings = self.experiment(hp.values).settings
        train, *_ = self._draw_parts(settings)
        return training.make_model(train, settings)

    def fit(self, hp: keras_tuner.HyperParameters, model: keras.Model, **kwargs: Any) -> Any:
        """Trains a model that `build` made; arguments are those of Keras' `fit`."""
        settings = self.experiment(hp.values).settings
        train, valid, _ = self._draw_parts(settings)
        batches = training.batch_parts(model, (train, valid, []), settings)
        kwargs = {"epochs": settings.epochs, "validation_data": batches["valid"], **kwargs}
        return model.fit(batches["train"], **kwargs)

    def _draw_parts(self, settings: training.Settings) -> tuple[list, list, list]:
        if self.splits is None:
            raise ValueError("A ZooHyperModel needs data to build and fit models: pass splits=.")
        return training.draw_parts(self.splits, settings)
