"""Commands on disks that are full, or fill up, or are for reading alone."""

import json
import re

import keras
import pytest

from tests.support.commands import printed, refused
from tests.support.disks import files_in, fill, small_disk
from tests.support.limits import file_limit
from tests.support.texts.tiny_babi import write_babi

FULL = r" \(No space left on device\): make room on its disk, or choose another folder\.$"
SMALL = ["--set", "units=4", "--set", "batch_size=8", "--set", "buckets=1"]


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", 2**20) as folder:
        yield folder


@pytest.fixture
def place(tmp_path):
    """A folder with a tiny bAbI, a search space and a text."""
    write_babi(tmp_path, train=16, valid=4, test=4)
    (tmp_path / "own.json").write_text(json.dumps({"slots": [2, 3]}))
    (tmp_path / "a.txt").write_text("Mary left. She slept.\n")
    return tmp_path


def reproduce(place, results):
    words = ["reproduce", "babi-1k", "--models", "ngram", "--tasks", 1, "--data-dir", place]
    return [*words, "--results", results, "--runs", place / "runs"]


def search(place, output, *more):
    words = ["search", "--model", "qdren", "--data-dir", place, "--space", place / "own.json"]
    words += [*SMALL, "--output", output, "--log-dir", place / "logs"]
    return [*words, "--trials", 1, "--results", place / "results", *more]


def train(place, output, logs):
    words = ["train", "--model", "memn2n", "--data-dir", place, "--epochs", 1, *SMALL]
    return [*words, "--output", output, "--log-dir", logs]


@pytest.fixture
def untrained(monkeypatch):
    """Lets training fail the test."""
    for name in ("keras_corefmem.utils.workers.Workers.__init__", "keras.Model.fit"):
        monkeypatch.setattr(name, None)


def test_results_have_room_before_training_begins(disk, place, capsys, untrained):
    fill(disk, left=2**19)
    error = refused(capsys, *reproduce(place, disk / "results"))
    assert re.search("disk/results has no room for a file of 1.0 MB" + FULL, error)
    assert files_in(disk) == [] and not (place / "runs").exists()


def test_results_on_a_disk_for_reading_are_noticed_before_training(place, capsys, untrained):
    with small_disk(place / "disk", 2**20, "ro") as disk:
        error = refused(capsys, *reproduce(place, disk / "results"))
        searched = refused(capsys, *search(place, place / "out", "--results", disk))
    message = r"Nothing can be written to .*disk.* \(Read-only file system\): choose another folder"
    assert re.search(message, error) and re.search(message, searched)


@pytest.mark.parametrize("left", [0, 2**16])
def test_training_on_a_full_disk_does_not_begin(disk, place, capsys, left):
    fill(disk, left)
    error = refused(capsys, *train(place, disk / "models", place / "logs"))
    assert re.search(
        "disk/models/.* (cannot be written|has no room for a file of .* MB)" + FULL, error
    )
    # What is there is whole, and continues.
    assert {name.rpartition("/")[2] for name in files_in(disk)} <= {"run.json"}


@pytest.mark.parametrize("left", [0, 2**14])
def test_a_disk_that_fills_up_in_training_loses_nothing(place, capsys, monkeypatch, left):
    save = keras.Model.save

    def save_on_full_disk(model, path, *arguments, **options):
        fill(disk, left)
        save(model, path, *arguments, **options)

    with small_disk(place / "disk", 2**25) as disk:
        with monkeypatch.context() as patch:
            patch.setattr("keras.Model.save", save_on_full_disk)
            error = refused(capsys, *train(place, disk / "models", place / "logs"))
        assert re.search("model.keras cannot be written" + FULL, error)
        assert not list(disk.rglob("model.keras")) and list(disk.rglob("best.weights.h5"))
        (disk / "filler").unlink()
        out = printed(capsys, *train(place, disk / "models", place / "logs"))
        assert "nothing left to train" in out and list(disk.rglob("model.keras"))


def test_training_does_not_begin_where_files_are_limited(place, capsys):
    with file_limit(2**14):
        error = refused(capsys, *train(place, place / "models", place / "logs"))
    too_large = (
        r"has no room for a file of .* MB \(File too large\): raise the limit of files, ulimit"
    )
    assert re.search(rf"models/.* {too_large}", error)
    assert not list(place.rglob("*.h5"))


def test_training_on_a_disk_for_reading_does_not_begin(place, capsys, untrained):
    with small_disk(place / "disk", 2**20, "ro") as disk:
        models = refused(capsys, *train(place, disk / "models", place / "logs"))
        logs = refused(capsys, *train(place, place / "models", disk / "logs"))
    for error in (models, logs):
        assert "disk" in error and "(Read-only file system): choose another folder" in error
    assert not (place / "models").exists()


def test_logs_on_a_full_disk_are_noticed_before_training(disk, place, capsys, untrained):
    fill(disk)
    error = refused(capsys, *train(place, place / "models", disk / "logs"))
    assert re.search("disk/logs/.* cannot be written" + FULL, error)
    assert files_in(disk) == [] and not (place / "models").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("more", [(), ("--workers", 2)])
@pytest.mark.parametrize("left", [0, 2**16])
def test_a_search_on_a_full_disk_says_so(disk, place, capsys, left, more):
    fill(disk, left)
    error = refused(capsys, *search(place, disk / "searches", *more))
    assert re.search(
        "disk/searches/.* (cannot be written|has no room for a file of .* MB)" + FULL, error
    )
    left = {name.rpartition("/")[2] for name in files_in(disk)}
    assert left <= {"run.json", "search.json", "oracle.json", "trial.json"}


def test_records_on_a_full_disk_are_whole_or_not_there(disk, place, capsys):
    fill(disk)
    error = refused(capsys, "annotate", place / "a.txt", "--output", disk / "out")
    assert re.search("disk/out.* cannot be written" + FULL, error)
    assert files_in(disk) == []


def test_a_full_disk_keeps_the_results_that_it_has(disk, place):
    from keras_corefmem.utils.locks import NoRoomError
    from tests.support.results import record
    from zoo.experiments.results import read_results

    record(disk / "results", seed=0)
    fill(disk)
    with pytest.raises(NoRoomError, match="cannot be written"):
        record(disk / "results", seed=1, note="a" * 10_000)
    assert [run["seed"] for run in read_results("babi-1k", disk / "results")] == [0]
    assert files_in(disk) == ["results/babi-1k.jsonl"]
