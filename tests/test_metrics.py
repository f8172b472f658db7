import keras
import numpy as np
import pytest

from keras_corefmem.metrics import AnswerAccuracy, AnswerCrossentropy
from keras_corefmem.preprocessing import best_sequences

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("words", [None, 3])
def test_answers_of_several_words_count_as_a_whole(words):
    shape = (40,) if words is None else (40, words)
    logits = RANDOM.normal(0, 1, (*shape, 3)).astype("float32")
    answers, weights = RANDOM.integers(0, 3, shape), RANDOM.integers(0, 3, 40).astype("float32")
    best = 1 + logits[..., 1:].argmax(axis=-1)
    if words:
        best = best_sequences(logits, 1)[0][:, 0]
        # The best answer need not have the best word in each place.
        assert not all((row == 2).any() for row in logits.argmax(axis=-1)[(best == 2).any(axis=-1)])
    answers[:20] = best[:20]
    right = (best == answers).reshape(40, -1).all(axis=-1)
    assert 0 < right.mean() < 1
    metric = AnswerAccuracy()
    metric.update_state(answers, logits, sample_weight=weights)
    np.testing.assert_allclose(float(metric.result()), np.average(right, weights=weights), 1e-6)

    counted = np.ones((40, words or 1), bool)
    for row, answer in zip(counted, answers, strict=True):
        if words and 2 in answer:
            row[list(answer).index(2) + 1 :] = False
    assert counted.all() == (words is None)
    odds = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    chosen = np.take_along_axis(odds, answers[..., None], axis=-1)[..., 0]
    losses = np.average(-np.log(chosen).reshape(40, -1), axis=-1, weights=counted)
    found = AnswerCrossentropy()(answers, logits, sample_weight=weights)
    np.testing.assert_allclose(float(found), np.mean(weights * losses), rtol=1e-5)


@pytest.mark.parametrize("words", [None, 3])
def test_no_answer_of_a_diverged_model_is_right(words):
    shape = (3,) if words is None else (3, words)
    metric = AnswerAccuracy()
    for answer in range(1, 3):
        metric.update_state(np.full(shape, answer), np.full((*shape, 3), np.nan, "float32"))
    assert metric.result() == 0


@pytest.mark.parametrize("shape", [(40,), (40, 3)])
def test_answers_may_have_an_axis_of_1_at_the_end(shape):
    logits, answers = RANDOM.normal(0, 1, (*shape, 3)), RANDOM.integers(0, 3, shape)
    metrics = [AnswerAccuracy(), AnswerAccuracy()]
    for metric, given in zip(metrics, (answers, answers[..., None]), strict=True):
        metric.update_state(given, logits)
    assert 0 < float(metrics[0].result()) == float(metrics[1].result())
    loss = AnswerCrossentropy()
    assert float(loss(answers, logits)) == float(loss(answers[..., None], logits))


def test_answers_and_logits_may_be_lists():
    answers, logits = [1, 2, 1], [[0.1, 0.9, 0.2], [0.7, 0.3, 0.1], [0.5, 0.2, 0.1]]
    metric, loss = AnswerAccuracy(), AnswerCrossentropy()
    metric.update_state(answers, logits)
    assert float(metric.result()) == pytest.approx(2 / 3)
    assert float(loss(answers, logits)) == float(loss(np.array(answers), np.array(logits)))


@pytest.mark.parametrize("make", [AnswerAccuracy, AnswerCrossentropy])
def test_configurations_make_the_same(make):
    made = make(name="x")
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(made))
    assert type(copy) is make and copy.name == "x" and copy.get_config() == made.get_config()


def test_training_stops_where_the_accuracy_no_longer_rises():
    model = keras.Sequential([keras.layers.Dense(3)])
    model.compile(loss=AnswerCrossentropy(), weighted_metrics=[AnswerAccuracy()])
    data = np.zeros((4, 2), "float32"), np.array([1, 1, 1, 1])
    stop = keras.callbacks.EarlyStopping("val_accuracy", patience=1)
    history = model.fit(*data, validation_data=data, epochs=5, callbacks=[stop], verbose=0).history
    assert len(history["val_accuracy"]) <= 3 and stop.monitor_op is keras.ops.greater
