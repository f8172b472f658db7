"""Named models: what their files hold, and errors that name file and key."""

import importlib.resources
import re

import pytest

import zoo
from zoo.configs import configuration
from zoo.configs.configurations import read_family

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
    assert model.training_options("lambada") == {"halve_every": None, "epochs": 2}


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"passages"', '"news"', "models.ga-own: reads: Input should be 'passages'"),
        ('class = "GatedAttentionReader"', "", "models.ga-own: class: Field required"),
        ("description", "line", "models.ga-own: description: Field required"),
        ("halve_every", "half", "models.ga-own: training.half: Extra inputs are not permitted"),
        ('"never"', "0", "models.ga-own: training.halve_every: Input should be greater than 0"),
        ("epochs = 2", 'epochs = "2"', "datasets.lambada.training.epochs: Input should be a valid"),
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


def test_no_model_of_that_name():
    with pytest.raises(ValueError, match="There is no model 'ga'; choose one of as-coref-gru, "):
        configuration("ga")
