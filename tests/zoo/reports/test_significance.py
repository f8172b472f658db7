import functools
import math

import pytest

from tests.support.commands import printed, refused
from tests.support.results import record, result_of
from zoo.experiments.runs import Run
from zoo.reports import tables as report
from zoo.reports.significance import Counts, comparison, count_answers, holm, mcnemar

write = functools.partial(record, total=20)


@pytest.mark.parametrize(
    "first, second, p",
    [
        # The example of mcnemar.exact in R's package exact2x2.
        (9, 2, 0.06543),
        # That of readycalculator.com.
        (12, 5, 0.143463),
        (6, 0, 2 / 2**6),
        (3, 2, 1.0),
        (150, 86, 2 * sum(math.comb(236, k) for k in range(87)) / 2**236),
        (4, 4, 1.0),
        (0, 0, 1.0),
    ],
)
def test_p_values_are_those_of_worked_examples(first, second, p):
    for counts in (Counts(5, first, second, 7), Counts(500, second, first, 0)):
        assert mcnemar(counts) == pytest.approx(p, rel=1e-4)


def test_p_values_are_corrected_in_order():
    # The example of Wikipedia's article on the method.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.4, 0.9, 0.4]) == [1.0, 1.0, 1.0]
    assert holm([0.02]) == [0.02] and holm([]) == []


def test_questions_are_counted_by_who_answers_them():
    a, b, c = (Run("babi-1k", name, 1, 0) for name in ("qrn", "ren", "lstm"))
    first, second = result_of(a, {0, 1, 2}, total=20), result_of(b, {2, 3}, total=20)
    assert count_answers(first, second) == Counts(both=16, first=1, second=2, none=1)
    assert count_answers(second, first) == Counts(both=16, first=2, second=1, none=1)
    with pytest.raises(
        ValueError, match="qrn and lstm were not tested on the same questions.* 20 and 9"
    ):
        count_answers(first, result_of(c, {1}, total=9))


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "ga-coref-gru", wrong={0}, task=1)
    write(tmp_path, "ga-coref-gru", wrong=range(15), task=1, seed=1, valid=0.8)
    write(tmp_path, "ga-gru", wrong=range(12), task=1)
    for task, wrong in ((2, {1}), (5, ())):
        write(tmp_path, "ga-coref-gru", wrong=wrong, task=task)
        write(tmp_path, "ga-gru", wrong={1, 2}, task=task)
    write(tmp_path, "ga-gru", wrong={1, 2}, task=3)
    return tmp_path


def test_the_best_runs_are_compared_on_common_tasks(folder):
    text = comparison("babi-1k", "ga-coref-gru", "ga-gru", folder)
    lines = text.splitlines()
    assert lines[0] == (
        "| test error in % | `ga-coref-gru` | `ga-gru` | difference | both right | only "
        "`ga-coref-gru` | only `ga-gru` | both wrong | p | p, Holm |"
    )
    assert lines[2:5] == [
        "| 1 single supporting fact | 5.0 | 60.0 | -55.0 | 8 | 11 | 0 | 1 | 0.0010 | 0.0029 |",
        "| 2 two supporting facts | 5.0 | 10.0 | -5.0 | 18 | 1 | 0 | 1 | 1.0000 | 1.0000 |",
        "| 5 three arg relations | 0.0 | 10.0 | -10.0 | 18 | 2 | 0 | 0 | 0.5000 | 1.0000 |",
    ]
    assert "Of 3 tasks, `ga-coref-gru` is better on 1 and `ga-gru` on 0," in text
    assert "mean difference is -23.3 points" in text
    assert "4 of `ga-coref-gru` and 3 of `ga-gru`" in text
    turned = comparison("babi-1k", "ga-gru", "ga-coref-gru", folder)
    assert "Of 3 tasks, `ga-gru` is better on 0 and `ga-coref-gru` on 1," in turned


def test_studies_of_accuracy_count_answers_and_one_task_needs_no_correction(tmp_path):
    write(tmp_path, "ga-gru", wrong=range(12), task="passages", study="lambada")
    write(tmp_path, "ga-coref-gru", wrong={0}, task="passages", study="lambada")
    text = comparison("lambada", "ga-coref-gru", "ga-gru", tmp_path)
    assert "| all passages | 95.0 | 40.0 | +55.0 | 8 | 11 | 0 | 1 | 0.0010 |\n" in text
    assert "| p |\n" in text and "Holm" not in text
    assert "\np is that of an exact McNemar test. Each is the best by validation" in text


def test_the_command_prints_it_and_files_hold_it(folder, capsys):
    words = "report", "babi-1k", "--results", folder, "--compare", "ga-coref-gru", "ga-gru"
    made = comparison("babi-1k", "ga-coref-gru", "ga-gru", folder)
    assert printed(capsys, *words) == made + "\n"
    assert made.endswith("```\ncorefmem report babi-1k --compare ga-coref-gru ga-gru\n```")
    page = "<!-- results babi-1k ga-coref-gru ga-gru -->\nold\n<!-- end -->\n"
    filled = report.fill(page, folder)
    assert filled == page.replace("old", made) and report.fill(filled, folder) == filled


@pytest.mark.parametrize(
    "words, message",
    [
        (["babi-1k", "--compare", "ga-gru", "qrn"], "holds no run of qrn, but of ga-coref-gru, ga"),
        (["babi-mix", "--compare", "ga-gru", "qrn"], "of ga-gru: `corefmem reproduce babi-mix`"),
        (["babi-1k", "--compare", "ga-gru", "ga-gru"], "--compare ga-gru ga-gru: give two models"),
        (["babi-1k", "--compare", "ga-gru", "lstm"], "have no task of babi-1k in common"),
        (["--compare", "ga-gru", "lstm"], "--compare is about one study: name it"),
        (["babi-1k", "--compare", "ga-gru", "ren"], "not tested on the same questions of babi-1k"),
    ],
)
def test_what_cannot_be_compared_is_refused(words, message, folder, capsys):
    write(folder, "lstm", wrong=(), task=20)
    write(folder, "ren", wrong=(), task=1, total=19)
    assert message in refused(capsys, "report", *words, "--results", folder)
