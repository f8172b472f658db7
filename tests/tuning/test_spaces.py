import json

import keras_tuner
import numpy as np
import pytest

import zoo
from tests.support.commands import printed
from tuning.spaces import SPACES, as_choices, check_entry, declare, fits, space_of, values_of
from zoo.configs import configuration
from zoo.training import check_arguments, split_settings

OWN = {
    "slots": [3, 4],
    "l2": [0, 0.5],
    "units": {"low": 4, "high": 8, "step": 2},
    "learning_rate": {"low": 0.001, "high": 0.1, "log": True},
    "question_dependent": [True, None],
    "supervision": [[["coref_all", "early", 3]], []],
}


@pytest.mark.parametrize("model", zoo.models())
def test_every_model_has_a_space_of_its_arguments(model):
    entries = space_of(model)
    assert entries
    for name, entry in entries.items():
        check_entry(name, entry, model)
    arguments = split_settings(entries).get("arguments", {})
    check_arguments(model, arguments)
    assert set(arguments) <= set(getattr(zoo, configuration(model).class_name).arguments())


@pytest.mark.parametrize("model", ["as-mage-gru-shared", "ga-mage-gru-shared"])
def test_one_recurrence_for_all_edges_has_no_widths_of_edges(model):
    assert "carry" in space_of(model) and "edge_units" not in space_of(model)


def test_spaces_fit_the_models_that_they_name():
    for name, space in SPACES.items():
        fitting = [model for model in zoo.models() if fits(model, space)]
        assert fitting, name
        assert space_of(fitting[0], name) == space.entries


@pytest.mark.parametrize("model", ["flagship", "ga-mage-gru"])
def test_the_space_of_the_flagship_holds_all_its_settings(model):
    entries = space_of(model, "flagship")
    names = {"augment", "halve_every", "layers", "tied", "dropout", "order", "carry"}
    split = split_settings(entries)
    assert entries.keys() == names and split.keys() == {"augment", "halve_every", "arguments"}
    check_arguments(model, split["arguments"])
    tasks = configuration("flagship").datasets["babi"]["tasks"].values()
    for own in (own for task in tasks for part in task.values() for own in part.items()):
        assert own[0] in ("epochs", "patience") or own[1] in entries[own[0]]


def test_the_grid_of_qdren_is_that_of_its_paper():
    entries = SPACES["qdren-babi"].entries
    assert entries["learning_rate"] == [0.01, 0.001, 0.0001]
    assert entries["slots"] == [20, 30, 40, 50]
    # λ/2 Σ v² there, l2 Σ v² here; the share that is kept there.
    assert [2 * value for value in entries["l2"]] == [0, 0.001, 0.0001]
    assert sorted(1 - value for value in entries["dropout"]) == pytest.approx([0.3, 0.5, 0.7])


@pytest.mark.parametrize(
    "low, high, step, count", [(0.0, 0.5, 0.1, 6), (0.1, 0.3, 0.1, 3), (0, 0.55, 0.1, 6)]
)
def test_a_range_with_steps_includes_its_end(low, high, step, count):
    entries, space = {"dropout": {"low": low, "high": high, "step": step}}, []
    hyperparameters = keras_tuner.HyperParameters()
    declare(hyperparameters, entries)
    for value in hyperparameters.space[0].values:
        space.append(values_of({"dropout": value}, entries)["dropout"])
    assert space == pytest.approx([low + n * step for n in range(count)])
    assert max(space) <= high


def test_spaces_are_listed(capsys):
    shown = printed(capsys, "list")
    for name, space in SPACES.items():
        assert f"  {name} " in shown and space.line in shown


def test_values_come_back_as_they_were_given():
    space = keras_tuner.HyperParameters()
    declare(space, OWN)
    assert space.values == {**space.values, "slots": 3, "l2": 0.0, "units": 4}
    oracle = keras_tuner.oracles.RandomSearchOracle(
        objective="val_accuracy", max_trials=40, hyperparameters=space, seed=1
    )
    oracle._set_project_dir(".", "unused")
    drawn = [
        values_of({**oracle.populate_space("0")["values"], "tuner/x": 1}, OWN) for _ in "x" * 40
    ]
    for name in ("slots", "question_dependent", "supervision"):
        assert {json.dumps(values[name]) for values in drawn} == {
            json.dumps(value) for value in OWN[name]
        }
    assert all(list(values) == list(OWN) for values in drawn)
    assert {values["l2"] for values in drawn} == {0.0, 0.5}
    assert {values["units"] for values in drawn} == {4, 6, 8}
    assert all(0.001 <= values["learning_rate"] <= 0.1 for values in drawn)
    assert sum(values["learning_rate"] < 0.01 for values in drawn) > 10


def test_a_file_or_a_variable_holds_a_space(tmp_path):
    path = tmp_path / "own.json"
    path.write_text(json.dumps(OWN))
    assert space_of("qdren", str(path)) == space_of("qdren", path) == OWN
    assert space_of("memn2n", SPACES["hops"]) == SPACES["hops"].entries
    numbers = {"slots": np.arange(2, 4), "l2": (0.0, np.float32(0.5)), "units": [np.int64(4)]}
    assert space_of("qdren", numbers) == {"slots": [2, 3], "l2": [0.0, 0.5], "units": [4]}
    with pytest.raises(ValueError, match="^the search space: give numbers, .*, got <object"):
        space_of("qdren", {"encoder": [object()]})


@pytest.mark.parametrize(
    "content, message",
    [
        ("[1]", "give an object of lists and ranges"),
        ("{}", "give an object of lists and ranges"),
        ('{"slots": 3}', "slots must be a list of values, or an object"),
        ('{"slots": []}', "slots must be a list"),
        ('{"slots": [2, 3, 2]}', r"slots has a value twice, .* leave one out of \[2, 3, 2\]"),
        ('{"dropout": [0, 0.5, 0.0]}', "dropout has a value twice"),
        ('{"seed": [true, 1, true]}', "seed has a value twice"),
        ('{"slots": {"low": 3, "high": 3}}', "low < high"),
        ('{"l2": {"low": 0.5, "high": Infinity}}', "l2 must be"),
        ('{"l2": {"low": 0.1, "high": 0.5, "log": "false"}}', "or log, true or false"),
        ('{"slots": {"low": 0, "high": 3, "log": true}}', "slots must be"),
        ('{"slots": {"low": 1, "high": 3, "to": 4}}', "slots must be"),
        ('{"slots": {"low": null, "high": 3}}', "slots must be"),
        ('{"slots": {"low": 1, "high": 3, "step": 0}}', "a positive step"),
        ('{"slots": {"low": 1, "high": 3, "step": 0.5}}', "slots must be"),
        ('{"l2": {"low": 0.1, "high": 3, "log": true, "step": 0.5}}', "step is greater than 1"),
        ('{"slots": [1}', "own.json:1: no JSON"),
    ],
)
def test_broken_spaces_are_refused(tmp_path, content, message):
    path = tmp_path / "own.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        space_of("qdren", str(path))


@pytest.mark.parametrize(
    "values", [[1, 2], [1, 0.5], ["a", "b"], ["json:", "b"], [None, "a"], [[1], {"a": 2}]]
)
def test_choices_are_the_values_of_a_space(values):
    choices = as_choices(values)
    assert len(set(map(type, choices))) == 1 and isinstance(choices[0], int | float | str)
    assert [values_of({"x": each}, {"x": values})["x"] for each in choices] == values


def test_spaces_that_do_not_exist_or_fit_are_refused():
    with pytest.raises(
        ValueError, match="no search space 'wide' for qdren; choose one of qdren-babi"
    ):
        space_of("qdren", "wide")
    with pytest.raises(ValueError, match="--space dmn is for dmn, .* not for qdren"):
        space_of("qdren", "dmn")
    with pytest.raises(FileNotFoundError, match="none.json"):
        space_of("qdren", "none.json")
