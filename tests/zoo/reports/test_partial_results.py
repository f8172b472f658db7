"""Tables of results of which a part is missing or damaged, and of attention in some runs."""

import json

import pytest

from keras_corefmem.utils.files import BadFileError
from tests.support.results import RESULTS, record, record_trial, rows
from zoo.reports import tables as report
from zoo.reports.plots.figures import figures_of
from zoo.reports.scores import recorded_runs


@pytest.mark.parametrize(
    "page",
    [
        "<!-- results babi-1k -->\nold\n",
        "<!-- results babi-1k -->\n<!-- results babi-1k summary -->\nold\n<!-- end -->\n",
        "<!-- results babi-1k sumary -->\nold\n<!-- end -->\n",
        "<!-- results babi-1k --> old <!-- end -->\n",
        "It has <!-- number babi-1k qrn -->1<!-- end -->%.",
        "It has <!-- number babi-1k qrn 1 -->1%.",
    ],
)
def test_marks_that_cannot_be_filled_are_named(page, tmp_path):
    record(tmp_path, "qrn")
    with pytest.raises(ValueError, match="<!-- (results|number) babi-1k .*--> cannot be filled"):
        report.fill(page, tmp_path)
    assert report.fill("<!-- results below -->", tmp_path) == "<!-- results below -->"


def test_heads_that_are_measured_have_a_table(tmp_path):
    for model, rates in (
        ("bidaf-sa-early", {"coref_all": 0.05, "narrative": 0.1}),
        ("bidaf-sa-early-coref-all", {"coref_all": 0.6}),
    ):
        for seed in (0, 1):
            mass = {signal: rate + seed / 10 for signal, rate in rates.items()}
            fields = {"study": "lambada", "valid": 0.5 + seed / 10, "attention_mass": mass}
            record(tmp_path, model, "passages", seed, test_kinds={}, **fields)
    found = rows(report.tables_of("lambada", tmp_path).split("\n\n")[1])
    assert found["attention in %"] == ["`bidaf-sa-early`", "`bidaf-sa-early-coref-all`"]
    assert found["to all mentions of the chain"] == ["15.0 (10.0 ± 7.1)", "70.0 (65.0 ± 7.1)"]
    assert found["to events of the same participants"] == ["20.0 (15.0 ± 7.1)", "–"]
    assert found["to syntactic heads, within sentences"] == ["–", "–"]


def test_attention_of_heads_has_a_row_for_each_task_and_none_of_runs_without_it(tmp_path):
    fields = {"study": "lambada-train-size", "model": "bidaf-sa-early"}
    record(tmp_path, task="lambada-1000", seed=1, **fields)
    for task, share in (("lambada-1000", 0.25), ("lambada-5000", 0.5)):
        record(tmp_path, task=task, **fields, attention_mass={"coref_all": share})
    found = rows(report.tables_of("lambada-train-size", tmp_path).split("\n\n")[1])
    assert found["attention in %"] == [
        f"`bidaf-sa-early`, lambada, {count} questions" for count in (1000, 5000)
    ]
    assert found["to all mentions of the chain"] == ["25.0", "50.0"]


def test_attention_to_edges_has_a_table(tmp_path):
    for seed, share in enumerate((0.5, 0.3)):
        shares = {"role": 0.2, "coreference": share, "sequence": 0.8 - share}
        even = {"coreference": 0.25, "role": 0.25, "sequence": 0.5}
        fields = {"study": "lambada-edges", "edge_attention": {"shares": shares, "even": even}}
        record(tmp_path, "ga-mage-gru-attention", "role-1000", seed, **fields)
    alone = {"shares": {"sequence": 0.9, "coreference": 0.1}, "even": even}
    fields["edge_attention"] = alone
    record(tmp_path, "ga-mage-gru-attention", "coreference-1000", **fields)
    record(tmp_path, "ga-mage-gru", "role-1000", study="lambada-edges")
    found = rows(report.tables_of("lambada-edges", tmp_path).split("\n\n")[1])
    heading = "attention in % (if all edges were alike)"
    assert found.pop(heading) == ["sequence", "coreference", "role"]
    assert found == {
        "`ga-mage-gru-attention`, coreference, 1000 passages": ["90.0 (50.0)", "10.0 (25.0)", "–"],
        "`ga-mage-gru-attention`, coreference + role, 1000 passages": [
            *("40.0 (50.0)", "40.0 (25.0)", "20.0 (25.0)")
        ],
    }


def test_kinds_that_a_run_has_not_counted_have_no_score(tmp_path):
    guessed = {"last name": {"wrong": 600, "kinds": {"noun": [100, 400]}}}
    for model, kinds in (
        ("ga-coref-gru", {"noun": [200, 400]}),
        ("ga-gru", {"noun": [100, 400], "named_person": [40, 50]}),
        ("ga-one-hot", None),
    ):
        fields = {"test_kinds": kinds, "baselines": guessed} if kinds else {}
        record(tmp_path, model, "passages", study="lambada", wrong=500, **fields)
    found = rows(report.tables_of("lambada", tmp_path))
    # Models are rows, as they and papers are more than kinds.
    kinds = found["dev accuracy in %"]
    assert kinds[1:3] == ["… a named entity, a person", "… a noun"]
    for name, scores in (
        ("questions", ["50", "400"]),
        ("last name", ["–", "25.0"]),
        ("`ga-coref-gru`", ["–", "50.0"]),
        ("`ga-one-hot`", ["–", "–"]),
        ("`ga-gru`", ["80.0", "25.0"]),
    ):
        assert found[name][1:3] == scores
    (figure,) = figures_of("lambada", recorded_runs("lambada", tmp_path)).values()
    figure.draw_without_rendering()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [
        *("all passages (1,000)", "… a named entity, a person (50)", "… a noun (400)"),
    ]


def test_conditions_that_are_not_measured_have_no_score(tmp_path):
    scores = {"accuracy": 0.5, "calibration_error": 0.25, "answered": 1.0}
    for model, conditions in (
        ("ga-mage-gru", {"unchanged": scores, "persons": None}),
        ("memn2n", {"persons": scores}),
    ):
        fields = {"study": "babi-robustness", "conditions": conditions}
        record(tmp_path, model, "task-1-usual", **fields)
    record(tmp_path, "ga-coref-gru", "task-1-usual", study="babi-robustness")
    found = rows(report.tables_of("babi-robustness", tmp_path))
    for model, expected in (
        ("ga-mage-gru", ["50.0", *["–"] * 5, "25.0", "25.0"]),
        ("memn2n", ["–", "50.0", *["–"] * 5, "25.0"]),
        ("ga-coref-gru", ["–"] * 8),
    ):
        assert found[f"`{model}`, task-1, as usual"] == expected


def test_folds_without_baselines_are_counted_together(tmp_path):
    for fold in range(1, 6):
        guessed = {} if fold == 3 else {"baselines": {"last": {"wrong": 5, "kinds": {}}}}
        counts = {"test": 10} if fold == 4 else {"test": 10, "train": 90}
        fields = {"study": "emory", "wrong": fold, "questions": counts, **guessed}
        record(tmp_path, "ga-gru", f"fold-{fold}", **fields)
    found = rows(report.tables_of("emory", tmp_path))
    assert found["all folds"] == ["–", "–", "70.0"] and found["fold 3"] == ["–", "–", "70.0"]


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("coreference", {"scores": {"overall": 3}}, "gap.scores"),
        ("coreference", {"dataset": "other"}, "dataset"),
        ("babi-1k", {"questions": {}}, "questions.test: Field required"),
        ("babi-1k", {"conditions": {"long": {}}}, "conditions.long.accuracy: Field required"),
        ("babi-1k", {"edge_attention": {"shares": {"x": 1.0}}}, "even: Field required"),
        (
            "babi-1k",
            {"edge_attention": {"shares": {"x": 1.0}, "even": {}}},
            "even lacks x, which shares have",
        ),
        ("babi-1k", {"study": "sst"}, "study: it is of sst, not babi-1k"),
        ("babi-1k", {"valid_accuracy": "0.5"}, "valid_accuracy: Input should be a valid number"),
        ("searches/qdren-small", {"chosen": [2]}, "chosen: Input should be a valid dictionary"),
    ],
)
def test_results_that_are_damaged_are_named(tmp_path, name, change, message):
    record(tmp_path)
    record_trial(tmp_path, 0, 0.5, 2)
    (tmp_path / "coreference").mkdir()
    path = tmp_path / f"{name}.jsonl"
    if name == "coreference":
        path = tmp_path / "coreference" / "a.json"
        path.write_text(next((RESULTS / "coreference").glob("gap*")).read_text())
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(BadFileError, match=f"{path.name}.*{message}.*; (remove it|give its)"):
        report.tables_of(name, tmp_path)
