import functools
import json
import re
import shlex

import pytest

from keras_corefmem.datasets.stories.babi import TASKS
from keras_corefmem.utils.files import load_json
from tests.support.commands import printed, refused
from tests.support.results import RESULTS, ROOT, record, record_trial, result_of, rows
from zoo.cli import app
from zoo.experiments import results
from zoo.experiments.presets import preset_name
from zoo.experiments.runs import Run, plan
from zoo.experiments.studies import STUDIES
from zoo.hub import presets as preset
from zoo.reports import tables as report
from zoo.reports.plots.figures import draw
from zoo.reports.published import published_rows
from zoo.reports.scores import group_runs, list_numbers

STUDIES_OF_PAPERS = [study for study in STUDIES if published_rows(study)]


@pytest.mark.parametrize("name, value", [("task", 21), ("model", "ga-mage-gru-wide")])
def test_a_run_of_a_task_or_model_that_there_is_not_is_refused(name, value, tmp_path, capsys):
    run = Run("babi-1k", "ga-mage-gru", 1, 0)
    results.append_result({**result_of(run, [0]), name: value}, tmp_path)
    (found,) = results.read_results("babi-1k", tmp_path)
    names = [results.result_name(found)] * 2
    for words in ([], ["--agreement"], ["--compare", "ga-gru", "qrn"], ["--gains", *names]):
        error = refused(capsys, "report", "babi-1k", *words, "--results", str(tmp_path))
        assert f"{tmp_path}: ga-mage-gru-" in error and f"of babi-1k is of no {name} of" in error


def test_the_best_run_by_validation_counts(tmp_path):
    record(tmp_path, seed=0, wrong=10, valid=0.9, loss=0.5)
    record(tmp_path, seed=1, wrong=40, valid=0.9, loss=0.3)
    record(tmp_path, seed=2, wrong=1, valid=0.8, loss=0.1)
    record(tmp_path, seed=0, wrong=0, valid=0.7, loss=0.1, tag="dropout")
    found = rows(report.tables_of("babi-1k", tmp_path).split("\n\n")[0])
    assert found["test error in %"] == [
        "`ga-mage-gru`",
        "Dhingra et al. 2017, GA + MAGE(16), best of 10",
    ]
    assert found["1 single supporting fact"] == ["4.0 (1.7 ± 2.0)", "0.0"]
    assert found["2 two supporting facts"] == ["–", "1.0"]
    assert found["mean error"] == ["–", "8.7"]
    assert found["failed tasks (> 5%)"] == ["–", "5"]
    assert [found[name][0] for name in ("runs", "seeds a task", "backend")] == ["4", "3", "jax"]


def test_a_complete_study_has_a_mean_and_failed_tasks(tmp_path):
    for task in TASKS:
        record(tmp_path, task=task, wrong={3: 50, 4: 51, 5: 999}.get(task, 0))
        record(tmp_path, task=task, model="ga-gru")
    found = rows(report.tables_of("babi-1k", tmp_path).split("\n\n")[0])
    assert found["test error in %"][:3:2] == ["`ga-mage-gru`", "`ga-gru`"]
    assert found["mean error"] == ["5.5", "8.7", "0.0", "24.1", "19.0", "23.6"]
    assert found["failed tasks (> 5%)"] == ["2", "5", "0", "13", "10", "–"]
    assert len({len(row) for row in found.values()}) == 1
    record(tmp_path, task=19, wrong=100, seed=1, valid=0.5)
    record(tmp_path, task=19, wrong=300, seed=2, valid=0.5)
    found = rows(report.tables_of("babi-1k", tmp_path).split("\n\n")[0])
    # (5 + 5.1 + 99.9) / 20, and with the mean of task 19 over seeds, 40 / 3.
    assert found["mean error"][0] == "5.5 (6.2)"


def test_what_papers_report_of_a_model_stands_behind_it_as_printed(tmp_path):
    for model in ("qdren", "qdren-printed", "ga-mage-gru-printed"):
        record(tmp_path, model)
    tables = report.tables_of("babi-1k", tmp_path).split("\n\n")
    mage, qdren, others = map(rows, tables[:3])
    paper = "Dhingra et al. 2017, GA + MAGE(16), best of 10"
    assert mage["test error in %"] == ["`ga-mage-gru-printed`", paper]
    assert qdren["test error in %"][:2] == ["`qdren`", "`qdren-printed`"]
    assert qdren["test error in %"][2:] == ["Madotto and Attardi 2017, QDREN"]
    # Not behind the printed version of another model.
    record(tmp_path, "ngram")
    record(tmp_path, "dmn-printed")
    heads = rows(report.tables_of("babi-1k", tmp_path).split("\n\n")[1])["test error in %"]
    assert heads[3:] == ["`ngram`", "Weston et al. 2015, n-grams", "`dmn-printed`"]
    # A row each, as papers are more than tasks.
    heads, best = others["reported, not measured here"], "with dynamic halting, best of 10"
    (row,) = [row for name, row in others.items() if name.endswith(best)]
    numbers = dict(zip(heads, row, strict=True))
    assert [numbers[name] for name in ("mean error", "19 path finding")] == ["4.55", "47.1"]
    assert "Dhingra et al. 2018, GA + C-GRU, best of 10" in others and paper not in others
    assert "runs" not in heads


def test_means_and_maxima_of_papers_are_told_apart(tmp_path):
    record(tmp_path, "bidaf-sa-early", "passages", study="lambada", test_kinds={})
    found = rows(report.tables_of("lambada", tmp_path).split("\n\n")[0])
    assert found["all passages"][1] == "60.54 (max 60.88)"


@pytest.mark.parametrize("study", STUDIES_OF_PAPERS)
def test_rows_of_papers_fit_their_tables(study, tmp_path):
    models = [model for model in published_rows(study) if model in STUDIES[study].models]
    kinds = {"test_kinds": dict.fromkeys(STUDIES[study].kinds, [1, 2])}
    runs = [result_of(run, **kinds) for run in plan(study, models=models)]
    results.replace_results(study, runs, tmp_path)
    for table in (report.tables_of(study, tmp_path), report.summary(study, tmp_path)):
        for part in table.split("\n\n"):
            counts = {line.count(" | ") for line in part.splitlines() if line.startswith("| ")}
            assert len(counts) <= 1
    papers = {row.paper for rows in published_rows(study).values() for row in rows}
    for line in report.summary(study, tmp_path).splitlines()[2:]:
        papers.discard(line[2:].split(" | ")[0])
    assert not papers


def test_a_summary_has_a_row_for_each_model_and_each_paper(tmp_path):
    for task in TASKS:
        record(tmp_path, task=task, wrong={3: 50, 4: 51, 5: 999}.get(task, 0))
    record(tmp_path, model="ga-gru", seed=2)
    page = "<!-- results babi-1k summary -->\nold\n<!-- end -->"
    lines, differs = report.fill(page, tmp_path).splitlines()[1:-1], "differs from the paper"
    assert lines[:2] == [
        f"| test error in % | mean error | failed tasks (> 5%) | seeds a task | {differs} |",
        "|---|---:|---:|---:|---:|",
    ]
    assert lines[2].startswith("| `ga-mage-gru` | 5.5 | 2 | 1 | learned carry, ")
    assert lines[3] == "| Dhingra et al. 2017, GA + MAGE(16), best of 10 | 8.7 | 5 |  |  |"
    # A task of `ga-gru` is no mean.
    assert lines[4] == "| Dhingra et al. 2017, GA, best of 10 | 24.1 | 13 |  |  |"
    assert lines[-1] == "| Johnson 2017, GGT-NN, told the graph | 1.76 | 2 |  |  |"
    assert report.summary("sst", tmp_path).startswith("No run of `sst` is recorded yet")


def test_an_overview_has_a_row_for_each_model_with_the_best_comparable_paper(tmp_path):
    for model in ("ga-gru", "memn2n", "dmn-plus"):
        for task in TASKS:
            record(tmp_path, model=model, task=task, wrong={3: 50, 4: 51}.get(task, 0))
    record(tmp_path, model="qrn")
    page = "<!-- results babi-1k overview -->\nold\n<!-- end -->"
    assert report.fill(page, tmp_path).splitlines()[1:-1] == [
        "| model | mean error | failed tasks (> 5%) | lowest published | failed there | paper |",
        "|---|---:|---:|---:|---:|---:|",
        "| `ga-gru` | 0.5 | 1 | 19.0 | 10 | Dhingra et al. 2018, GA, best of 10 |",
        # Of 1,000 questions a task, not of 10,000, which are all that DMN+ has.
        "| `dmn-plus` | 0.5 | 1 | – | – |  |",
        "| `memn2n` | 0.5 | 1 | 13.9 | 11 | Sukhbaatar et al. 2015, MemN2N |",
    ]
    record(tmp_path, "bidaf", "passages", study="lambada", test_kinds={})
    with pytest.raises(ValueError, match="'lambada' has no mean error over tasks"):
        report.fill(page.replace("babi-1k", "lambada"), tmp_path)


def test_folds_are_counted_together(tmp_path):
    guessed = {"most frequent entity": {"wrong": 6, "kinds": {}}}
    for seed, folds in ((0, 5), (1, 5), (2, 4)):
        for fold in range(1, folds + 1):
            fields = {"valid": 0.5 + 0.1 * seed, "total": 10 * fold, "baselines": guessed}
            name = f"fold-{fold}"
            record(tmp_path, "ga-gru", name, seed, study="emory", wrong=fold + seed, **fields)
    found = rows(report.tables_of("emory", tmp_path))
    assert found["test accuracy in %"] == ["questions", "most frequent entity", "`ga-gru`"]
    assert found["fold 2"] == ["20", "70.0", "80.0 (85.0 ± 5.0)"]
    # 150 questions: 15 wrong, 20 wrong; the third seed lacks a fold.
    assert found["all folds"] == ["150", "80.0", "86.7 (88.3 ± 2.4)"]
    assert "| `ga-gru` | 86.7 (88.3 ± 2.4) |" in report.summary("emory", tmp_path)


def test_commands_repeat_the_runs(tmp_path):
    runs = [record(tmp_path, task=task, seed=seed) for task in TASKS for seed in (0, 1)]
    runs += [record(tmp_path, task=7, tag="dropout", model="as-gru")]
    lines = report.commands(runs)
    assert lines == [
        "KERAS_BACKEND=jax corefmem reproduce babi-1k --models as-gru --tasks 7 --seeds 0 "
        "--set 'arguments={\"dropout\": 0.3}' --tag dropout",
        "KERAS_BACKEND=jax corefmem reproduce babi-1k --models ga-mage-gru --seeds 0 1",
    ]
    assert lines[0] in report.tables_of("babi-1k", tmp_path)


def test_numbers_are_short():
    assert list_numbers([3, 1, 2, 7, 2]) == "1–3, 7"


def test_the_tables_of_a_file_are_rewritten(tmp_path, capsys):
    record(tmp_path, wrong=10)
    path = tmp_path / "page.md"
    path.write_text("Before\n<!-- results babi-1k -->\nold\n<!-- end -->\nAfter\n")
    other = tmp_path / "other.md"
    other.write_text("Nothing to fill\n")
    out = printed(capsys, "report", "--write", path, other, "--results", tmp_path)
    assert out == f"Tables written to {path}\n{other} names no results: nothing is written\n"
    assert other.read_text() == "Nothing to fill\n"
    text = path.read_text(encoding="utf-8")
    assert "\nold\n" not in text and report.tables_of("babi-1k", tmp_path) in text
    assert text.startswith("Before\n<!-- results babi-1k -->\n|")
    assert text.endswith("<!-- end -->\nAfter\n")
    assert report.fill(text, tmp_path) == text
    shown = printed(capsys, "report", "babi-1k", "--results", tmp_path)
    assert report.tables_of("babi-1k", tmp_path) in shown
    for folder in (tmp_path / "reslts", path):
        for words in (["babi-1k"], ["--write", path]):
            error = refused(capsys, "report", *words, "--results", folder)
            assert f"{folder}: no such folder: give that of the results, --results." in error
    assert path.read_text(encoding="utf-8") == text
    other.write_text("<!-- results babi-1k -->\nold\n")
    error = refused(capsys, "report", "--write", other, "--results", tmp_path)
    assert f"{other}: <!-- results babi-1k --> cannot be filled" in error


def test_numbers_within_sentences_are_those_of_the_table(tmp_path):
    for task in TASKS:
        record(tmp_path, task=task, wrong={1: 40, 10: 990, 19: 70}.get(task, 0))
    record(tmp_path, task=1, wrong=80, seed=1, valid=0.5)
    asked = {
        "mean error": "5.5",
        "mean error over seeds": "5.6",
        "failed tasks": "two",
        "1": "4.0",
        "1 over seeds": "6.0",
        "seeds a task": "1–2",
    }
    marks = [f"<!-- number babi-1k ga-mage-gru {row} -->{{}}<!-- end -->%" for row in asked]
    page = "It has " + ", ".join(marks) + "."
    assert report.fill(page.replace("{}", "0.0"), tmp_path) == page.format(*asked.values())


@pytest.mark.parametrize("row", ["1 over seeds", "2", "mean error", "21", "s"])
def test_a_number_that_the_table_lacks_is_refused(row, tmp_path):
    record(tmp_path)
    with pytest.raises(ValueError, match=f'table of babi-1k has no "{row}" of ga-mage-gru'):
        report.fill(f"<!-- number babi-1k ga-mage-gru {row} -->7<!-- end -->", tmp_path)


def test_scores_of_coreference_are_a_table_too(tmp_path):
    page = "<!-- results coreference -->\n<!-- end -->\n"
    assert "Nothing is scored yet: `corefmem score`" in report.fill(page, tmp_path)
    f1 = {"f1": 0.5}
    scores = {**dict.fromkeys(("mentions", "muc", "b3"), f1), "ceafe": {"f1": 0.25}, "conll": 0.4}
    litbank = {"dataset": "litbank", "mentions": "gold", "scores": {"all": scores}}
    scores = {**dict.fromkeys(("overall", "masculine"), f1), "feminine": {"f1": 0.4}, "bias": 0.8}
    gap = {"dataset": "gap", "part": "validation", "scores": scores}
    (tmp_path / "coreference").mkdir()
    for content in (litbank, gap):
        content |= {"tokens": 12345, "seconds": {"resolver": 2.0}, "command": "corefmem score x"}
        path = tmp_path / "coreference" / f"{content['dataset']}.json"
        path.write_text(json.dumps(content))
    text = report.fill(page, tmp_path)
    assert "| gold mentions | 50.0 | 50.0 | 50.0 | 25.0 | 40.0 | 6,000 |" in text
    assert "| validation | 50.0 | 50.0 | 40.0 | 0.80 | 6,000 |" in text
    for name in ("en_small", "en_large"):
        path = tmp_path / "coreference" / f"gap-validation-{name}.json"
        path.write_text(json.dumps({**gap, "pipeline": {"name": name}}))
    text = report.fill(page, tmp_path)
    assert "| validation, `en_small` | 50.0" in text and "| validation, `en_large` | 50.0" in text


def test_trials_of_a_search_are_a_table_with_the_best_one_first(tmp_path, capsys):
    for number, accuracy in enumerate((0.5, 0.75, 0.5)):
        tested = {"test_accuracy": 0.625} if accuracy > 0.5 else {}
        record_trial(tmp_path, number, accuracy, 10 * number, **tested)
    expected = (
        "| trial | slots | valid accuracy | valid loss | epochs | seconds |\n"
        "|---|---:|---:|---:|---:|---:|\n"
        "| 01 | 10 | 75.0% | 0.2500 | 7 | 61 |\n"
        "| 00 | 0 | 50.0% | 0.2500 | 7 | 61 |\n"
        "| 02 | 20 | 50.0% | 0.2500 | 7 | 61 |\n\n"
        "Trial 01 is the best by validation; its test accuracy is 62.5%.\n\n"
        "Made by\n```\ncorefmem search\n```"
    )
    page = "<!-- results searches/qdren-small -->\nold\n<!-- end -->"
    assert expected in report.fill(page, tmp_path)
    command = "report", "--results", tmp_path
    for words in (["--search", "qdren-small"], []):
        out = printed(capsys, *command, *words)
        assert f"## searches/qdren-small\n\n{expected}\n" in out
    error = refused(capsys, *command, "--search", "other")
    assert "no trial of 'other'; it has qdren-small" in error


def test_settings_of_several_seeds_are_ranked_by_their_means(tmp_path):
    for number, (slots, seed, accuracy) in enumerate(
        [(10, 0, 0.25), (10, 1, 1.0), (20, 0, 0.75), (20, 1, 0.625), (30, 0, 0.5)]
    ):
        record_trial(tmp_path, number, accuracy, slots, chosen={"slots": slots, "seed": seed})
    table = report.search_table("qdren-small", tmp_path)
    assert table.splitlines()[:5] == [
        "| slots | seeds | valid accuracy | valid loss |",
        "|---|---:|---:|---:|",
        "| 20 | 2 | 68.8% ± 8.8 | 0.2500 |",
        "| 10 | 2 | 62.5% ± 53.0 | 0.2500 |",
        "| 30 | 1 | 50.0% | 0.2500 |",
    ]
    assert "\nTrial 02 is the best by validation; " in table


def test_a_study_without_runs_says_so(tmp_path):
    assert report.tables_of("babi-mix", tmp_path).startswith("No run of `babi-mix` is recorded yet")
    with pytest.raises(ValueError, match="no study 'babi-10k'; choose one of babi-1k"):
        report.tables_of("babi-10k", tmp_path)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", RESULTS / "README.md", ROOT / "docs/flagship.md"]
)
def test_pages_have_what_the_results_say(page):
    text = page.read_text(encoding="utf-8")
    assert "<!-- results babi-1k" in text
    assert report.fill(text, RESULTS) == text


def test_the_page_says_how_many_passages_readers_were_trained_on():
    page = RESULTS / "README.md"
    (count,) = {run["questions"]["train"] for run in results.read_results("lambada", RESULTS)}
    assert f"{count:,} passages" in " ".join(page.read_text(encoding="utf-8").split())


def test_all_results_are_on_their_page():
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"<!-- results (\S+) -->", text))
    recorded = {str(path.relative_to(RESULTS)) for path in RESULTS.rglob("*.jsonl")}
    assert {"coreference", *(name.removesuffix(".jsonl") for name in recorded)} == {
        # What papers report of data that cannot be had here.
        *shown - {"cnn", "wikihop", "wikihop-train-size", "wsj"}
    }


def test_commands_of_recorded_runs_are_accepted(monkeypatch):
    monkeypatch.setattr(app, "make_app", functools.cache(app.make_app))
    names = (f"{results.SEARCHES}/{name}" for name in results.recorded_searches(RESULTS))
    runs = [run for name in (*STUDIES, *names) for run in results.read_results(name, RESULTS)]
    scores = map(load_json, (RESULTS / "coreference").glob("*.json"))
    for content in (*runs, *({**score, "study": "coreference"} for score in scores)):
        program, *words = shlex.split(content["command"])
        kind = content["study"].partition("/")[0]
        command = {"coreference": "score", "searches": "search"}.get(kind, "reproduce")
        assert program == "corefmem" and app.parse(words).info_name == command


PRESETS = (
    "flagship",
    "ga-mage-gru",
    "ga-coref-gru",
    "qdren",
    "ren",
    "dmn-supervised",
    "memn2n",
    "qrn",
)
# Tasks of which the best run did not keep its weights: the preset is another run.
LOST = {"ga_coref_gru_babi_19", *(f"ga_mage_gru_babi_{task}" for task in (7, 8, 16, 19))}
LOST |= {"bidaf_sa_early_coref_all_lambada"}


def test_presets_are_the_best_recorded_runs():
    studies = "babi-1k", "babi-joint", "babi-robustness", "babi-types", "lambada"
    runs = {study: results.read_results(study, RESULTS) for study in studies}
    named = {study: {results.result_name(run): run for run in runs[study]} for study in runs}
    groups = {study: group_runs(runs[study]) for study in runs}
    assert {preset_name("ga-coref-gru", "babi-1k", task) for task in TASKS} < set(preset.presets())
    models = {preset.read_preset(name)["card"]["model"] for name in preset.presets()}
    others = {"ga-gru", "ga-mage-gru-attention", "bidaf-sa-early-coref-all"}
    assert models == {*PRESETS, *others}
    for name in preset.presets():
        card = preset.read_preset(name)["card"]
        study, run = card["result"].removesuffix(".json").split("/")[-2:]
        chosen = named[study][run]
        others = groups[study][chosen["model"], chosen["task"]]
        assert (chosen == results.best_result(others)) == (name not in LOST), name


def test_what_is_guessed_without_reading_stands_beside_every_task(tmp_path):
    guessed = {"last name": {"wrong": 3, "kinds": {"person": [1, 2]}}}
    for task, total in (("lambada-1000", 4), ("lambada-5000", 10)):
        fields = {"baselines": guessed, "test_kinds": {"person": [1, 2]}}
        study = "lambada-train-size"
        record(tmp_path, "ga-gru", task, study=study, wrong=1, total=total, **fields)
    found = rows(report.tables_of("lambada-train-size", tmp_path))
    assert found["dev accuracy in %"] == ["questions", "last name", "`ga-gru`"]
    assert found["lambada, 1000 questions"] == ["4", "25.0", "75.0"]
    assert found["lambada, 5000 questions"] == ["10", "70.0", "90.0"]
    first = results.read_results("lambada-train-size", tmp_path)[:1]
    results.replace_results("lambada-train-size", first, tmp_path)
    found = rows(report.tables_of("lambada-train-size", tmp_path))
    assert found["lambada, 1000 questions"] == ["4", "25.0", "75.0"]
    assert "lambada, 5000 questions" not in found


def test_kinds_are_the_tasks_of_a_joint_model(tmp_path):
    known = STUDIES["babi-joint"]
    for seed, valid in ((0, 0.9), (1, 0.8)):
        kinds = {kind: [1000, 1000] for kind in known.kinds}
        kinds |= {"3": [950, 1000], "19": [400 + 100 * seed, 1000]}
        wrong = sum(total - right for right, total in kinds.values())
        fields = {"wrong": wrong, "total": 20_000, "valid": valid, "test_kinds": kinds}
        record(tmp_path, task="all", seed=seed, study="babi-joint", **fields)
    table, others = map(rows, report.tables_of("babi-joint", tmp_path).split("\n\n")[:2])
    assert list(table)[:4] == ["test error in %", *list(table)[1:3], "1 single supporting fact"]
    assert table["mean error"] == ["3.2 (3.0 ± 0.4)"]
    assert table["failed tasks (> 5%)"] == ["1"] and table["19 path finding"][0][:4] == "60.0"
    assert others["mean error"] == ["7.78", "11.21"]
    assert others["failed tasks (> 5%)"] == ["5", "–"]
    first, *_, last = report.summary("babi-joint", tmp_path).splitlines()
    assert first.startswith("| test error in % | mean error | failed tasks (> 5%) | seeds a task |")
    assert "| 11.21 | – |  |  |" in last
    assert draw("babi-joint", tmp_path / "pictures", tmp_path)
