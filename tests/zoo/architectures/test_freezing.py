"""Layers that are frozen: before and after compilation, and in copies."""

import keras
import numpy as np
import pytest

import zoo
from tests.support.conformance.evaluation import JIT, QUICK
from tests.support.model_cases import STORIES, Counted, features_of, make


def copies_of(model, folder):
    """Yields copies by all ways that Keras users know."""
    model.save(folder / "model.keras")
    model.save_to_preset(folder / "preset")
    yield type(model).from_config(model.get_config())
    yield keras.models.clone_model(model)
    yield type(model).from_preset(folder / "preset")
    # Keras finds only registered classes.
    yield keras.saving.load_model(folder / "model.keras", {type(model).__name__: type(model)})


def test_frozen_layers_stay():
    model = make("qrn")
    table = model.get_layer("word_embedding")
    table.trainable = False
    model.compile(**QUICK)
    before = table.get_weights()[0]
    answers = np.array([model.preprocessor.encode(example).answer for example in STORIES])
    model.fit(features_of(model, STORIES), answers, verbose=0)
    assert np.array_equal(table.get_weights()[0], before)
    assert len(model.trainable_variables) == len(model.weights) - 1


def test_no_layer_takes_the_weights_of_another_when_others_are_frozen():
    model = zoo.QueryReductionNetwork.from_examples(STORIES, units=4, layers=2, tied=False)
    numbers = np.random.default_rng(0)
    model.set_weights([numbers.normal(size=weight.shape) for weight in model.weights])
    model.compile(**QUICK)
    layers = [model.get_layer(f"query_reduction_{n}") for n in (1, 2)]
    features = features_of(model, STORIES)
    expected = keras.ops.convert_to_numpy(model(features))
    for frozen in layers:
        for layer in layers:
            layer.trainable = layer is not frozen
        for found in (model.inspect(features)[0], model.predict(features, verbose=0)):
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_layers_may_be_frozen_between_epochs():
    model = make("qrn")
    model.compile(**QUICK)
    table = model.get_layer("word_embedding")
    freeze = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: setattr(table, "trainable", False)
    )
    options = {"epochs": 2, "callbacks": freeze, "validation_data": STORIES, "verbose": 0}
    if JIT:
        # Keras has JAX update the weights that the optimizer was made for.
        with pytest.raises(ValueError, match="optimizer was built with"):
            model.fit(STORIES, **options)
    else:
        assert len(model.fit(STORIES, **options).history["val_loss"]) == 2


@pytest.mark.thorough
def test_layers_frozen_after_compilation_stay():
    model = make("qrn")
    table = model.get_layer("word_embedding")
    table.trainable, before = False, table.get_weights()[0]
    model.optimizer.learning_rate = 0.5
    model.fit(STORIES, epochs=2, verbose=0)
    assert np.array_equal(table.get_weights()[0], before)
    assert float(model.optimizer.learning_rate) == 0.5 and int(model.optimizer.iterations) == 2
    table.trainable = True
    with pytest.raises(ValueError, match="others than before: compile the model again"):
        model.fit(STORIES, verbose=0)
    model.compile(jit_compile=JIT)
    model.fit(STORIES, verbose=0)
    assert not np.array_equal(table.get_weights()[0], before)


@pytest.mark.thorough
def test_copies_have_the_frozen_layers(tmp_path):
    model = make("lstm")
    assert "frozen" not in model.get_config()
    model.get_layer("word_embedding").trainable = False
    model.get_layer("lstm").cell.trainable = False
    model.compile(jit_compile=JIT)
    assert model.get_config()["frozen"] == ["word_embedding", "lstm/lstm_cell"]
    paths = {weight.path for weight in model.trainable_weights}
    for copy in copies_of(model, tmp_path):
        assert {weight.path for weight in copy.trainable_weights} == paths
        assert copy.get_config() == model.get_config()
    # The last of them is that of the file.
    batches, before = copy.batches(STORIES[:8]), copy.get_weights()
    copy.fit(batches, verbose=0)
    for weight, old in zip(copy.weights, before, strict=True):
        assert np.array_equal(weight, old) == (weight.path not in paths)
    handle, load = tmp_path / "preset", type(model).from_preset
    free = load(handle, frozen=[])
    assert len(free.trainable_weights) == len(free.weights)
    for more in ({}, {"examples": STORIES}):
        only = load(handle, frozen=["lstm"], **more)
        assert {w.path.split("/")[-3] for w in only.non_trainable_weights} == {"lstm"}
        with pytest.raises(ValueError, match="^frozen: no layer 'nope' has weights; choose of "):
            load(handle, frozen=["lstm", "nope"], **more)
    with pytest.raises(ValueError, match="`frozen` is one string, pass a list of frozen"):
        load(handle, frozen="lstm")


def test_frozen_layers_are_found_under_the_names_of_another_process(tmp_path):
    model = Counted(9, 3, 4)
    for layer in model.layers[-3:]:
        layer.trainable = False
    assert [layer.trainable for layer in model.layers].count(False) == 3
    trained = [weight.trainable for weight in model.weights]
    assert 0 < trained.count(False) < len(trained)
    for copy in copies_of(model, tmp_path):
        assert [w.path for w in copy.weights] != [w.path for w in model.weights]
        assert [weight.trainable for weight in copy.weights] == trained
        assert copy.get_config() == model.get_config()


def test_a_model_that_is_frozen_whole(tmp_path):
    model = make("qrn")
    model.trainable = False
    model.compile(jit_compile=JIT)
    for copy in copies_of(model, tmp_path):
        assert not copy.trainable_weights and "frozen" not in copy.get_config()
        assert not keras.Model(copy.inputs, copy.output).trainable_weights
        copy.trainable = True
        assert len(copy.trainable_weights) == len(copy.weights)
