"""Losses and metrics that fit logits of answers, by their names in Keras, and others."""

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from keras_corefmem.metrics import AnswerCrossentropy
from tests.support.conformance.evaluation import JIT, QUICK

STORIES = simulator.simulate(1, 37)


def make(**options):
    keras.utils.set_random_seed(2)
    model = zoo.QueryReductionNetwork.from_examples(STORIES, units=6)
    model.compile(**QUICK, **options)
    return model


@pytest.fixture(scope="module")
def model():
    return make()


def test_the_cross_entropy_of_keras_is_that_of_logits():
    losses = []
    for loss in (None, "sparse_categorical_crossentropy", ["SparseCategoricalCrossentropy"]):
        history = make(loss=loss).fit(STORIES, epochs=2, verbose=0).history
        losses.append(history["loss"])
    assert losses[0] == losses[1] == losses[2] and losses[0][-1] < losses[0][0]


@pytest.mark.parametrize(
    "options, name",
    [
        ({"loss": keras.losses.SparseCategoricalCrossentropy()}, "SparseCategoricalCrossentropy"),
        ({"loss": "categorical_crossentropy"}, "categorical_crossentropy"),
        ({"loss": keras.losses.categorical_focal_crossentropy}, "categorical_focal_crossentropy"),
        (
            {"metrics": [keras.metrics.SparseCategoricalCrossentropy()]},
            "SparseCategoricalCrossentropy",
        ),
        ({"loss": "mse"}, "mean_squared_error"),
        ({"loss": [keras.losses.KLDivergence()]}, "KLDivergence"),
        ({"loss": keras.losses.categorical_hinge}, "categorical_hinge"),
        ({"loss": keras.losses.BinaryCrossentropy(from_logits=True)}, "BinaryCrossentropy"),
        ({"metrics": ["categorical_accuracy"]}, "CategoricalAccuracy"),
        ({"weighted_metrics": ["Accuracy"]}, "Accuracy"),
        ({"metrics": [keras.metrics.AUC()]}, "AUC"),
        ({"metrics": [keras.metrics.MeanIoU(7)]}, "MeanIoU"),
    ],
)
def test_losses_and_metrics_of_other_outputs_are_refused(model, options, name):
    said = f"{name} (takes the outputs for probabilities, but they|is not for logits of answers: )"
    with pytest.raises(ValueError, match=said):
        model.compile(jit_compile=JIT, **options)


def test_losses_and_metrics_of_logits_are_taken():
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    metrics = [keras.metrics.SparseTopKCategoricalAccuracy(2, "top_2"), lambda y, p: p[:, 1]]
    found = make(loss=loss, metrics=metrics).evaluate(STORIES, verbose=0, return_dict=True)
    assert {"loss", "accuracy", "top_2"} < set(found) and found["top_2"] >= found["accuracy"]
    iou = keras.metrics.MeanIoU(7, sparse_y_pred=False, name="iou")
    model = make(loss=lambda y, logits: logits[:, 1] ** 2, metrics=[iou])
    assert set(model.evaluate(STORIES, verbose=0, return_dict=True)) == {"loss", "accuracy", "iou"}
    found = make(weighted_metrics=[]).evaluate(STORIES, verbose=0, return_dict=True)
    assert set(found) == {"loss"}


def test_shares_of_answers_have_an_accuracy_too():
    model = make(loss=keras.losses.CategoricalCrossentropy(from_logits=True), metrics=["ce"])
    features, answers, weights = model.batches(STORIES, 37)[0]
    shares = np.eye(model.output.shape[-1])[answers]
    found = model.evaluate(features, shares, verbose=0, return_dict=True)
    expected = make().evaluate(STORIES, verbose=0, return_dict=True)
    assert found == pytest.approx({**expected, "ce": expected["loss"]}, rel=1e-5)


def test_losses_that_are_means_over_weights_are_reported_as_they_are():
    loss = AnswerCrossentropy(reduction="mean_with_sample_weight")
    # Nothing is learned, so that all report on one model.
    model = make(optimizer=keras.optimizers.SGD(0.0), loss=[loss])
    expected = model.evaluate(STORIES, verbose=0, return_dict=True)
    for data in (STORIES, model.batches(STORIES, shuffle=True)):
        history = model.fit(data, verbose=0).history
        found = {name: values[0] for name, values in history.items()}
        assert found == pytest.approx(expected, rel=1e-5)
    features, answers, _ = model.batches(STORIES, batch_size=37)[0]
    weights = np.linspace(0, 2, 37, dtype="float32")
    whole = model.evaluate(features, answers, batch_size=37, sample_weight=weights, verbose=0)
    parts = model.evaluate(features, answers, batch_size=8, sample_weight=weights, verbose=0)
    assert parts == pytest.approx(whole, rel=1e-5)
