"""Batches of encoded examples, padded to few shapes."""

import copy
import itertools
import operator
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_corefmem.preprocessing.augmentation import choices
from keras_corefmem.preprocessing.encoding.features import pad
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.utils.checks import check_sizes


def length_buckets(
    lengths: Sequence[int], count: int = 6, saving: int = 40_000, multiple: int = 8
) -> list[int]:
    """Chooses bucket lengths that keep padding small while XLA compiles few shapes.

    Args:
        lengths: lengths of the sequences to batch.
        count: maximum number of buckets.
        saving: padding that a further bucket has to save in total, in the unit of the lengths.
        multiple: bucket lengths are rounded up to a multiple of this.

    Returns:
        Ascending list of lengths; the last one is at least that of the longest sequence.

    Raises:
        ValueError: if `count` or `multiple` is less than 1.

    Example:
        >>> keras_corefmem.preprocessing.length_buckets([5, 6, 90], count=2, saving=1)
        [8, 96]
    """
    check_sizes(count=count, multiple=multiple)
    rounded = -(-np.sort(np.asarray(lengths)) // multiple) * multiple
    options, counts = np.unique(rounded, return_counts=True)
    total = np.concatenate([[0], np.cumsum(counts)])
    # best[j]: least total size of the j shortest lengths after padding, and its buckets.
    best: list[tuple] = [(0, ())] + [(np.inf, ())] * len(options)
    for n in range(count):
        better = [best[0]]
        for j in range(1, len(options) + 1):
            costs = [best[i][0] + (total[j] - total[i]) * options[j - 1] for i in range(j)]
            longer = [(cost, (*best[i][1], j)) for i, cost in enumerate(costs)]
            better.append(min(best[j], *longer))
        if n and best[-1][0] - better[-1][0] < saving:
            break
        best = better
    return [int(options[j - 1]) for j in best[-1][1]]


def common_lengths(
    preprocessor: Preprocessor, encoded: Sequence, count: int = 6
) -> dict[str, list[int]]:
    """Chooses common padded lengths for several `Batches` from the examples of all of them.

    Args:
        preprocessor: the preprocessor.
        encoded: all examples, as `preprocessor.encode` returned them.
        count: maximum number of passage lengths.

    Returns:
        The arguments `buckets` and `question_length` of `Batches`.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> preprocessor = keras_corefmem.preprocessing.StoryPreprocessor.fit(examples)
        >>> encoded = [preprocessor.encode(example) for example in examples]
        >>> keras_corefmem.preprocessing.common_lengths(preprocessor, encoded, count=1)
        {'buckets': [16], 'question_length': [4]}
    """
    saving, multiple, questions = preprocessor.bucketing
    lengths = list(map(preprocessor.length, encoded))
    question_lengths = list(map(preprocessor.question_length, encoded))
    return {
        "buckets": length_buckets(lengths, count, saving, multiple),
        "question_length": length_buckets(question_lengths, questions, saving, 1),
    }


def check_ascending(name: str, lengths: Sequence[int]) -> None:
    """Raises a ValueError if padded lengths do not ascend."""
    if not lengths or list(lengths) != sorted(set(lengths)):
        raise ValueError(f"{name} must be ascending lengths, got {lengths}.")


def _check_answers(encoded: Sequence, preprocessor: Any, training: bool) -> None:
    """Raises a ValueError for answers outside the classes and, in training, for unknown ones."""
    count = len(preprocessor.answers)
    answers = [np.ravel(example.answer) for example in encoded]
    flat = np.concatenate(answers)
    wrong = np.flatnonzero((flat < int(training)) | (flat >= count))
    if not len(wrong):
        return
    index = int(np.searchsorted(np.cumsum(list(map(len, answers))), wrong[0], side="right"))
    source = getattr(encoded[index], "source", "") or f"example {index + 1} of {len(encoded)}"
    if preprocessor.local:
        raise ValueError(
            f"The answer of {source} is none of the candidates or words of its passage that the "
            "reader chooses among: leave the example out, name the answer among its candidates, or "
            f"make the reader with more num_candidates (now {count - 1})."
        )
    raise ValueError(
        f"The answer of {source} is none of the {count - 1} that the preprocessor knows: leave the "
        "example out, or fit the preprocessor on all training examples."
    )


class Batches(keras.utils.PyDataset):
    """Batches of encoded examples: `(features, answers, weights)`.

    A bucket is a pair of a passage length and a question length. The examples left over in a bucket
    move to the next longer one, so that at most one batch is not full; it is filled up with empty
    rows of weight 0. Examples are encoded once and, with `shuffle`, reshuffled every epoch.

    Keras takes the mean over all rows, including empty ones. Without `shuffle`, the weights of the
    other rows are scaled up in return, so that the losses of answers that Keras reports are exact.
    With `mean_of_rows`, shuffled or not, the weights of each batch make up for its own empty rows,
    so that its gradient is the mean over its examples. The logs of `fit` of the zoo's models are
    exact for shuffled batches too.

    Shuffled batches are for training: the preprocessor must know every answer. In other batches, an
    unknown answer has number 0 and counts as wrong whatever a model predicts.

    Args:
        encoded: list of encoded examples, as returned by `preprocessor.encode`.
        preprocessor: the `Preprocessor`.
        names: names of the features, `model.features`.
        buckets: ascending lengths that passages are padded to; `None` chooses them, see
            `length_buckets`.
        question_length: one or several ascending lengths that questions are padded to; `None` for
            that of the longest.
        batch_size: number of rows of a batch.
        shuffle: whether to shuffle.
        seed: seed of the shuffling.
        mean_of_rows: whether a batch with empty rows has the same total weight as a full one.
        augment: augmentations of shuffled examples, drawn anew every epoch by the seed: names,
            functions, or names by kind, see `augmentations`. An example stays as it is if a text
            would become longer or the answer unknown. Only `"longer"` changes lengths; buckets are
            then chosen for the longer passages.
        examples: the examples in the order of `encoded`, required with `augment`.
        **kwargs: arguments of `keras.utils.PyDataset`.

    Raises:
        ValueError: if there are no examples, one does not fit the lengths or the classes, lengths
            do not ascend, a number is too small, or `augment` is given without `shuffle` or
            `examples`.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> preprocessor = keras_corefmem.preprocessing.StoryPreprocessor.fit(examples)
        >>> batches = preprocessor.batches(
        ...     [preprocessor.encode(example) for example in examples],
        ...     ("sentences", "question"), batch_size=8)
        >>> features, answers, weights = batches[0]
        >>> features["question"].shape, answers.shape
        ((8, 7), (8,))
    """

    def __init__(
        self,
        encoded: Sequence,
        preprocessor: Preprocessor,
        names: Sequence[str],
        buckets: Sequence[int] | None = None,
        question_length: int | Sequence[int] | None = None,
        batch_size: int = 32,
        shuffle: bool = False,
        seed: int = 0,
        mean_of_rows: bool = False,
        augment: choices.Names = (),
        examples: Sequence = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not encoded:
            raise ValueError("There are no examples to batch.")
        check_sizes(batch_size=batch_size)
        check_sizes(0, seed=seed)
        if augment and (not shuffle or len(examples) != len(encoded)):
            raise ValueError(
                "augment is for examples to train on: give shuffle=True and, in the order of "
                "`encoded`, the `examples`."
            )
        _check_answers(encoded, preprocessor, shuffle)
        self.names, self.seed = tuple(names), seed
        self.augment = choices.augmentations(augment, examples, preprocessor)
        self.examples, self.encoded = choices.change_once(
            self.augment, examples, encoded, preprocessor, seed
        )
        self.preprocessor = preprocessor.with_target_room(self.encoded)
        lengths, questions = self._lengths()
        if buckets is None or self.encoded is not encoded:
            saving, multiple, _ = preprocessor.bucketing
            buckets = length_buckets(lengths, saving=saving, multiple=multiple)
        self.buckets = list(buckets)
        longest = max(questions)
        self.question_lengths = np.ravel(question_length or longest).tolist()
        check_ascending("buckets", self.buckets)
        check_ascending("question_length", self.question_lengths)
        if max(lengths) > self.buckets[-1] or longest > self.question_lengths[-1]:
            raise ValueError(
                f"A passage of {max(lengths)} or a question of {longest} tokens does not fit into "
                f"buckets {self.buckets} and question_length {question_length or longest}."
            )
        self.batch_size, self.shuffle, self.mean_of_rows = batch_size, shuffle, mean_of_rows
        self.start_epoch(0)

    def _lengths(self) -> list[list[int]]:
        sizes = self.preprocessor.length, self.preprocessor.question_length
        return [list(map(size, self.encoded)) for size in sizes]

    def start_epoch(self, epoch: int) -> None:
        """Assigns the examples to the batches of an epoch; the same seed gives the same batches."""
        self.epoch = epoch
        options = self.buckets, self.question_lengths
        passages, questions = map(np.searchsorted, options, self._lengths())
        bucket_of = questions * len(self.buckets) + passages
        random = np.random.default_rng((self.seed, epoch))
        count = len(self.encoded)
        order = random.permutation(count) if self.shuffle else np.arange(count)
        batches: list = []
        shapes = [(length, q) for q in self.question_lengths for length in self.buckets]
        rests = [np.zeros(0, int) for _ in shapes]
        for bucket, shape in enumerate(shapes):
            members = np.concatenate([rests[bucket], order[bucket_of[order] == bucket]])
            full = len(members)
            if bucket < len(shapes) - 1:
                full -= full % self.batch_size
                # The next passage length; after the last one, the next question length.
                last = shape[0] == self.buckets[-1]
                longer = bucket + (len(self.buckets) if last else 1)
                rests[longer] = np.concatenate([rests[longer], members[full:]])
            batches += [
                (members[i : i + self.batch_size], *shape) for i in range(0, full, self.batch_size)
            ]
        if self.shuffle:
            batches = [batches[i] for i in random.permutation(len(batches))]
        # Keras on TensorFlow learns from the first two batches which dimensions vary.
        first_of: dict = {}
        for index, (_, *shape) in enumerate(batches):
            first_of.setdefault(tuple(shape), index)
        pairs = itertools.combinations(first_of, 2)
        apart = max(pairs, key=lambda pair: sum(map(operator.ne, *pair)), default=())
        for place, shape in enumerate(apart):
            index = first_of[shape]
            batches[place], batches[index] = batches[index], batches[place]
        self.batches, self.rows = batches, count

    def check_answers(self) -> None:
        """Raises a `ValueError` if one of the answers is unknown and so cannot be learned."""
        if not self.shuffle:
            _check_answers(self.encoded, self.preprocessor, training=True)

    def in_order(self, steps: int | None = None) -> "Batches":
        """Returns the batches without shuffling, all of them or the first `steps`.

        For taggers, all batches have one length, so that predictions can be concatenated.
        """
        other = copy.copy(self)
        other.shuffle = False
        if self.preprocessor.tags:
            other.buckets = self.buckets[-1:]
        other.start_epoch(0)
        other.batches = other.batches[:steps]
        other.rows = len(other.order)
        return other

    def of_examples(self, rows: np.ndarray) -> np.ndarray:
        """Returns predictions made batch by batch in the order of examples, without empty rows."""
        places = [
            np.arange(len(members)) + n * self.batch_size
            for n, (members, *_) in enumerate(self.batches)
        ]
        numbers, order = np.concatenate(places), self.order
        there = numbers < len(rows)
        return rows[numbers[there][np.argsort(order[there])]]

    @property
    def count(self) -> int:
        """Number of answers in an epoch."""
        return len(self.encoded)

    @property
    def order(self) -> np.ndarray:
        """Index of the example in each row that is not empty, batch after batch."""
        return np.concatenate([members for members, *_ in self.batches])

    def on_epoch_end(self) -> None:
        if self.shuffle:
            self.start_epoch(self.epoch + 1)

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> tuple:
        members, length, question_length = self.batches[index]
        rows = [self.encoded[i] for i in members]
        if self.shuffle and self.augment:
            rows = [
                choices.draw(
                    *(self.augment, self.examples[i], row, self.preprocessor),
                    seed=(self.seed, self.epoch, int(i), 1),
                )
                for i, row in zip(members, rows, strict=True)
            ]
        features = self.preprocessor.collate(
            rows, self.batch_size, length, question_length, self.names
        )
        return features, *self.targets(rows, length)

    def targets(self, rows: Sequence, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Makes the answers and weights of a batch, 0 in empty rows."""
        answers = np.zeros((self.batch_size, *np.shape(rows[0].answer)), "int32")
        answers[: len(rows)] = [row.answer for row in rows]
        weights = (np.arange(self.batch_size) < len(rows)).astype("float32")
        if self.mean_of_rows:
            weights *= self.batch_size / len(rows)
        elif not self.shuffle:
            weights *= len(self) * self.batch_size / self.rows
        return answers, weights

    def numbers(self, index: int) -> np.ndarray:
        """Returns the index of each answer of a batch among all answers, 0 in empty rows."""
        return pad([self.batches[index][0]], self.batch_size)[0]
