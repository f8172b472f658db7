import pytest

from keras_corefmem.text.truecase import Truecaser
from tests.support.commands import printed, refused


def test_files_and_folders_are_learned_from(tmp_path, capsys):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "one.txt").write_text("We saw\nMary. We saw Mary.\n\nAnd so on.")
    (tmp_path / "two.txt").write_text("They saw Mary.")
    output = tmp_path / "out" / "truecaser.json"
    inputs = tmp_path / "a", tmp_path / "two.txt"
    out = printed(capsys, "truecaser", *inputs, "--output", output)
    assert Truecaser.load(output).forms == {"mary": "Mary", "saw": "saw"}
    assert "2 words of 2 files, 1 with capitals." in out and f"Written: {output}" in out


def test_what_is_missing_is_said(tmp_path, capsys):
    for name, message in ((tmp_path, "no .txt files in this folder"), ("x.txt", "x.txt: no such")):
        assert message in refused(capsys, "truecaser", name, "--output", tmp_path / "t.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
def test_a_truecaser_without_an_annotator_is_refused(command, capsys):
    error = refused(capsys, command, "qrn_babi_1", "--truecaser", "novels")
    assert "--truecaser novels is for an --annotator: give both, or neither." in error
