import functools

from tests.support.commands import printed, refused
from tests.support.results import record, result_of
from zoo.experiments.runs import Run
from zoo.reports.agreements import MEASURES, agreement, shares
from zoo.reports.scores import join_folds
from zoo.reports.tables import fill

write = functools.partial(record, total=20)


def test_shares_of_questions_on_which_runs_agree():
    a, b, old = (Run("babi-1k", name, 1, 0) for name in ("ga-gru", "qrn", "ren"))
    first = result_of(a, {0, 1, 2, 3}, total=20, test_predicted=list("xyzz"))
    second = result_of(b, {2, 3, 4}, total=20, test_predicted=list("zyx"))
    # Of 20, 15 are right in both, 2 and 3 wrong in both, 2 alike.
    assert shares(first, second) == (85, 80, 50)
    assert shares(first, result_of(old, {2, 3, 4}, total=20)) == (85, None, None)
    assert shares(second, result_of(a, {9}, total=20, test_predicted=["z"])) == (80, 80, None)


def test_seeds_and_models_are_compared(tmp_path, capsys):
    for seed, answers in enumerate(("xy", "xz", "yy")):
        write(tmp_path, wrong={0, 1}, seed=seed, test_predicted=list(answers), loss=seed)
    write(tmp_path, wrong={0, 1}, task=2, test_predicted=["x", "y"])
    # Neither of other settings, nor of tasks that only one model has.
    write(tmp_path, wrong=range(20), tag="wide", valid=0.1)
    write(tmp_path, "ga-gru", wrong={1, 2, 3}, test_predicted=["y", "x", "x"])
    write(tmp_path, "qrn", wrong={0})
    out = printed(capsys, "report", "babi-1k", "--agreement", "--results", str(tmp_path))
    assert out.strip() == agreement("babi-1k", tmp_path)
    page = "<!-- results babi-1k agreement -->\nold\n<!-- end -->"
    assert fill(page, tmp_path) == page.replace("old", out.strip())
    lines = out.splitlines()
    assert lines[0] == f"| seeds of one model | pairs | {' | '.join(MEASURES)} |"
    assert lines[2] == "| `ga-mage-gru` | 3 | 100.0 | 93.3 | 33.3 |"
    heads = [f"| {measure} | `ga-mage-gru` | `ga-gru` | `qrn` |" for measure in MEASURES]
    together, same = map(lines.index, heads[:2])
    assert lines[together + 2 : together + 5] == [
        "| `ga-mage-gru` |  | 85.0 | 95.0 |",
        "| `ga-gru` | 85.0 |  | 80.0 |",
        "| `qrn` | 95.0 | 80.0 |  |",
    ]
    assert lines[same + 2 : same + 5] == [
        "| `ga-mage-gru` |  | 85.0 | – |",
        "| `ga-gru` | 85.0 |  | – |",
        "| `qrn` | – | – |  |",
    ]


def test_one_run_agrees_with_nothing(tmp_path, capsys):
    write(tmp_path)
    error = refused(capsys, "report", "babi-1k", "--agreement", "--results", str(tmp_path))
    assert "has no two runs of babi-1k to compare" in error
    assert "--agreement is about one study" in refused(capsys, "report", "--agreement")


def test_folds_keep_the_answers_of_all():
    runs = [Run("babi-1k", "qrn", task, 0) for task in (1, 2)]
    folds = [result_of(run, {0, 2}, total=5, test_predicted=["x", run.task]) for run in runs]
    joined = join_folds(folds)
    assert joined["test_wrong"] == [0, 2, 5, 7] and joined["test_predicted"] == ["x", 1, "x", 2]
    del folds[1]["test_predicted"]
    assert "test_predicted" not in join_folds(folds)
