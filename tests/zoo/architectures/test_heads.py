"""What supervised heads attend to, in TensorBoard and in the terminal."""

import io

import numpy as np
import pytest
from matplotlib.image import imread
from rich.console import Console

from keras_corefmem.callbacks import HeadPictures
from keras_corefmem.visualization.head_pictures import draw_heads
from keras_corefmem.visualization.inspection import head_views
from keras_corefmem.visualization.terminal import print_heads
from tests.support.model_cases import SPANS, shared
from zoo.cli import app as cli

WORDS = ["mary", "left", "$she$", "slept"]
ATTENTION = np.array([[0, 0.1, 0.9, 0], [0.25] * 4, [0.7, 0.1, 0.1, 0.1], [1, 0, 0, 0]])
TARGETS = np.zeros((4, 4), bool)
TARGETS[0, 2] = TARGETS[2, 0] = TARGETS[1, 3] = True


def printed(**view):
    console = Console(file=io.StringIO(), width=200, highlight=False)
    print_heads(console, **view)
    return console.file.getvalue().splitlines()


def test_rows_with_targets_are_printed():
    lines = printed(words=WORDS, heads=[("coref_all", ATTENTION, TARGETS)])
    # (0.9 + 0.7 + 0.25) / 3
    assert lines[0].strip() == "coref_all  62% of its attention on targets"
    rows = [line.split() for line in lines[1:]]
    assert ["mary", "→", "$she$", "90%", "✓"] in rows and ["$she$", "→", "mary", "70%", "✓"] in rows
    assert len(rows) == 3 and rows[1][:2] == ["left", "→"] and "✓" not in rows[1]


def test_without_targets_the_highest_rows_are_printed():
    lines = printed(words=WORDS, heads=[("roles", ATTENTION, np.zeros_like(TARGETS))] * 2)
    assert lines[0].strip() == "roles  no targets here"
    assert lines[4].split() == ["slept", "→", "mary", "100%"] and len(lines) == 10
    (only,) = printed(words=WORDS, heads=[("roles", ATTENTION, ~TARGETS)] * 1)[1:2]
    assert only.split()[0] == "mary"


def test_maps_stand_side_by_side():
    picture = imread(io.BytesIO(draw_heads(WORDS, [("coref_all", ATTENTION, TARGETS)])))
    ink = np.min(picture[..., :3], axis=-1)
    halves = np.split(ink[:, : ink.shape[1] // 2 * 2], 2, axis=1)
    # Dark blue where a target is, lighter where attention is less than all.
    assert all(np.sum(half < 0.25) > 50 for half in halves)
    assert not np.allclose(*halves)
    two = imread(io.BytesIO(draw_heads(WORDS, [("a", ATTENTION, TARGETS)] * 2)))
    assert two.shape[0] == 2 * picture.shape[0] and two.shape[1] == picture.shape[1]


def test_views_hold_the_targets_of_the_annotation():
    model = shared("bidaf-supervised")
    views = list(head_views(SPANS[:18], model.preprocessor, model.look))
    assert len(views) == 18
    for example, view in zip(SPANS, views, strict=False):
        assert view["words"] == example.passage.split(" ")
        names, attention, targets = zip(*view["heads"], strict=True)
        assert names == model.signals
        assert targets[0][0, 2] == any(row[1] == 0 for row in example.structure.mentions.tolist())
        assert targets[1][6, 5] and targets[2][1, 0] and targets[2][0, 1]
        for array in attention:
            np.testing.assert_allclose(array.sum(axis=-1), 1, atol=1e-5)


def test_pictures_in_tensorboard(tmp_path):
    model, drawn = shared("bidaf-supervised"), []
    callback = HeadPictures(tmp_path, SPANS, model.preprocessor, model.look, count=2)
    callback.pictures = lambda step, tag, pngs: drawn.append((step, tag, list(pngs)))
    callback.on_epoch_end(0)
    ((step, tag, pngs),) = drawn
    assert (step, tag, len(pngs)) == (0, "heads", 2)
    assert all(png.startswith(b"\x89PNG") for png in pngs)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("heads") / "model.keras"
    shared("bidaf-supervised").save(path)
    return path


@pytest.mark.filterwarnings("ignore:The reader does not know")
def test_explain_resolves_and_shows_heads(path, tmp_path, capsys):
    asked = ["--passage", "Then Mary was late . Bob saw Mary .", "--question", "and home went"]
    picture = tmp_path / "explain.png"
    arguments = [str(path), *asked, "--annotator", "exact", "--output", str(picture)]
    assert cli.main(["explain", *arguments]) == 0
    out = capsys.readouterr().out
    assert "Mary#1" in out and "coref_all  " in out and "% of its attention on targets" in out
    assert "dependency  no targets here" in out
    assert picture.exists() and (tmp_path / "explain-heads.png").exists()
    assert cli.main(["explain", str(path), *asked]) == 0
    assert "coref_all  no targets here" in capsys.readouterr().out


def test_questions_of_a_file_keep_their_answer(path, tmp_path, capsys):
    questions = tmp_path / "questions.txt"
    questions.write_text("1 Then Mary was late.\n2 Bob saw Mary.\n3 Who was late?\tmary\t1\n")
    assert cli.main(["explain", str(path), str(questions), "--annotator", "exact"]) == 0
    verdict = capsys.readouterr().out.splitlines()[1].strip()
    assert verdict.startswith("✓ mary") or (verdict[0] == "✗" and "right: mary" in verdict)


def test_an_annotator_is_for_readers_of_annotated_passages(tmp_path, capsys):
    shared("as-coref-gru").save(tmp_path / "plain.keras")
    asked = ["--passage", "Mary left .", "--question", "who", "--annotator", "exact"]
    assert cli.main(["explain", str(tmp_path / "plain.keras"), *asked]) == 2
    assert "--annotator is for readers of annotated passages" in capsys.readouterr().err
