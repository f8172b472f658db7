"""Batches of a reader, streamed from records of annotated questions."""

import bisect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from keras_corefmem.corpora.index import REMEDY
from keras_corefmem.corpora.records import from_example, serialized_dataset
from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.preprocessing.batching.batches import check_ascending
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.utils.checks import check_sizes
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
    """Streams batches of questions from a folder of records, with few of them in memory.

    Features are those of `Batches`. Passages are grouped by length; what is left over in the end
    moves to the next longer length, so that at most one batch has empty rows. These, and rows whose
    answer is not a candidate of their passage, have weight 0; Keras' mean loss counts them too.

    Args:
        folder: a folder that `corefmem annotate --dataset` wrote.
        preprocessor: a `CandidatePreprocessor`.
        names: names of the features, `model.features`.
        question_length: length that questions are padded to.
        make_example: function from an `Annotation` and its fields to an `AnnotatedExample`.
        buckets: ascending lengths that passages are padded to, chosen by the length of passage and
            question together.
        batch_size: number of rows of a batch.
        seed: `None` for the order of the records; a number reshuffles them every epoch.
        buffer: size of the shuffle buffer in records.

    Returns:
        `tf.data.Dataset` of `(features, answers, weights)`.

    Raises:
        FileNotFoundError: if there is no such folder, or it is not complete.
        ValueError: if `buckets` do not ascend, a number is less than 1, a file is broken, or a text
            or question is too long.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> preprocessor = keras_corefmem.preprocessing.CandidatePreprocessor.fit(examples)
        >>> keras_corefmem.preprocessing.stream("no folder", preprocessor, ["passage"], 64)
        Traceback (most recent call last):
        FileNotFoundError: ...
    """
    check_ascending("buckets", buckets)
    check_sizes(batch_size=batch_size, question_length=question_length)

    serialized = serialized_dataset(folder, seed, buffer)

    def encode(record: bytes) -> Any:
        with naming_damage(f"A record in {folder}", REMEDY):
            pair = from_example(record)
        row = preprocessor.encode(make_example(*pair))
        count = len(row.question)
        _check_length("question", count, question_length, row.source)
        _check_length("text", len(row.passage) + count, buckets[-1], row.source)
        return row

    def collate(rows: Sequence, length: int) -> tuple:
        features = preprocessor.collate(rows, batch_size, length, question_length, names)
        answers = np.zeros(batch_size, "int32")
        answers[: len(rows)] = [row.answer for row in rows]
        return features, answers, (answers > 0).astype("float32")

    def batches() -> Iterator[tuple]:
        waiting: dict[int, list] = {length: [] for length in buckets}
        for row in map(encode, serialized.as_numpy_iterator()):
            length = buckets[bisect.bisect_left(buckets, len(row.passage) + len(row.question))]
            waiting[length].append(row)
            if len(waiting[length]) == batch_size:
                yield collate(waiting[length], length)
                waiting[length] = []
        rest: list[Any] = []
        width = 0
        for length, rows in waiting.items():
            rest, width = rest + rows, length if rows else width
            if len(rest) >= batch_size:
                yield collate(rest[:batch_size], width)
                rest = rest[batch_size:]
        if rest:
            yield collate(rest, width)

    empty, *others = collate([], 1)
    specs = {n: tf.TensorSpec(_shape_of(n, array), array.dtype) for n, array in empty.items()}
    signature = specs, *(tf.TensorSpec(each.shape, each.dtype) for each in others)
    return tf.data.Dataset.from_generator(batches, output_signature=signature).prefetch(2)


def _shape_of(name: str, array: np.ndarray) -> tuple:
    """Returns the shape of a feature, `None` for the length of passages."""
    return array.shape if name.startswith("question") else (len(array), None, *array.shape[2:])


def _check_length(name: str, count: int, limit: int, source: str) -> None:
    if count > limit:
        raise ValueError(
            f"{source or 'A record'}: a {name} of {count} tokens, the limit is {limit}; give "
            "a larger question_length or larger buckets, or leave it out."
        )
