import pytest

from zoo.configs.configurations import FOLDER
from zoo.experiments.studies import STUDIES, TASKS
from zoo.reports import published
from zoo.reports.published import published_rows

FILES = sorted(path.stem for path in (FOLDER / "published").glob("*.toml"))


@pytest.mark.parametrize("study", FILES)
def test_published_rows_are_whole(study):
    for model, row in published_rows(study).items():
        assert model in STUDIES[study].models
        assert set(row.scores) <= set(STUDIES[study].tasks)
        assert set(row.kinds) <= set(STUDIES[study].kinds)
        tasks = STUDIES[study].tasks
        assert set(row.best) <= {task.group for task in tasks.values()}
        for group in {tasks[name].group for name in row.scores} & row.best.keys():
            in_group = (score for name, score in row.scores.items() if tasks[name].group == group)
            assert max(in_group) == row.best[group]
        if row.errors:
            assert len(row.errors) == len(TASKS)
            assert sum(row.errors) / len(TASKS) == pytest.approx(row.mean, abs=0.06)
            assert sum(error > 5 for error in row.errors) == row.failed


def test_studies_of_no_paper_have_no_rows():
    assert len(FILES) == 7 and published_rows("lambada-epochs") == {}


@pytest.mark.parametrize(
    "text, message",
    [
        ('[qrn]\npaper = "A"\nmaen = 9.9', "own.toml: qrn.maen: Unexpected keyword"),
        ("[qrn]\nmean = 9.9", "own.toml: qrn.paper: Field required"),
        ('[qrn]\npaper = "A"\nmean = "low"', "own.toml: qrn.mean: .* number"),
    ],
)
def test_wrong_keys_are_named(text, message, tmp_path, monkeypatch):
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "own.toml").write_text(text)
    monkeypatch.setattr(published, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=message):
        published_rows("own")
