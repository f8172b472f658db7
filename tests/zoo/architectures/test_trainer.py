"""Training, evaluation and prediction of texts and features, as users of Keras expect them."""

import dataclasses
import json

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem import optimizers
from keras_corefmem.datasets import Sentence
from keras_corefmem.datasets.stories import simulator
from tests.support.conformance.evaluation import QUICK
from tests.support.model_cases import LABELLED, TAGGED
from tests.support.tiers import standing_for
from zoo import training
from zoo.architectures.inputs import PartsOfEpochs

STORIES = simulator.simulate(1, 37)
PASSAGES, QUESTIONS, ANSWERS = (
    [getattr(story, name) for story in STORIES] for name in ("passage", "question", "answer")
)
COLUMNS = {"passage": PASSAGES, "question": QUESTIONS}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def make(compiled=True, examples=STORIES, **options):
    keras.utils.set_random_seed(2)
    model = zoo.QueryReductionNetwork.from_examples(examples, units=6)
    if compiled:
        model.compile(**{**QUICK, **options})
    return model


@pytest.fixture(scope="module")
def model():
    return make()


@pytest.fixture(scope="module")
def expected(model):
    return training.evaluate(model, model.batches(STORIES, 64))


def restarts(model):
    """Yields the model again and again, with its weights, optimizer and seeds as they were."""
    model.optimizer.build(model.trainable_variables)
    variables = [*model.variables, *model.optimizer.variables]
    values = list(map(keras.ops.convert_to_numpy, variables))
    while True:
        keras.utils.set_random_seed(2)
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)
        yield model


def rows_of(answers, path):
    """The same questions in all forms, with answers or without, by name."""
    rows = [{**row, "answer": a} for row, a in zip(ROWS, ANSWERS, strict=True)] if answers else ROWS
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    yield "rows", rows
    yield "tuples", [tuple(row.values()) for row in rows]
    yield "columns", columns
    yield "arrays", {name: np.array(column) for name, column in columns.items()}
    (path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    yield "JSON lines", str(path / "rows.jsonl")
    yield "pandas", pytest.importorskip("pandas").DataFrame(columns)
    yield "datasets", pytest.importorskip("datasets").Dataset.from_dict(columns)
    data = pytest.importorskip("tensorflow").data.Dataset.from_tensor_slices(columns)
    yield "tf.data", data
    yield "batches of tf.data", data.batch(8)


@pytest.mark.thorough
def test_texts_in_all_forms_are_read_alike(model, expected, tmp_path):
    logits = model.predict(STORIES, verbose=0)
    assert logits.shape == (37, len(model.preprocessor.answers))
    for name, rows in rows_of(True, tmp_path):
        loss, accuracy = model.evaluate(rows, verbose=0)
        assert loss == pytest.approx(expected["loss"], rel=1e-5), name
        assert accuracy == pytest.approx(expected["accuracy"]), name
    for name, rows in rows_of(False, tmp_path):
        found = model.predict(rows, batch_size=16, verbose=0)
        np.testing.assert_allclose(found, logits, rtol=1e-4, atol=1e-5, err_msg=name)
    for answers in (ANSWERS, np.array(ANSWERS)):
        found = model.evaluate(COLUMNS, answers, batch_size=10, return_dict=True, verbose=0)
        assert found["loss"] == pytest.approx(expected["loss"], rel=1e-5)


@pytest.mark.parametrize(
    "examples",
    [
        pytest.param(LABELLED, id="labels"),
        pytest.param(TAGGED, id="tags"),
    ],
)
@pytest.mark.thorough
def test_sentences_are_strings_too(examples):
    model = zoo.SentenceDynamicMemoryNetwork.from_examples(
        examples, units=4, passes=1, bidirectional=False
    )
    model.compile(**QUICK)
    texts, answers = [" ".join(e.words) for e in examples], [e.answer for e in examples]
    logits = model.predict(texts, batch_size=5, verbose=0)
    np.testing.assert_allclose(logits, model.predict(examples, verbose=0), rtol=1e-4, atol=1e-5)
    found = model.evaluate(texts, answers, batch_size=24, verbose=0, return_dict=True)
    ours = training.evaluate(model, model.batches(examples, 24))
    assert found == pytest.approx({name: ours[name] for name in found}, rel=1e-5)
    # Padding weighs nothing, also where nobody says so.
    features, numbers, weights = model.batches(examples, 24)[0]
    arrays = model.evaluate(features, numbers, verbose=0, return_dict=True)
    assert arrays == pytest.approx(found, rel=1e-5) and weights.min() == (examples is LABELLED)
    assert len(model.fit(features, numbers, verbose=0).history["loss"]) == 1
    data = {"batch_size": 24, "validation_data": (texts, answers)}
    history = model.fit(texts, answers, **data, epochs=2, verbose=0)
    assert len(history.history["val_loss"]) == 2


def test_fit_learns_texts_as_it_learns_their_batches():
    histories = []
    part = {name: column[29:] for name, column in COLUMNS.items()}
    frame = pytest.importorskip("pandas").DataFrame(part), np.array(ANSWERS[29:])
    held_out = None, STORIES[29:], tuple(STORIES[29:]), (part, ANSWERS[29:]), frame
    for model, validation_data in zip(restarts(make(run_eagerly=False)), held_out, strict=False):
        data = {"validation_data": validation_data}
        x, y = (COLUMNS, ANSWERS) if validation_data is None else (STORIES[:29], None)
        if validation_data is None:
            # 37 · 0.8 = 29.6.
            data = {"validation_split": 0.2}
        histories.append(model.fit(x, y, 8, 3, verbose=0, **data).history)
    assert set(histories[0]) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    for other in histories[1:]:
        for name, values in histories[0].items():
            assert other[name] == pytest.approx(values, rel=1e-4)
    assert histories[0]["loss"][-1] < histories[0]["loss"][0]


@pytest.mark.parametrize("shuffle", standing_for([True, False], [True]))
def test_texts_fewer_than_a_batch_train_as_their_arrays(shuffle):
    features, answers, _ = make().batches(STORIES[:5], 5)[0]
    results = []
    for data in ((STORIES[:5],), (features, answers)):
        model = make(optimizer=keras.optimizers.SGD(1.0))
        before = model.get_weights()
        loss = model.fit(*data, shuffle=shuffle, verbose=0).history["loss"]
        changes = [a - b for a, b in zip(model.get_weights(), before, strict=True)]
        results.append([loss[0], *(np.linalg.norm(change) for change in changes)])
    np.testing.assert_allclose(*results, rtol=1e-3, atol=1e-5)


def test_fit_and_evaluate_compile_with_the_defaults():
    model = make(compiled=False)
    model.fit(STORIES[:8], verbose=0)
    assert isinstance(model.optimizer, optimizers.Adam)
    assert set(make(compiled=False).evaluate(STORIES[:8], verbose=0, return_dict=True)) == {
        *("loss", "accuracy")
    }


@pytest.mark.parametrize("metrics", [["accuracy"], ["acc", "ce"], [["accuracy"]], None])
def test_padding_counts_in_no_metric(metrics, expected):
    model = make(metrics=metrics)
    for batches in (model.batches(STORIES, 16), model.batches(STORIES, 100, shuffle=True)):
        found = model.evaluate(batches, verbose=0, return_dict=True)
        assert found.pop("accuracy") == pytest.approx(expected["accuracy"])
        for value in found.values():
            assert value == pytest.approx(expected["loss"], rel=1e-5)
        assert len(found) == 1 + (metrics == ["acc", "ce"])


def test_predictions_are_a_row_an_example_in_their_order(model):
    logits = model.predict(model.batches(STORIES, 1), verbose=0)
    for size in (16, 100):
        rows = model.predict(model.batches(STORIES, size, shuffle=True), verbose=0)
        np.testing.assert_allclose(rows, logits, rtol=1e-4, atol=1e-5)
    features, _, _ = model.batches(STORIES, 64)[0]
    assert model.predict(features, verbose=0).shape[0] == 64
    rows = model.predict(model.batches(STORIES, 8), steps=2, verbose=0)
    assert len(rows) == 16


@pytest.mark.thorough
def test_callbacks_may_change_the_learning_rate(tmp_path):
    model = make()
    plateau = keras.callbacks.ReduceLROnPlateau("loss", 0.1, patience=1, min_delta=100)
    halved = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    rates = model.fit(STORIES, epochs=3, verbose=0, callbacks=[plateau]).history["learning_rate"]
    assert rates == pytest.approx([3e-3, 3e-3, 3e-4], rel=1e-5)
    model.fit(STORIES, verbose=0, callbacks=[halved])
    model.save(tmp_path / "model.keras")
    loaded = zoo.load(tmp_path / "model.keras")
    assert float(loaded.optimizer.learning_rate) == pytest.approx(3e-5 / 2, rel=1e-5)


class Plain(keras.utils.PyDataset):
    """Batches as a user might make them."""

    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        return self.batches[index]


UNSEEN = [*STORIES[:30], dataclasses.replace(STORIES[30], answer="attic", source="qa1.txt:7")]


@pytest.mark.parametrize("shuffle", [True, False])
def test_an_unseen_answer_is_not_trained_on(model, shuffle):
    for x in (UNSEEN, [dataclasses.replace(e) for e in UNSEEN]):
        with pytest.raises(ValueError, match="The answer of qa1.txt:7 is none of the 6 that"):
            model.fit(x, shuffle=shuffle)
    with pytest.raises(ValueError, match="The answer of qa1.txt:7 is none of the 6 that"):
        model.fit(model.batches(UNSEEN))
    with pytest.warns(UserWarning, match="100% of the answers were not learned"):
        assert model.evaluate(UNSEEN[-1:], verbose=0)[1] == 0


@pytest.mark.thorough
def test_an_unseen_answer_in_features_is_not_trained_on():
    model = make()
    pieces = [model.batches(UNSEEN, 8)[n] for n in range(4)]
    features, answers, weights = pieces[-1]
    with pytest.raises(ValueError, match="example 6 is number 0, which is unknown and cannot be"):
        model.fit(features, answers, sample_weight=weights)
    assert model.evaluate(features, answers, sample_weight=weights, verbose=0)[0] > 10
    with pytest.raises(ValueError, match="example 1 is number 9, which there is not: they go"):
        model.evaluate(features, np.array([1, 9, *[1] * 6]), verbose=0)
    for data in (Plain(pieces), (piece for piece in pieces)):
        # TensorFlow has an error of its own that quotes it.
        with pytest.raises(Exception, match="number 0, which is unknown and cannot be learned"):
            model.fit(data, verbose=0)
    # What weighs nothing may be unknown.
    known = [(x, y, np.minimum(w, y)) for x, y, w in pieces]
    assert len(model.fit(Plain(known), verbose=0).history["loss"]) == 1
    tf = pytest.importorskip("tensorflow")
    spec = keras.tree.map_structure(
        lambda a: tf.TensorSpec([None, *a.shape[1:]], a.dtype), known[0]
    )
    spec[0]["sentences"] = tf.TensorSpec([None, None, spec[0]["sentences"].shape[2]], tf.int32)
    for data, fails in ((pieces, True), (known, False)):
        dataset = tf.data.Dataset.from_generator(
            lambda data=data: iter(data), output_signature=spec
        )
        if fails:
            with pytest.raises(tf.errors.InvalidArgumentError, match="is 0, which is unknown and"):
                model.fit(dataset, verbose=0)
        else:
            model.fit(dataset, verbose=0)


@pytest.mark.thorough
def test_some_steps_have_the_loss_of_their_examples():
    model = make(optimizer=keras.optimizers.SGD(0.0))
    loss = model.evaluate(STORIES[:16], verbose=0)[0]
    batches = model.batches(STORIES, 8)
    first = [STORIES[n] for n in batches.in_order(2).order]
    for data, expected in ((STORIES, loss), (batches, model.evaluate(first, verbose=0)[0])):
        assert model.evaluate(data, batch_size=8, steps=2, verbose=0)[0] == pytest.approx(expected)
        found = model.fit(
            STORIES[:8],
            validation_data=data,
            validation_batch_size=8,
            validation_steps=2,
            verbose=0,
        )
        assert found.history["val_loss"] == [pytest.approx(expected)]
    logits = model.predict(STORIES, batch_size=8, steps=2, verbose=0)
    np.testing.assert_allclose(logits, model.predict(STORIES[:16], verbose=0), atol=1e-5)


@pytest.mark.parametrize("as_texts", [True, False])
@pytest.mark.parametrize(
    "sizes_of", [{"validation_batch_size": 4}, {"batch_size": 4, "validation_batch_size": None}]
)
def test_arrays_to_validate_on_are_batched_by_the_size_passed(as_texts, sizes_of):
    model = make()
    data, validation = (model.batches(STORIES[:n], n)[0][:2] for n in (8, 16))
    sizes = []
    watch = keras.callbacks.Callback()
    watch.on_test_batch_end = lambda batch, logs=None: sizes.append(batch)
    model.fit(
        *([STORIES[:8]] if as_texts else data),
        validation_data=validation,
        **sizes_of,
        callbacks=[watch],
        verbose=0,
    )
    assert len(sizes) == 4


@pytest.mark.parametrize("steps", [1, 3, 7])
def test_parts_of_epochs_go_on_where_they_stopped(model, steps):
    seen, batches = [], model.batches(STORIES, 8, shuffle=True)
    parts = PartsOfEpochs(batches, steps)
    for _ in range(10):
        seen += [batch[0]["question"].tobytes() for batch in map(parts.__getitem__, range(steps))]
        parts.on_epoch_end()
    expected = []
    for epoch in range(14):
        batches.start_epoch(epoch)
        expected += [batches[n][0]["question"].tobytes() for n in range(len(batches))]
    assert seen == expected[: 10 * steps] and len(batches) == 5


# Where parts of epochs go on and what steps are counted, the tests before have.
@pytest.mark.thorough
@pytest.mark.parametrize("steps", [1, 3, 7])
def test_epochs_of_some_steps_go_on_where_they_stopped(steps):
    traced = {"run_eagerly": False}
    model = make(**traced)
    batches = model.batches(STORIES, 8, shuffle=True)
    options = {"batch_size": 8, "epochs": 6, "steps_per_epoch": steps, "verbose": 0}
    for data in (STORIES, batches):
        history = model.fit(data, **options).history["loss"]
        assert len(history) == 6 and np.all(np.isfinite(history))
    assert int(model.optimizer.iterations) == 2 * 6 * steps
    if steps == 3:
        whole = make(**traced).fit(batches.in_order(), epochs=3, verbose=0).history["loss"]
        options = {"epochs": 5, "steps_per_epoch": 3, "verbose": 0}
        halves = make(**traced).fit(batches.in_order(), **options).history["loss"]
        assert np.mean(halves) == pytest.approx(np.mean(whole), rel=1e-4)


@pytest.mark.thorough
def test_answers_weigh_by_their_class():
    count = ANSWERS.count("kitchen")
    weight = {"kitchen": 3.0}
    model = make()
    number = model.preprocessor.answer_numbers["kitchen"]
    *losses, plain = [
        model.fit(x, y, 64, verbose=0, class_weight=weight).history["loss"][0]
        for model, (x, y, weight) in zip(
            restarts(model),
            (
                (COLUMNS, ANSWERS, {"kitchen": 3.0}),
                (STORIES, None, {number: 3.0}),
                (model.batches(STORIES, 64, True, mean_of_rows=True), None, weight),
                (STORIES, None, None),
            ),
            strict=False,
        )
    ]
    assert losses[0] == losses[1] == pytest.approx(losses[2], rel=1e-6) and 0 < count < 37
    assert losses[0] > plain
    with pytest.raises(ValueError, match="class_weight: there is no answer 'attic'"):
        model.fit(STORIES, class_weight={"attic": 2.0})


@pytest.mark.parametrize(
    "x, y, options, message",
    [
        (COLUMNS, ANSWERS[1:], {}, "There are 37 texts, but 36 answers"),
        (COLUMNS, [1] * 37, {}, "The answer of a text is a text too, got 1"),
        (STORIES, None, {"sample_weight": np.ones(37)}, "sample_weight is for arrays; weigh texts"),
        ([], None, {}, "no examples"),
        (ROWS, None, {}, "no answer"),
    ],
)
def test_texts_that_cannot_be_trained_on_are_refused(model, x, y, options, message):
    with pytest.raises(ValueError, match=message):
        model.fit(x, y, **options)


def test_a_model_without_a_preprocessor_reads_no_text():
    model = make()
    model.preprocessor = None
    with pytest.raises(ValueError, match="has no preprocessor"):
        model.predict(STORIES)


def test_the_old_name_of_batches_warns(model):
    with pytest.warns(DeprecationWarning, match=r"make_batches\(model, …\) is now model.batches"):
        assert len(training.make_batches(model, STORIES, batch_size=16)) == 3


def test_sentences_without_answers_are_predicted():
    model = zoo.SentenceDynamicMemoryNetwork.from_examples(TAGGED, units=4, passes=1)
    sentences = [Sentence(("The", "film"), ("DT", "NN")), Sentence(("Great",), ("JJ",))]
    assert model.predict(sentences, verbose=0).shape[:2] == (2, 2)
