"""What all models of the zoo share, on tiny ones."""

import keras
import numpy as np
import pytest

import zoo
from tests.support.conformance.evaluation import QUICK
from tests.support.model_cases import CASES, STORIES, make, shared
from tests.support.tiers import standing_for

FITTING = [cls for cls in (getattr(zoo, n) for n in zoo.__all__) if hasattr(cls, "from_examples")]


@pytest.mark.parametrize("cls", FITTING, ids=lambda cls: cls.__name__)
def test_there_is_something_to_learn_from(cls):
    with pytest.raises(ValueError, match="no example to learn from: pass some training examples"):
        cls.from_examples([])


@pytest.mark.parametrize(
    "name",
    standing_for(["qdren", "dmn", "dmn-sentiment-spelt"], ["qdren", "dmn-sentiment-spelt"]),
)
def test_ids_that_the_model_does_not_know_are_refused(name):
    model = shared(name)
    features = model.batches(CASES[name].examples[:4], batch_size=4)[0][0]
    assert np.all(np.isfinite(model.inspect(features)[0]))
    for feature, limit in model.id_counts().items():
        wrong = {**features, feature: features[feature] + limit}
        with pytest.raises(ValueError, match=f"{feature} of row .* from 0 to {limit - 1}"):
            model.inspect(wrong)


def test_features_that_are_no_inputs_are_refused():
    model = shared("qrn")
    features = model.batches(STORIES[:4], batch_size=4)[0][0]
    lists = {name: array.tolist() for name, array in features.items()}
    np.testing.assert_array_equal(model.inspect(lists)[0], model.inspect(features)[0])
    for nothing in (None, 3, [], "Mary left.", np.zeros((2, 3))):
        with pytest.raises(ValueError, match="features must be a dictionary of arrays, .*question"):
            model.inspect(nothing)
    for name, array in features.items():
        for less in ({}, {**features, name: None}, {k: features[k] for k in features if k != name}):
            with pytest.raises(ValueError, match="features has no '.*: the model reads"):
                model.attend(less)
        for other in (np.int32(3), array[..., 0]):
            with pytest.raises(ValueError, match=f"{name} must have the shape .*None"):
                model.inspect({**features, name: other})
        with pytest.raises(ValueError, match=r"must have the shape \(., .*; got \(., "):
            # One row is none for each.
            model.inspect({**features, name: array[:1]})


def test_nothing_is_no_example():
    model = shared("qrn")
    for nothing, message in (({}, "no columns"), ([{}], "no columns"), ([None], "instead of None")):
        for method in (model.predict, model.evaluate):
            with pytest.raises(ValueError, match=f"example 0: .*{message}"):
                method(nothing, verbose=0)


def test_the_preprocessor_has_its_name_of_version_0_1():
    with pytest.warns(DeprecationWarning, match="`reader` is now called `preprocessor`") as warned:
        assert shared("qdren").reader is shared("qdren").preprocessor
    assert warned[0].filename == __file__


@pytest.mark.thorough
def test_a_plain_fit_starts_linearly_and_ends_with_softmax():
    model = make("memn2n", spread=0, linear_start=2)
    model.compile(**QUICK)
    batches = model.batches(STORIES, batch_size=8)
    linear, training, between = model.get_layer("memory").linear, [], []
    seen = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: training.append(float(linear)),
        on_epoch_end=lambda epoch, logs: between.append(float(linear)),
    )
    seen.on_test_begin = lambda logs=None: between.append(float(linear))
    model.fit(batches, epochs=3, callbacks=seen, validation_data=batches, verbose=0)
    assert training == [1, 1, 0] and between == [0] * 6
    attention = model.attend(batches[0][0])
    # The places of the memory that are empty have the rest.
    shares = attention.sum(axis=1)
    assert np.all(attention >= 0) and np.all((shares > 0.01) & (shares < 1 + 1e-5))


@pytest.mark.thorough
def test_a_plain_fit_learns_from_supporting_facts_first():
    model = make("dmn-printed", spread=0, gates_first=1, dropout=0.0, passes=1)
    model.compile(**QUICK)
    answer, gates = (model.get_layer(name) for name in ("answer", "episodic_memory"))
    factor, learned = model.get_layer("answer_weight").factor, []

    def note(epoch, logs):
        values = [keras.ops.convert_to_numpy(each.trainable_weights[0]) for each in (answer, gates)]
        learned.append((*values, float(factor), logs["loss"]))

    seen = keras.callbacks.LambdaCallback(on_epoch_end=note)
    start = [keras.ops.convert_to_numpy(each.trainable_weights[0]) for each in (answer, gates)]
    model.fit(model.batches(STORIES, batch_size=8), epochs=2, callbacks=seen, verbose=0)
    (said, attended, between, loss), (later, _, after, _) = learned
    np.testing.assert_array_equal(said, start[0])
    assert np.any(attended != start[1]) and np.any(later != said)
    # What is saved is a model that learns from answers too, and their loss is in the logs.
    assert between == after == 1 and loss > np.log(len(model.preprocessor.answers) - 1)


@pytest.mark.thorough
def test_keys_tied_to_entities():
    model = make("ren", spread=0, tied_keys=True, units=8)
    words = model.preprocessor.vocabulary.words
    entities = [words[token] for token in model.config["entity_tokens"]]
    assert "kitchen" in entities and "mary" in entities and "to" not in entities
    assert model.columns()[0] == f"slot 1 {entities[0]}"
    memory = model.get_layer("entity_memory")
    assert memory.cell.slots == len(entities)
    assert not any(weight.name == "keys" for weight in memory.weights)
    features = model.batches(STORIES[:4], batch_size=4)[0][0]
    # The key and the start of a slot are its word vector: a word that no text has still counts.
    table = model.get_layer("word_embedding").embeddings
    features["sentences"][features["sentences"] == words.index("kitchen")] = 0
    absent = model.predict(features, verbose=0)
    changed = np.array(keras.ops.convert_to_numpy(table))
    changed[words.index("kitchen")] += 1
    table.assign(changed)
    assert np.abs(model.predict(features, verbose=0) - absent).max() > 1e-4
    copy = zoo.RecurrentEntityNetwork.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    np.testing.assert_allclose(
        copy.predict(features, verbose=0), model.predict(features, verbose=0), atol=1e-6
    )
