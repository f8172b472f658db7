"""The language model of characters, and the reader that reads its layers."""

import re

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.preprocessing import as_text
from tests.support.conformance.evaluation import JIT, QUICK
from tests.support.model_cases import ANNOTATED, BIDAF, TAGGED, features_of, make, shared
from zoo.experiments import Experiment, run_experiment

SMALL = {"units": 8, "filters": 4, "filter_widths": (1, 2), "word_length": 6}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The path of a language model, and its losses in training."""
    keras.utils.set_random_seed(0)
    model = zoo.CharacterLanguageModel.from_examples(list(map(as_text, ANNOTATED)), **SMALL)
    model.compile(optimizer=keras.optimizers.Adam(0.02), jit_compile=JIT)
    losses = model.fit(ANNOTATED, batch_size=8, epochs=4, verbose=0).history["loss"]
    path = tmp_path_factory.mktemp("language") / "model.keras"
    model.save(path)
    return path, losses


@pytest.mark.thorough
def test_training_lowers_the_loss(trained):
    losses = trained[1]
    assert losses[-1] < 0.8 * losses[0]


def test_a_word_is_predicted_by_all_others_but_not_by_itself():
    model = shared("character-lm")
    features = model.batches([TAGGED[5]], 1)[0][0]
    expected = model.predict_on_batch(features)[0]
    for t in (0, 3, expected.shape[0] - 1):
        characters = np.array(features["characters"])
        characters[0, t] = characters[0, t - 1] + 1
        characters = np.minimum(characters, model.config["num_characters"] - 1)
        moved = model.predict_on_batch({**features, "characters": characters})[0]
        far = np.abs(moved - expected).max(axis=-1)
        assert far[t] == 0 and np.all(np.delete(far, t) > 0)


def test_directions_do_not_see_each_other():
    model = shared("character-lm")
    count = len(model.preprocessor.vocabulary)
    encoder = model.word_encoder(model.preprocessor.vocabulary.words)
    words, units = np.arange(2, count)[None], model.config["units"]
    other = np.array(words)
    other[0, 2] = words[0, 3]
    pairs = [[keras.ops.convert_to_numpy(x)[0] for x in encoder(ids)] for ids in (words, other)]
    for n, (found, moved) in enumerate(zip(*pairs, strict=True)):
        far = np.abs(found - moved)
        assert found.shape == (count - 2, 2 * units)
        # Layer 0 is a word alone, the others have what is before it, or behind it.
        forward, backward = far[:, :units].any(axis=-1), far[:, units:].any(axis=-1)
        assert np.flatnonzero(forward).tolist() == (list(range(2, count - 2)) if n else [2])
        assert np.flatnonzero(backward).tolist() == ([0, 1, 2] if n else [2])


@pytest.mark.thorough
def test_a_reader_mixes_its_layers(trained, tmp_path):
    path = trained[0]
    sizes = {"units": 4, **{k: v for k, v in BIDAF.items() if k in ("heads", "inner_units")}}
    model = zoo.BiDAFReader.from_examples(ANNOTATED, language_model=str(path), **sizes)
    assert not {"passage_characters", "word_embedding"} & {
        *model.features,
        *(layer.name for layer in model.layers),
    }
    vectors = model.get_layer("contextual_vectors")
    # The language model is frozen: the mix of its layers is learned alone.
    assert [weight.name for weight in vectors.trainable_weights] == ["scores", "scale"]
    assert vectors.mix.scores.shape == (3,)
    known, own = zoo.load(path), model.preprocessor.vocabulary.words
    layers = known.word_encoder(own)(features_of(model, ANNOTATED[:2], 20)["passage"])
    mean = sum(map(keras.ops.convert_to_numpy, layers)) / 3
    found = vectors(features_of(model, ANNOTATED[:2], 20)["passage"])
    np.testing.assert_allclose(keras.ops.convert_to_numpy(found), mean, atol=1e-5)
    before = [keras.ops.convert_to_numpy(weight) for weight in vectors.weights]
    model.compile(optimizer=keras.optimizers.Adam(0.01), **QUICK)
    model.fit(ANNOTATED, epochs=1, verbose=0)
    for weight, value in zip(vectors.weights, before, strict=True):
        changed = np.any(keras.ops.convert_to_numpy(weight) != value)
        assert changed == (weight.name in ("scores", "scale"))
    model.save(tmp_path / "reader.keras")
    features = features_of(model, ANNOTATED[:4], 20)
    found, expected = (
        keras.ops.convert_to_numpy(each(features))
        for each in (zoo.load(tmp_path / "reader.keras"), model)
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_language_model_that_is_none_is_refused(tmp_path):
    missing = tmp_path / "model.keras"
    with pytest.raises(FileNotFoundError, match="corefmem train --model character-lm --dataset"):
        zoo.BiDAFReader.from_examples(ANNOTATED, language_model=missing)
    make("qdren").save(missing)
    with pytest.raises(ValueError, match="holds a RecurrentEntityNetwork, not a CharacterLang"):
        zoo.BiDAFReader.from_examples(ANNOTATED, language_model=missing)


# `test_experiment` has the experiments.
@pytest.mark.thorough
def test_experiments_train_it_on_stories(tmp_path):
    changes = {"epochs": 1, "arguments": SMALL, "train_size": 32, "buckets": 1}
    experiment = Experiment("character-lm", changes=changes)
    splits = experiment.load()
    splits = type(splits)(splits.train, splits.valid[:8], splits.test[:8])
    outcome = run_experiment(experiment, tmp_path, splits=splits)
    assert 0 < outcome.best["val_accuracy"] < 1
    assert len(outcome.batches["train"].encoded) == 32
    (line,) = outcome.model.answer_lines(splits.test[:1])
    text = " ".join(splits.test[0].words)
    assert re.fullmatch(rf"{re.escape(text)}  \d+ of {len(splits.test[0].words)} tags right", line)
