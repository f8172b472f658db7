"""Studies whose data are a user's own copies run from published files to tables."""

import pytest

from tests.support.texts import samples
from zoo.experiments import data
from zoo.experiments.reproduce import check_data, execute
from zoo.experiments.runs import Run
from zoo.experiments.studies import STUDIES
from zoo.reports.tables import tables_of

ARGUMENTS = {
    "ga-coref-gru": {"units": 4, "layers": 1, "embedding_dim": 3},
    "ga-mage-gru": {"units": 4, "edge_units": 2, "layers": 1, "embedding_dim": 3},
    "as-gru": {"units": 4, "embedding_dim": 3},
    "qdren-wind": {"units": 3, "slots": 2},
    "qdren-sent": {"units": 3, "slots": 2},
    "dmn-tagger": {"units": 4},
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    samples.write_vectors(folder)
    samples.write_cnn(folder)
    samples.write_hops(folder, "wikihop")
    samples.write_hops(folder, "medhop")
    samples.write_emory(folder)
    samples.write_wsj(folder / "treebank_3")
    return folder


@pytest.mark.parametrize(
    "study, sizes",
    [
        ("cnn", [24, 4, 6]),
        ("wikihop", [23, 1, 5]),
        ("medhop", [23, 1, 5]),
        ("wsj", [38, 6, 6]),
        ("emory", [28, 4, 8]),
    ],
)
def test_published_files_have_the_parts_of_the_study(study, sizes, data_dir):
    task, known = next(iter(STUDIES[study].tasks)), STUDIES[study]
    check_data(study, task, data_dir)
    splits = data.load(known.dataset, known.tasks[task].data, data_dir)
    assert [len(part) for part in vars(splits).values()] == sizes


SLOW, THOROUGH = pytest.mark.slow, pytest.mark.thorough


@pytest.mark.parametrize(
    "study, model, task",
    [
        pytest.param("cnn", "as-gru", "questions", marks=THOROUGH),
        pytest.param("cnn", "ga-mage-gru", "questions", marks=THOROUGH),
        pytest.param("cnn", "qdren-wind", "questions", marks=SLOW),
        pytest.param("cnn", "qdren-sent", "questions", marks=THOROUGH),
        pytest.param("wikihop", "ga-coref-gru", "questions", marks=THOROUGH),
        pytest.param("medhop", "ga-coref-gru", "questions", marks=THOROUGH),
        pytest.param("wsj", "dmn-tagger", "words-1", marks=THOROUGH),
        pytest.param("emory", "ga-coref-gru", "fold-2", marks=THOROUGH),
    ],
)
def test_a_study_runs_from_files_to_its_table(study, model, task, data_dir, tmp_path):
    settings = {"epochs": 1, "batch_size": 8, "buckets": 1, "arguments": ARGUMENTS[model]}
    run = Run(study, model, task, 0, str(data_dir), settings, "tiny")
    content = execute(run, tmp_path / "results", tmp_path / "runs")
    table, known = tables_of(study, tmp_path / "results"), STUDIES[study]
    assert f"| {known.tasks[task].label} | " in table and known.measure in table
    if study == "wikihop":
        right = sum(n not in content["test_wrong"] for n in range(5))
        assert content["test_kinds"] == {"follows": [right, 5], "multiple": [right, 5]}
        assert f"| {known.kinds['multiple']} | {20 * right:.1f}" in table
    if study in ("cnn", "emory"):
        assert "most frequent entity" in table
