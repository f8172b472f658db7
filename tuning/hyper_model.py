"""Models of the zoo for the tuners of keras-tuner."""

import keras_tuner

from tuning.spaces import check_entry, declare, space_of, values_of
from zoo.training import fitting as training


class ZooHyperModel(keras_tuner.HyperModel):
    """A model of the zoo whose hyper-parameters a tuner chooses.

    `build` calls what users call, the model's `from_examples` and `compile`; `fit` makes batches of
    the training and validation part and trains on them:

    ```python
    hyper_model = tuning.ZooHyperModel("qdren", simulator.load(task=1), epochs=20)
    tuner = keras_tuner.RandomSearch(hyper_model, objective="val_accuracy", max_trials=10)
    tuner.search()
    reader = tuner.get_best_models()[0]
    ```

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
    """

    def __init__(self, model, splits=None, space=None, dataset=None, **settings):
        super().__init__(name=model)
        if isinstance(space, dict):
            for name, entry in space.items():
                check_entry(name, entry)
        self.entries = space if isinstance(space, dict) else space_of(model, space)
        self.model, self.splits, self.dataset, self.fixed = model, splits, dataset, settings
        searched = training.split_settings(self.entries)
        known = training.merge_settings(settings, searched)
        training.check_arguments(model, known.get("arguments", {}))
        # Refuses what is fixed before any trial starts.
        self.settings_of({})

    def declare_hyperparameters(self, hp):
        declare(hp, self.entries)

    def chosen(self, values):
        """The values of a trial as the entries give them, by name; tuners add more of their own."""
        return values_of(values, self.entries)

    def settings_of(self, values):
        """The `zoo.training.Settings` of a trial.

        Args:
            values: values by hyper-parameter, as keras-tuner holds them.
        """
        return training.Settings.of(self.model, self.dataset, **self.changes(values))

    def changes(self, values):
        """What is fixed and what is chosen, by field of `zoo.training.Settings`."""
        chosen = training.split_settings(self.chosen(values))
        return training.merge_settings(self.fixed, chosen)

    def build(self, hp):
        settings = self.settings_of(hp.values)
        return training.make_model(training.draw_parts(self.splits, settings)[0], settings)

    def fit(self, hp, model, **kwargs):
        """Trains a model that `build` made; arguments are those of Keras' `fit`."""
        settings = self.settings_of(hp.values)
        train, valid, _ = training.draw_parts(self.splits, settings)
        batches = training.batch_parts(model, (train, valid, []), settings)
        kwargs = {"epochs": settings.epochs, "validation_data": batches["valid"], **kwargs}
        return model.fit(batches["train"], **kwargs)
