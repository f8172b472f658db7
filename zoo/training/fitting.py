"""Building and training of models from examples and settings."""

import pathlib
from collections.abc import Sequence
from typing import Any

import keras

from zoo import architectures
from zoo.architectures.optimizers import make_optimizer
from zoo.configs import configuration
from zoo.training.batches import batch_parts, draw_parts
from zoo.training.progress import Progress
from zoo.training.settings import Settings, check_arguments


def make_model(examples: Sequence, settings: Settings, **options: Any) -> Any:
    """Makes a compiled model for training examples.

    Args:
        examples: training examples.
        settings: the settings.
        **options: arguments of the model's `from_examples` that depend on this machine, such as
            paths.

    Raises:
        ValueError: if `settings.arguments` names an argument that the model does not take.

    Example:
        >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
        >>> settings = zoo.training.Settings("qrn", arguments={"units": 4})
        >>> zoo.training.make_model(stories, settings).config["units"]
        4
    """
    keras.utils.set_random_seed(settings.seed)
    check_arguments(settings.model, settings.arguments)
    configured = configuration(settings.model)
    model = getattr(architectures, configured.class_name).from_examples(
        examples, **{**configured.arguments, **settings.arguments, **options}
    )
    model.compile(
        optimizer=make_optimizer(
            settings.learning_rate,
            settings.halve_every,
            settings.optimizer,
            settings.clip_norm,
            settings.clip_each,
            settings.average,
        )
    )
    return model


def prepare(splits: Any, settings: Settings, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Makes a compiled model and its batches.

    Args:
        splits: a `Splits`.
        settings: the settings.
        **options: as for `make_model`.

    Returns:
        The model, and `Batches` by name of the part: `train`, `valid`, `test`.

    Raises:
        ValueError: as for `make_model`, `draw_parts` and `batch_parts`.

    Example:
        >>> stories = keras_corefmem.datasets.simulator.load(1)
        >>> settings = zoo.training.Settings("qrn", train_size=8, arguments={"units": 4})
        >>> model, batches = zoo.training.prepare(stories, settings)
        >>> batches["train"].count
        8
    """
    parts = draw_parts(splits, settings)
    model = make_model(parts[0], settings, **options)
    return model, batch_parts(model, parts, settings)


def fit(
    model: Any,
    batches: dict[str, Any],
    folder: str | pathlib.Path,
    settings: Settings,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    verbose: int = 0,
) -> Progress:
    """Trains a prepared model and loads the weights of its best epoch.

    An interrupted run continues after its last complete epoch, with the same result.

    Args:
        model: a compiled model.
        batches: `Batches` by part; `valid` selects the epoch.
        folder: folder of the run.
        settings: the settings.
        callbacks: further Keras callbacks.
        verbose: verbosity of `model.fit`.

    Returns:
        The `Progress` of the run: `history`, `best_epoch`, `seconds`.

    Example:
        >>> def train(splits, folder):
        ...     settings = zoo.training.Settings("ga-coref-gru", epochs=5)
        ...     model, batches = zoo.training.prepare(splits, settings)
        ...     return zoo.training.fit(model, batches, folder, settings).history
    """
    averages = settings.average > 0
    progress = Progress(batches, folder, settings.patience, model.warm_up_epochs, averages)
    epoch = progress.restore(model)
    last = epoch if progress.finished else max(epoch, settings.epochs)
    if epoch < last or not progress.ended:
        # A run that was interrupted after its last epoch only calls the callbacks for its end.
        keep = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: progress.keep(model))
        model.fit(
            batches["train"],
            initial_epoch=epoch,
            epochs=last,
            callbacks=[progress, *callbacks, keep],
            verbose=verbose,
        )
        progress.keep(model, ended=True)
    progress.load(model, "best")
    return progress
