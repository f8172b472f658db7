import keras
import keras_tuner
import pytest

import tuning
from keras_corefmem.datasets import Splits
from keras_corefmem.datasets.stories import simulator
from zoo import training

STORIES = simulator.simulate(1, 24)
SPLITS = Splits(STORIES[:16], STORIES[16:], [])
SMALL = {"batch_size": 8, "buckets": 1}


def make(model, space, **arguments):
    return tuning.ZooHyperModel(model, SPLITS, space, **SMALL, arguments=arguments)


@pytest.mark.thorough
def test_a_tuner_of_keras_tuner_searches_it(tmp_path):
    hyper_model = make("qdren", {"slots": [2, 3], "learning_rate": [0.01, 0.02]}, units=4)
    tuner = keras_tuner.RandomSearch(
        hyper_model,
        objective="val_accuracy",
        max_trials=2,
        seed=1,
        directory=tmp_path,
        project_name="qdren",
    )
    tuner.search(epochs=1, verbose=0)
    trials = tuner.oracle.get_best_trials(2)
    assert {trial.status for trial in trials} == {"COMPLETED"}
    chosen = hyper_model.experiment(trials[0].hyperparameters.values).settings
    (best,) = tuner.get_best_models()
    assert best.config["slots"] == chosen.arguments["slots"]
    assert best.config["units"] == chosen.arguments["units"] == 4
    assert best.read("Mary went to the garden.", "Where is Mary?").probability > 0


@pytest.mark.parametrize(
    "model, space, arguments",
    [
        ("ga-mage-gru", "ga-mage", {"embedding_dim": 4}),
        ("dmn-plus", "dmn", {}),
        ("memn2n", None, {}),
    ],
)
def test_models_are_what_their_users_make(model, space, arguments):
    hyper_model = make(model, space, **arguments)
    hp = keras_tuner.HyperParameters()
    hyper_model.declare_hyperparameters(hp)
    built = hyper_model.build(hp)
    settings = hyper_model.experiment(hp.values).settings
    for name, value in settings.arguments.items():
        assert built.config[name] == value
    rate = keras.ops.convert_to_numpy(built.optimizer.learning_rate)
    assert float(rate) == pytest.approx(settings.learning_rate)


@pytest.mark.parametrize(
    "args, kwargs, name",
    [
        ([STORIES], {}, "x"),
        ([], {"batch_size": 4}, "batch_size"),
        ([], {"shuffle": False}, "shuffle"),
    ],
)
def test_searches_refuse_data_and_batches_of_their_own(args, kwargs, name):
    hyper_model = make("qdren", {"slots": [2, 3]})
    with pytest.raises(ValueError, match=f"search takes no {name}: .* batch_size=32"):
        hyper_model.fit(None, None, *args, epochs=1, **kwargs)


def test_what_is_chosen_goes_before_what_is_fixed():
    hyper_model = make("ren", {"slots": [7], "batch_size": [5]}, slots=3, units=6)
    settings = hyper_model.experiment({"slots": 7, "batch_size": 5, "tuner/epochs": 2}).settings
    assert settings.arguments == {"slots": 7, "units": 6} and settings.batch_size == 5
    assert hyper_model.experiment({}).settings.arguments == {"slots": 3, "units": 6}
    seeds = tuning.ZooHyperModel("ren", space={"slots": [7], "seed": [4, 5]}, seed=3, units=6)
    assert seeds.experiment({}).settings.arguments == {"units": 6}
    assert [seeds.experiment(each).seed for each in ({"seed": 5}, {})] == [5, 3]


@pytest.mark.parametrize(
    "space, settings, message",
    [
        ({"hops": [1]}, {}, "'hops' is no argument of ren"),
        ({"slots": 1}, {}, "slots must be a list"),
        ({"slots": [1]}, {"arguments": {"hops": 1}}, "'hops' is no argument of ren"),
        ({"slots": [1]}, {"unit": 4}, "'unit' is no argument of ren. Did you mean 'units'?"),
        ({"slots": [1]}, {"epochs": 0}, "epochs: Input should be greater than 0"),
        ({"slots": [1]}, {"arguments": {"l2": "0"}}, "l2: Input should be a valid number"),
        ({"slots": [1, 2.5]}, {}, "The search space: .* slots: .* valid integer .got 1.0"),
        ({"optimizer": ["adam", "lion"]}, {}, "The search space: .*, 'sgd' or .* .got 'lion'"),
        ({"dropout": {"low": 0, "high": 2}}, {}, "The search space: .* dropout: .* .got 2"),
    ],
)
def test_bad_arguments_are_refused_before_any_trial(space, settings, message):
    with pytest.raises(ValueError, match=message):
        tuning.ZooHyperModel("ren", SPLITS, space, **settings)


@pytest.mark.parametrize(
    "space, arguments",
    [
        ({"slots": [2], "max_words": [8, 9]}, {}),
        ({"slots": [2, 3], "batch_size": [4, 8]}, {"max_words": 9}),
    ],
)
def test_arguments_that_no_trial_reads_are_refused(space, arguments):
    with pytest.raises(ValueError, match="^max_words: no qdren that was tried"):
        make("qdren", space, units=4, **arguments).check_read(STORIES)


def test_arguments_that_some_trial_reads_are_taken(monkeypatch):
    def check(entries, **arguments):
        small = {"units": 8, "edge_units": 2, "embedding_dim": 4, **arguments}
        make("ga-mage-gru", entries, **small).check_read(STORIES)

    # Layers from the third one on may be tied.
    check({"layers": [1, 3], "tied": [False, True]})
    check({"layers": {"low": 1, "high": 3}}, tied=True)
    with pytest.raises(ValueError, match="^tied: no ga-mage-gru that was tried"):
        check({"layers": [1, 2]}, tied=True)
    check({"encoder": ["gru", "mage_gru"]}, carry="previous")
    # What a model reads that cannot be made is not known.
    check({"layers": [1], "edge_units": [2, [1, 2, 3]]}, tied=True)
    # Settings of the training need no model.
    made = []
    monkeypatch.setattr(training, "make_model", lambda *arguments: made.append(arguments))
    make("ga-mage-gru", {"learning_rate": [0.1, 0.2]}).check_read(STORIES)
    assert not made


@pytest.mark.parametrize("data", [None, STORIES])
def test_a_model_without_splits_is_refused(data):
    hyper_model = tuning.ZooHyperModel("ren", data, {"slots": [7]})
    with pytest.raises(ValueError, match="needs data to build and fit models: pass splits="):
        hyper_model.build(keras_tuner.HyperParameters())


def test_models_have_the_names_of_the_zoo():
    assert tuning.ZooHyperModel("ga_mage_gru").model == "ga-mage-gru"
    with pytest.raises(ValueError, match="no model 'qdrn'; .* Did you mean 'qdren'"):
        tuning.ZooHyperModel("qdrn")


def test_hypermodels_that_wrap_it_get_its_hyperparameters():
    hp = keras_tuner.HyperParameters()
    assert make("qdren", {"slots": [3, 2]}, units=4).build(hp).config["slots"] == 3
    assert [each.name for each in hp.space] == ["slots"]
    # Of one that declares some of them, these are kept.
    hp = keras_tuner.HyperParameters()
    hp.Int("units", 5, 6)
    config = make("qdren", {"slots": [3, 2], "units": [4, 8]}).build(hp).config
    assert (config["slots"], config["units"]) == (3, 5)


def test_without_validation_examples_a_model_is_trained_alone():
    hyper_model = tuning.ZooHyperModel("ngram", Splits(STORIES, [], []), **SMALL)
    hp = keras_tuner.HyperParameters()
    history = hyper_model.fit(hp, hyper_model.build(hp), epochs=1, verbose=0).history
    assert set(history) == {"accuracy", "loss"}


def test_fewer_training_questions_are_those_of_the_command():
    hyper_model = tuning.ZooHyperModel("ngram", SPLITS, None, train_size=5, seed=3, **SMALL)
    hp = keras_tuner.HyperParameters()
    hyper_model.declare_hyperparameters(hp)
    alone, _ = training.prepare(SPLITS, hyper_model.experiment(hp.values).settings)
    assert hyper_model.build(hp).preprocessor.get_config() == alone.preprocessor.get_config()
    assert (
        alone.preprocessor.get_config() != make("ngram", None).build(hp).preprocessor.get_config()
    )


def test_validation_chooses_augmentations():
    hyper_model = tuning.ZooHyperModel("qrn", SPLITS, "augmentation", **SMALL)
    hp = keras_tuner.HyperParameters()
    hyper_model.declare_hyperparameters(hp)
    chosen = hp.space[0].values
    settings = [hyper_model.experiment({"augment": value}).settings.augment for value in chosen]
    assert settings == [None, "rename", "rename-classes", "shuffle", "rename-classes+shuffle"]
    assert hyper_model.chosen({"augment": "shuffle"}) == {"augment": "shuffle"}
