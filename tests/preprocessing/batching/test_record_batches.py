import hashlib
import json

import numpy as np
import pytest

from keras_corefmem.corpora.records import read_shards
from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.corpora.texts import Text
from keras_corefmem.datasets.annotated import AnnotatedExample, to_text
from keras_corefmem.datasets.example import Example
from keras_corefmem.preprocessing.batching.record_batches import stream
from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from tests.support.texts.shards import write_folder

NAMES = ("Mary", "John", "Sandra")
FEATURES = ("passage", "question", "passage_antecedents", "question_antecedents", "candidates")


def make(number):
    name, rest = NAMES[number % 3], " , and slept" * (number % 4)
    sentences = (f"So {name} went home{rest} .", f"Then {name} ate .")
    return Example(sentences, "nobody saw", name, source=f"f:{number}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Records of 50 questions of several lengths; one has no answer."""
    folder = tmp_path_factory.mktemp("records")
    examples = [*map(make, range(49)), Example(("Nobody was here .",), "it was", "Mary")]
    texts = [Text(*to_text(example), "") for example in examples]
    write_folder(folder, texts, 20, TextAnnotator(tokenized=True))
    return folder


@pytest.fixture(scope="module")
def examples(folder):
    return [AnnotatedExample.from_record(*record) for record in read_shards(folder)]


@pytest.fixture(scope="module")
def preprocessor(examples):
    return CandidatePreprocessor.fit(examples, order="passage_first")


def rows_of(batches):
    """Features, answer and weight of each row with words."""
    for features, answers, weights in batches.as_numpy_iterator():
        for n, (answer, weight) in enumerate(zip(answers, weights, strict=True)):
            row = {name: value[n] for name, value in features.items()}
            if row["passage"].any():
                yield row, answer, weight


def test_a_stream_has_every_question_as_it_is_encoded(folder, examples, preprocessor):
    batches = stream(folder, preprocessor, FEATURES, 4, buckets=(12, 16, 24), batch_size=8)
    seen = list(batches.as_numpy_iterator())
    assert {features["passage"].shape for features, _, _ in seen} == {(8, 12), (8, 16), (8, 24)}
    assert batches.element_spec[0]["passage"].shape.as_list() == [8, None]
    rows = list(rows_of(batches))
    assert len(rows) == 50 and sum(weight for _, _, weight in rows) == 49
    # Only the last batch has empty rows.
    assert len(seen) == 7 and all(f["passage"].any(axis=1).all() for f, *_ in seen[:-1])
    by_words = {preprocessor.encode(x).passage.tobytes(): preprocessor.encode(x) for x in examples}
    for row, answer, _ in rows:
        width = len(row["passage"])
        encoded = by_words[row["passage"][row["passage"] > 0].tobytes()]
        alone = preprocessor.collate([encoded], 1, width, 4, FEATURES)
        assert answer == encoded.answer
        for name, value in row.items():
            np.testing.assert_array_equal(value, alone[name][0], err_msg=name)


def test_a_seed_shuffles_anew_in_every_epoch(folder, preprocessor):
    def order(batches):
        return [row["passage"].tobytes() for row, _, _ in rows_of(batches)]

    options = {"buckets": (24,), "batch_size": 8}
    plain = order(stream(folder, preprocessor, FEATURES, 4, **options))
    batches = stream(folder, preprocessor, FEATURES, 4, seed=1, **options)
    first, second = order(batches), order(batches)
    assert sorted(first) == sorted(second) == sorted(plain)
    assert first != second and first != plain
    assert order(stream(folder, preprocessor, FEATURES, 4, seed=1, **options)) == first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"question_length": 1}, "f:0: a question of 2 tokens, the limit is 1"),
        ({"buckets": (8, 12)}, "a text of .* tokens, the limit is 12; give"),
    ],
)
def test_refuses_what_is_too_long(folder, preprocessor, options, message):
    import tensorflow as tf

    options = {"question_length": 4, "buckets": (24,), **options}
    batches = stream(folder, preprocessor, FEATURES, **options)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        list(batches)


@pytest.mark.parametrize("record", [b"\xff", b""])
def test_names_the_folder_of_what_is_no_record(tmp_path, preprocessor, record):
    import tensorflow as tf

    write_folder(tmp_path, [Text("Mary left.", {}, "")], 1)
    index = json.loads((tmp_path / "index.json").read_text())
    (shard,) = index["shards"]
    with tf.io.TFRecordWriter(str(tmp_path / shard["name"])) as writer:
        writer.write(record)
    content = (tmp_path / shard["name"]).read_bytes()
    shard |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (tmp_path / "index.json").write_text(json.dumps(index))
    batches = stream(tmp_path, preprocessor, FEATURES, 4, buckets=(24,))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"A record in {tmp_path} is damaged"):
        list(batches)


def test_refuses_buckets_that_do_not_ascend(folder, preprocessor):
    with pytest.raises(ValueError, match=r"ascending lengths, got \(8, 8\)"):
        stream(folder, preprocessor, FEATURES, 4, buckets=(8, 8))
