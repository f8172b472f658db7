import json
import math
import multiprocessing

import pytest

from keras_corefmem.utils.files import BadFileError
from tests.support.results import result_of, trial_of
from zoo.experiments.results import (
    append_result,
    as_ranges,
    best_result,
    best_trial,
    group_seeds,
    read_results,
    recorded_searches,
    replace_results,
    result_name,
)
from zoo.experiments.runs import Run


def result(task=1, seed=0, **fields):
    run = Run("babi-1k", "qdren", task, seed)
    return result_of(run, [0, 3, 4, 5, 999], valid=0.1 + 0.2, loss=1e-7, **fields)


def test_a_result_is_one_line_and_comes_back_as_it_was(tmp_path):
    results = [result(task=10), result(task=2, seed=1, note="é", kinds={"noun": [1, 2]})]
    for each in results:
        append_result(each, tmp_path)
    text = (tmp_path / "babi-1k.jsonl").read_text()
    assert '"test_wrong":"0,3-5,999"' in text and text.count("\n") == 2
    # Sorted by name, whatever came first.
    found = read_results("babi-1k", tmp_path)
    assert found == results[::-1] and list(map(list, found)) == list(map(list, results[::-1]))
    assert [path.name for path in tmp_path.iterdir()] == ["babi-1k.jsonl"]


def test_the_same_run_is_recorded_once(tmp_path):
    for loss in (2.0, 1.0):
        append_result(result(valid_loss=loss), tmp_path)
    append_result(result(tag="wide"), tmp_path)
    found = read_results("babi-1k", tmp_path)
    assert [(each["tag"], each["valid_loss"]) for each in found] == [("", 1.0), ("wide", 1e-7)]


def test_a_result_that_is_refused_is_not_written(tmp_path):
    append_result(old := result(), tmp_path)

    def refuse(known):
        # No other process writes between this check and the writing.
        assert known == [old] and (tmp_path / ".lock").exists()
        raise ValueError("another")

    with pytest.raises(ValueError, match="another"):
        append_result(result(valid_loss=2.0), tmp_path, refuse)
    assert read_results("babi-1k", tmp_path) == [old]


def test_runs_of_one_name_are_told_apart(tmp_path):
    runs = Run("babi-1k", "qdren-printed", 4, 0), Run("babi-1k", "qdren", 4, 0, tag="printed")
    assert runs[0].name == runs[1].name
    append_result(first := result_of(runs[0]), tmp_path)
    assert [run.find_result([first]) for run in runs] == [first, None]
    append_result(result_of(runs[1]), tmp_path)
    found = read_results("babi-1k", tmp_path)
    assert [(each["model"], each["tag"]) for each in found] == [
        ("qdren-printed", ""),
        ("qdren", "printed"),
    ]


def test_wrong_answers_are_kept_by_answer(tmp_path):
    answers = ["garden", "hall,box", "garden", "garden", "no"]
    append_result(result(test_predicted=answers), tmp_path)
    append_result(result(seed=1), tmp_path)
    path = tmp_path / "babi-1k.jsonl"
    assert '"test_predicted":{"garden":"0,4-5","hall,box":"3","no":"999"}' in path.read_text()
    first, old = read_results("babi-1k", tmp_path)
    assert first["test_predicted"] == answers and "test_predicted" not in old
    path.write_text(path.read_text().replace('"no":"999"', '"no":"998"'))
    with pytest.raises(ValueError, match="babi-1k.jsonl:1: test_predicted has not one answer"):
        read_results("babi-1k", tmp_path)


def test_lines_end_at_line_feeds_alone(tmp_path):
    answers = ["a\u2028b", "c\x85", "d", "e", "f"]
    text = json.dumps(result(test_predicted=answers), ensure_ascii=False)
    (tmp_path / "babi-1k.jsonl").write_text(f"{text}\n\n", encoding="utf-8")
    assert [each["test_predicted"] for each in read_results("babi-1k", tmp_path)] == [answers]


@pytest.mark.parametrize("numbers", [[], [0], [1, 2], [5, 3, 4, 9], list(range(0, 2000, 3))])
def test_ranges_hold_every_number(numbers, tmp_path):
    append_result(result(test_wrong=numbers, questions={"test": 2000}), tmp_path)
    assert read_results("babi-1k", tmp_path)[0]["test_wrong"] == sorted(numbers)
    assert as_ranges([7, 1, 2, 3, 7]) == "1-3,7"


def append_some(folder, seeds):
    for seed in seeds:
        append_result(result(seed=seed), folder)


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as pool:
        pool.starmap(append_some, [(tmp_path, range(n, 60, 4)) for n in range(4)], chunksize=1)
    assert {each["seed"] for each in read_results("babi-1k", tmp_path)} == set(range(60))


def test_folders_with_a_file_a_run_are_read_and_added_to(tmp_path):
    old = [result(seed=seed, hit_rates={"coref_all": 0.5}) for seed in (0, 1)]
    for each in old:
        path = tmp_path / "babi-1k" / f"{result_name(each)}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(each, indent=1))
    found = read_results("babi-1k", tmp_path)
    assert [each["seed"] for each in found] == [0, 1]
    assert found[0]["attention_mass"] == {"coref_all": 0.5} and "hit_rates" not in found[0]
    append_result(result(seed=1, valid_loss=3.0), tmp_path)
    assert [each["valid_loss"] for each in read_results("babi-1k", tmp_path)] == [1e-7, 3.0]


def test_trials_of_a_search_replace_those_before(tmp_path):
    study = "searches/qdren-small"
    trials = [trial_of(f"{n:02}") for n in range(3)]
    replace_results(study, trials, tmp_path)
    assert read_results(study, tmp_path) == trials and recorded_searches(tmp_path) == [study[9:]]
    replace_results(study, trials[:1], tmp_path)
    assert read_results(study, tmp_path) == trials[:1]
    assert result_name(trials[2]) == "trial-02"


def test_the_best_result_has_the_highest_accuracy_then_the_lowest_loss():
    results = [result(valid_accuracy=a, valid_loss=b) for a, b in ((0.9, 3), (0.9, 2), (0.8, 1))]
    assert best_result(results) == results[1]


def trials_of(*rows):
    """Trials of these numbers of slots and seeds, with these accuracies."""
    return [
        trial_of(f"{n}", accuracy, chosen={"slots": slots, "seed": seed})
        for n, (slots, seed, accuracy) in enumerate(rows)
    ]


def test_trials_without_seeds_count_alone_and_others_in_their_mean():
    rounds = [trial_of(f"{n}", accuracy) for n, accuracy in enumerate((0.25, 0.75, 0.5))]
    assert best_trial(rounds) == rounds[1] and len(group_seeds(rounds)) == 3
    trials = trials_of((2, 0, 0.25), (2, 1, 0.875), (3, 0, 0.625), (3, 1, 0.75))
    assert best_trial(trials) == trials[3]
    assert [[t["trial"] for t in group] for group in group_seeds(trials)] == [
        ["2", "3"],
        ["0", "1"],
    ]


def test_a_setting_that_lacks_seeds_does_not_win_by_those_it_has():
    trials = trials_of((2, 0, 0.25), (2, 1, 0.5), (3, 0, 0.125), (3, 1, 0.25), (4, 1, 0.875))
    assert best_trial(trials) == trials[1]
    assert [[t["trial"] for t in group] for group in group_seeds(trials)] == [
        ["0", "1"],
        ["2", "3"],
        ["4"],
    ]


def test_a_loss_that_is_not_a_number_is_the_worst():
    results = [result(valid_accuracy=0.5, valid_loss=loss) for loss in (math.nan, 9.0, math.nan)]
    assert best_result(results) is results[1]
    assert best_result(results[::-1]) is results[1]


@pytest.mark.parametrize(
    "line, message",
    [('{"study"', "no JSON"), ("{}", "study: Field req.*; remove it")],
)
@pytest.mark.parametrize("name, place", [(".jsonl", ".jsonl:2"), ("/x.json", "/x.json(:1)?")])
def test_broken_results_are_named(line, message, name, place, tmp_path):
    append_result(result(), tmp_path)
    (tmp_path / "babi-1k").mkdir()
    with open(f"{tmp_path}/babi-1k{name}", "a") as file:
        file.write(line)
    with pytest.raises(ValueError, match=f"babi-1k{place}: {message}"):
        append_result(result(seed=1), tmp_path)


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"command": "corefmem 'train"}, "command: No closing quotation .*; remove it"),
        ({"settings": {"arguments": [1]}}, "settings.arguments: .* a valid dictionary"),
        ({"test_predicted": ["hall"]}, "test_predicted has not one answer for each"),
        ({"test_wrong": "3-1,5"}, "'3-1,5' has a range without questions; remove it"),
        ({"test_wrong": "3-5,4"}, "test_wrong: it is not of questions 0 to 999, each once"),
        ({"test_wrong": [1000]}, "test_wrong: it is not of questions 0 to 999, each once"),
        ({"test_wrong": [-1]}, "test_wrong: it is not of questions 0 to 999, each once"),
    ],
)
def test_results_that_fit_together_nowhere_are_named(fields, message, tmp_path):
    (tmp_path / "babi-1k.jsonl").write_text(json.dumps(result(**fields)))
    with pytest.raises(BadFileError, match=f"babi-1k.jsonl:1: {message}"):
        read_results("babi-1k", tmp_path)


@pytest.mark.parametrize("value", ["{", "[" * 10**4, "9" * 5000])
def test_settings_of_a_command_that_are_no_json_are_named(value):
    run = Run("babi-1k", "qdren", 1, 0)
    with pytest.raises(BadFileError, match=f"{run.name} in the results of babi-1k: no JSON"):
        run.find_result([result(command=f"corefmem --set units={value}")])
