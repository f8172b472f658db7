"""What supervised heads attend to, in TensorBoard and in the terminal."""

import numpy as np
import pytest

import zoo
from keras_corefmem.callbacks import HeadPictures
from keras_corefmem.visualization.views import head_views
from tests.support.model_cases import SPANS, shared
from zoo.cli import app as cli


def test_views_hold_the_targets_of_the_annotation():
    model = shared("bidaf-supervised")
    views = list(head_views(SPANS[:18], model.preprocessor, model.look))
    assert len(views) == 18
    for example, view in zip(SPANS, views, strict=False):
        assert view.words == example.passage.split(" ")
        names, attention, targets = zip(*view.heads, strict=True)
        assert names == model.signals
        assert targets[0][0, 2] == any(row[1] == 0 for row in example.structure.mentions.tolist())
        assert targets[1][6, 5] and targets[2][1, 0] and targets[2][0, 1]
        for array in attention:
            np.testing.assert_allclose(array.sum(axis=-1), 1, atol=1e-5)


def test_pictures_in_tensorboard(tmp_path):
    model, drawn = shared("bidaf-supervised"), []
    callback = HeadPictures(tmp_path, SPANS, model.preprocessor, model.look, count=2)
    callback.events.image = lambda *drawing: drawn.append(drawing)
    callback.on_epoch_end(0)
    assert [(step, tag) for step, tag, _ in drawn] == [(0, f"questions/heads/{n}") for n in (1, 2)]
    assert all(png.startswith(b"\x89PNG") for *_, png in drawn)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("heads") / "model.keras"
    options = {"units": 4, "embedding_dim": 4, "heads": 2, "inner_units": 4, "early_layers": 1}
    options |= {"self_attention": "early", "supervision": ("coref_all", "dependency")}
    zoo.BiDAFReader.from_examples(SPANS, **options).save(path)
    return path


@pytest.mark.thorough
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


# `test_explain` has questions of files.
@pytest.mark.thorough
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
    assert "An annotator is for readers of annotated text" in capsys.readouterr().err
