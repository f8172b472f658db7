"""Named models: what their files hold, and errors that name file and key."""

import importlib.resources
import re

import numpy as np
import pytest

import keras_corefmem
import zoo
from keras_corefmem.datasets import babi, simulator
from keras_corefmem.preprocessing import fit_preprocessor
from zoo.configs import configuration
from zoo.configs.configurations import read_family
from zoo.experiments import Experiment

FAMILY = """
family = "ga"
class = "GatedAttentionReader"
reads = "passages"
[arguments]
layers = 3
units = 32
[models.ga-own]
description = "A reader of one layer"
arguments = { layers = 1 }
training = { halve_every = "never" }
[datasets.lambada.training]
epochs = 2
[models.ga-own.datasets.lambada.arguments]
units = 16
[models.ga-own.datasets.lambada.tasks]
2 = { arguments = { dropout = 0.1 }, training = { epochs = 4 } }
"""
# Madotto and Attardi (2017), Table 3: blocks, λ and the share that dropout keeps, by task.
TABLE_3 = """
20/0/.5 30/0/.5 40/0/.5 20/0/.5 50/0/.2 30/0/.5 30/0/.5 20/1e-3/.7 40/1e-4/.5 20/0/.5
20/0/.5 20/0/.5 40/1e-3/.7 30/1e-4/.5 20/0/.5 20/1e-3/.5 40/1e-3/.5 30/1e-4/.5 20/0/.5 20/0/.5
"""


@pytest.mark.parametrize("name", zoo.models())
def test_arguments_are_those_of_the_class(name):
    model = configuration(name)
    known = getattr(zoo, model.class_name).arguments()
    for overrides in (vars(model), *model.datasets.values()):
        assert set(overrides.get("arguments", {})) <= set(known)
    assert model.description and name in zoo.models(model.family)


def test_files_are_part_of_the_package():
    folder = importlib.resources.files("zoo.configs") / "models"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
    assert set(re.findall(r"\[models\.([^].]+)", text)) == set(zoo.models())


def test_a_model_has_what_its_family_shares(tmp_path):
    (tmp_path / "ga.toml").write_text(FAMILY)
    model = read_family(tmp_path / "ga.toml")["ga-own"]
    assert (model.name, model.family, model.class_name) == ("ga-own", "ga", "GatedAttentionReader")
    assert model.arguments == {"layers": 1, "units": 32}
    assert model.training_options() == {"halve_every": None}
    shared = {"halve_every": None, "epochs": 2, "arguments": {"units": 16}}
    assert model.training_options("lambada") == shared == model.training_options("lambada", 1)


def test_a_task_may_have_settings_of_its_own(tmp_path):
    (tmp_path / "ga.toml").write_text(FAMILY)
    model = read_family(tmp_path / "ga.toml")["ga-own"]
    both = {"units": 16, "dropout": 0.1}
    expected = {"halve_every": None, "epochs": 4, "arguments": both}
    assert (
        model.training_options("lambada", 2) == expected == model.training_options("lambada", "2")
    )
    assert model.training_options("cnn", 2) == {"halve_every": None}


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"passages"', '"news"', "models.ga-own: reads: Input should be 'passages'"),
        ('class = "GatedAttentionReader"', "", "models.ga-own: class: Field required"),
        ("description", "line", "models.ga-own: description: Field required"),
        ("halve_every", "half", "models.ga-own: training.half: Extra inputs are not permitted"),
        ('"never"', "0", "models.ga-own: training.halve_every: Input should be greater than 0"),
        ("epochs = 2", 'epochs = "2"', "datasets.lambada.training.epochs: Input should be a valid"),
        ("epochs = 4", "epoch = 4", "lambada.tasks.2.training.epoch: Extra inputs are not"),
        ("[models.ga-own]", "[models]", "models: description: Input should be a valid dictionary"),
        ("[arguments]", "arguments", "is not valid TOML"),
    ],
)
def test_errors_name_file_and_key(old, new, key, tmp_path):
    assert old in FAMILY
    (tmp_path / "ga.toml").write_text(FAMILY.replace(old, new))
    with pytest.raises(ValueError) as error:
        read_family(tmp_path / "ga.toml")
    assert key in str(error.value) and str(tmp_path / "ga.toml") in str(error.value)


def printed(model, dataset="babi", task=1):
    """Settings of a run, and all arguments that the model is made with."""
    settings = Experiment(model, dataset, task).settings
    known = configuration(model)
    defaults = getattr(zoo, known.class_name).defaults()
    return settings, {**defaults, **known.arguments, **settings.arguments}


def expect(values, **expected):
    assert {name: values[name] for name in expected} == expected


def test_qdren_is_trained_as_printed():
    for task, cell in enumerate(TABLE_3.split(), 1):
        settings, arguments = printed("qdren-printed", task=task)
        slots, factor, kept = map(float, cell.split("/"))
        expect(arguments, question_dependent=True, gate_bias=False, units=100, slots=slots)
        assert (2 * arguments["l2"], 1 - arguments["dropout"]) == pytest.approx((factor, kept))
        rate = 0.0001 if task == 12 else 0.001
        expect(vars(settings), learning_rate=rate, halve_every=None, clip_norm=40, optimizer="adam")
        expect(vars(settings), epochs=300, patience=50, batch_size=32)


@pytest.mark.parametrize(
    "model, dataset, units, edge_units",
    [
        ("ga-mage-gru-printed", "babi", 64, 16),
        ("ga-mage-gru-printed", "cnn", 256, 32),
        ("ga-mage-gru-printed", "lambada", 256, 48),
        ("as-mage-gru-printed", "babi", 64, 16),
        ("as-mage-gru-printed", "cnn", 384, 48),
        ("as-mage-gru-printed", "lambada", 256, 48),
    ],
)
def test_mage_is_as_printed(model, dataset, units, edge_units):
    arguments = printed(model, dataset)[1]
    expect(arguments, encoder="mage_gru", units=units, edge_units=edge_units, carry="previous")
    expect(arguments, order="random", joint=True, language="")
    assert arguments["layers"] == (3 if model.startswith("ga") or dataset == "babi" else 1)


def test_mage_has_as_many_weights_as_a_gru():
    examples = simulator.simulate(1, 8)

    def count(name):
        known = configuration(name)
        reader = getattr(zoo, known.class_name).from_examples(examples, **known.arguments)
        return reader.count_params()

    for family in ("ga", "as"):
        assert (
            count(f"{family}-mage-gru-printed")
            == count(f"{family}-gru")
            < count(f"{family}-mage-gru")
        )


def test_coref_gru_is_as_printed():
    settings, arguments = printed("ga-coref-gru-printed")
    expect(vars(settings), learning_rate=0.01, halve_every=120, batch_size=32)
    expect(arguments, encoder="coref_gru", units=64, layers=3, dropout=0.1, language="")
    assert set(configuration("ga-coref-gru-printed").datasets) >= {"wikihop", "lambada"}
    for dataset in ("wikihop", "lambada"):
        assert configuration("ga-coref-gru-printed").datasets[dataset]["word_vectors"]
    settings, arguments = printed("ga-coref-gru-printed", "wikihop")
    expect(vars(settings), learning_rate=0.0005, halve_every=2500, batch_size=16, epochs=5)
    expect(arguments, units=64, dropout=0.2, embedding_dim=100, joint=False, question_overlap=True)
    expect(arguments, characters=True, character_units=50, character_activation="relu")
    expect(arguments, word_length=15, max_words=99_900, unknown_types=100)
    settings, arguments = printed("ga-coref-gru-printed", "lambada")
    expect(vars(settings), learning_rate=0.0005, halve_every=22_000, batch_size=64)
    expect(arguments, units=256, dropout=0.2, question_overlap=False)
    assert "characters" not in arguments


@pytest.mark.parametrize("task", [2, 5])
def test_no_story_of_babi_links_more_chains_than_the_paper_keeps(task, babi_dir):
    """C = 13 in Appendix B of Dhingra et al. (2018); of 20 tasks these link most."""
    splits = babi.load(babi_dir, task)
    preprocessor, _ = fit_preprocessor(splits.train, language=None)
    most = 0
    for example in map(preprocessor.encode, splits.test):
        chains = preprocessor.word_chains[np.concatenate([example.passage, example.question])]
        numbers, counts = np.unique(chains, return_counts=True)
        most = max(most, np.count_nonzero(numbers[counts > 1]))
    assert most == 13


def test_no_model_of_that_name():
    with pytest.raises(ValueError, match="There is no model 'ga'; choose one of as-coref-gru, "):
        configuration("ga")


def test_bidaf_is_as_printed():
    """Cheng and Erk, AAAI 2020; what they do not say is AllenNLP's."""
    for name in zoo.models("bidaf"):
        settings, arguments = printed(name, "lambada")
        expect(arguments, units=100, heads=4, early_layers=4, late_layers=1, dropout=0.2)
        expect(arguments, inner_units=512, embedding_dim=100, row_weight="count", joint=None)
        expect(vars(settings), epochs=10, patience=2, batch_size=40, clip_norm=5.0)
        expect(vars(settings), learning_rate=0.001, optimizer="adam")
        # Frozen vectors of GloVe.
        as_printed = name.endswith("-printed")
        assert configuration(name).word_vectors == arguments["freeze_word_vectors"] == as_printed
        assert ("GloVe" in configuration(name).differs) == (not as_printed and "elmo" not in name)


def test_the_dynamic_memory_network_is_as_printed():
    """Kumar et al., ICML 2016, Equations 5 to 10 and Section 4."""
    known = configuration("dmn-printed")
    assert known.word_vectors
    stories = simulator.simulate(8, 24)
    model = zoo.DynamicMemoryNetwork.from_examples(stories, units=4, **known.arguments)
    config, facts = model.config, max(len(story.supporting_facts) for story in stories)
    memory = model.get_layer("episodic_memory")
    # z(c, m, q) has seven vectors and two bilinear numbers; gates are sigmoids.
    assert memory.hidden.kernel.shape == (7 * 4 + 2, 4) and memory.similarity.shape == (4, 4)
    assert (config["attention"], config["update"]) == ("gated", "gru")
    # A pass for each supporting fact, and one for the fact that ends them.
    assert config["passes"] == facts + 1 and memory.end.shape == (1, 1, 4)
    # α is 1 in all epochs, β is 0 in the first ones.
    assert config["gate_loss"] == 1.0 and config["gates_first"] > 0 and config["teacher_forcing"]
    # Words of an answer, and its end.
    assert config["answer_length"] == 1 + max(s.answer.count(",") + 1 for s in stories)
    assert isinstance(model.get_layer("answer"), keras_corefmem.layers.AnswerDecoder)
    assert config["input_module"] == "words" and config["dropout"] > 0 and config["l2"] > 0
