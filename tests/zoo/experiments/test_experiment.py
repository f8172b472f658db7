import dataclasses
import json

import pytest

import zoo
from keras_corefmem.datasets import AnnotatedExample
from keras_corefmem.datasets.stories import simulator
from tuning import Search
from zoo.experiments import Experiment, run_experiment
from zoo.experiments.folders import check_folder, epochs_done, run_name
from zoo.experiments.outcome import describe_test

STORIES = simulator.load(task=1, train=30, valid=8, test=7)
TINY = Experiment(
    "qrn", changes={"epochs": 1, "batch_size": 10, "buckets": 1, "arguments": {"units": 4}}
)


def epochs(count, experiment=TINY):
    return dataclasses.replace(experiment, changes={**experiment.changes, "epochs": count})


@pytest.mark.parametrize(
    "experiment, name",
    [
        (Experiment("ga-gru", "babi", 2, 1), "ga-gru-babi-task-02-seed-1"),
        (
            Experiment("ga-gru", "babi", 2, 1, None, "hn", {"epochs": 3, "batch_size": 8}),
            "ga-gru-babi-task-02-seed-1-hn-batch_size-8",
        ),
        (
            Experiment("ga-gru", "babi", 2, changes={"buckets": 2, "arguments": {"units": 4}}),
            "ga-gru-babi-task-02-seed-0-buckets-2-units-4",
        ),
        (
            Experiment(
                "dmn-tagger", "pos", "XPOS", changes={"arguments": {"word_vectors": "a/glove.txt"}}
            ),
            "dmn-tagger-pos-XPOS-seed-0-word_vectors-glove.txt",
        ),
        (
            Experiment("bidaf", changes={"arguments": {"supervision": [["roles", "early", 3]]}}),
            "bidaf-simulator-task-01-seed-0-supervision-roles-early-3",
        ),
        (Experiment("ga-gru", "/data/my own.jsonl", language="en"), "ga-gru-my-own-seed-0-en"),
    ],
)
def test_names_tell_experiments_apart(experiment, name):
    assert experiment.name == name


def test_another_number_of_questions_is_another_run(tmp_path):
    counted = {"train": 30, "valid": 8, "test": 7}
    record = {**TINY.record, "questions": counted}
    for earlier in (record, TINY.record):
        (tmp_path / "run.json").write_text(json.dumps(earlier))
        check_folder(tmp_path, record, {}, ("data_dir",), "remove it")
    other = dataclasses.replace(STORIES, valid=STORIES.valid[:5])
    (tmp_path / "run.json").write_text(json.dumps(record))
    with pytest.raises(ValueError, match="holds a run with another questions: remove it"):
        run_experiment(TINY, tmp_path, splits=other, remedy="remove it")


def test_data_without_a_validation_part_are_refused_before_training(tmp_path):
    splits = dataclasses.replace(STORIES, valid=[])
    with pytest.raises(ValueError, match="no example to choose the best epoch by: pass a valid"):
        run_experiment(TINY, tmp_path / "run", splits=splits)
    assert not (tmp_path / "run").exists()


def test_data_sets_without_tasks_have_none_in_names_but_old_folders_are_found(tmp_path):
    experiment, search = Experiment("ga-gru", "lambada"), Search("ga-gru", "lambada")
    assert (experiment.name, search.name) == (
        "ga-gru-lambada-seed-0",
        "ga-gru-lambada-random-seed-0",
    )
    (tmp_path / "ga-gru-lambada-task-01-seed-0").mkdir()
    (tmp_path / "ga-gru-lambada-task-01-random-seed-0").mkdir()
    assert experiment.name_in(tmp_path) == "ga-gru-lambada-task-01-seed-0"
    older = Search("ga-gru", "lambada", output=str(tmp_path))
    assert older.name == "ga-gru-lambada-task-01-random-seed-0"


def test_empty_parts_of_names_are_left_out():
    assert run_name("a", None, "", 7, "b", values={"z": 1, "x": "p/q r"}) == "a-task-07-b-x-q-r-z-1"


@pytest.mark.slow
def test_a_run_that_goes_on_ends_as_one_without_interruption(tmp_path):
    lines = []
    whole = run_experiment(epochs(2), tmp_path / "whole", splits=STORIES, report=lines.append)
    assert lines[0] == "whole: 30 train, 8 valid, 7 test questions" and "Compiling" in lines[1]
    options = {"splits": STORIES, "ignoring": ("epochs",), "report": lines.append}
    first = run_experiment(epochs(1), tmp_path / "parts", **options)
    assert len(first.progress.history) == epochs_done(tmp_path / "parts") == 1
    second = run_experiment(epochs(2), tmp_path / "parts", **options)
    assert lines[-1] == "Found a run with these arguments, 1 epochs old."
    described = second.describe()
    for name in ("valid_loss", "test_wrong", "best_epoch"):
        assert described[name] == whole.describe()[name]
    assert described["questions"] == (counts := {"train": 30, "valid": 8, "test": 7})
    record = json.loads((tmp_path / "parts" / "run.json").read_text())
    assert record == {**epochs(2).record, "questions": counts}


# Every `corefmem train` of `test_cli` has callbacks.
@pytest.mark.thorough
def test_callbacks_see_the_model_and_its_batches(tmp_path):
    seen = []

    def callbacks(model, splits, batches):
        seen.append((type(model).__name__, splits is STORIES, sorted(batches)))
        return []

    few, lines = dataclasses.replace(TINY, changes={**TINY.changes, "train_size": 20}), []
    run_experiment(few, tmp_path, callbacks, STORIES, report=lines.append)
    assert lines[0].endswith(": 20 train, 8 valid, 7 test questions")
    assert seen == [("QueryReductionNetwork", True, ["test", "train", "valid"])]
    assert (tmp_path / "model.keras").exists()


@pytest.mark.parametrize(
    "other, ignoring, different",
    [
        (epochs(3), (), "settings"),
        (epochs(3), ("epochs",), None),
        (dataclasses.replace(TINY, data_dir="elsewhere"), (), "data_dir"),
        (dataclasses.replace(TINY, data_dir="elsewhere"), ("data_dir",), None),
        (dataclasses.replace(TINY, language="hn", seed=3), (), "language, seed"),
    ],
)
def test_a_folder_of_another_run_is_not_continued(tmp_path, other, ignoring, different):
    (tmp_path / "run.json").write_text(json.dumps(TINY.record))
    arguments = other.record, dataclasses.asdict(other.settings), ignoring, "give another folder"
    if different is None:
        check_folder(tmp_path, *arguments)
        return
    with pytest.raises(ValueError, match=f"a run with another {different}: give another folder."):
        check_folder(tmp_path, *arguments)


@pytest.mark.slow
def test_folders_of_studies_of_version_0_1_are_continued(tmp_path):
    run_experiment(TINY, tmp_path, splits=STORIES)
    # There, the state was in the folder itself, and all settings were noted.
    for path in (tmp_path / "state").iterdir():
        path.rename(tmp_path / path.name)
    (tmp_path / "state").rmdir()
    (tmp_path / "run.json").unlink()
    (tmp_path / "settings.json").write_text(json.dumps(dataclasses.asdict(TINY.settings)))
    with pytest.raises(ValueError, match="a run with another epochs: remove it"):
        run_experiment(epochs(4), tmp_path, splits=STORIES)
    lines = []
    run_experiment(TINY, tmp_path, splits=STORIES, report=lines.append)
    assert "1 epochs old" in lines[-1] and not (tmp_path / "state").exists()


def test_settings_are_checked_at_once():
    with pytest.raises(ValueError, match="epochs: Input should be greater than 0"):
        Experiment("ga-gru", changes={"epochs": 0})
    with pytest.raises(ValueError, match="ga-gru does not read sst"):
        Experiment("ga-gru", "sst").load()


def test_guesses_of_names_count_by_kind():
    def make(answer, names, kind):
        fields = {"chain_ids": [0] * 6, "name_words": names, "kinds": kind}
        return AnnotatedExample(("Ann met Bob and Ann",), "who", answer, **fields)

    named = [make(answer, ("ann", "bob", "ann"), ("name",)) for answer in ("Ann", "Bob")]
    # Where no word is known to be a name, there is no guess, and the question counts as missed.
    examples = [*named, make("Ann", (), ())]
    reader = zoo.AttentionSumReader.from_examples(examples, units=4)
    reader.compile(jit_compile=False)
    content = describe_test(reader, reader.batches(examples), examples)
    once = {"wrong": 2, "kinds": {"name": [1, 2]}}
    assert content["baselines"] == {"most frequent name": once, "last name": once}
    assert content["test_kinds"]["name"][1] == 2
    plain = examples[2:]
    assert "baselines" not in describe_test(reader, reader.batches(plain), plain)
