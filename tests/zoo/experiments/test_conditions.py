import pytest

from keras_corefmem.datasets.stories import simulator
from tests.support.results import record
from zoo.experiments.conditions import make_conditions
from zoo.experiments.reproduce import execute
from zoo.experiments.runs import Run
from zoo.reports.tables import tables_of

PERSONS, THINGS = {"Mary", "John", "Daniel", "Sandra"}, {"milk", "football", "apple", "kitchen"}


def test_conditions_change_what_they_say_alone():
    conditions = make_conditions(simulator.load(2, train=200, valid=5, test=20))
    plain = conditions["unchanged"]

    def words(name):
        return [set(f"{e.passage} {e.question}".strip("?").split()) for e in conditions[name]]

    assert not any(found & PERSONS for found in words("persons"))
    assert any(found & THINGS for found in words("persons"))
    assert not any({w.strip(".") for w in found} & THINGS for found in words("things"))
    assert any(found & PERSONS for found in words("things"))
    for long, example in zip(conditions["long"], plain, strict=True):
        own = len(example.sentences)
        assert len(long.sentences) == 4 * own and long.sentences[-own:] == example.sentences
        assert long.answer == example.answer
    for name in ("unanswerable", "half-told"):
        assert {example.answer for example in conditions[name]} == {"unknown"}
        asked = [e.question.split()[-1].strip("?") in e.passage for e in conditions[name]]
        assert set(asked) == {name == "half-told"}


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["usual", "prepared"])
def test_a_study_measures_them(variant, tmp_path, babi_dir):
    settings = {"epochs": 1, "train_size": 40, "buckets": 1, "arguments": {"units": 4}}
    run = Run("babi-robustness", "memn2n", f"task-6-{variant}", 0, str(babi_dir), settings)
    result = execute(run, tmp_path, tmp_path / "runs")
    conditions = result["conditions"]
    assert list(conditions) == ["unchanged", "persons", "things", "long", "unanswerable"]
    assert conditions["unchanged"]["accuracy"] == round(result["test_accuracy"], 4)
    assert conditions["unchanged"]["count"] == 1000
    if variant == "usual":
        assert {scores["answered"] for scores in conditions.values()} == {1}
        assert result["temperature"] != 1
    else:
        # 900 and 100 questions, and the fifth that is asked again.
        assert result["questions"]["train"] > 40 and result["questions"]["valid"] > 100


def test_the_table_shows_conditions_beside_each_other(tmp_path):
    def scores(accuracy, answered=1.0):
        known = {"count": 1000, "accuracy": accuracy, "calibration_error": 0.0123}
        return {**known, "answered": answered}

    conditions = {"unchanged": scores(0.99, 0.98), "long": scores(0.5), "persons": scores(0.25)}
    conditions["unanswerable"] = {**scores(0.9, 0.1), "calibration_error": 0.25}
    record(tmp_path, "qdren", "task-1-usual", study="babi-robustness", conditions=conditions)
    head, _, row, goals, *_ = tables_of("babi-robustness", tmp_path).splitlines()
    assert head.count("|") == row.count("|") == goals.count("|") == 10
    assert row.split(" | ")[1:] == ["99.0", "25.0", "–", "50.0", "94.0", "–", "1.2", "25.0 |"]
    assert "| 3 less at most | ≥ 95.0 | ≥ 95.0 | < 3.0 | < 3.0 |" in goals
