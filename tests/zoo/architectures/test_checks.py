"""Texts, features and answers that do not fit a model are refused, or told."""

import dataclasses
import functools
import itertools
import pickle
import warnings

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from tests.support.conformance.evaluation import QUICK
from tests.support.model_cases import ANNOTATED, LABELLED, LISTS, STORIES, TAGGED, make, shared
from zoo.architectures.checks import check_numbers, checked

SENTENCES = [" ".join(sentence.words) for sentence in TAGGED]
UNSEEN = [*STORIES[:3], dataclasses.replace(STORIES[3], answer="attic", source="qa1.txt:7")]


@pytest.mark.parametrize(
    ("name", "examples", "message"),
    [
        ("qrn", TAGGED, "Example 0 is a single sentence, but the model answers questions about"),
        ("ngram", LABELLED, "Example 0 is a single sentence, but the model answers questions"),
        ("ga-coref-gru-words", SENTENCES, "example 0 is a single sentence, but the model answers"),
        ("dmn-tagger", STORIES, "seed 0:1 is a passage with a question, but the model reads singl"),
        ("dmn-tagger", LABELLED, "Example 0 has a label, but the model was made for .* with tags"),
        ("dmn-sentiment", TAGGED, "Example 0 has tags, but the model was made for .* with a label"),
    ],
)
def test_texts_of_another_kind_are_refused(name, examples, message):
    with pytest.raises(ValueError, match=message):
        shared(name).predict(examples, verbose=0)
    if examples is SENTENCES:
        return
    with pytest.raises(ValueError, match=message):
        shared(name).fit(examples, verbose=0)
    if "single sentence" in message or "passage with" in message:
        with pytest.raises(ValueError, match=message):
            type(shared(name)).from_examples(examples)


@functools.cache
def quick(name):
    """A model whose steps are not traced."""
    model = make(name)
    model.compile(**QUICK)
    return model


@pytest.mark.thorough
def test_answers_that_a_model_cannot_give_are_told():
    model = quick("qrn")
    message = "25% of the answers were not learned and count as wrong, such as "
    with pytest.warns(UserWarning, match=f"{message}'attic': leave these examples out, or"):
        model.evaluate(UNSEEN, verbose=0)
    with pytest.warns(UserWarning, match=f"{message}'qa1.txt:7'"):
        model.evaluate(model.batches(UNSEEN), verbose=0)
    for held in (UNSEEN, model.batches(UNSEEN)):
        with pytest.warns(UserWarning, match=message):
            model.fit(STORIES[:8], validation_data=held, verbose=0)
    lists = quick("dmn-lists")
    with pytest.warns(UserWarning, match="50% of the answers were not .* as 'milk,attic'"):
        lists.evaluate([LISTS[0], dataclasses.replace(LISTS[1], answer="milk,attic")], verbose=0)
    tagged = dataclasses.replace(TAGGED[0], answer=("XX",) * len(TAGGED[0].words))
    with pytest.warns(UserWarning, match="100% of the answers were not learned .* such as 'XX'"):
        quick("dmn-tagger").evaluate([tagged], verbose=0)
    elsewhere = dataclasses.replace(ANNOTATED[0], candidates=(), answer="zoë")
    with pytest.warns(UserWarning, match="50% of the answers are no candidates of their passages"):
        quick("ga-coref-gru-words").evaluate([elsewhere, ANNOTATED[1]], verbose=0)


def test_known_answers_are_not_told_of(recwarn):
    for name, examples in (("qrn", STORIES), ("dmn-lists", LISTS), ("dmn-tagger", TAGGED)):
        quick(name).evaluate(examples[:4], verbose=0)
        quick(name).predict([dataclasses.replace(examples[0])], verbose=0)
    quick("qrn").predict(UNSEEN, verbose=0)
    assert not [each for each in recwarn if "answers" in str(each.message)]


@pytest.mark.parametrize(
    ("name", "examples", "message"),
    [
        ("ga-coref-gru-words", ANNOTATED, "of this model are words of each passage: leave it out"),
        ("dmn-lists", LISTS, "of this model are sequences of words: leave it out"),
    ],
)
def test_weights_of_answers_that_are_no_classes_are_refused(name, examples, message):
    model = shared(name)
    features, answers, _ = model.batches(examples[:4], 4)[0]
    for data in ((examples,), (model.batches(examples),), (features, answers)):
        with pytest.raises(ValueError, match=message):
            model.fit(*data, class_weight={1: 2.0}, verbose=0)


@pytest.mark.thorough
def test_tags_weigh_by_their_class():
    options = {"passes": 1, "bidirectional": False, "dropout": 0.0, "word_dropout": 0.0}
    model = make("dmn-tagger", **options)
    model.compile(keras.optimizers.SGD(0.0), **QUICK)
    features, answers, _ = model.batches(TAGGED, 24)[0]
    weight = {number: float(number == 1) for number in range(1, 6)}
    named = {model.preprocessor.answers[number]: value for number, value in weight.items()}
    losses = [
        model.fit(*data, batch_size=24, class_weight=weights, verbose=0).history["loss"][0]
        for data, weights in (
            ((TAGGED,), named),
            ((model.batches(TAGGED, 24),), weight),
            ((features, answers), weight),
            ((features, answers), None),
        )
    ]
    assert losses[:3] == pytest.approx([losses[0]] * 3, rel=1e-5) != [losses[3]] * 3
    data = ((features, answers) for _ in range(2))
    with pytest.raises(ValueError, match="class_weight of tags is for texts, Batches, and arr"):
        model.fit(data, class_weight=weight)
    with pytest.raises(ValueError, match="no answer 'NNN'. Did you mean 'NN'?"):
        model.fit(TAGGED, class_weight={"NNN": 2.0})


def test_numbers_of_answers_to_validate_on_are_checked():
    model = quick("qrn")
    features, answers, weights = model.batches(STORIES[:4], 4)[0]
    wrong = np.array([1, 9, 1, 1])
    message = "example 1 is number 9, which there is not: they go from 1 to 6"
    for held in ((features, wrong), [features, wrong, weights]):
        with pytest.raises(ValueError, match=message):
            model.fit(features, answers, validation_data=held, verbose=0)
    # An unknown answer may be there, which counts as wrong.
    held = features, answers * 0
    history = model.fit(features, answers, validation_data=held, verbose=0).history
    assert history["val_accuracy"] == [0.0] and history["val_loss"][0] > 10
    with pytest.raises(Exception, match=message):
        model.evaluate((batch for batch in [(features, wrong)]), verbose=0)
    if keras.backend.backend() == "tensorflow":
        tf = pytest.importorskip("tensorflow")
        data = tf.data.Dataset.from_tensors((features, wrong))
        with pytest.raises(tf.errors.InvalidArgumentError, match="they go from 1 to 6"):
            model.evaluate(data, verbose=0)


def test_padding_of_tags_to_validate_on_weighs_nothing():
    model = make("dmn-tagger", passes=1, bidirectional=False)
    model.compile(**QUICK)
    features, answers, _ = model.batches(TAGGED, 24)[0]
    data = {"validation_data": (features, answers), "verbose": 0}
    history = model.fit(features, answers, **data).history
    loss, accuracy = model.evaluate(TAGGED, verbose=0)
    assert history["val_loss"] == [pytest.approx(loss, rel=1e-5)]
    assert history["val_accuracy"] == [pytest.approx(accuracy)]


class Whole(keras.utils.PyDataset):
    """One batch, as a user might make it."""

    def __init__(self, *batch, **options):
        super().__init__(**options)
        self.batch = batch

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return self.batch


def test_padding_of_tags_weighs_nothing_however_it_is_passed():
    model = make("dmn-tagger", passes=1, bidirectional=False, dropout=0.0, word_dropout=0.0)
    model.compile(keras.optimizers.SGD(0.0), **QUICK)
    expected = pytest.approx(model.evaluate(TAGGED, verbose=0), rel=1e-5)
    features, answers, _ = model.batches(TAGGED, 24)[0]
    assert (answers == 0).any()
    of_sentences = np.ones(24, "float32")
    assert model.test_on_batch(features, answers) == expected
    assert model.evaluate(features, answers, sample_weight=of_sentences, verbose=0) == expected
    model.reset_metrics()
    assert model.train_on_batch(features, answers) == expected
    data = Whole(features, answers, workers=2, use_multiprocessing=True)
    weighed = checked(data, model.output.shape)
    assert weighed.use_multiprocessing and weighed.workers == 2
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(weighed))[0][2], features["words"] != 0)
    tf = pytest.importorskip("tensorflow")
    assert model.test_on_batch(features, answers, of_sentences[:, None]) == expected
    for weights in ((), (of_sentences,), (of_sentences[:, None],)):
        arrays = features, answers, *weights
        batches = tf.data.Dataset.from_tensor_slices(arrays).batch(8)
        assert model.evaluate(batches, verbose=0) == expected
        history = model.fit(batches, validation_data=batches, verbose=0).history
        assert [history[name][0] for name in ("loss", "accuracy")] == expected
        assert [history[f"val_{name}"][0] for name in ("loss", "accuracy")] == expected
    # Words of unknown rank: Keras takes their padding as it is.
    signature = {"words": tf.TensorSpec(None, "int32")}, tf.TensorSpec((None, None), "int32")
    unknown = tf.data.Dataset.from_generator(
        lambda: iter([({"words": features["words"]}, answers)]), output_signature=signature
    )
    assert checked(unknown, model.output.shape) is unknown
    wrong = tf.data.Dataset.from_tensors((features, answers + 9))
    with pytest.raises(tf.errors.InvalidArgumentError, match="they go from 1 to 5"):
        model.evaluate(wrong, verbose=0)


def test_answers_of_one_batch_are_checked_and_weighed():
    model = make("qrn", l2=0.0)
    model.compile(keras.optimizers.SGD(0.0), **QUICK)
    features, answers, _ = model.batches(STORIES[:8], 8)[0]
    with pytest.raises(ValueError, match="example 0 is number 0, which is unknown and cannot be"):
        model.train_on_batch(features, answers * 0)
    with pytest.raises(ValueError, match="example 0 is number 9, which there is not"):
        model.test_on_batch(features, answers * 0 + 9)
    with pytest.raises(ValueError, match="class_weight: there is no answer 'attic'"):
        model.train_on_batch(features, answers, class_weight={"attic": 2.0})
    answer = STORIES[0].answer
    losses = []
    for weights in (None, {answer: 3.0}, {model.preprocessor.answer_numbers[answer]: 3.0}):
        model.reset_metrics()
        losses.append(model.train_on_batch(features, answers, class_weight=weights)[0])
    assert losses[0] < losses[1] == losses[2]
    for use in (model.train_on_batch, model.fit):
        with pytest.raises(ValueError, match="There are no answers: give y, or"):
            use(features, class_weight={answer: 3.0})


def test_weights_of_another_shape_are_refused():
    model = quick("qrn")
    features, answers, _ = model.batches(STORIES[:8], 8)[0]
    for weights in (np.ones((8, 3)), np.ones(5)):
        for use in (model.train_on_batch, model.test_on_batch, model.fit):
            with pytest.raises(ValueError, match=r"sample_weight must have the shape \(8,\), a"):
                use(features, answers, sample_weight=weights)
    for weights in (np.ones(5), np.ones((8, 3)), np.ones((8, 4, 2))):
        with pytest.raises(ValueError, match=r"each example, or \(8, 4\), one for each word; got"):
            check_numbers(np.ones((8, 4), int), weights, (None, None, 3))


def test_answers_in_a_column_are_checked_too():
    model = quick("qrn")
    features, answers, weights = model.batches(STORIES[:4], 4)[0]
    column = answers[:, None]
    expected = pytest.approx(model.evaluate(features, answers, verbose=0))
    assert model.evaluate(features, column, verbose=0) == expected
    found = model.evaluate(features, column, sample_weight=weights[:, None], verbose=0)
    assert found == expected
    with pytest.raises(ValueError, match="example 0 is number 0, which is unknown"):
        model.fit(features, column * 0, verbose=0)
    with pytest.raises(ValueError, match="example 0 is number 9, which there is not"):
        model.evaluate(features, column * 0 + 9, sample_weight=weights[:, None], verbose=0)
    tf = pytest.importorskip("tensorflow")
    for wrong in (column * 0 + 9, answers * 0 + 9):
        data = tf.data.Dataset.from_tensors((features, wrong, weights[:, None]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="they go from 1 to 6"):
            model.evaluate(data, verbose=0)


def test_features_without_answers_are_refused():
    model = quick("qrn")
    features, _, _ = model.batches(STORIES[:4], 4)[0]
    for use in (model.fit, model.evaluate, model.train_on_batch, model.test_on_batch):
        with pytest.raises(ValueError, match="There are no answers: give y, or"):
            use(features)


def test_iterators_of_texts_are_refused():
    model, message = shared("qrn"), "one by one may have no end; give a list of them, list"
    for data in (itertools.cycle(STORIES), (story for story in STORIES), iter(STORIES)):
        for method in (model.fit, model.evaluate, model.predict):
            with pytest.raises(ValueError, match=message):
                method(data)
    with pytest.raises(ValueError, match=message):
        model.fit(STORIES, validation_data=itertools.cycle(STORIES))
    # Generators of features lose no batch.
    batches = [model.batches(STORIES, 8)[n] for n in range(3)]
    assert len(model.predict((batch for batch in batches), verbose=0)) == 24
    tf = pytest.importorskip("tensorflow")
    rows = [{"passage": s.passage, "question": s.question, "answer": s.answer} for s in STORIES]
    endless = tf.data.Dataset.from_tensor_slices(
        {name: [row[name] for row in rows] for name in rows[0]}
    ).repeat()
    for use in (model.fit, model.evaluate, model.predict, zoo.NGramClassifier.from_examples):
        with pytest.raises(ValueError, match=r"has no end: give data.take\(n\), without repeat"):
            use(endless)
    assert len(model.predict(endless.take(5), verbose=0)) == 5


@pytest.mark.parametrize("name", ["train_on_batch", "test_on_batch", "predict_on_batch"])
def test_methods_of_batches_take_no_texts(name):
    model = make("qrn")
    with pytest.raises(ValueError, match=f"{name} takes the features of one batch, not texts: mak"):
        getattr(model, name)(STORIES)
    batch = model.batches(STORIES, 8)[0]
    arguments = batch[:1] if name == "predict_on_batch" else batch
    assert np.all(np.isfinite(getattr(model, name)(*arguments)))


@pytest.mark.parametrize(
    ("make_model", "message"),
    [
        (lambda: zoo.NGramClassifier.from_examples(STORIES, bucket=8), "no argument 'bucket'. Did"),
        (lambda: zoo.from_preset("qrn_babi_1", unit=8), "no argument 'unit'. Did you mean 'units'"),
    ],
)
def test_a_misspelt_argument_is_told(make_model, message):
    with pytest.raises(TypeError, match=message):
        make_model()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, got 0"),
        ({"validation_batch_size": 0}, "validation_batch_size must be an integer of at least 1"),
        ({"steps_per_epoch": 0}, "steps_per_epoch must be an integer of at least 1, got 0"),
        ({"validation_steps": 0}, "validation_steps must be an integer of at least 1, got 0"),
        ({"validation_split": -0.5}, "validation_split must be a number from 0 to 1, got -0.5"),
        ({"validation_split": "0.5"}, "validation_split must be a number from 0 to 1, got '0.5'"),
        ({"validation_split": 1.0}, "validation_split=1.0 of 8 texts leaves none to train on"),
        ({"validation_data": []}, "validation_data has no examples"),
        ({"class_weight": [1.0]}, "class_weight must be a dictionary by answer, got"),
        ({"class_weight": {"kitchen": "2"}}, "weight of 'kitchen' must be a number .*, got '2'"),
        ({"class_weight": {"kitchen": -1.0}}, "weight of 'kitchen' must be a number .*, got -1.0"),
        ({"class_weight": {"kitchen": np.nan}}, "weight of 'kitchen' must be a number .*, got nan"),
    ],
)
def test_options_of_fit_that_would_do_something_else_are_refused(options, message):
    model = shared("qrn")
    with pytest.raises(ValueError, match=message):
        model.fit(STORIES[:8], **options)


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"steps": 0}])
def test_empty_batches_are_refused(options):
    name = f"{next(iter(options))} must be an integer of at least 1, got 0"
    for method in (shared("qrn").evaluate, shared("qrn").predict):
        with pytest.raises(ValueError, match=name):
            method(STORIES[:8], verbose=0, **options)


def test_texts_of_another_world_are_told():
    model = quick("qrn")
    with pytest.warns(
        UserWarning, match=r"not know \d\d% of the words, such as .*examples=examples"
    ):
        model.predict(simulator.simulate(6, 10), verbose=0)
    with pytest.warns(UserWarning, match="words, such as 'attic': it was made for other texts"):
        model.evaluate([("Mary went to the attic.", "Where is Mary?", "attic")], verbose=0)
    reader = zoo.AttentionSumReader.from_examples(STORIES, units=4)
    with pytest.warns(UserWarning, match="does not know"):
        reader.batches(simulator.simulate(6, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        local = zoo.AttentionSumReader.from_examples(ANNOTATED, units=4)
        for known, examples in ((model, STORIES), (reader, STORIES), (local, ANNOTATED)):
            known.batches(examples)
