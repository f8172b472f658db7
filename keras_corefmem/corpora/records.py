"""Annotated texts as TFRecords, which any TensorFlow program can parse and stream.

A record is a `tf.train.Example` of these features, for T tokens, S sentences, M mentions and R
relations. Numbers count from 0, strings are UTF-8.

| feature | type | values |
|---|---|---|
| `text` | bytes | 1, the text |
| `tokens` | bytes | T, pieces of the text |
| `starts` | int64 | T, the character of the text at which each token starts |
| `sentences` | int64 | S, the first token of each sentence |
| `heads` | int64 | T, the token that each depends on, itself for a root; 0 if nothing was parsed |
| `labels` | bytes | T, the labels of these dependencies; 0 if nothing was parsed |
| `tags` | bytes | T, parts of speech; 0 if unknown |
| `mentions` | int64 | 4M: chain, first token, token after the last, head token |
| `relation_ends` | int64 | 2R: source and target token |
| `relation_types` | bytes | R |
| `named_entities` | bytes | T, labels of named entities, or ""; 0 if none were recognized |
| `fields` | bytes | 1, a JSON object with further facts about the text |
"""

import itertools
import operator
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from keras_corefmem.corpora.index import REMEDY, shard_paths, verify_folder
from keras_corefmem.corpora.tfrecord import (
    FEATURES,
    FRAME,
    INTEGERS,
    OPTIONAL,
    SCALARS,
    STRINGS,
    TUPLES,
    Record,
    check_lengths,
)
from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.files import BadFileError, Path, parse_json

# Records read ahead, and shards that a shuffled stream reads at a time.
PREFETCH, CYCLE = 64, 4


def from_example(record: bytes) -> Record:
    """Parses a record."""
    try:
        features = tf.train.Example.FromString(record).features.feature
    except Exception as error:  # The class of the error depends on how protobuf was built.
        raise ValueError(f"This is no tf.train.Example: {error}.") from None
    missing = [name for name in FEATURES if name not in features and name not in OPTIONAL]
    if missing:
        raise ValueError(f"A record of an annotated text has a feature {missing[0]}.")
    return from_features({name: _values(name, features[name]) for name in FEATURES})


def _values(name, feature):
    if name in INTEGERS or name in TUPLES:
        return list(feature.int64_list.value)
    values = list(feature.bytes_list.value)
    if name not in SCALARS:
        return values
    if len(values) != 1:
        raise ValueError(f"The feature {name} of a record has {len(values)} values, not 1.")
    return values[0]


def from_features(features: dict[str, Any]) -> Record:
    """Converts parsed features, such as a NumPy element of `record_dataset`, to a record."""
    numbers = {name: np.ravel(features[name]).tolist() for name in (*INTEGERS, *TUPLES)}
    strings = {name: [value.decode() for value in features[name]] for name in STRINGS}
    chains = itertools.groupby(
        zip(*[iter(numbers.pop("mentions"))] * 4, strict=True), operator.itemgetter(0)
    )
    ends = zip(*[iter(numbers.pop("relation_ends"))] * 2, strict=True)
    types = strings.pop("relation_types")
    content = {
        "text": features["text"].decode(),
        "chains": [[mention[1:] for mention in mentions] for _, mentions in chains],
        "relations": [(*pair, kind) for pair, kind in zip(ends, types, strict=True)],
    }
    fields = parse_json(features["fields"], "fields of a record")
    if not isinstance(fields, dict):
        raise ValueError(f"The fields of a record are no object, but {fields!r:.80}.")
    return Annotation.from_dict(content | numbers | strings), fields


def read_shard(path: Path) -> Iterator[Record]:
    """Reads a file of records, see `write_shard`.

    Args:
        path: the file.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: while iterating, if it is truncated or broken.

    Example:
        >>> (annotation,) = keras_corefmem.graphs.annotate(["Mary left."])
        >>> keras_corefmem.corpora.write_shard("a.tfrecord", [(annotation, {})])
        >>> len(list(keras_corefmem.corpora.read_shard("a.tfrecord")))
        1
    """
    path = pathlib.Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file, pass a file of records.")
    return _read_shard(path)


def _read_shard(path):
    check_lengths(path)
    count, size = 0, 0
    try:
        for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            yield from_example(record)
            count, size = count + 1, size + len(record) + FRAME
    except (tf.errors.DataLossError, ValueError) as error:
        what = "is broken" if isinstance(error, tf.errors.DataLossError) else f"is none: {error}"
        raise BadFileError(f"{path}: record {count + 1} {what}; {REMEDY}") from None
    # A file that ends in the middle of a record's length looks whole to TensorFlow.
    if size != path.stat().st_size:
        raise BadFileError(f"{path}: record {count + 1} is truncated; {REMEDY}")


def read_shards(source: Path) -> Iterator[Record]:
    """Reads files of records, one record at a time, in their order.

    Args:
        source: a folder that `corefmem annotate` wrote, or a pattern of files, which are read in
            the natural order of their names.

    Raises:
        FileNotFoundError: if there is no such folder, no index in it, or no such file.
        ValueError: if a file is truncated or broken, perhaps only while iterating.

    Example:
        >>> (annotation,) = keras_corefmem.graphs.annotate(["Mary left."])
        >>> keras_corefmem.corpora.write_shard("shard-0.tfrecord", [(annotation, {})])
        >>> ((annotation, fields),) = keras_corefmem.corpora.read_shards("shard-*.tfrecord")
        >>> annotation.tokens
        ('Mary', 'left', '.')
    """
    return itertools.chain.from_iterable(map(read_shard, shard_paths(source)))


def record_dataset(
    folder: Path, seed: int | None = None, buffer: int = 2000, hashes: bool = True
) -> tf.data.Dataset:
    """Streams the records of a folder.

    Args:
        folder: a folder that `corefmem annotate` wrote.
        seed: `None` for the order of the texts; an integer reshuffles them every epoch.
        buffer: size of the shuffle buffer in records.
        hashes: whether to check the content of every shard first, besides its size.

    Returns:
        Dataset of known cardinality. An element is a dictionary of the features of a record:
        strings, int32 numbers, `mentions` `(M, 4)` and `relation_ends` `(R, 2)`, nothing padded.

    Raises:
        FileNotFoundError: if there is no such folder, no index in it, or a shard is missing.
        ValueError: if a shard is truncated or broken, or `buffer` less than 1.
        tf.errors.InvalidArgumentError: while iterating, if an intact record is not one of an
            annotated text.

    Example:
        >>> with open("a.txt", "w") as file:
        ...     _ = file.write("Mary left.\\nJohn slept.\\n")
        >>> _ = keras_corefmem.corpora.annotate_files(["a.txt"], "annotated", processes=0)
        >>> [record["text"].decode() for record in
        ...     keras_corefmem.corpora.record_dataset("annotated").as_numpy_iterator()]
        ['Mary left.', 'John slept.']
    """
    records = serialized_dataset(folder, seed, buffer, hashes)
    return records.map(_parse, num_parallel_calls=2, deterministic=True).prefetch(PREFETCH)


def serialized_dataset(
    folder: Path, seed: int | None = None, buffer: int = 2000, hashes: bool = True
) -> tf.data.Dataset:
    """Streams serialized records; arguments and errors are those of `record_dataset`."""
    check_sizes(buffer=buffer)
    index = verify_folder(folder, hashes)
    paths = [str(pathlib.Path(folder, shard["name"])) for shard in index["shards"]]
    for path in paths:
        check_lengths(path)
    if seed is None:
        records = tf.data.TFRecordDataset(paths)
    else:
        files = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths), seed)
        records = files.interleave(
            tf.data.TFRecordDataset,
            cycle_length=CYCLE,
            num_parallel_calls=CYCLE,
            deterministic=True,
        ).shuffle(buffer, seed)
    return records.apply(tf.data.experimental.assert_cardinality(index["texts"]))


def _parse(record):
    types = dict.fromkeys((*INTEGERS, *TUPLES), tf.int64) | dict.fromkeys(STRINGS, tf.string)
    spec = {name: tf.io.RaggedFeature(type) for name, type in types.items()}
    spec |= {name: tf.io.FixedLenFeature((), tf.string) for name in SCALARS}
    features = tf.io.parse_single_example(record, spec)
    features |= {name: tf.cast(features[name], tf.int32) for name in (*INTEGERS, *TUPLES)}
    shaped = {name: tf.reshape(features[name], (-1, width)) for name, width in TUPLES.items()}
    return {name: (features | shaped)[name] for name in FEATURES}
