"""Files of texts to shards in this process; `tests/zoo/cli/test_annotate.py` uses several."""

import concurrent.futures

import pytest

from keras_corefmem import corpora, datasets
from tests.support.texts.shards import contents, write_folder


class Log(corpora.Progress):
    def __init__(self):
        self.events = []

    def start(self, size):
        self.events.append(size)

    def add(self, shard, is_new, size):
        self.events.append((shard["texts"], is_new, size))


def test_progress_covers_all_bytes_and_a_complete_folder_is_left_alone(tmp_path):
    path, folder = tmp_path / "a.txt", tmp_path / "out"
    path.write_text("Mary left.\n" * 5)
    logs = [Log(), Log(), Log()]
    for log in logs[:2]:
        index = corpora.annotate_files([str(path)], folder, shard_size=2, processes=0, progress=log)
    (folder / "shard-00001.tfrecord").unlink()
    corpora.annotate_files([str(path)], folder, shard_size=2, processes=0, progress=logs[2])
    assert logs[0].events == [55, (2, True, 22), (2, True, 22), (1, True, 11)]
    assert logs[1].events == []
    assert [event[1] for event in logs[2].events[1:]] == [False, True, False]
    assert corpora.verify_folder(folder) == index
    plain, _ = write_folder(tmp_path / "plain", corpora.TextReader([str(path)]), 2)
    assert plain["shards"] == index["shards"] and len(contents(folder)) == 4


def test_processes_share_a_shard_by_batches(monkeypatch, tmp_path):
    class Pool(concurrent.futures.ThreadPoolExecutor):
        jobs = []

        def __init__(self, count, context, begin):
            super().__init__(count)

        def submit(self, function, *arguments):
            self.jobs.append(function.__name__)
            return super().submit(function, *arguments)

    path, log = tmp_path / "a.txt", Log()
    path.write_text("".join(f"We saw Mary{n}. Mary{n} left.\n" for n in range(12)))

    def write(folder, processes, **options):
        annotator = corpora.TextAnnotator(batch_size=2)
        corpora.annotate_files([str(path)], folder, annotator, False, 5, processes, **options)
        return contents(folder)

    whole = write(tmp_path / "whole", 0)
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", Pool)
    assert write(tmp_path / "parts", 2, progress=log) == whole
    assert Pool.jobs == ["annotate_part"] * 6 + ["annotate_shard"]
    assert sorted(event[:2] for event in log.events[1:]) == [(2, True), (5, True), (5, True)]
    assert sum(event[2] for event in log.events[1:]) == path.stat().st_size == log.events[0]
    # Continued, a broken shard and a missing one are written again.
    cut = tmp_path / "parts/shard-00000.tfrecord"
    cut.write_bytes(cut.read_bytes()[:-5])
    (tmp_path / "parts/shard-00001.tfrecord").unlink()
    left = tmp_path / "parts/.shard-00001.tfrecord-parts"
    left.mkdir()
    (left / "00007.tfrecord").write_bytes(b"half")
    assert write(tmp_path / "parts", 2) == whole


def test_an_error_leaves_no_parts(monkeypatch, tmp_path):
    def pool(count, context, begin):
        return concurrent.futures.ThreadPoolExecutor(1)

    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", pool)
    path = tmp_path / "a.txt"
    path.write_text("Mary left.\n" * 3)
    annotate = corpora.TextAnnotator._annotate

    def fail(self, texts):
        return annotate(self, [None] if any(t.place.endswith(":3") for t in texts) else texts)

    monkeypatch.setattr(corpora.TextAnnotator, "_annotate", fail)
    annotator = corpora.TextAnnotator(batch_size=1)
    with pytest.raises(ValueError, match=f"{path}:3: this text does not annotate"):
        corpora.annotate_files([str(path)], tmp_path / "out", annotator, processes=1)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["plan.json"]


def test_questions_come_back_from_their_records(tmp_path):
    splits = datasets.simulator.load(1, train=6, valid=5, test=5)
    for part, path in corpora.write_questions(splits, tmp_path).items():
        corpora.annotate_files([str(path)], tmp_path / part, processes=0)
    annotated = corpora.read_questions(tmp_path)
    for part in ("train", "valid", "test"):
        before, after = getattr(splits, part), getattr(annotated, part)
        assert [(e.answer, e.source) for e in after] == [(e.answer, e.source) for e in before]
        assert all(any(example.chain_ids) for example in after)


def test_a_runner_needs_beam(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install 'keras_corefmem.beam.'"):
        corpora.annotate_files([], tmp_path / "out", runner="DirectRunner")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shard_size": 0}, "shard_size must be an integer of at least 1, got 0"),
        ({"processes": -1}, "processes must be an integer of at least 0, got -1"),
    ],
)
def test_numbers_that_are_too_small(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        corpora.annotate_files([], tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_an_annotator_may_be_a_name(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Mary left.")
    index = corpora.annotate_files([path], tmp_path / "out", "exact", processes=0)
    assert index == corpora.annotate_files([path], tmp_path / "out", processes=0)


def test_a_path_is_no_list_of_paths(tmp_path):
    for path in (tmp_path / "a.txt", str(tmp_path / "a.txt")):
        with pytest.raises(ValueError, match=f"{path}: give a list of paths, even of one"):
            corpora.annotate_files(path, tmp_path / "out")
