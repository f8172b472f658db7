from keras_corefmem.text.truecase import Truecaser
from zoo.cli import app as cli


def test_files_and_folders_are_learned_from(tmp_path, capsys):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "one.txt").write_text("We saw\nMary. We saw Mary.\n\nAnd so on.")
    (tmp_path / "two.txt").write_text("They saw Mary.")
    output = tmp_path / "out" / "truecaser.json"
    inputs = [str(tmp_path / "a"), str(tmp_path / "two.txt")]
    assert cli.main(["truecaser", *inputs, "--output", str(output)]) == 0
    assert Truecaser.load(output).forms == {"mary": "Mary", "saw": "saw"}
    printed = capsys.readouterr().out
    assert "2 words of 2 files, 1 with capitals." in printed and f"Written: {output}" in printed


def test_what_is_missing_is_said(tmp_path, capsys):
    for name, message in ((tmp_path, "no .txt files in this folder"), ("x.txt", "x.txt: no such")):
        assert cli.main(["truecaser", str(name), "--output", str(tmp_path / "t.json")]) == 2
        assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
