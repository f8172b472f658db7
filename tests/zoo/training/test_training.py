import dataclasses
import functools
import types

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem import optimizers
from keras_corefmem.datasets import Example, Splits
from keras_corefmem.datasets.stories import simulator
from tests.support.conformance.evaluation import JIT, assert_same_weights
from zoo import training
from zoo.experiments.folders import epochs_done
from zoo.training import Progress, Settings

SETTINGS = Settings(
    model="as-coref-gru",
    epochs=3,
    batch_size=8,
    buckets=1,
    arguments={"units": 8, "edge_units": 3, "embedding_dim": 8},
)


@pytest.fixture(scope="session")
def splits():
    return Splits(*(simulator.simulate(1, size, seed) for seed, size in enumerate((40, 11, 13))))


class Interruption(keras.callbacks.Callback):
    """Ends training in the middle of the third epoch, as a user would."""

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == (2, 2):
            raise KeyboardInterrupt


class Spoiler(keras.callbacks.Callback):
    """Spoils the weights in the middle of an epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            self.model.set_weights([0 * weight for weight in self.model.get_weights()])


def prepare(splits, settings=SETTINGS):
    model, batches = training.prepare(splits, settings)
    model.compile(model.optimizer, jit_compile=JIT)
    return model, batches


def interrupt(splits, settings, folder):
    model, batches = prepare(splits, settings)
    with pytest.raises(KeyboardInterrupt):
        training.fit(model, batches, folder, settings, [Interruption()])


@pytest.fixture(scope="session")
def uninterrupted(splits, tmp_path_factory):
    """A model, its batches and the progress of a run in one go."""
    model, batches = prepare(splits)
    progress = training.fit(model, batches, tmp_path_factory.mktemp("run"), SETTINGS)
    return model, batches, progress


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX always compiles")
def test_the_number_of_an_epoch_says_what_xla_compiles(splits, tmp_path, monkeypatch):
    settings = dataclasses.replace(SETTINGS, model="ngram", arguments={"buckets": 64})
    modes, run = [], functools.partial(dataclasses.replace, settings)
    epochs = keras.callbacks.LambdaCallback(
        on_train_batch_begin=lambda batch, logs: batch or modes.append(model.by_kernel)
    )
    model, batches = training.prepare(splits, settings)
    size = len(batches["train"]) * 8 * max(batches["train"].buckets)
    monkeypatch.setattr("zoo.architectures.devices.LateXLA.POSITIONS", 2 * size)
    for last in (1, 3):
        model, batches = training.prepare(splits, settings)
        training.fit(model, batches, tmp_path / "parts", run(epochs=last), [epochs])
    assert modes == [True, True, False]
    whole, batches = training.prepare(splits, settings)
    training.fit(whole, batches, tmp_path / "whole", settings)
    assert_same_weights(model, whole)
    assert model.jit_compile and not model.by_kernel
    short, batches = training.prepare(splits, settings)
    training.fit(short, batches, tmp_path / "short", run(epochs=1))
    assert short.by_kernel
    features, answers, _ = batches["train"][0]
    short.fit(features, answers, verbose=0)
    assert not short.by_kernel
    training.fit(short, batches, tmp_path / "again", run(epochs=1))
    assert short.by_kernel
    short.compile(jit_compile=True)
    assert not short.by_kernel


def test_an_interrupted_run_ends_as_one_in_one_go(splits, uninterrupted, tmp_path):
    interrupt(splits, SETTINGS, tmp_path)
    assert epochs_done(tmp_path) == 2
    # What a kill in the middle of writing leaves behind.
    (tmp_path / "epoch-2.weights.h5").write_bytes(b"broken")
    (tmp_path / ".state.json-1234").mkdir()
    (tmp_path / ".state.json-1234" / "state.json").write_text("{")

    model, batches = prepare(splits)
    keras.utils.set_random_seed(99)
    progress = training.fit(model, batches, tmp_path, SETTINGS)
    expected, _, whole = uninterrupted
    assert len(progress.history) == len(whole.history) == 3
    for found, wanted in zip(progress.history, whole.history, strict=True):
        assert found == pytest.approx(wanted, rel=1e-5)
    assert_same_weights(model, expected, rtol=1e-4, atol=1e-6)
    assert model.optimizer.iterations == expected.optimizer.iterations
    assert sorted(path.name for path in tmp_path.glob("epoch-*")) == ["epoch-2.weights.h5"]


# `test_augmentation` has what an epoch changes, and a run without it goes on here.
@pytest.mark.thorough
def test_an_augmented_run_continues_to_the_same_result(splits, tmp_path):
    changes = {"model": "qrn", "buckets": 2, "arguments": {"units": 4}}
    settings = dataclasses.replace(SETTINGS, augment="rename-classes+shuffle", **changes)
    interrupt(splits, settings, tmp_path / "parts")
    again, batches = prepare(splits, settings)
    parts = training.fit(again, batches, tmp_path / "parts", settings)
    whole, batches = prepare(splits, settings)
    progress = training.fit(whole, batches, tmp_path / "whole", settings)
    assert parts.history == progress.history and len(parts.history) == 3
    assert_same_weights(again, whole)
    _, plain = prepare(splits, dataclasses.replace(settings, augment=None))
    for part, same in (("train", False), ("valid", True), ("test", True)):
        stories = [each[part][0][0]["sentences"] for each in (batches, plain)]
        assert np.array_equal(*stories) == same


def test_augmentations_may_be_a_table_by_kind_of_question():
    table = {"19": "rename+shuffle", "*": "none"}
    assert Settings(augment=table).augment == table


@pytest.mark.parametrize("name", ["renam", "rename+rename-type", 3, ["rename"], {"19": "renam"}])
def test_unknown_augmentations_are_told_at_once(name):
    with pytest.raises(ValueError, match=r"Settings: augment: There is no augmentation .* rename"):
        Settings(augment=name)


def test_augmentations_and_fewer_mentions_do_not_go_together():
    assert Settings(augment="none", mentions=0.5).augment is None
    assert Settings(halve_every="never").halve_every is None
    with pytest.raises(ValueError, match="augment and mentions do not go together"):
        Settings(augment="rename", mentions=0.5)


def test_a_finished_run_is_not_trained_again(uninterrupted, splits):
    expected, _, whole = uninterrupted
    model, batches = prepare(splits)
    progress = training.fit(model, batches, whole.folder, SETTINGS)
    assert progress.history == whole.history and progress.seconds == whole.seconds
    assert_same_weights(model, expected)


def test_the_best_epoch_by_validation_stays(splits, tmp_path):
    model, batches = prepare(splits)
    progress = training.fit(model, batches, tmp_path, SETTINGS, [Spoiler()])
    accuracies = [logs["val_accuracy"] for logs in progress.history]
    assert progress.best_epoch < 2 and accuracies[progress.best_epoch] == max(accuracies)
    best = progress.history[progress.best_epoch]
    found = training.evaluate(model, batches["valid"])
    for name in ("accuracy", "loss"):
        assert found[name] == pytest.approx(best[f"val_{name}"], rel=1e-5)
    in_full = model.batches(splits.valid, batch_size=len(splits.valid))
    by_keras = model.evaluate(in_full, return_dict=True, verbose=0)
    for name in ("accuracy", "loss"):
        assert by_keras[name] == pytest.approx(found[name], rel=1e-5)


class Averages(keras.callbacks.Callback):
    """The weights after each update, and their running averages at the end of each epoch."""

    def __init__(self, momentum):
        super().__init__()
        self.momentum, self.averages, self.kept = momentum, None, []

    def on_train_batch_end(self, batch, logs=None):
        if keras.backend.backend() == "jax":
            self.model.jax_state_sync()
        weights = [weight.numpy() for weight in self.model.trainable_variables]
        previous, m = self.averages or weights, self.momentum
        pairs = zip(previous, weights, strict=True)
        self.averages = [m * old + (1 - m) * new for old, new in pairs]

    def on_epoch_end(self, epoch, logs=None):
        self.kept.append(self.averages)


def test_averages_of_weights_are_validated_and_kept(splits, tmp_path):
    changes = {"model": "qrn", "arguments": {"units": 4}}
    settings = dataclasses.replace(SETTINGS, average=0.9, **changes)
    model, batches = prepare(splits, settings)
    averages = Averages(0.9)
    progress = training.fit(model, batches, tmp_path / "whole", settings, [averages])
    kept = averages.kept[progress.best_epoch]
    for found, wanted in zip(model.trainable_variables, kept, strict=True):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-4, atol=1e-6)
    found = training.evaluate(model, batches["valid"])
    best = progress.history[progress.best_epoch]
    assert found["loss"] == pytest.approx(best["val_loss"], rel=1e-5)

    interrupt(splits, settings, tmp_path / "parts")
    model, batches = prepare(splits, settings)
    continued = training.fit(model, batches, tmp_path / "parts", settings)
    for found, wanted in zip(continued.history, progress.history, strict=True):
        assert found == pytest.approx(wanted, rel=1e-4)


def history(*scores, accuracy=0.5):
    return [
        {"accuracy": accuracy, "val_accuracy": valid, "val_loss": loss} for valid, loss in scores
    ]


def test_selection_and_the_end_of_training(tmp_path):
    progress = Progress({}, tmp_path, patience=4)
    assert progress.best_epoch == -1 and not progress.finished
    progress.history = history((0.5, 2.0), (0.6, 3.0), (0.6, 2.5), (0.4, 0.1))
    assert progress.best_epoch == 2 and not progress.finished
    progress.history += history((0.6, 2.5), (0.5, 2.4), (0.6, 2.6))
    assert progress.best_epoch == 2 and progress.finished
    progress.history = history((0.6, 2.5), (0.5, 2.6), accuracy=0.996)
    assert progress.finished
    progress.history = history((0.6, float("nan")), (0.6, 2.5))
    assert progress.best_epoch == 1
    progress.history = history((1.0, 0.2), (0.9, 0.2), (1.0, 0.1))
    assert not progress.finished
    progress.history = history((1.0, 0.3), (1.0, 0.2), (1.0, 0.1))
    assert progress.finished


def test_augmented_examples_are_never_learned_by_heart(tmp_path):
    augmented = types.SimpleNamespace(augment=[str])
    progress = Progress({"train": augmented}, tmp_path, patience=4)
    progress.history = history((1.0, 0.3), (1.0, 0.4), (1.0, 0.4), (1.0, 0.4), accuracy=1.0)
    assert not progress.finished
    progress.history += history((1.0, 0.4))
    assert progress.finished


@pytest.mark.parametrize(("warm_up", "finished"), [(0, True), (4, False), (3, False), (2, True)])
def test_training_does_not_stop_for_want_of_improvement_in_a_warm_up(tmp_path, warm_up, finished):
    progress = Progress({}, tmp_path, 3, warm_up)
    progress.history = history(*((valid, 1.0) for valid in (0.5, 0.4, 0.4, 0.4, 0.3)), accuracy=0.9)
    assert progress.best_epoch == 0 and progress.finished is finished


@dataclasses.dataclass
class Constant:
    """A reader that always gives one answer."""

    answer: int
    size: int
    loss: str = "sparse_categorical_crossentropy"

    def predict_on_batch(self, features):
        sure = np.eye(self.size)[[self.answer] * len(features["passage"])]
        return 0.9 * sure + 0.1 / self.size


def test_every_question_counts(uninterrupted):
    _, batches, _ = uninterrupted
    encoded = batches["test"].encoded
    assert len(encoded) % 8
    size = len(batches["test"].preprocessor.answers)
    total = 0
    known = batches["test"].preprocessor.answers
    for answer in range(1, size):
        result = training.evaluate(Constant(answer, size), batches["test"], texts=True)
        assert result["predicted"] == [known[answer]] * len(result["wrong"])
        wrong = [n for n, example in enumerate(encoded) if example.answer != answer]
        assert result["count"] == len(encoded)
        assert result["wrong"] == wrong
        assert result["accuracy"] == pytest.approx(1 - len(wrong) / len(encoded))
        right = len(encoded) - len(wrong)
        loss = -np.log(0.1 / size) * len(wrong) - np.log(0.9 + 0.1 / size) * right
        assert result["loss"] == pytest.approx(loss / len(encoded), rel=1e-5)
        total += right
    assert total == len(encoded)


def test_a_new_answer_is_never_right(uninterrupted):
    model, _, _ = uninterrupted
    example = Example(("Mary went to the attic.",), "Where is Mary?", "attic")
    batches = model.batches([example], batch_size=1)
    result = training.evaluate(Constant(0, len(model.preprocessor.answers)), batches)
    assert (result["accuracy"], result["count"], result["wrong"]) == (0.0, 1, [0])
    # Nor has it a loss, which would be that of a logit that is out of the question.
    known = Example(("Mary went to the kitchen.",), "Where is Mary?", "kitchen")
    size = len(model.preprocessor.answers)
    both = model.batches([example, known], batch_size=2)
    assert training.evaluate(Constant(0, size), both)["loss"] == pytest.approx(-np.log(0.1 / size))


@pytest.mark.parametrize("spread, right", [(0.0, 1.0), (np.nan, 0.0)])
@pytest.mark.parametrize("words", [False, True])
def test_the_best_answer_is_a_known_one_and_that_of_a_diverged_model_wrong(words, spread, right):
    stories = [Example(("Mary left.",), "Where is Mary?", "kitchen")] * 3
    stories += [dataclasses.replace(stories[0], answer="kitchen,milk")] * words
    kind = zoo.DynamicMemoryNetwork if words else zoo.QueryReductionNetwork
    model = kind.from_examples(stories, units=4)
    answers = model.batches(stories)[0][1]
    model.compile(jit_compile=JIT)
    # The unknown answer is far ahead of the right one, which is ahead of all others.
    logits = 300.0 * np.eye(len(model.preprocessor.answers))[answers] + spread
    logits[..., 0] = 900.0 + spread
    model.predict_on_batch = lambda features: logits.astype("float32")
    found = training.evaluate(model, model.batches(stories), texts=True)
    assert found["accuracy"] == right
    assert len(found["predicted"]) == len(stories) * (1 - right)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"epochs": 0}, "epochs: Input should be greater than 0 .got 0"),
        ({"batch_size": "8"}, "batch_size: Input should be a valid integer .got '8'"),
        ({"learning_rate": -1.0}, "learning_rate: Input should be greater than 0"),
        ({"learning_rate": float("inf")}, "learning_rate: Input should be a finite number"),
        ({"halve_every": 0}, "halve_every: Input should be greater than 0"),
        ({"average": 1}, "average: Input should be less than 1"),
        ({"clip_each": "no"}, "clip_each: Input should be a valid boolean .got 'no'"),
        ({"optimizer": "lion"}, "optimizer: Input should be 'adam', .*'adagrad' .got 'lion'"),
        ({"model": "ga-lstm"}, "There is no model 'ga-lstm'; choose one of as-coref-gru"),
        (
            {"arguments": {"unit": 8}},
            "'unit' is no argument of as-coref-gru. Did you mean 'units'.* carry",
        ),
        (
            {"arguments": {"answer_head": "pointer"}},
            "answer_head must be one of pointer_sum, .*pointer_or_class; got 'pointer'",
        ),
    ],
)
def test_bad_settings_are_refused(splits, change, message):
    with pytest.raises(ValueError, match=message):
        training.prepare(splits, dataclasses.replace(SETTINGS, **change))


@pytest.mark.parametrize(
    "changes, kind, rates, clip",
    [
        ({}, optimizers.Adam, (3e-3, 1.5e-3), "global_clipnorm"),
        (
            {"optimizer": "rmsprop", "halve_every": None, "clip_each": True},
            optimizers.RMSprop,
            (3e-3, 3e-3),
            "clipnorm",
        ),
    ],
)
def test_the_optimizer_follows_the_settings(splits, changes, kind, rates, clip):
    model = training.make_model(splits.train, dataclasses.replace(SETTINGS, **changes))
    clips = {name: getattr(model.optimizer, name) for name in ("clipnorm", "global_clipnorm")}
    assert type(model.optimizer) is kind
    assert {name for name, norm in clips.items() if norm} == {clip} and clips[clip] == 10
    for iterations, rate in zip((999, 1000), rates, strict=True):
        model.optimizer.iterations.assign(iterations)
        assert float(model.optimizer.learning_rate) == pytest.approx(rate)
