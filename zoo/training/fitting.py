"""Building, training and evaluating a reader on a data set."""

import dataclasses
import pathlib
import time

import keras
import numpy as np

from keras_corefmem.preprocessing.answers import best_sequences
from keras_corefmem.preprocessing.batches import length_buckets
from keras_corefmem.utils.files import load_json, replacing, write_json
from zoo import architectures
from zoo.architectures.devices import answered_once
from zoo.architectures.text_model import OPTIMIZERS, make_optimizer
from zoo.configs import configuration
from zoo.training.subsets import (
    check_mentions,
    check_reads_mentions,
    draw_examples,
    encode_examples,
)

PARTS = ("train", "valid", "test")


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a reader is trained.

    Args:
        model: name of a model of the zoo.
        seed: seed of weights, dropout and shuffling.
        epochs: largest number of epochs.
        patience: epochs without a better validation score after which training stops.
        batch_size: questions per update.
        learning_rate: first learning rate.
        halve_every: updates after which the learning rate halves, again and again; `None` keeps it.
        optimizer: `"adam"`, `"rmsprop"`, `"sgd"` or `"adagrad"`.
        clip_norm: largest norm of all gradients together.
        clip_each: whether `clip_norm` is that of each weight's gradient instead.
        average: momentum of the running averages of the weights, which are validated and kept
            instead of the last ones; 0 for none.
        buckets: largest number of lengths that passages are padded to; each costs a compilation.
        train_size: number of training questions, drawn by the seed; `None` for all.
        mentions: share of the mentions in passages and questions, of all parts, that the model is
            told, drawn by the seed, or `"random"`: as many mentions, at random tokens. `None` for
            all, as the trained model reads text of its own.
        arguments: arguments of the model's `from_examples` that differ from its configuration.
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
    # None, as in the states of runs that do not know them.
    train_size: int | None = None
    mentions: float | str | None = None
    arguments: dict = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, model, dataset=None, **changes):
        """The settings that a model is trained with by default, and changes to them.

        Args:
            model: name of the model.
            dataset: name of the data set; some have settings of their own.
            **changes: fields that differ; of the arguments, those that differ.
        """
        defaults = configuration(model).training_options(dataset)
        arguments = {**defaults.get("arguments", {}), **changes.get("arguments", {})}
        return cls(model=model, **{**defaults, **changes, "arguments": arguments})

    def __post_init__(self):
        numbers = ("learning_rate", "clip_norm")
        integers = ("epochs", "patience", "batch_size", "halve_every", "buckets", "train_size")
        for name in (*integers, *numbers):
            value = getattr(self, name)
            if name in ("halve_every", "train_size") and value is None:
                continue
            kinds = int | float if name in numbers else int
            if not isinstance(value, kinds) or value <= 0:
                kind = "number" if name in numbers else "integer"
                raise ValueError(f"{name} must be a positive {kind}, got {value!r}.")
        if not isinstance(self.clip_each, bool):
            raise ValueError(f"clip_each must be true or false, got {self.clip_each!r}.")
        if not isinstance(self.average, int | float) or not 0 <= self.average < 1:
            raise ValueError(f"average must be at least 0 and below 1, got {self.average!r}.")
        check_mentions(self.mentions)
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(
                f"optimizer must be one of {', '.join(OPTIMIZERS)}; got {self.optimizer!r}."
            )


def split_settings(values):
    """Settings by field, of a dictionary of fields of `Settings` and arguments of a model."""
    fields = {field.name for field in dataclasses.fields(Settings)} - {"model", "seed", "arguments"}
    settings = {name: value for name, value in values.items() if name in fields}
    arguments = {name: value for name, value in values.items() if name not in fields}
    return {**settings, "arguments": arguments} if arguments else settings


def merge_settings(settings, changes):
    """Settings by field with changes to them, and to the model's arguments."""
    arguments = {**settings.get("arguments", {}), **changes.get("arguments", {})}
    merged = {**settings, **changes, "arguments": arguments}
    return {name: value for name, value in merged.items() if name != "arguments" or value}


def check_arguments(model, names):
    """Refuses what is no argument of a model of the zoo.

    Raises:
        ValueError: if the model does not take it, or there is no such model.
    """
    known = getattr(architectures, configuration(model).class_name).arguments()
    for name in names:
        if name not in known:
            raise ValueError(
                f"{name!r} is no argument of {model}; choose one of {', '.join(known)}."
            )


def make_model(examples, settings, **options):
    """A compiled model for training examples.

    Args:
        examples: training examples.
        settings: a `Settings`.
        **options: arguments of the model's `from_examples` that belong to this machine, such as
            paths.

    Raises:
        ValueError: if `settings.arguments` names what the model does not take.
    """
    keras.utils.set_random_seed(settings.seed)
    model_class = getattr(architectures, configuration(settings.model).class_name)
    arguments = configuration(settings.model).arguments
    check_arguments(settings.model, settings.arguments)
    model = model_class.from_examples(examples, **{**arguments, **settings.arguments, **options})
    rate = settings.learning_rate, settings.halve_every
    rest = settings.clip_norm, settings.clip_each, settings.average
    model.compile(optimizer=make_optimizer(*rate, settings.optimizer, *rest))
    return model


def prepare(splits, settings, **options):
    """A compiled reader and its batches.

    Args:
        splits: a `Splits`.
        settings: a `Settings`.
        **options: as for `make_model`.

    Returns:
        The model and a dictionary of `Batches` by part: `train`, `valid`, `test`.

    Raises:
        ValueError: as `make_model` does, or if the settings ask for more training questions than
            there are, or for a share of mentions of a model that reads none.
    """
    parts = draw_parts(splits, settings)
    model = make_model(parts[0], settings, **options)
    return model, batch_parts(model, parts, settings)


def draw_parts(splits, settings):
    """Training examples, as many as the settings say, validation and test examples."""
    train = draw_examples(splits.train, settings.train_size, settings.seed)
    return train, splits.valid, splits.test


def batch_parts(model, parts, settings):
    """`Batches` of training, validation and test part by name, in few shapes; of no empty part."""
    preprocessor = model.preprocessor
    if settings.mentions is not None:
        check_reads_mentions(model, settings.model)
    encoded = {
        part: encode_examples(examples, preprocessor, settings.mentions, settings.seed)
        for part, examples in zip(PARTS, parts, strict=True)
    }
    everything = [example for examples in encoded.values() for example in examples]
    lengths = list(map(preprocessor.length, everything))
    buckets = length_buckets(lengths, settings.buckets, preprocessor.SAVING, preprocessor.STEP)
    questions = [len(example.question) for example in everything]
    count, saving = preprocessor.QUESTION_BUCKETS, preprocessor.SAVING
    question_lengths = length_buckets(questions, count, saving, 1)
    return {
        part: model.BATCHES(
            examples,
            preprocessor,
            model.features,
            buckets,
            question_lengths,
            batch_size=settings.batch_size,
            shuffle=part == "train",
            seed=settings.seed,
        )
        for part, examples in encoded.items()
        if examples
    }


def make_batches(model, examples, **kwargs):
    """Batches of examples for a model; further arguments are those of its `BATCHES`."""
    encoded = [model.preprocessor.encode(example) for example in examples]
    return model.BATCHES(encoded, model.preprocessor, model.features, **kwargs)


def random_state(model):
    """The variables of a model that weights files lack: the states of its random numbers."""
    weights = {id(variable) for variable in model.weights}
    return [variable for variable in model.variables if id(variable) not in weights]


class Progress(keras.callbacks.Callback):
    """Keeps the best weights and everything needed to go on after an interruption.

    Where the optimizer averages weights, the averages are validated, kept as the best, and seen by
    the callbacks behind this one; training goes on from the weights themselves.

    Validation is prediction, as tests are: XLA compiles one function less than Keras' evaluation
    needs. The best epoch has the highest validation accuracy, then the lowest loss. Training
    stops when that has not improved for `patience` epochs, for a quarter of them where there is
    nothing left to learn (99.5% training accuracy), or when three epochs in a row answered all
    validation questions.

    Args:
        batches: `Batches` by part, of which `train` and `valid` are used.
        folder: where the state is kept.
        patience: epochs without improvement after which training stops.
        warm_up: first epochs, whose lack of improvement does not count.
        averages: whether the optimizer averages weights.
    """

    def __init__(self, batches, folder, patience, warm_up=0, averages=False):
        super().__init__()
        self.batches, self.folder, self.patience = batches, pathlib.Path(folder), patience
        self.warm_up, self.averages = warm_up, averages
        self.history, self.seconds = [], {"seconds": 0.0, "cpu_seconds": 0.0}
        self.trained = None

    @property
    def best_epoch(self):
        """Index of the best epoch so far, -1 before the first."""
        scores = [(logs["val_accuracy"], -logs["val_loss"]) for logs in self.history]
        return max(range(len(scores)), key=scores.__getitem__, default=-1)

    @property
    def finished(self):
        solved = [logs["val_accuracy"] == 1 for logs in self.history[-3:]]
        stale = len(self.history) - max(self.best_epoch + 1, self.warm_up)
        learned = bool(self.history) and self.history[-1]["accuracy"] >= 0.995
        patience = self.patience / 4 if learned else self.patience
        return len(solved) == 3 and all(solved) or stale >= patience

    def weights_file(self, name):
        return self.folder / f"{name}.weights.h5"

    def restore(self, model):
        """Loads the state of an interrupted run; returns the epoch to start with."""
        self.folder.mkdir(parents=True, exist_ok=True)
        state = self.folder / "state.json"
        if state.exists():
            content = load_json(state)
            model.load_weights(self.weights_file(content["weights"]))
            self.history = content["history"]
            self.seconds = {name: content[name] for name in self.seconds}
            for variable, value in zip(random_state(model), content["random"], strict=True):
                variable.assign(value)
        return len(self.history)

    def on_epoch_begin(self, epoch, logs=None):
        if self.trained is not None:
            self.model.set_weights(self.trained)
        self.batches["train"].start_epoch(epoch)
        self.started = clocks()

    def on_epoch_end(self, epoch, logs=None):
        saved = self.weights_file(f"epoch-{epoch}")
        self.model.save_weights(saved)
        if self.averages:
            self.trained = self.model.get_weights()
            weights = self.model.trainable_variables
            self.model.optimizer.finalize_variable_values(weights)
            # On JAX they share memory with the averages, which prediction would give away.
            for weight in weights:
                weight.assign(keras.ops.copy(weight))
        score = evaluate(self.model, self.batches["valid"])
        # The callbacks behind this one see it too.
        logs.update({f"val_{name}": score[name] for name in ("accuracy", "loss")})
        self.history.append({name: float(value) for name, value in logs.items()})
        for name, now in clocks().items():
            self.seconds[name] += now - self.started[name]
        if self.best_epoch == epoch:
            with replacing(self.weights_file("best")) as partial:
                self.model.save_weights(partial)
        content = {
            "weights": f"epoch-{epoch}",
            "random": [keras.ops.convert_to_numpy(v).tolist() for v in random_state(self.model)],
            "history": self.history,
            **self.seconds,
        }
        write_json(self.folder / "state.json", content)
        self.weights_file(f"epoch-{epoch - 1}").unlink(missing_ok=True)
        self.model.stop_training = self.model.stop_training or self.finished


def clocks():
    """Time on the clock, and of all cores; a machine that does other things slows the former."""
    return {"seconds": time.perf_counter(), "cpu_seconds": time.process_time()}


def fit(model, batches, folder, settings, callbacks=(), verbose=0):
    """Trains a prepared reader and leaves it with the weights of its best epoch.

    A run that was interrupted continues after its last complete epoch, to the same result.

    Args:
        model: a compiled reader.
        batches: `Batches` by part; `valid` selects the epoch.
        folder: folder of the run.
        settings: a `Settings`.
        callbacks: further Keras callbacks.
        verbose: verbosity of `model.fit`.

    Returns:
        The `Progress` of the run: `history`, `best_epoch`, `seconds`.
    """
    averages = settings.average > 0
    progress = Progress(batches, folder, settings.patience, model.warm_up_epochs, averages)
    epoch = progress.restore(model)
    if epoch < settings.epochs and not progress.finished:
        model.fit(
            batches["train"],
            initial_epoch=epoch,
            epochs=settings.epochs,
            callbacks=[progress, *callbacks],
            verbose=verbose,
        )
    model.load_weights(progress.weights_file("best"))
    return progress


def evaluate(model, batches):
    """What a compiled model makes of every question, or of every word that is tagged.

    Returns:
        A dictionary: `accuracy`, `loss` (the mean), `count`, and `wrong`, the indices of the
        answers that are wrong.
    """
    wrong, total, count = [], 0.0, 0
    loss = keras.losses.get(model.loss)
    losses_of = loss.call if isinstance(loss, keras.losses.Loss) else loss
    for index in range(len(batches)):
        features, answers, weights = batches[index]
        logits = answered_once(model.predict_on_batch(features), len(answers))
        losses = keras.ops.convert_to_numpy(losses_of(answers, logits))
        # Number 0 is an unknown answer, or an unknown word of one.
        if answers.ndim > weights.ndim:
            best = best_sequences(logits, 1)[0][:, 0]
            right = ((best == answers) & (answers > 0)).all(axis=-1)
        else:
            right = (np.argmax(logits, axis=-1) == answers) & (answers > 0)
        count += np.count_nonzero(weights)
        total += float(np.sum(losses[weights > 0]))
        wrong += batches.numbers(index)[(weights > 0) & ~right].tolist()
    return {
        "accuracy": 1 - len(wrong) / count,
        "loss": total / count,
        "count": count,
        "wrong": sorted(wrong),
    }
