"""Data sets by name; what they read is tested beside their readers."""

import subprocess
import sys

import pytest

from keras_corefmem import datasets
from keras_corefmem.datasets.folders import find_folder
from keras_corefmem.datasets.gap import read_gap
from keras_corefmem.datasets.passages import cbt, cnn, lambada, wikihop
from keras_corefmem.datasets.registry import DATASETS
from keras_corefmem.datasets.sentences import pos, sst
from keras_corefmem.datasets.sentences.penn import read_trees
from keras_corefmem.datasets.stories import babi


def test_the_first_folder_that_holds_all_files(tmp_path):
    for path in ("a/x.txt", "b/x.txt", "b/y.json", "y.json", "x.txt"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("")
    assert find_folder(tmp_path, ("a", "b", ""), ["x.txt", "*.json"], "") == tmp_path / "b"
    with pytest.raises(FileNotFoundError, match=r"No files \*.json in .*/a or .*/c; get them\.$"):
        find_folder(tmp_path, ("a", "c"), ["*.json"], "get them")
    with pytest.raises(ValueError, match=r"Give the folder of the files: get them\."):
        find_folder(None, ("a",), ["*.json"], "get them")


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_loads_or_says_where_its_files_are(name, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    known = DATASETS[name]
    if known.files:
        with pytest.raises(FileNotFoundError, match="No files .*(unpack|make|pass|get)"):
            datasets.load(name, data_dir=tmp_path)
    if known.files and not known.download:
        with pytest.raises(ValueError, match=f"{name} has no download: give the folder"):
            datasets.load(name)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"name": "none"}, "There is no data set 'none'; choose one of simulator, babi"),
        ({"name": "cnn", "language": "hn"}, "cnn has no languages, only babi and babi-mix have"),
        ({"name": "simulator", "data_dir": "."}, "simulator reads no files of a folder"),
        ({"name": "wsj", "task": "XPOS", "data_dir": "."}, "task XPOS: wsj has one task; leave"),
        ({"name": "cnn", "task": 2, "data_dir": "."}, "--task 2: cnn has one task; leave --task"),
    ],
)
def test_wrong_arguments_are_told(arguments, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(**arguments)


def test_listing_data_sets_imports_no_reader():
    code = "import sys, keras_corefmem.datasets.registry\nprint('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("read", "form"),
    [
        (lambda path: list(read_trees(path)), "Penn Treebank"),
        (sst.read_file, "Penn Treebank"),
        (pos.read_conllu, "CoNLL-U"),
        (cnn.read_file, "CNN or Daily Mail question"),
        (wikihop.read_file, "JSON"),
        (cbt.read_file, "CBT"),
        (lambada.read_file, "LAMBADA passage"),
        (lambada.read_passages, "JSON lines"),
        (babi.read_file, "bAbI"),
        (read_gap, "GAP .tsv"),
    ],
)
def test_files_that_are_missing_or_no_text_are_named(tmp_path, read, form):
    path = tmp_path / "a.data"
    with pytest.raises(FileNotFoundError, match=f"a.data: no such file, pass the path of a {form}"):
        read(path)
    path.write_bytes(b"\x1f\x8b\x08\x00\xff\xfe")
    with pytest.raises(ValueError, match=f"a.data: no UTF-8 text, pass a {form} file"):
        read(path)
