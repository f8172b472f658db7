import types
from collections import UserList

import keras
import numpy as np
import pytest
import scipy

import zoo
from keras_corefmem.datasets import Example, Splits
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.preprocessing.encoding.answers import best_sequences
from tests.support.model_cases import CASES, features_of, shared
from zoo.training import (
    Settings,
    calibrate,
    calibration_examples,
    evaluate,
    expected_calibration_error,
)
from zoo.training.batches import draw_parts


class Predicted:
    """A model whose logits are given, `factor` times those that its answers are drawn by."""

    loss, temperature = keras.losses.SparseCategoricalCrossentropy(from_logits=True), 1.0

    def __init__(self, factor, count=4000, classes=6):
        random = np.random.default_rng(0)
        self.logits = random.normal(0, 2, (count, classes)).astype("float32")
        self.logits[:, 0] = -100.0
        odds = scipy.special.softmax(self.logits, axis=-1)
        self.answers = np.array([random.choice(classes, p=row / row.sum()) for row in odds])
        self.factor = factor

    def __len__(self):
        return 2

    def __getitem__(self, index):
        rows = slice(index, None, 2)
        return rows, self.answers[rows], np.ones(len(self.answers) // 2)

    def numbers(self, index):
        return np.arange(len(self.answers))[index::2]

    def predict_on_batch(self, rows):
        return self.factor * self.logits[rows]


@pytest.mark.parametrize("factor", [0.5, 1.0, 4.0])
def test_the_temperature_is_that_by_which_logits_are_too_large(factor):
    model = Predicted(factor)
    before = evaluate(model, model)
    assert calibrate(model, model) == pytest.approx(factor, rel=0.08)
    after = evaluate(model, model)
    assert after["wrong"] == before["wrong"] and after["loss"] == before["loss"]
    assert after["calibration_error"] < 0.02
    assert factor == 1.0 or before["calibration_error"] > 0.1


def test_a_few_questions_without_an_error_do_not_make_it_certain():
    model = Predicted(1.0, count=100)
    model.logits = 9 * np.eye(6, dtype="float32")[model.answers]
    calibrate(model, model)
    told = np.exp(best_sequences(model.logits / model.temperature, 1)[1])
    np.testing.assert_allclose(told, 101 / 102, atol=1e-3)


def test_unknown_answers_and_padding_weigh_nothing():
    model, others = Predicted(3.0), Predicted(3.0)
    others.answers[::7] = 0
    kept = others.answers > 0
    batch = others.logits[kept], others.answers[kept], np.ones(kept.sum())
    padded = [np.concatenate([part, part[:9]]) for part in batch]
    padded[2][-9:] = 0
    found = types.SimpleNamespace(predict_on_batch=lambda rows: 3 * rows, temperature=1.0)
    assert calibrate(found, UserList([padded])) == pytest.approx(
        calibrate(others, others), rel=1e-4
    )
    assert calibrate(model, model) != others.temperature
    nothing = types.SimpleNamespace(predict_on_batch=lambda rows: rows, temperature=1.0)
    assert calibrate(nothing, UserList([(model.logits[:2], np.zeros(2), np.ones(2))])) == 1.0


def test_answers_of_several_words_keep_their_temperature():
    model = types.SimpleNamespace(predict_on_batch=lambda rows: rows, temperature=1.0)
    logits = np.random.default_rng(1).normal(size=(20, 3, 8))
    assert calibrate(model, UserList([(logits, np.ones((20, 3), int), np.ones(20))])) == 1.0


def test_a_model_that_diverged_is_scored_and_keeps_its_temperature():
    model = Predicted(np.nan)
    assert calibrate(model, model) == 1.0
    scores = evaluate(model, model)
    assert scores["calibration_error"] == scores["accuracy"]


def test_the_error_is_the_mean_gap_of_the_bins():
    random = np.random.default_rng(2)
    told, right = random.random(500), random.random(500) < 0.5
    gaps = [
        abs(right[chosen].sum() - told[chosen].sum())
        for n in range(15)
        if (chosen := (n / 15 <= told) & (told < (n + 1) / 15)).any()
    ]
    assert expected_calibration_error(told, right) == pytest.approx(sum(gaps) / 500)
    assert expected_calibration_error([1.0], [True]) == 0.0


def test_a_model_tells_probabilities_at_its_temperature_and_keeps_it(tmp_path):
    name = "ga-coref-gru-words"
    model, examples = keras.models.clone_model(shared(name)), CASES[name].examples[:3]
    features = features_of(model, examples, 60, 8)
    before = model.inspect(features)[0]
    model.temperature = 2.5
    model.save(tmp_path / "model.keras")
    for same in (model, zoo.load(tmp_path / "model.keras"), keras.models.clone_model(model)):
        same.set_weights(model.get_weights())
        np.testing.assert_allclose(same.inspect(features)[0], before / 2.5, atol=1e-4)
        told = same.follow(features, np.full((3, 1), 60))[:, 0]
        np.testing.assert_allclose(told, scipy.special.softmax(before / 2.5, axis=-1), atol=1e-4)
    with pytest.raises(ValueError, match="temperature must be a positive number, got 0"):
        type(model).from_config({**model.get_config(), "temperature": 0})
    with pytest.raises(ValueError, match="temperature must be a positive number, got -1"):
        model.temperature = -1


def test_models_are_scored_on_examples_as_on_batches():
    name = "ga-coref-gru-words"
    model, examples = keras.models.clone_model(shared(name)), CASES[name].examples[:3]
    model.compile(jit_compile=False)
    batches = model.batches(examples)
    assert evaluate(model, examples) == evaluate(model, batches)
    assert calibrate(model, examples) == calibrate(model, batches)


def test_a_share_of_questions_is_asked_again_without_an_answer():
    stories = simulator.simulate(1, 40)
    splits = Splits(stories, stories[:10], stories[10:20])
    train, valid, test = draw_parts(splits, Settings(unanswerable=0.25))
    assert train[:40] == stories and 40 < len(train) <= 50 and test == splits.test
    assert {example.answer for example in train[40:] + valid[10:]} == {"unknown"}
    everything = calibration_examples(splits, Settings(unanswerable=0.25))
    assert everything[:10] == stories[:10] and valid[10:] and set(valid) < set(everything)
    assert {example.answer for example in everything[10:]} == {"unknown"}
    assert calibration_examples(splits, Settings()) == stories[:10]
    with pytest.raises(ValueError, match="unanswerable: no question says by its supporting facts"):
        draw_parts(Splits([Example(("He ran.",), "Who?", "he")], [], []), Settings(unanswerable=1))
    with pytest.raises(ValueError, match="unanswerable: Input should be less than or equal to 1"):
        Settings(unanswerable=1.5)
