import dataclasses
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest.mock

import pytest

from tests.support.results import result_of
from tests.support.texts.tiny_babi import write_babi
from zoo.cli.app import parse
from zoo.cli.options import parse_settings
from zoo.cli.reproduce import join_seeds
from zoo.experiments.outcome import versions
from zoo.experiments.reproduce import describe_pending, execute, reproduce
from zoo.experiments.results import append_result, read_results
from zoo.experiments.runs import Run, plan
from zoo.experiments.studies import STUDIES
from zoo.training import Settings

SETTINGS = {"epochs": 1, "batch_size": 8, "buckets": 1, "arguments": {"units": 4}}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """A tiny bAbI with task 1 alone."""
    return str(write_babi(tmp_path_factory.mktemp("data"), train=30, valid=5, test=11).parent)


def test_a_plan_has_every_run_once_and_long_tasks_first():
    runs = plan("babi-1k", seeds=(0, 1))
    assert len({run.name for run in runs}) == len(runs) == len(STUDIES["babi-1k"].models) * 40
    assert {run.task for run in runs[:5]} == {2, 3, 5, 7, 8}
    chosen = plan("babi-1k", "data", ["as-gru"], [4, 2], (7,), {"epochs": 2}, "short")
    assert [run.name for run in chosen] == [
        "as-gru-short-task-02-seed-7",
        "as-gru-short-task-04-seed-7",
    ]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"study": "babi-2k"}, "no study 'babi-2k'; choose one of babi-1k, babi-mix"),
        ({"tasks": [21]}, "study babi-1k has no task 21; choose of 1, 2"),
        ({"models": ["rnn"]}, "no model 'rnn'; choose one of as-coref-gru"),
    ],
)
def test_a_plan_of_what_does_not_exist_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        plan(**{"study": "babi-1k", **arguments})


def test_a_run_with_an_argument_that_its_model_does_not_read_is_refused(data_dir, tmp_path):
    run = Run("babi-1k", "ren", 1, 0, data_dir, {"arguments": {"half_width": 2}}, "wide")
    with pytest.raises(ValueError, match="--set half_width: this ren does not read it"):
        execute(run, tmp_path, tmp_path)
    assert not list(tmp_path.rglob("*.json*"))


@pytest.mark.parametrize(
    "model, tag, other",
    [("qdren", "printed", "qdren-printed"), ("dmn", "plus-wide", "dmn-plus")],
)
def test_tags_that_make_the_name_of_another_model_are_refused(model, tag, other):
    with pytest.raises(ValueError, match=f"--tag {tag}: .* of the model {other}: give another"):
        plan("babi-1k", models=[model], tasks=[4], tag=tag)
    assert plan("babi-1k", models=[other], tasks=[4], tag="wide")
    assert plan("babi-1k", models=["qdren"], tasks=[4], tag="prints")


def test_models_that_start_from_word_vectors_have_them_in_any_study():
    (printed,), (plain,) = (
        plan("babi-1k", "data", [name], [1]) for name in ("dmn-printed", "dmn-supervised")
    )
    assert printed.experiment.word_vectors and not plain.experiment.word_vectors
    news, stories = (
        Run(study, "ga-mage-gru-printed", *rest)
        for study, *rest in (("cnn", "questions", 0), ("babi-1k", 1, 0))
    )
    assert news.experiment.word_vectors and not stories.experiment.word_vectors
    assert printed.command.endswith(" --data-dir DIR") and "--data-dir" not in plain.command


def test_models_and_seeds_are_planned_once_under_their_own_names():
    runs = plan("babi-1k", models=["ga_coref_gru", "ga-coref-gru"], tasks=[1], seeds=(3, 3))
    assert runs == [Run("babi-1k", "ga-coref-gru", 1, 3)]


@pytest.mark.parametrize("tag", ["../up", "two words", "-wide", "a/b"])
def test_tags_that_are_no_part_of_a_folder_name_are_refused(tag):
    with pytest.raises(ValueError, match=f"--tag {tag}: it is part of the names of files"):
        plan("babi-1k", models=["qdren"], tasks=[1], tag=tag)


def test_tasks_of_some_models_are_planned_for_these_alone():
    assert [run.task for run in plan("babi-mentions", models=["ga-gru"])] == ["plain"]
    names = [run.name for run in plan("babi-mentions", seeds=(3,))]
    assert len(names) == len(STUDIES["babi-mentions"].tasks) == 8
    assert names[0] == "ga-coref-gru-kept-100-seed-3" and names[-1] == "ga-gru-plain-seed-3"
    with pytest.raises(
        ValueError, match="None of the tasks kept-20 of babi-mentions is for ga-gru"
    ):
        plan("babi-mentions", models=["ga-gru"], tasks=["kept-20"])


@pytest.mark.parametrize(
    "study, questions, epochs, patience",
    [
        ("babi-train-size", 900, Settings().epochs, Settings().patience),
        ("lambada-train-size", 5000, 10, 3),
        ("wikihop-train-size", 5000, 20, 6),
    ],
)
def test_fewer_questions_are_read_as_often(study, questions, epochs, patience):
    for run in plan(study):
        settings = Settings(**STUDIES[study].tasks[run.task].settings)
        assert settings.train_size * settings.epochs == questions * epochs
        assert settings.train_size * settings.patience == questions * patience


# `test_studies` has the settings of tasks, the next slow test a run.
@pytest.mark.thorough
def test_a_run_has_the_settings_of_its_task(data_dir, tmp_path):
    settings = {**SETTINGS, "train_size": 12}
    run = Run("babi-train-size", "as-coref-gru", "task-1-300", 1, data_dir, settings, "tiny")
    content = execute(run, tmp_path / "results", tmp_path / "runs")
    assert content["questions"] == {"train": 12, "valid": 5, "test": 11}
    assert content["settings"]["patience"] == 60 and content["settings"]["epochs"] == 1
    assert content["settings"]["train_size"] == 12 and content["settings"]["mentions"] is None


def test_a_task_is_read_in_its_language(tmp_path):
    folder = write_babi(tmp_path, train=30, test=11)
    text = (folder / "qa1_test.txt").read_text()
    (folder / "qa1_test.txt").write_text("".join(text.splitlines(keepends=True)[:3]))
    shutil.copytree(folder, tmp_path / "hn")
    settings = {**SETTINGS, "arguments": {"units": 4, "edge_units": 2, "layers": 1}}
    (run,) = plan("babi-languages", str(tmp_path), ["ga-mage-gru"], ["task-1-hn"], (0,), settings)
    assert run.experiment.language == "hn"
    content = execute(run, tmp_path / "results", tmp_path / "runs")
    assert content["questions"]["test"] == 1 and "task-1-hn" in content["command"]


@pytest.mark.parametrize("tag, settings", [("", {}), ("small", SETTINGS)])
def test_the_command_of_a_run_repeats_it(tag, settings):
    run = Run("babi-mix", "as-mage-gru", 3, 5, settings=settings, tag=tag)
    options = parse(shlex.split(run.command)[1:]).params
    names = ("study", "data_dir", "models", "tasks")
    seeds, settings = join_seeds(options["seeds"]), parse_settings(options["settings"])
    assert plan(*(options[name] for name in names), seeds, settings, options["tag"]) == [run]


def test_what_is_done_says_which_settings_it_has_otherwise(tmp_path):
    run, lines = Run("lambada", "ga-gru", "passages", 0, "data"), []
    today = run.experiment.settings
    for settings, said in (
        (today, ""),
        (
            dataclasses.replace(today, patience=9, arguments={**today.arguments, "units": 3}),
            ", with another patience, units than today",
        ),
    ):
        append_result(result_of(run, settings=dataclasses.asdict(settings)), tmp_path)
        assert reproduce(iter([run]), tmp_path, tmp_path, report=lines.append) == []
        assert lines.pop() == f"ga-gru-passages-seed-0: done before{said}"
    # Settings of before lack fields, and have arguments by older names.
    older = {"epochs": today.epochs, "arguments": {**today.arguments, "asked": True}}
    assert run.changed_since({"settings": older}) == ["question_overlap"]


def test_a_result_of_other_settings_that_came_meanwhile_stays(data_dir, tmp_path, monkeypatch):
    runs = [Run("babi-1k", "as-gru", 1, 0, data_dir, {"epochs": n}, "tiny") for n in (1, 2)]

    def train(*arguments, **options):
        append_result(other := result_of(runs[1]), tmp_path)
        outcome = unittest.mock.Mock()
        outcome.describe.return_value = other
        return outcome

    monkeypatch.setattr("zoo.experiments.experiment.run_experiment", train)
    with pytest.raises(ValueError, match="The result of as-gru-tiny-task-01-seed-0 in babi-1k is"):
        execute(runs[0], tmp_path, tmp_path)
    assert read_results("babi-1k", tmp_path) == [result_of(runs[1])]


@pytest.mark.parametrize("jobs", [0, -1])
def test_a_number_of_jobs_that_is_not_positive_is_refused(jobs, tmp_path):
    with pytest.raises(ValueError, match=f"--jobs must be at least 1, got {jobs}"):
        reproduce(plan("babi-1k", models=["as-gru"]), tmp_path, tmp_path, jobs)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_runs_are_done_once_and_failures_are_reported(data_dir, tmp_path):
    results, states, lines = tmp_path / "results", tmp_path / "runs", []
    runs = [Run("babi-1k", "as-gru", task, 0, data_dir, SETTINGS, "tiny") for task in (1, 2)]
    content = execute(runs[0], results, states)
    path = results / "babi-1k.jsonl"
    assert read_results("babi-1k", results) == [json.loads(json.dumps(content))]
    assert content["questions"] == {"train": 30, "valid": 5, "test": 11}
    assert content["test_accuracy"] == pytest.approx(1 - len(content["test_wrong"]) / 11)
    assert content["settings"]["arguments"] == {"units": 4} and content["head"] == "pointer_sum"
    assert content["versions"]["keras"] == versions()["keras"]
    assert content["command"] == runs[0].command and content["epochs"] == content["best_epoch"] == 1
    assert (states / "babi-1k" / "as-gru-tiny-task-01-seed-0" / "model.keras").exists()

    written = path.stat().st_mtime_ns
    other = dataclasses.replace(runs[0], settings={**SETTINGS, "epochs": 2})
    with pytest.raises(ValueError, match="of as-gru-tiny-task-01-seed-0 in babi-1k is that"):
        reproduce([runs[1], other], results, states, jobs=1, report=lines.append)
    assert not lines
    turned = dataclasses.replace(runs[0], settings=dict(reversed(SETTINGS.items())))
    assert turned.command != runs[0].command
    assert turned.find_result([content]) == content
    failures = reproduce(runs, results, states, jobs=1, report=lines.append)
    assert path.stat().st_mtime_ns == written
    assert [run.task for run, _ in failures] == [2]
    assert isinstance(failures[0][1], FileNotFoundError)
    assert lines[0] == "as-gru-tiny-task-01-seed-0: done before"
    assert lines[1].startswith("1 to run, 1 at a time; results: ")
    assert lines[2].startswith("[1/1] as-gru-tiny-task-02-seed-0: failed: No files qa2_")
    assert list(results.iterdir()) == [path] and len(read_results("babi-1k", results)) == 1


SLEEPER = """
import functools, pathlib, signal, sys, time
from zoo.experiments import plan
from zoo.experiments.reproduce import reproduce
import zoo.experiments.reproduce

module = sys.modules["zoo.experiments.reproduce"]

def sleep(run, results, runs):
    pathlib.Path(results, run.name).touch()
    time.sleep(600)

if __name__ == "__main__":
    # A parent in the background may have had it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module.execute, module.PULSE = sleep, 0.5
    runs = plan("babi-1k", models=["as-gru"], tasks=[1, 4, 6])
    say = functools.partial(print, flush=True)
    reproduce(runs, sys.argv[1], sys.argv[1], jobs=1, report=say)
"""


@pytest.mark.parametrize(
    "killed",
    [
        pytest.param(False, marks=pytest.mark.thorough, id="interrupted"),
        pytest.param(True, marks=pytest.mark.thorough, id="killed"),
    ],
)
def test_workers_end_with_their_parent(killed, tmp_path):
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "sleeper.py"), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("as-gru-task-*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert b"3 to run, 1 at a time" in process.stdout.readline()
    assert process.stdout.readline() == b"  in the first epoch\n"
    if killed:
        process.kill()
    else:
        # What a terminal sends on Ctrl-C: to the whole group.
        os.killpg(process.pid, signal.SIGINT)
    # Ends when nobody holds the pipe any more, the worker included.
    errors = process.communicate(timeout=30)[1]
    assert killed or b"KeyboardInterrupt" in errors
    assert len(list(tmp_path.glob("as-gru-task-*"))) == 1


def test_runs_under_way_say_how_far_they_are(tmp_path):
    runs = plan("babi-1k", models=["as-gru"], tasks=[1, 4])
    assert describe_pending(runs, tmp_path) == "  in the first epoch"
    folder = tmp_path / "babi-1k" / runs[1].name
    folder.mkdir(parents=True)
    (folder / "state.json").write_text(json.dumps({"history": [{}, {}]}))
    assert describe_pending(runs, tmp_path) == "  as-gru-task-04-seed-0: 2 epochs"
