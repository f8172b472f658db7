"""Batches of a reader, streamed from records of annotated questions."""

from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from keras_corefmem.corpora.index import REMEDY
from keras_corefmem.corpora.records import from_example, serialized_dataset
from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.utils.files import naming_damage

BUCKETS = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2304)


def stream(
    folder: str,
    preprocessor: Preprocessor,
    names: Sequence[str],
    question_length: int,
    make_example: Callable = AnnotatedExample.from_record,
    buckets: Sequence[int] = BUCKETS,
    batch_size: int = 32,
    seed: int | None = None,
    buffer: int = 2000,
) -> tf.data.Dataset:
    """Streams batches of the questions in a folder of records, only some of them in memory.

    Features are those of `Batches`. Passages of about one length come together; empty rows, and
    those whose answer is no candidate of their passage, have weight 0.

    Args:
        folder: a folder that `corefmem annotate --dataset` wrote.
        preprocessor: a `CandidatePreprocessor`.
        names: names of the features, `model.features`.
        question_length: what questions are padded to.
        make_example: function from an `Annotation` and its fields to an `AnnotatedExample`.
        buckets: ascending lengths of passage and question together, that passages are padded to.
        batch_size: rows of a batch.
        seed: `None` for the order of the records; a number shuffles them, anew in every epoch.
        buffer: number of records to shuffle among.

    Returns:
        `tf.data.Dataset` of `(features, answers, weights)`.

    Raises:
        FileNotFoundError: if there is no such folder, or it is not complete.
        ValueError: if `buckets` do not ascend, a file is broken, or a text too long for them.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> preprocessor = keras_corefmem.preprocessing.CandidatePreprocessor.fit(examples)
        >>> keras_corefmem.preprocessing.stream("no folder", preprocessor, ["passage"], 64)
        Traceback (most recent call last):
        FileNotFoundError: ...
    """
    if list(buckets) != sorted(set(buckets)) or not buckets:
        raise ValueError(f"buckets must be ascending lengths, got {buckets}.")

    def count_tokens(record: bytes) -> np.int32:
        with naming_damage(f"A record in {folder}", REMEDY):
            features = tf.train.Example.FromString(record).features.feature
        return np.int32(len(features["starts"].int64_list.value))

    def collate(records: np.ndarray, length: int) -> tuple:
        with naming_damage(f"A record in {folder}", REMEDY):
            pairs = list(map(from_example, records))
        examples = [make_example(*pair) for pair in pairs]
        rows = [preprocessor.encode(example) for example in examples]
        for row in rows:
            _check_length("question", row.question, question_length, row.source)
            _check_length("text", [*row.passage, *row.question], buckets[-1], row.source)
        features = preprocessor.collate(rows, batch_size, length, question_length, names)
        answers = np.zeros(batch_size, "int32")
        answers[: len(rows)] = [row.answer for row in rows]
        return *features.values(), answers, (answers > 0).astype("float32")

    empty = preprocessor.collate([], batch_size, 1, question_length, names)
    specs = [tf.TensorSpec(_shape_of(name, array), array.dtype) for name, array in empty.items()]
    specs += [tf.TensorSpec(batch_size, dtype) for dtype in ("int32", "float32")]

    def load(records: tf.Tensor, lengths: tf.Tensor) -> tuple:
        # What is too long for the last bucket is refused inside.
        bucket = tf.searchsorted(buckets, tf.reduce_max(lengths)[None])[0]
        length = tf.gather(buckets, tf.minimum(bucket, len(buckets) - 1))
        values = tf.numpy_function(collate, [records, length], [spec.dtype for spec in specs])
        values = [tf.ensure_shape(v, spec.shape) for v, spec in zip(values, specs, strict=True)]
        return dict(zip(empty, values, strict=False)), *values[-2:]

    def counted(record: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(tf.numpy_function(count_tokens, [record], tf.int32), ())

    serialized = serialized_dataset(folder, seed, buffer)
    records = serialized.map(lambda record: (record, counted(record)))
    together = records.bucket_by_sequence_length(
        lambda record, length: length,
        [bucket + 1 for bucket in buckets],
        [batch_size] * (len(buckets) + 1),
        no_padding=True,
    )
    return together.map(load).prefetch(2)


def _shape_of(name: str, array: np.ndarray) -> tuple:
    """Returns the shape of a feature whose passages differ in length."""
    return array.shape if name.startswith("question") else (len(array), None, *array.shape[2:])


def _check_length(name: str, tokens: Sequence, limit: int, source: str) -> None:
    if len(tokens) > limit:
        raise ValueError(
            f"{source or 'A record'}: a {name} of {len(tokens)} tokens, the limit is {limit}; give "
            "a larger question_length or larger buckets, or leave it out."
        )
