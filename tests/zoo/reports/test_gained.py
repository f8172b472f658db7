import pytest

from keras_corefmem.datasets import Example, Sentence, Splits
from tests.support.commands import printed, refused
from tests.support.results import record
from zoo.experiments import data
from zoo.reports import gains, tables

SENTENCES = [
    Sentence(("A", "great", "film"), "positive"),
    Sentence(("Not", "a|b", "bad", "one"), "positive"),
    Sentence(("Dull",), "negative"),
]


@pytest.fixture
def report(tmp_path, monkeypatch):
    """The command, on results of readers with one pass and two."""

    def load(dataset, task, data_dir, language):
        return Splits(
            [], [], {"fine": SENTENCES, 1: [Example(("Mary left.",), "Who?", "Mary")]}[task]
        )

    monkeypatch.setattr(data, "load", load)
    fields = {"study": "sst", "total": 3}
    answers = {"test_predicted": ["negative", "negative"]}
    record(tmp_path, "dmn-sentiment", "fine-1", wrong={0, 1}, **answers, **fields)
    record(tmp_path, "dmn-sentiment", "fine-2", wrong={0}, test_predicted=["neutral"], **fields)
    record(tmp_path, "dmn-sentiment", "binary-1", wrong=(), **fields)
    return lambda *runs: ("report", "sst", "--gains", *runs, "--results", str(tmp_path))


ONE, TWO = (f"dmn-sentiment-fine-{passes}-seed-0" for passes in (1, 2))


def test_sentences_that_two_passes_get_right_and_one_does_not(report, capsys):
    lines = printed(capsys, *report(ONE, TWO)).splitlines()
    assert lines[0] == (
        f"1 of 3 are answered right by `{TWO}` and wrong by `{ONE}`, 0 the other way round."
    )
    assert lines[2:5] == [
        f"|  | text | right answer | `{ONE}` |",
        "|---|---|---|---|",
        "| 2 | Not a\\|b bad one | positive | negative |",
    ]


def test_runs_without_predictions_and_questions_about_passages(report, tmp_path, capsys):
    record(tmp_path, "qrn", 1, wrong={0}, total=1)
    record(tmp_path, "qdren", 1, wrong=(), total=1)
    command = list(report("qrn-task-01-seed-0", "qdren-task-01-seed-0"))
    command[1] = "babi-1k"
    assert "| 1 | Mary left. Who? | Mary | – |" in printed(capsys, *command)


def test_wrong_runs_are_named(report, monkeypatch, capsys):
    assert f"no run 'dmn-sentiment-fine-1'. Did you mean '{ONE}'?" in refused(
        capsys, *report("dmn-sentiment-fine-1", TWO)
    )
    binary = "dmn-sentiment-binary-1-seed-0"
    assert "answer different questions" in refused(capsys, *report(ONE, binary))
    monkeypatch.setattr(data, "load", lambda *_: Splits([], [], SENTENCES[:2]))
    assert "sst has 2 test questions, the runs 3" in refused(capsys, *report(ONE, TWO))


def test_a_page_lists_the_shortest_where_there_are_data(report, tmp_path, monkeypatch, capsys):
    page, content = (
        tmp_path / "page.md",
        f"<!-- results sst gains {ONE} {TWO} -->\nold\n<!-- end -->\n",
    )
    page.write_text(content)
    words = "report", "--write", page, "--results", tmp_path
    printed(capsys, *words)
    assert page.read_text() == content
    printed(capsys, *words, "--data-dir", tmp_path)
    assert page.read_text() == content.replace("old", gains("sst", ONE, TWO, tmp_path, tmp_path))
    record(tmp_path, "dmn-sentiment", "fine-2", wrong=(), study="sst", total=3)
    monkeypatch.setattr(tables, "SHOWN", 1)
    printed(capsys, *words, "--data-dir", tmp_path)
    lines = page.read_text().splitlines()
    assert "2 of 3 are answered" in lines[1] and lines[1].endswith("; the shortest 1 of them.")
    assert lines[5].startswith("| 1 | A great film |") and not lines[6]
