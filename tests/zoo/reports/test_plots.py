import pathlib
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from keras_corefmem.datasets.stories.babi import TASKS
from tests.support.commands import printed, refused
from tests.support.results import RESULTS, ROOT, record_trial, result_of
from tests.support.tiers import standing_for
from zoo.cli.app import main
from zoo.experiments.results import append_result, read_results, recorded_searches, replace_results
from zoo.experiments.runs import plan
from zoo.experiments.studies import STUDIES
from zoo.reports.curves import (
    BASELINE,
    MEASURED,
    PUBLISHED,
    Curve,
    curves_by,
    curves_of,
    curves_of_search,
)
from zoo.reports.plots import figures as plots
from zoo.reports.plots.curves import draw_curves
from zoo.reports.plots.style import style
from zoo.reports.plots.tasks import DOTS, draw_shades


def write(folder, runs, wrong=lambda run: 10 + run.seed, **fields):
    """Results of runs, of 100 questions each."""
    for run in runs:
        append_result(result_of(run, wrong(run), total=100, **fields), folder)


def texts(figure):
    """All that is written in a figure."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def svg_texts(path):
    """All that is written in a file."""
    return [text.text for text in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def figures(study, folder):
    return plots.figures_of(study, read_results(study, folder))


def test_tasks_and_models_are_a_table_of_shades(tmp_path):
    write(tmp_path, plan("babi-1k", models=["ga-gru", "qrn"], seeds=(0, 1)))
    write(tmp_path, plan("babi-1k", models=["lstm"], tasks=[1], seeds=(4,)), lambda run: 55)
    figure = figures("babi-1k", tmp_path)[""]
    found = texts(figure)
    # Means of 10 and 11 errors of 100; lstm has neither most tasks nor their mean.
    assert found.count("10.5") == 2 * (len(TASKS) + 1) and found.count("±0.7") == 2 * len(TASKS)
    assert found.count("55.0") == 1 and found.count("–") == len(TASKS)
    assert {"1 single supporting fact", "mean of all tasks", "ga-gru", "qrn", "lstm"} <= set(found)
    note = "mean over 1–2 seeds; ± standard deviation; bold: the best of a row"
    assert f"babi-1k: test error in %\n{note}" in found
    # The darkest cell is the worst.
    patches = [patch for axes in figure.axes for patch in axes.patches]
    shades = {sum(patch.get_facecolor()) for patch in patches}
    assert len(patches) == 2 * (len(TASKS) + 1) + 1 and len(shades) == 2


def test_the_first_model_stands_beside_papers_that_report_tasks(tmp_path):
    write(tmp_path, plan("babi-1k", models=["ga-mage-gru"]))
    for run in plan("babi-1k", models=["flagship"], seeds=(0, 1)):
        # Validation prefers seed 1, with 11 errors of 100.
        write(tmp_path, [run], valid=0.8 + run.seed / 10)
    drawn = figures("babi-1k", tmp_path)
    assert list(drawn) == ["", "-published"]
    cells = texts(drawn["-published"])
    assert "babi-1k: test error in %, beside what papers report\nbold: the best of a row" in cells
    assert cells.count("11.0") == len(TASKS) + 1 and "10.5" not in cells
    assert {"0.5", "65.9", "mean of all tasks"} <= set(cells)
    names = [text for text in dict.fromkeys(cells) if " et al. " in text or "best by" in text]
    assert names[0] == "flagship, best by validation" and "EntNet, 10,000" in names[1]
    assert names[-1] == "Weston et al. 2015, n-grams"
    # Those that report their mean alone are in the table of the study.
    assert not any("QRN" in name for name in names)


def test_nothing_stands_beside_papers_where_tasks_are_missing(tmp_path):
    write(tmp_path, plan("babi-1k", models=["flagship"], tasks=[1]))
    # Papers report one task of three.
    write(tmp_path, plan("babi-mix"))
    # Accuracies of two papers.
    write(tmp_path, plan("sst"))
    for study in ("babi-1k", "babi-mix", "sst"):
        assert list(figures(study, tmp_path)) == [""]


def test_a_study_that_varies_an_argument_is_curves(tmp_path):
    runs = plan("babi-passes", seeds=(0, 1))
    write(tmp_path, runs, lambda run: 40 - int(run.task[-1]) - run.seed)
    panels = curves_of("babi-passes", read_results("babi-passes", tmp_path))
    assert list(panels) == ["task-3", "task-7", "task-8"]
    measured, published = panels["task-3"]
    assert measured == (
        "dmn-supervised",
        {n: [60.0 + n, 61.0 + n] for n in (0, 1, 2, 3, 5)},
        MEASURED,
    )
    assert published.kind == PUBLISHED and published.points[3] == [64.7]
    (figure,) = figures("babi-passes", tmp_path).values()
    found = texts(figure)
    heading = "babi-passes: test accuracy in % by number of passes"
    assert f"{heading}\nmean over 2 seeds; shaded: from the lowest to the highest" in found
    assert {"task 3", "task 7", "task 8", "number of passes", "5"} <= set(found)
    # Names stand once where all panels have the same.
    assert found.count("dmn-supervised") == found.count("Kumar et al. 2016, DMN,\nsupporting facts")
    assert found.count("dmn-supervised") == 1


def test_attention_to_edges_is_bars_beside_curves(tmp_path):
    names = "coreference-1000", "role-1000", "role-all"
    shares = {"sequence": 0.3, "coreference": 0.66, "role": 0.04}
    measured = {"shares": shares, "even": {name: 1 / 3 for name in shares}}
    sizes = {"train": 200_000, "valid": 100, "test": 100}
    for model, fields in (("ga-mage-gru", {}), ("ga-mage-gru-attention", measured)):
        runs = plan("lambada-edges", models=[model], tasks=names)
        fields = {"edge_attention": fields} if fields else {}
        write(tmp_path, runs, questions=sizes, **fields)
    panels = curves_of("lambada-edges", read_results("lambada-edges", tmp_path))
    assert panels["role"][0].points == {1000: [90.0], 200_000: [90.0]}
    drawn = figures("lambada-edges", tmp_path)
    assert list(drawn) == ["", "-attention"]
    found = texts(drawn["-attention"])
    assert {"sequence", "coreference", "role", "all alike", "number of training passages"} < {
        *found
    }
    # Three bars of what was measured, two of what would be even; small shares have no room.
    assert found.count("66") == 3 and found.count("33") == 6 and "4" not in found
    bars = [patch for axes in drawn["-attention"].axes for patch in axes.patches]
    assert sum(bar.get_height() for bar in bars) == pytest.approx(5 * 100)


def test_each_model_has_its_own_bars_and_seeds(tmp_path):
    for model, share, seeds in (("ga-mage-gru-attention", 0.25, 2), ("as-gru", 0.75, 1)):
        even = {"sequence": 0.5, "coreference": 0.5}
        measured = {"shares": {"sequence": share, "coreference": 1 - share}, "even": even}
        runs = plan("lambada-edges", None, [model], ["coreference-1000"], range(seeds))
        write(tmp_path, runs, edge_attention=measured)
    write(tmp_path, plan("lambada-edges", None, ["ga-mage-gru"], ["role-all"], range(7)))
    runs = read_results("lambada-edges", tmp_path)
    panels = plots.shares_of("lambada-edges", runs)
    assert {title: panel["1,000"]["sequence"] for title, panel in panels.items()} == {
        "coreference, ga-mage-gru-attention": 25.0,
        "coreference, as-gru": 75.0,
    }
    heading = "lambada-edges: attention to edges by number of training passages"
    drawn = figures("lambada-edges", tmp_path)["-attention"]
    assert f"{heading}\nmean over 1–2 seeds" in texts(drawn)


def test_pictures_side_by_side_are_redrawn(tmp_path):
    write(tmp_path, plan("babi-passes"))
    write(tmp_path, plan("babi-mentions"))
    page = tmp_path / "page.md"
    page.write_text("![](a/babi-passes.png)![one](babi-mentions.png) (other.png)\n")
    names = {path.relative_to(tmp_path).as_posix() for path in plots.redraw(page, tmp_path)}
    assert names == {
        *("a/babi-passes.png", "a/babi-passes.svg", "babi-mentions.png", "babi-mentions.svg")
    }


def test_tasks_without_a_number_are_baselines(tmp_path):
    wrong = {"random": 60, "plain": 50}
    write(tmp_path, plan("babi-mentions"), lambda run: wrong.get(run.task, 10))
    (curves,) = curves_of("babi-mentions", read_results("babi-mentions", tmp_path)).values()
    assert curves == [
        ("ga-coref-gru", dict.fromkeys((1.0, 0.8, 0.6, 0.4, 0.2, 0.0), [90.0]), MEASURED),
        ("ga-coref-gru, random tokens as mentions", {None: [40.0]}, BASELINE),
        ("ga-gru, without mentions", {None: [50.0]}, BASELINE),
    ]
    (figure,) = figures("babi-mentions", tmp_path).values()
    levels = [set(line.get_ydata()) for line in figure.axes[0].get_lines()]
    assert levels == [{90.0}, {40.0}, {50.0}]
    assert "ga-gru, without mentions" in texts(figure)


def test_baselines_alone_are_drawn(tmp_path):
    runs = [run for run in plan("babi-mentions") if run.task in ("random", "plain")]
    write(tmp_path, runs, lambda run: 50)
    (figure,) = figures("babi-mentions", tmp_path).values()
    assert {"ga-gru, without mentions", "task 3"} <= set(texts(figure))
    assert [set(line.get_ydata()) for line in figure.axes[0].get_lines()] == [{50.0}, {50.0}]


def test_names_of_close_curves_stand_apart(tmp_path):
    write(tmp_path, plan("babi-train-size", seeds=(0, 1, 2)))
    (figure,) = figures("babi-train-size", tmp_path).values()
    figure.draw_without_rendering()
    boxes = sorted((t.get_window_extent() for t in figure.axes[1].texts), key=lambda b: b.y0)
    assert len(boxes) == 3 and not figure.axes[0].texts
    for below, above in zip(boxes, boxes[1:], strict=False):
        assert below.y1 <= above.y0 + 1


def test_any_setting_can_be_what_curves_are_drawn_against(tmp_path, capsys):
    runs = plan("babi-1k", models=["ren", "qrn"], tasks=[1, 2, 3], seeds=(0, 1))
    write(tmp_path, runs)
    for slots, tag in ((5, "few"), (20, "many")):
        runs = plan("babi-1k", models=["ren"], tasks=[1, 2], tag=tag)
        few = {"arguments": {"slots": 5}}
        arguments = {"arguments": {"slots": slots, "characters": True}, "learning_rate": 0.01}
        write(tmp_path, runs, lambda run, slots=slots: 50 - slots, settings=arguments)
    panels = curves_by(read_results("babi-1k", tmp_path), "slots")
    # Runs that say nothing of slots have 20.
    curve = ("ren", {5: [45.0], 20: [30.0, 10.0, 11.0]}, MEASURED)
    assert panels == {"1 single supporting fact": [curve], "2 two supporting facts": [curve]}
    words = "report", "babi-1k", "--results", tmp_path, "--plots", tmp_path / "drawn"
    out = printed(capsys, *words, "--by", "slots")
    names = [pathlib.Path(line).name for line in out.splitlines()]
    assert names == ["babi-1k-by-slots.png", "babi-1k-by-slots.svg"]
    # A model has one colour in all panels.
    write(tmp_path, plan("babi-1k", models=["qrn"], tasks=[1], tag="slow"), settings=arguments)
    write(tmp_path, plan("babi-1k", models=["qrn"], tasks=[1], tag="few"), settings=few)
    figure = plots.draw_by(read_results("babi-1k", tmp_path), "slots")
    colours = [{line.get_color() for line in axes.get_lines()} for axes in figure.axes]
    assert len(colours[0]) == 2 and len(colours[1]) == 1 and colours[1] < colours[0]
    (shown,) = {text.get_color() for text in figure.axes[1].texts}
    assert {shown} == colours[1]
    # Nor are runs of older versions, without settings.
    write(tmp_path, plan("babi-1k", models=["ren"], tasks=[4], tag="old"), settings={})
    assert curves_by(read_results("babi-1k", tmp_path), "slots").keys() == panels.keys()
    # One number alone is no curve, nor is what is no number.
    for name in ("learning_rate", "characters", "units"):
        message = f"--by {name}: no model has runs of babi-1k with several numbers of it; choose of"
        assert f"{message} slots." in refused(capsys, *words, "--by", name)
    error = refused(capsys, "report", "babi-1k", "--by", "slots")
    assert "give --plots DIR with it" in error


def test_the_trials_of_a_search_are_curves_by_hyper_parameter(tmp_path, capsys):
    for n, slots in enumerate((5, 20, 20)):
        chosen = {"slots": slots, "dropout": 0.1 * n, "optimizer": "adam", "units": 8}
        chosen |= {"augment": ("none", "rename+shuffle")[n % 2], "tied": n > 0}
        record_trial(tmp_path, n, 0.5 + n / 10, slots, chosen=chosen)
    trials = read_results("searches/qdren-small", tmp_path)
    panels = curves_of_search(trials)
    assert list(panels) == ["augment", "dropout", "slots", "tied"]
    (curve,) = panels["augment"]
    assert curve.points == {"none": [50.0, 70.0], "rename+shuffle": [60.0]}
    assert panels["tied"][0].points == {"false": [50.0], "true": [60.0, 70.0]}
    assert panels["slots"] == [("qdren", {5: [50.0], 20: [60.0, 70.0]}, MEASURED)]
    words = "report", "--results", tmp_path, "--plots", tmp_path / "drawn", "--search"
    written = tmp_path / "drawn" / "qdren-small.svg"
    assert str(written) in printed(capsys, *words, "qdren-small")
    note = "mean over 1–2 trials; shaded: from the lowest to the highest"
    labels = {"augment", "none", "rename+", "shuffle", "dropout", "slots", "false", "true", note}
    assert labels <= set(svg_texts(written))
    assert "has no trial of 'none'; it has qdren-small." in refused(capsys, *words, "none")
    replace_results("searches/qdren-small", trials[:1], tmp_path)
    error = refused(capsys, *words, "qdren-small")
    assert "qdren-small: no hyper-parameter has several values" in error


def test_curves_of_learning(tmp_path, capsys):
    runs = plan("babi-1k", models=["qdren", "qrn"], tasks=[1], seeds=(0, 1))
    for run in runs:
        # One stops earlier.
        losses = {"valid_losses": [0.5, 0.25, 0.0][: 3 - run.seed]} if run.model == "qrn" else {}
        write(tmp_path, [run], **losses)
    words = ["report", "babi-1k", "--results", str(tmp_path), "--by", "epoch"]
    printed(capsys, *words, "--plots", str(tmp_path))
    found = svg_texts(tmp_path / "babi-1k-by-epoch.svg")
    assert "exp(-loss) on validation in %" in found and "qdren" not in found
    (axes,) = plots.draw_by(read_results("babi-1k", tmp_path), "epoch").axes
    (line,) = axes.lines
    means = [60.65, 77.88, 100]
    np.testing.assert_allclose(line.get_ydata(), means, atol=0.01)
    replace_results("babi-1k", [result_of(run, total=100) for run in runs], tmp_path)
    error = refused(capsys, *words, "--plots", str(tmp_path))
    assert "No run of babi-1k has the loss of every epoch" in error


def test_axes_of_shares_begin_at_none():
    curves = [Curve("qdren", {1: [4.0], 2: [0.0]})]
    (axes,) = draw_curves("", {"task 1": curves}, "epoch", "%").axes
    low, high = axes.get_ylim()
    assert -0.5 < low <= 0 and high - low == pytest.approx(10)


KINDS = {"answerable": [40, 80], "person": [5, 10]}
GUESSES = {"last name": {"wrong": 70, "kinds": {"answerable": [30, 80], "person": [1, 10]}}}


@pytest.mark.parametrize("models", [["ga-gru", "ga-coref-gru"], ["bidaf", "bidaf-sa-early"]])
def test_few_models_are_dots_by_kind_of_question(models, tmp_path):
    runs = plan("lambada", models=models, seeds=(0, 1))
    write(tmp_path, runs, test_kinds=KINDS, baselines=GUESSES)
    ((ending, figure),) = figures("lambada", tmp_path).items()
    assert ending == f"-{models[0].partition('-')[0]}"
    found = texts(figure)
    assert {"all passages (100)", "with the answer in the context (80)", *models} <= set(found)
    assert "last name" in found and "… a proper noun with he or she in its chain (10)" in found
    places = [c.get_offsets().data[:3, 0].tolist() for c in figure.axes[0].collections]
    # Kinds that no run has counted have no row.
    assert [30.0, 37.5, 10.0] in places and [89.5, 50.0, 50.0] in places


def test_many_models_are_shades_by_kind_of_question(tmp_path):
    models = [name for name in STUDIES["lambada"].models if name.startswith("bidaf")]
    assert len(models) > DOTS
    write(tmp_path, plan("lambada", models=[*models, "ga-gru"]), test_kinds=KINDS)
    found = figures("lambada", tmp_path)
    assert list(found) == ["-ga", "-bidaf"]
    assert texts(found["-bidaf"]).count("90.0") == texts(found["-bidaf"]).count("50.0") / 2
    assert {*models, "with the answer in the context (80)"} <= set(texts(found["-bidaf"]))
    assert any("blue: above bidaf, red: below" in text for text in texts(found["-bidaf"]))


def test_shades_beside_the_first_column_say_what_is_above_and_below():
    rows = [[[40.0], [44.0], [36.0], [60.0]]]
    names = ["first", "above", "below", "far above"]
    with style():
        figure = draw_shades("scores", [1], ["all"], names, rows, True, beside_first=True)
    colours = [patch.get_facecolor()[:3] for patch in figure.axes[0].patches]
    (red, _, blue), pale = zip(colours[2], colours[1], strict=True), colours[0]
    assert red[0] > red[1] and blue[1] > blue[0] and max(pale) - min(pale) < 0.02
    assert sum(colours[3]) < sum(colours[1])


def test_a_row_without_a_score_in_the_first_column_has_no_shades():
    rows = [[[], [44.0], [60.0]]]
    with style():
        figure = draw_shades("scores", [1], ["all"], ["first", "b", "c"], rows, True, True)
    assert [patch.get_facecolor()[3] for patch in figure.axes[0].patches] == [0, 0]


@pytest.mark.thorough
def test_the_same_results_give_the_same_bytes(tmp_path):
    for study in ("babi-passes", "babi-mentions"):
        write(tmp_path, plan(study, seeds=(0, 1)))
    written = {}
    for folder in ("first", "second"):
        assert main(["report", "--results", str(tmp_path), "--plots", str(tmp_path / folder)]) == 0
        paths = sorted((tmp_path / folder).iterdir())
        written[folder] = {path.name: path.read_bytes() for path in paths}
    assert written["first"] == written["second"]
    names = ["babi-mentions.png", "babi-mentions.svg", "babi-passes.png", "babi-passes.svg"]
    assert list(written["first"]) == names
    assert b"dc:date" not in written["first"]["babi-passes.svg"]
    assert "number of passes" in svg_texts(tmp_path / "first" / "babi-passes.svg")
    with Image.open(tmp_path / "first" / "babi-passes.png") as image:
        assert image.size[0] > 500 and np.asarray(image).std() > 10
        assert "Software" not in image.info


def test_what_cannot_be_drawn_is_said(tmp_path, capsys):
    words = "--results", tmp_path, "--plots", tmp_path / "drawn"
    for study in ([], ["sst"]):
        error = refused(capsys, "report", *study, *words)
        assert f"{tmp_path} has no run of " in error and "sst" in error
    assert not (tmp_path / "drawn").exists()
    with pytest.raises(ValueError, match="no study 'babi-10k'; choose one of babi-1k"):
        plots.draw("babi-10k", tmp_path)


RECORDED = [study for study in STUDIES if read_results(study, RESULTS)]
# Pages show the others, in the next test.
UNSEEN = [study for study in RECORDED if not list((ROOT / "docs").glob(f"{study}*.svg"))]


@pytest.mark.parametrize("study", standing_for(RECORDED, UNSEEN))
def test_recorded_results_can_be_drawn(study):
    for figure in figures(study, RESULTS).values():
        assert texts(figure)[0] and figure.axes


def test_the_pictures_of_the_results_show_what_these_say(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "DATED", {".svg": {"Date": None}})
    (tmp_path / "docs").mkdir()
    (tmp_path / "results").mkdir()
    drawn = {}
    for name in ("results/README.md", "docs/flagship.md"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
        drawn |= {path.stem: path for path in plots.redraw(tmp_path / name, RESULTS)}
    assert {"babi-1k", "babi-1k-published"} <= drawn.keys()
    assert {"lambada-edges-attention", "lambada-edges-by-epoch"} <= drawn.keys()
    assert drawn.keys() & set(recorded_searches(RESULTS))
    remedy = "corefmem report --write README.md results/README.md docs/*.md"
    for name, path in drawn.items():
        kept = ROOT / "docs" / f"{name}.svg"
        assert svg_texts(path) == svg_texts(kept), remedy
        assert kept.with_suffix(".png").exists()
