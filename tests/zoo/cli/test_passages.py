import json
import re

import pytest

from tests.support.commands import printed, refused
from zoo.cli import app as cli
from zoo.experiments import data

NOVEL = (
    "The captain met {0} in the old {1} near the river at noon, and it rained, and {0} left. "
    "Nobody knew {0} or the captain in that {1}, and there was nothing to see for either of them. "
    "So in the {1} they went through the empty streets of the place. Then the {1} {2} {0}."
)
ENDS = ("looked round for", "called out for", "had no one left but")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "novels"
    folder.mkdir()
    novels = {"Mary": "town", "John": "village", "Sandra": "harbour", "Daniel": "market"}
    for name, place in novels.items():
        paragraphs = "\n\n".join(NOVEL.format(name, place, end) for end in ENDS)
        (folder / f"{name}.txt").write_text(f"CHAPTER I\n\n{paragraphs}\n")
    return folder


def test_passages_are_made_of_novels_and_read_as_lambada(folder, tmp_path, capsys):
    output, test = tmp_path / "passages", tmp_path / "lambada_development_plain_text.txt"
    test.write_text("the man came . he went to the man\n")
    command = ["passages", str(folder), "--output", str(output), "--targets", "sentences"]
    assert cli.main([*command, "--evaluation", str(test)]) == 0
    out, err = capsys.readouterr()
    report = json.loads((output / "passages.json").read_text())
    assert "         4 novels\n" in out and "refused: not in the context" in out
    assert f"{report['counts']['train']:>10,} passages in {output}/train.jsonl" in out
    assert "of 1 novels that were held out" in out and "evaluation text" not in out
    assert not err
    splits = data.load("lambada", 1, tmp_path)
    answers = {example.answer for example in splits.train + splits.valid}
    assert answers == {"mary", "john", "sandra", "daniel", "left"}
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


def test_an_output_that_cannot_be_written_is_named_before_novels_are_read(folder, tmp_path, capsys):
    (folder / "Mary.txt").write_bytes(b"\xff")
    (tmp_path / "out").write_text("a file")
    command = "passages", str(folder), "--output", str(tmp_path / "out")
    assert re.search(r"Nothing can be written to .*/out \(", refused(capsys, *command))


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
