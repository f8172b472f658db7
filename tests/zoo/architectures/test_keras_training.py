"""Epochs, evaluation and losses as Keras documents them, whatever fills up the last batch."""

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from keras_corefmem.metrics import AnswerCrossentropy
from tests.support.evaluation import JIT, QUICK
from zoo import training

STORIES = simulator.simulate(1, 21)


def make(kind=zoo.QueryReductionNetwork, **options):
    keras.utils.set_random_seed(2)
    model = kind.from_examples(STORIES, units=4)
    model.compile(**{**QUICK, **options})
    return model


def test_epochs_of_batches_are_counted_from_0_and_go_on():
    model = make()
    batches, seen = model.batches(STORIES, 8, shuffle=True), []
    note = keras.callbacks.LambdaCallback(on_epoch_begin=lambda *_: seen.append(batches.epoch))
    for epochs in (2, 1):
        model.fit(batches, epochs=epochs, callbacks=[note], verbose=0)
    assert seen == [0, 1, 2] and batches.epoch == 3


def test_batches_of_training_are_evaluated_as_their_examples():
    model = make(optimizer=keras.optimizers.SGD(0.0))
    batches = model.batches(STORIES, 8, shuffle=True, mean_of_rows=True)
    expected = pytest.approx(model.evaluate(STORIES, verbose=0, return_dict=True), rel=1e-5)
    assert model.evaluate(batches, verbose=0, return_dict=True) == expected
    history = model.fit(batches, validation_data=batches, verbose=0).history
    assert {name: history[f"val_{name}"][0] for name in ("loss", "accuracy")} == expected
    assert batches.mean_of_rows


class Length(keras.layers.Layer):
    """Adds the mean over examples of their first word to the loss."""

    def call(self, vectors, words):
        read = keras.ops.cast(keras.ops.any(words != 0, axis=-1), "float32")
        first = keras.ops.cast(words[:, 0], "float32")
        self.add_loss(keras.ops.sum(read * first) / keras.ops.maximum(keras.ops.sum(read), 1.0))
        return vectors


class Penalized(zoo.QueryReductionNetwork):
    """A model with a loss in its graph."""

    @staticmethod
    def read_story(sentences, question, read, config):
        vectors = keras.layers.Embedding(config.vocabulary_size, 4)(question)
        vectors = Length()(vectors, sentences[:, 0])
        return keras.layers.Dense(config.num_answers)(vectors[:, 0]), None


def test_losses_of_layers_count_by_examples():
    model = make(Penalized, optimizer=keras.optimizers.SGD(0.0))
    features, answers, _ = model.batches(STORIES, 21)[0]
    whole = model.evaluate(features, answers, 21, verbose=0)
    expected = pytest.approx(whole, rel=1e-5)
    assert np.ptp(features["sentences"][:, 0, 0]) > 0
    assert model.evaluate(STORIES, batch_size=8, verbose=0) == expected
    history = model.fit(STORIES, batch_size=8, validation_data=STORIES, verbose=0).history
    assert history["loss"] + history["val_loss"] == pytest.approx([whole[0]] * 2, rel=1e-5)
    weights = np.arange(21) % 3 / 2
    by_weight = model.evaluate(features, answers, 21, sample_weight=weights, verbose=0)[0]
    assert model.test_on_batch(features, answers, weights)[0] == pytest.approx(by_weight)
    assert model.evaluate(model.batches(STORIES, 8), verbose=0) == expected


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("reduction", ["sum"] if JIT else ["sum", "none"])
def test_sums_over_a_batch_that_is_not_full_stay_sums(reduction, shuffle):
    model = make()
    before, changes, logs = model.get_weights(), [], []
    features, answers, _ = model.batches(STORIES, 21)[0]
    arrays = (features, answers)
    for data, held in (((STORIES,), STORIES), (arrays, arrays)):
        loss = AnswerCrossentropy(reduction=reduction)
        model.compile(keras.optimizers.SGD(0.0), loss, **QUICK)
        options = {"validation_data": held, "shuffle": shuffle, "verbose": 0}
        history = model.fit(*data, batch_size=8, **options).history
        logs.append([history["loss"][0], history["val_loss"][0]])
        logs[-1] += model.evaluate(*data, batch_size=8, verbose=0)[:1]
        model.compile(keras.optimizers.SGD(0.1), loss, **QUICK)
        few = (
            (STORIES[:5],)
            if held is STORIES
            else ({name: array[:5] for name, array in features.items()}, answers[:5])
        )
        model.fit(*few, shuffle=shuffle, verbose=0)
        pairs = zip(model.get_weights(), before, strict=True)
        changes.append(np.concatenate([np.ravel(a - b) for a, b in pairs]))
        model.set_weights(before)
    np.testing.assert_allclose(*changes, rtol=1e-3, atol=1e-5)
    # Which batch is not full depends on the order.
    np.testing.assert_allclose(logs[0][int(shuffle) :], logs[1][int(shuffle) :], rtol=1e-5)


def test_a_loss_may_be_in_a_list():
    scores = []
    for loss in (None, [AnswerCrossentropy()]):
        model = make(loss=loss)
        scores.append(training.evaluate(model, model.batches(STORIES))["loss"])
    assert scores[0] == scores[1]
