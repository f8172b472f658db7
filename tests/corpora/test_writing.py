"""Files of texts to shards in this process; `tests/zoo/cli/test_annotate.py` uses several."""

import pytest

from keras_corefmem import corpora, datasets
from tests.support.shards import contents, write_folder


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
