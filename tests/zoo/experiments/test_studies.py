import pytest

from zoo.experiments import STUDIES, Run, read_study
from zoo.experiments.studies import study_names

STUDY = """
description = "Two tasks twice"
dataset = "babi"
measure = "test accuracy in %"
by = ["passes", "number of passes"]
models = ["dmn", "qdren"]
numbered_tasks = 1
settings = { epochs = 3 }
families.dmn = { epochs = 2, arguments = { units = 4 } }
groups.task-1 = { data = 1, label = "task 1", arguments = { l2 = 0.0 } }
groups.task-2 = { data = 2 }
variants.1 = { label = "1 pass", arguments = { passes = 1 } }
variants.2 = { label = "2 passes", arguments = { passes = 2 }, settings = { patience = 7 } }
tasks.last = { label = "alone", data = 3, models = ["dmn"] }
"""


@pytest.fixture
def write(tmp_path):
    """A function that writes the study with some text in place of another, and returns its path."""

    def write_study(old="", new=""):
        path = tmp_path / "mine.toml"
        assert old in STUDY
        path.write_text(STUDY.replace(old, new) if old else STUDY)
        return path

    return write_study


def test_groups_and_variants_make_tasks(write):
    study = read_study(write())
    names = ["last", 1, "task-1-1", "task-1-2", "task-2-1", "task-2-2"]
    assert list(study.tasks) == names and study.tasks["last"].models == ("dmn",)
    task = study.tasks["task-1-2"]
    assert (task.label, task.data, task.group) == ("task 1, 2 passes", 1, "task-1")
    assert task.arguments == {"l2": 0.0, "passes": 2} and task.settings == {"patience": 7}
    assert study.tasks["task-2-1"].label == "task-2, 1 pass"
    of_one = read_study(write('label = "2 passes"', 'groups = ["task-2"], label = "2 passes"'))
    assert list(of_one.tasks) == [name for name in names if name != "task-1-2"]


def test_settings_are_those_of_a_family_or_of_all_models(write):
    study = read_study(write())
    assert study.settings_of("dmn-plus") == {"epochs": 2, "arguments": {"units": 4}}
    assert study.settings_of("qdren") == {"epochs": 3} and not study.needs_folder


def test_arguments_among_the_settings_of_a_task_are_those_of_its_runs(write, monkeypatch):
    more = "settings = { patience = 7, arguments = { units = 5, l2 = 0.5, passes = 9 } }"
    study = read_study(write("settings = { patience = 7 }", more))
    monkeypatch.setitem(STUDIES, "mine", study)
    changes = Run("mine", "dmn", "task-1-2", 0, settings={"arguments": {"layers": 1}}).changes
    # Those of the group and the variant go before.
    arguments = {"units": 5, "l2": 0.0, "passes": 2, "layers": 1}
    assert changes == {"epochs": 2, "patience": 7, "arguments": arguments}
    assert Run("mine", "qdren", 1, 0).changes == {"epochs": 3, "arguments": {}}


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('dataset = "babi"', 'dataset = "bab"', "dataset: no 'bab'; choose of simulator, babi"),
        ('"qdren"]', '"qdrn"]', "models: no 'qdrn'; choose of as-coref-gru"),
        ('models = ["dmn"]', 'models = ["dnm"]', "models: no 'dnm'"),
        ("epochs = 3", "epochs = 0", "settings.epochs: Input should be greater than 0"),
        ("patience", "patiense", "variants.2.settings.patiense: Extra inputs are not permitted"),
        ('"2 passes"', '"", groups = ["x"]', "variants: no 'x'; choose of task-1, task-2"),
        ("families.dmn", "families.dnm", "families: no 'dnm'; choose of as, baselines"),
        ("data = 2", "date = 2", "groups.task-2.data: Field required"),
        ("test accuracy", "accuracy", "measure: Input should be 'test error in %'"),
        ('by = ["passes", "number of passes"]', "bye = 1", "bye: Unexpected keyword argument"),
        ("[", "", "mine.toml is not valid TOML"),
    ],
)
def test_mistakes_are_named_with_file_and_key(write, old, new, message):
    path = write(old, new)
    with pytest.raises(ValueError, match="mine.toml") as error:
        read_study(path)
    assert message in str(error.value)


def test_a_study_without_tasks_is_refused(tmp_path):
    path = tmp_path / "empty.toml"
    path.write_text("\n".join(STUDY.splitlines()[:6]))
    with pytest.raises(ValueError, match="empty.toml: tasks: "):
        read_study(path)


@pytest.mark.parametrize("left_out", ["groups", "variants"])
def test_groups_and_variants_go_together(tmp_path, left_out):
    path = tmp_path / "half.toml"
    lines = (line for line in STUDY.splitlines() if not line.startswith(left_out))
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match="half.toml: groups are combined with variants: give both"):
        read_study(path)


def test_studies_have_an_order_of_their_own():
    assert sorted(STUDIES) == study_names()
    assert list(STUDIES)[:2] == ["babi-1k", "babi-mix"] and list(STUDIES)[-1] == "wsj"


def test_studies_of_lambada_count_the_same_kinds():
    assert STUDIES["lambada-epochs"].kinds == STUDIES["lambada"].kinds
