import json

import pytest

from tests.support.commands import printed, refused
from zoo.cli import app as cli
from zoo.experiments import data

LINE = (
    "The captain met the {0} in the old town near the river at noon, and it rained. "
    "Nobody knew the {0} or the captain there, and there was nothing to see for either of them. "
    "So they went on together through the empty streets of the place. Then {1} {0}."
)
ENDS = (
    "the captain looked round once more for the",
    "somebody in the crowd behind called out to our",
    "nobody at all was left near that house but one",
)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "novels"
    folder.mkdir()
    for name in ("queen", "farmer"):
        text = "\n\n".join(LINE.format(name, end) for end in ENDS)
        (folder / f"{name}.txt").write_text(f"CHAPTER I\n\n{text}\n")
    return folder


def test_passages_are_made_of_novels_and_read_as_lambada(folder, tmp_path, capsys):
    output, test = tmp_path / "passages", tmp_path / "lambada_development_plain_text.txt"
    test.write_text("the man came . he went to the man\n")
    command = ["passages", str(folder), "--output", str(output), "--targets", "sentences"]
    assert cli.main([*command, "--evaluation", str(test)]) == 0
    out, err = capsys.readouterr()
    report = json.loads((output / "passages.json").read_text())
    assert "         2 novels\n" in out and "refused: not in the context" in out
    assert f"{report['counts']['train']:>10,} passages in {output}/train.jsonl" in out
    assert "of 1 novels that were held out" in out and "evaluation text" not in out
    assert not err
    splits = data.load("lambada", 1, tmp_path)
    assert {e.answer for e in splits.train + splits.valid} >= {"queen", "farmer"}
    assert [e.answer for e in splits.test] == ["man"]
    assert "No --evaluation: passages of the evaluation text" in printed(capsys, *command)


@pytest.mark.parametrize(
    "options, message",
    [
        (["--targets", "nouns"], "targets must be one of sentences, clauses, words; got 'nouns'"),
        (["--limit", "0"], "limit must be an integer of at least 1, got 0"),
        (["--evaluation", "none.txt"], "none.txt: no such file"),
    ],
)
def test_bad_arguments_are_one_line(folder, tmp_path, capsys, options, message):
    command = ["passages", str(folder), "--output", str(tmp_path / "out"), *options]
    assert message in refused(capsys, *command)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "dataset, message",
    [
        ("lambada", "train.jsonl .*; make them with `corefmem passages`"),
        ("wikihop", "unpack https://qangaroo.cs.ucl.ac.uk"),
        ("medhop", "unpack https://qangaroo.cs.ucl.ac.uk"),
        ("cbt", r"unpack https://www.thespermwhale.com/jaseweston/babi/CBTest.tgz"),
    ],
)
def test_missing_data_sets_say_where_to_get_them(tmp_path, dataset, message):
    with pytest.raises(FileNotFoundError, match=message):
        data.load(dataset, data.DATASETS[dataset].first_task, tmp_path)
    with pytest.raises(ValueError, match="give the folder of its files"):
        data.load(dataset, data.DATASETS[dataset].first_task)
