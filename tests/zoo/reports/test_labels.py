import pytest

from tests.support.commands import printed, refused
from tests.support.results import record
from zoo.reports.labels import by_label, read_labels

LABELS = "# by hand\n3\tcoreference\n\n 1\tcoreference\n3\tspeaker tracking\n20\tcoreference\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "labels.tsv").write_text(LABELS)
    return tmp_path / "labels.tsv"


def test_scores_by_label(path, tmp_path, capsys):
    fields = {"study": "lambada", "task": "passages", "total": 20}
    record(tmp_path, "ga-gru", wrong={0, 19, 5}, **fields)
    record(tmp_path, "ga-gru", seed=1, wrong={2}, valid=0.1, **fields)
    record(tmp_path, "ga-coref-gru", wrong={7}, **fields)
    command = "report", "lambada", "--labels", str(path), "--results", str(tmp_path)
    assert printed(capsys, *command).splitlines() == [
        "| dev accuracy in % | questions | share | `ga-coref-gru` | `ga-gru` |",
        "|---|---:|---:|---:|---:|",
        "| coreference | 3 | 100% | 100.0 | 33.3 (50.0 ± 23.6) |",
        "| speaker tracking | 1 | 33% | 100.0 | 100.0 (50.0 ± 70.7) |",
        "| all with a label | 3 | 100% | 100.0 | 33.3 (50.0 ± 23.6) |",
    ]


def test_labels_are_escaped(path, tmp_path):
    path.write_text("1\ta | b\n")
    record(tmp_path, wrong={0}, total=20)
    assert "| a \\| b | 1 | 100% | 100.0 |" in by_label("babi-1k", path, tmp_path)


def test_errors_of_a_task_by_label(path, tmp_path, capsys):
    record(tmp_path, task=2, wrong={0, 19}, total=20)
    command = "report", "babi-1k", "--labels", str(path), "--results", str(tmp_path)
    lines = printed(capsys, *command).splitlines()
    assert lines[0] == "2 two supporting facts"
    assert lines[4] == "| coreference | 3 | 100% | 66.7 |"


@pytest.mark.parametrize(
    "text, message",
    [
        ("1\ta\n2 b\n", "labels.tsv:2: '2 b' is not the number of a question"),
        ("0\ta\n", "labels.tsv:1: '0.ta' is not the number"),
        ("x\ta\n", "labels.tsv:1: "),
        ("1\t \n", "labels.tsv:1: "),
        ("1\ta\n\n01\ta\n", "labels.tsv:3: question 1 has the label 'a' already"),
        ("# none\n", "labels.tsv: no labels"),
    ],
)
def test_wrong_lines_are_named(text, message, path):
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_labels(path)


def test_questions_that_are_not_there_are_named(path, tmp_path, capsys):
    record(tmp_path, "ga-gru", "passages", study="lambada", total=19)
    command = "report", "lambada", "--labels", str(path), "--results", str(tmp_path)
    assert "labels.tsv:6: there is no question 20, the test part has 19" in refused(
        capsys, *command
    )
