import dataclasses
import shutil
import struct
import subprocess
import sys

import pytest
import tensorflow as tf

from keras_corefmem.corpora import index, records, tfrecord
from keras_corefmem.corpora.texts import Text, describe_file
from keras_corefmem.graphs import Annotation
from tests.support.texts.shards import write_folder

FULL = Annotation(
    "Zoë told his wife that he slept. She left.",
    ("Zoë", "told", "his", "wife", "that", "he", "slept", ".", "She", "left", "."),
    (0, 4, 9, 13, 18, 23, 26, 31, 33, 37, 41),
    sentences=(0, 8),
    governors=(1, 1, 3, 1, 6, 6, 1, 1, 9, 9, 9),
    labels="nsubj root nmod obj mark nsubj ccomp punct nsubj root p".split(),
    tags="PROPN VERB PRON NOUN SCONJ PRON VERB PUNCT PRON VERB P".split(),
    chains=(((2, 4, 3), (8, 9, 8)), ((0, 1, 0), (2, 3, 2), (5, 6, 5))),
    typed_edges=((9, 4, "hypernym"), (1, 4, "spouse")),
    named_entities=("PERSON", *[""] * 10),
)
BARE = Annotation("東京", ("東京",), (0,))
PAIRS = [(FULL, {"answer": "Zoë", "candidates": ["a", "b"], "n": 1.5}), (BARE, {})]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ten shards of ten texts, and one of three."""
    folder = tmp_path_factory.mktemp("records")
    texts = [Text(f"{'We saw Mary. ' * (n % 4)}Mary is {n}.", {"n": n}, "") for n in range(103)]
    write_folder(folder, texts, 10)
    return folder


def test_any_program_can_parse_a_record():
    record = tfrecord.to_example(*PAIRS[0])
    assert record == tfrecord.to_example(dataclasses.replace(FULL), PAIRS[0][1])
    feature = tf.train.Example.FromString(record).features.feature
    assert set(feature) == set(tfrecord.FEATURES)
    assert feature["text"].bytes_list.value[0].decode() == FULL.text
    assert [token.decode() for token in feature["tokens"].bytes_list.value] == list(FULL.tokens)
    assert list(feature["heads"].int64_list.value) == list(FULL.governors)
    mentions = list(feature["mentions"].int64_list.value)
    assert mentions == [0, 0, 1, 0, 0, 2, 3, 2, 0, 5, 6, 5, 1, 2, 4, 3, 1, 8, 9, 8]
    assert list(feature["relation_ends"].int64_list.value) == [0, 3, 8, 3]
    assert list(feature["relation_types"].bytes_list.value) == [b"spouse", b"hypernym"]
    # As records of version 0.1, where nothing recognized any.
    bare = tf.train.Example.FromString(tfrecord.to_example(*PAIRS[1])).features.feature
    assert set(feature) - set(bare) == {"named_entities"}


def test_records_are_written_as_tensorflow_writes_them(tmp_path):
    long = Annotation("ab " * 999, ("ab",) * 999, range(0, 2997, 3))
    pairs = [*PAIRS, (long, {"n": 1})]
    tfrecord.write_shard(tmp_path / "a", pairs)
    with tf.io.TFRecordWriter(str(tmp_path / "b")) as writer:
        for pair in pairs:
            example = tf.train.Example.FromString(tfrecord.to_example(*pair))
            writer.write(example.SerializeToString(deterministic=True))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_tensorflow_is_not_imported_to_annotate(tmp_path):
    (tmp_path / "a.txt").write_text("Mary left.\n")
    program = f"""
import sys
from keras_corefmem.corpora import annotate_files
if __name__ == "__main__":
    annotate_files([{str(tmp_path / "a.txt")!r}], {str(tmp_path / "out")!r}, processes=0)
    assert not {{"tensorflow", "keras"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(("value", "reason"), [({1}, "set is not"), (float("nan"), "nan|Out of")])
def test_what_json_cannot_hold_leaves_no_file(tmp_path, value, reason):
    with pytest.raises(ValueError, match=f"JSON cannot hold the fields .*({reason})"):
        tfrecord.write_shard(tmp_path / "a", [PAIRS[0], (BARE, {"a": value})])
    assert list(tmp_path.iterdir()) == []


def test_every_way_to_break_a_shard_is_told(tmp_path):
    path = tmp_path / "a.tfrecord"
    tfrecord.write_shard(path, PAIRS)
    whole, first = path.read_bytes(), len(tfrecord.to_example(*PAIRS[0])) + tfrecord.FRAME
    remedy = "give the `corefmem annotate` command that wrote it again"
    for length in (1, 11, 12, first - 1, first + 1, first + 11, first + 13, len(whole) - 1):
        path.write_bytes(whole[:length])
        number = 1 if length < first else 2
        with pytest.raises(ValueError, match=f"a.tfrecord: record {number} is .*; {remedy}"):
            list(records.read_shard(path))
    for place in (0, 8, 12, first // 2, first - 1, first, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 64]) + whole[place + 1 :])
        with pytest.raises(ValueError, match="a.tfrecord: record [12] is broken"):
            list(records.read_shard(path))


def test_a_length_far_beyond_the_file_is_refused_before_room_is_made_for_it(tmp_path):
    path = tmp_path / "a.tfrecord"
    length = struct.pack("<Q", 2**40)
    path.write_bytes(length + tfrecord._checksum(length) + b"record")
    with pytest.raises(ValueError, match="a.tfrecord: record 1 is broken; give the"):
        list(records.read_shard(path))


def test_errors_of_records(tmp_path):
    path = tmp_path / "a"
    for content, message in (
        (b"\xff\xff", "record 1 is none: This is no tf.train.Example"),
        (b"", "record 1 is none: A record of an annotated text has a feature text"),
    ):
        with tf.io.TFRecordWriter(str(path)) as writer:
            writer.write(content)
        with pytest.raises(ValueError, match=message):
            list(records.read_shard(path))
    with pytest.raises(FileNotFoundError, match="none: no such file"):
        records.read_shard(tmp_path / "none")


def test_reading_folders_and_patterns(folder):
    assert [fields["n"] for _, fields in records.read_shards(folder)] == list(range(103))
    pattern = f"{folder}/shard-*1.tfrecord"
    assert [f["n"] for _, f in records.read_shards(pattern)] == list(range(10, 20))


def numbers(dataset):
    return [records.from_features(f)[1]["n"] for f in dataset.as_numpy_iterator()]


def test_dataset_streams_in_order(folder):
    dataset = records.record_dataset(folder)
    assert dataset.cardinality() == 103
    found = [records.from_features(features) for features in dataset.as_numpy_iterator()]
    assert found == list(records.read_shards(folder))
    shapes = {name: spec.shape.as_list() for name, spec in dataset.element_spec.items()}
    assert shapes["mentions"] == [None, 4] and shapes["tokens"] == [None] and shapes["text"] == []
    assert dataset.element_spec["heads"].dtype == tf.int32


def test_records_keep_everything(tmp_path):
    path = tmp_path / index.shard_name(0)
    tfrecord.write_shard(path, PAIRS)
    assert list(records.read_shard(path)) == PAIRS
    content = describe_file(path)
    index.write_index(tmp_path, {}, [{**content, "texts": 2, "tokens": 12}])
    found = records.record_dataset(tmp_path).as_numpy_iterator()
    assert [records.from_features(features) for features in found] == PAIRS


def test_dataset_shuffles_with_a_seed(folder):
    first, again, other = (records.record_dataset(folder, seed, buffer=20) for seed in (3, 3, 4))
    epochs = [numbers(first), numbers(first)]
    assert [numbers(again), numbers(again)] == epochs
    assert epochs[0] != epochs[1] != numbers(other)
    for epoch in epochs:
        assert sorted(epoch) == list(range(103)) and epoch != sorted(epoch)
    assert first.cardinality() == 103


def test_dataset_refuses_broken_shards(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    path = tmp_path / index.shard_name(4)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ValueError, match="shard-00004.tfrecord: the content has changed"):
        records.record_dataset(tmp_path)
    assert records.record_dataset(tmp_path, hashes=False).cardinality() == 103
