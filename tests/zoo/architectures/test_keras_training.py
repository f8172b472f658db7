"""Epochs, evaluation and losses as Keras documents them, whatever fills up the last batch."""

import dataclasses
import warnings

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from keras_corefmem.metrics import AnswerCrossentropy
from tests.support.conformance.evaluation import JIT, QUICK
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


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="TensorFlow knows no length")
def test_data_of_unknown_number_have_the_mean_of_their_batches():
    import tensorflow as tf

    model = make(optimizer=keras.optimizers.SGD(0.0))
    batches = model.batches(STORIES[:16], 8)
    expected = pytest.approx(model.evaluate(batches, verbose=0, return_dict=True), rel=1e-5)
    specs = keras.tree.map_structure(lambda a: tf.TensorSpec(a.shape, a.dtype), batches[0])
    data = tf.data.Dataset.from_generator(
        lambda: map(batches.__getitem__, range(2)), output_signature=specs
    )
    assert model.evaluate(data, verbose=0, return_dict=True) == expected
    history = model.fit(data, verbose=0).history
    assert {name: history[name][0] for name in ("loss", "accuracy")} == expected


def test_weights_of_samples_and_of_classes_are_multiplied():
    model = make(optimizer=keras.optimizers.SGD(0.1))
    batches, weights = model.batches(STORIES[:8], 8), {0: 2.0, 1: 0.5}
    initial = model.get_weights()
    model.fit(batches, class_weight=weights, verbose=0)
    expected = model.get_weights()
    model.set_weights(initial)
    model.train_on_batch(*batches[0], class_weight=weights)
    for once, again in zip(expected, model.get_weights(), strict=True):
        np.testing.assert_allclose(once, again, rtol=1e-5, atol=1e-7)
    features, answers, samples = batches[0]
    with pytest.raises(ValueError, match="class_weight.*sample_weight"):
        model.fit(features, answers, sample_weight=samples[:, None], class_weight=weights)


@pytest.mark.parametrize("name", ["y", "sample_weight", "validation_split"])
def test_batches_come_without_what_they_hold(name):
    model, value = make(), 0.5 if name == "validation_split" else np.ones(8)
    batches = model.batches(STORIES[:8], 8)
    with pytest.raises(ValueError, match=f"{name} is for arrays"):
        model.fit(batches, verbose=0, **{name: value})
    if name != "validation_split":
        with pytest.raises(ValueError, match=f"{name} is for arrays"):
            model.evaluate(batches, verbose=0, **{name: value})


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


def test_sums_count_examples_with_unknown_answers():
    model = make(loss=AnswerCrossentropy(reduction="sum"))
    stories = [
        dataclasses.replace(e, answer="attic") if n > 15 else e for n, e in enumerate(STORIES)
    ]
    features, answers, _ = model.batches(stories, 21)[0]
    assert np.all(answers[16:] == 0)
    expected = model.evaluate(features, answers, 8, verbose=0)
    with pytest.warns(UserWarning, match="were not learned"):
        assert model.evaluate(stories, batch_size=8, verbose=0) == pytest.approx(expected, rel=1e-5)


def test_a_loss_may_be_in_a_list():
    scores = []
    for loss in (None, [AnswerCrossentropy()]):
        model = make(loss=loss)
        scores.append(training.evaluate(model, model.batches(STORIES))["loss"])
    assert scores[0] == scores[1]


def unseen(example):
    """The example with names that no example has."""
    names = {"Mary": "Alice", "John": "Bob", "kitchen": "den", "garden": "attic"}

    def renamed(text):
        for old, new in names.items():
            text = text.replace(old, new)
        return text

    texts = map(renamed, (example.question, example.answer))
    changed = dict(zip(("question", "answer"), texts, strict=True))
    return dataclasses.replace(example, sentences=tuple(map(renamed, example.sentences)), **changed)


SYMBOLS = {
    "passages": (zoo.AttentionSumReader, {"encoder": "gru", "answer_head": "classification"}),
    "words": (zoo.DynamicMemoryNetwork, {"answer_words": True, "passes": 1}),
    "classes": (zoo.QueryReductionNetwork, {}),
}


@pytest.mark.parametrize("name", SYMBOLS)
def test_symbols_that_are_no_word_of_a_text_are_not_its_answer(name):
    kind, options = SYMBOLS[name]
    model = kind.from_examples(STORIES, units=4, free_symbols=4, **options)
    numbers = np.random.default_rng(0)
    for weight in model.trainable_weights:
        weight.assign(numbers.normal(size=weight.shape))
    stories = [*map(unseen, STORIES), *STORIES]
    features, answers, _ = model.batches(stories, 42)[0]
    model.compile(keras.optimizers.SGD(0.0), **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = training.evaluate(model, model.batches(stories, 8))
    logits = model.predict_on_batch(features)
    assert float(AnswerCrossentropy()(answers, logits)) > expected["loss"] + 0.05
    expected = pytest.approx([expected["loss"], expected["accuracy"]], rel=1e-4)
    assert model.evaluate(stories, batch_size=8, verbose=0) == expected
    assert model.evaluate(features, answers, batch_size=42, verbose=0) == expected
    assert model.test_on_batch(features, answers) == expected
    assert model.evaluate(features, [answers], batch_size=42, verbose=0) == expected
    history = model.fit(STORIES, validation_data=stories, verbose=0).history
    assert [history["val_loss"][0], history["val_accuracy"][0]] == expected
    if answers.ndim == 1:
        shares = np.eye(logits.shape[-1])[answers]
        model.compile(loss=keras.losses.CategoricalCrossentropy(from_logits=True), **QUICK)
        assert model.evaluate(features, shares, batch_size=42, verbose=0) == expected
        # Logits that are masked would count.
        smooth = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)
        model.compile(loss=smooth, **QUICK)
        loss = model.evaluate(features, shares, batch_size=42, verbose=0)[0]
        assert loss == pytest.approx(float(smooth(shares, logits)), rel=1e-4)


def test_a_loss_may_be_computed_after_an_evaluation():
    model = make(Penalized)
    features, answers, _ = model.batches(STORIES, 21)[0]
    expected = model.evaluate(features, answers, 21, verbose=0)[0]
    model.evaluate(STORIES, verbose=0)
    logits = model(features, training=False)
    loss = model.compute_loss(features, answers, logits, training=False)
    assert float(loss) == pytest.approx(expected, rel=1e-5)


@pytest.mark.filterwarnings("error")
def test_eager_steps_need_no_other_argument():
    model = make(jit_compile=None, run_eagerly=True)
    assert model.run_eagerly and not model.jit_compile
    assert make(jit_compile=None, run_eagerly=False).jit_compile


def test_a_backup_of_keras_continues_as_in_one_go(tmp_path):
    def stop(epoch, logs=None):
        if epoch == 2 and not (tmp_path / "stopped").exists():
            (tmp_path / "stopped").touch()
            raise KeyboardInterrupt

    stopping, histories = keras.callbacks.LambdaCallback(on_epoch_begin=stop), []
    for folder, callbacks in (("one", []), ("two", [stopping]), ("two", [])):
        model = make()
        backup = keras.callbacks.BackupAndRestore(tmp_path / folder)
        try:
            options = {"epochs": 4, "callbacks": [backup, *callbacks], "verbose": 0}
            history = model.fit(model.batches(STORIES, 8), **options).history
        except KeyboardInterrupt:
            continue
        histories.append([history["loss"][-2:], *model.get_weights()])
    for found, expected in zip(*histories, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_model_is_a_layer_of_another(tmp_path):
    model = make()
    features, answers, _ = model.batches(STORIES, 21)[0]
    inputs = {each.name: keras.Input(each.shape[1:], dtype="int32") for each in model.inputs}
    outer = keras.Model(inputs, keras.layers.Softmax()(model(inputs)))
    for trainable in (True, False):
        model.trainable, before = trainable, model.get_weights()
        outer.compile("sgd", "sparse_categorical_crossentropy", **QUICK)
        outer.fit(features, answers, verbose=0)
        kept = list(map(np.array_equal, model.get_weights(), before))
        assert all(kept) != trainable
    outer.save(tmp_path / "outer.keras")
    found = keras.saving.load_model(tmp_path / "outer.keras").predict_on_batch(features)
    np.testing.assert_allclose(found, outer.predict_on_batch(features), atol=1e-6)
    logits = keras.ops.softmax(model.predict_on_batch(features))
    np.testing.assert_allclose(found, logits, atol=1e-6)


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_batches_that_are_filled_up_are_reported_as_they_are(l2):
    stories = simulator.simulate(1, 37)
    keras.utils.set_random_seed(2)
    model = zoo.QueryReductionNetwork.from_examples(stories, units=6, l2=l2)
    # Nothing is learned, so that all report on one model.
    model.compile(keras.optimizers.SGD(0.0), **QUICK)
    expected = model.evaluate(stories, verbose=0, return_dict=True)
    rows = {story.answer: 1.0 for story in stories}
    for data, options in (
        (stories, {}),
        (stories, {"class_weight": rows}),
        (model.batches(stories), {}),
        (model.batches(stories, mean_of_rows=True), {}),
        (model.batches(stories, shuffle=True), {}),
        (model.batches(stories, shuffle=True, mean_of_rows=True), {}),
    ):
        history = model.fit(data, verbose=0, **options).history
        found = {name: values[0] for name, values in history.items()}
        assert found == pytest.approx(expected, rel=1e-5)
    features, answers, weights = model.batches(stories, batch_size=32, shuffle=True)[0]
    made = [model.train_on_batch(features, answers, weights)[0] for _ in range(2)]
    model.fit(stories, verbose=0)
    assert made[0] == pytest.approx(model.train_on_batch(features, answers, weights)[0], rel=1e-5)
