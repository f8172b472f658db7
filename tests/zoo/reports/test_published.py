import pytest

from keras_corefmem.datasets.stories.babi import TASKS
from zoo.configs.configurations import FOLDER
from zoo.experiments.studies import STUDIES
from zoo.reports import published
from zoo.reports.published import published_rows

FILES = sorted(path.stem for path in (FOLDER / "published").glob("*.toml"))


@pytest.mark.parametrize("study", FILES)
def test_published_rows_are_whole(study):
    tasks, groups = STUDIES[study].tasks, {task.group for task in STUDIES[study].tasks.values()}
    for row in (row for rows in published_rows(study).values() for row in rows):
        assert {*row.scores, *row.maxima} <= set(tasks)
        assert set(row.kinds) <= set(STUDIES[study].kinds)
        assert set(row.best) <= groups
        assert row.scores or row.kinds or row.best or row.mean is not None
        assert all(row.maxima[key] >= row.scores[key] for key in row.maxima)
        for group in {tasks[name].group for name in row.scores} & row.best.keys():
            in_group = (score for name, score in row.scores.items() if tasks[name].group == group)
            assert max(in_group) == row.best[group]
        if row.errors:
            assert len(row.errors) == len(TASKS)
            assert sum(row.errors) / len(TASKS) == pytest.approx(row.mean, abs=0.06)
            assert sum(error > 5 for error in row.errors) == row.failed


@pytest.mark.parametrize("study", FILES)
def test_no_two_rows_have_the_same_name(study):
    names = [row.paper for rows in published_rows(study).values() for row in rows]
    assert sorted(set(names)) == sorted(names)


def test_a_few_tasks_may_be_known():
    (row,) = published_rows("babi-1k")["as-mage-gru"]
    assert row.scores == {2: 9.7, 3: 1.5} and row.mean == 10.3


def test_studies_of_no_paper_have_no_rows():
    assert len(FILES) == 11 and published_rows("lambada-epochs") == {}


@pytest.mark.parametrize(
    "text, message",
    [
        ('[[qrn]]\npaper = "A"\nmaen = 9.9', "own.toml: qrn.0.maen: Unexpected keyword"),
        ("[[qrn]]\nmean = 9.9", "own.toml: qrn.0.paper: Field required"),
        ('[[qrn]]\npaper = "A"\nmean = "low"', "own.toml: qrn.0.mean: .* number"),
        ('[qrn]\npaper = "A"', "own.toml: qrn: Input should be a valid list"),
    ],
)
def test_wrong_keys_are_named(text, message, tmp_path, monkeypatch):
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "own.toml").write_text(text)
    monkeypatch.setattr(published, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=message):
        published_rows("own")
