"""Inputs of `fit`, `evaluate` and `predict`: texts or features, and their answers."""

import copy
import dataclasses
import itertools
import math
import os
from collections.abc import Iterator, Mapping

import keras
import numpy as np

from keras_corefmem.datasets import Example, Sentence, as_examples
from keras_corefmem.utils.checks import check_shares, check_sizes


def is_text(data):
    """Returns whether data are or contain texts, rather than features."""
    if data is None or isinstance(data, keras.utils.PyDataset):
        return False
    if hasattr(data, "element_spec"):
        specs = keras.tree.flatten(data.element_spec)
        return any(getattr(spec, "dtype", None) == "string" for spec in specs)
    if isinstance(data, str | bytes | os.PathLike | Example | Sentence):
        return True
    if isinstance(data, np.ndarray) and data.dtype.kind == "O" and data.size:
        return is_text(data.flat[0])
    if hasattr(data, "dtype"):
        return getattr(data.dtype, "kind", "") in ("U", "S", "O") or data.dtype == "string"
    if isinstance(data, Mapping):
        return not data or any(map(is_text, data.values()))
    if isinstance(data, list | tuple):
        return not data or data[0] is None or is_text(data[0])
    # Data frames, data sets and spaCy Docs.
    return any(hasattr(data, name) for name in ("columns", "column_names", "user_data"))


def opened(data):
    """Checks the first batch of an iterator, and returns an iterator that still yields it.

    Other data are returned as they are.

    Raises:
        ValueError: if it is an iterator of texts.
    """
    if not isinstance(data, Iterator):
        return data
    for first in data:
        if is_text(first):
            raise ValueError(
                f"{type(data).__name__}: texts that come one by one may have no end; give a list "
                "of them, list(x), or of some, list(itertools.islice(x, n))."
            )
        return (batch for batch in itertools.chain([first], data))
    return data


def examples_of(texts, answers=None, answered=True):
    """Returns texts as examples, with `answers` if these are passed separately.

    Raises:
        ValueError: if there is not one answer for each text, or an answer is not a text.
    """
    examples = as_examples(texts, answers=answered and answers is None)
    if answers is None:
        return examples
    answers = np.asarray(answers).tolist() if hasattr(answers, "dtype") else list(answers)
    if len(answers) != len(examples):
        raise ValueError(f"There are {len(examples)} texts, but {len(answers)} answers.")
    pairs = zip(examples, map(_text_of, answers), strict=True)
    return [dataclasses.replace(example, answer=answer) for example, answer in pairs]


def _text_of(answer):
    if isinstance(answer, list | tuple):
        return tuple(map(_text_of, answer))
    answer = answer.decode() if isinstance(answer, bytes) else answer
    if not isinstance(answer, str):
        raise ValueError(f"The answer of a text is a text too, got {answer!r}.")
    return answer


def rows_of_batches(size=None, name="batch_size", default=32):
    """Returns the number of rows of a batch; `name` is that of the argument.

    Raises:
        ValueError: if it is not a positive integer.
    """
    size = default if size is None else size
    check_sizes(**{name: size})
    return size


def check_steps(**steps):
    """Checks that numbers of steps, by name of the argument, are positive integers or `None`."""
    check_sizes(**{name: count for name, count in steps.items() if count is not None})


def check_alone(remedy, **arguments):
    """Checks that arguments for arrays, by name, are `None`, as beside texts or `Batches`."""
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name} is for arrays; {remedy}")


def cut_off(examples, share):
    """Splits examples into those to train on and a share, the last ones, to validate on.

    Raises:
        ValueError: if none is left to train on.
    """
    check_shares(validation_split=share)
    cut = math.floor(len(examples) * (1 - share))
    if not cut:
        raise ValueError(
            f"validation_split={share} of {len(examples)} texts leaves none to train on: give less."
        )
    return examples[:cut], examples[cut:]


def first_of(examples, steps, size):
    """Returns the examples of the first `steps` batches of a size, or all for `None`."""
    return (examples or [])[: None if steps is None else steps * size]


def validation_examples(data):
    """Returns the examples of `validation_data`, or `None` if it contains no texts.

    Raises:
        ValueError: if there are none.
    """
    if not is_text(data):
        return None
    one = str | tuple | Example | Sentence
    apart = isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], one)
    apart = apart and not all(isinstance(each, Mapping) for each in data)
    examples = examples_of(*data) if apart else examples_of(data)
    if not examples:
        raise ValueError("validation_data has no examples: give some, or leave it out.")
    return examples


class MappedBatches(keras.utils.PyDataset):
    """A `keras.utils.PyDataset` that applies a function to each batch of another one."""

    def __init__(self, batches, function, use_multiprocessing=False):
        super().__init__(batches.workers, use_multiprocessing, batches.max_queue_size)
        self.batches, self.function = batches, function

    @property
    def num_batches(self):
        return self.batches.num_batches

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        return self.function(self.batches[index])

    def on_epoch_begin(self):
        self.batches.on_epoch_begin()

    def on_epoch_end(self):
        self.batches.on_epoch_end()


class WithoutHooks(MappedBatches):
    """Batches whose epochs callbacks start: on JAX, Keras ends one after a look at a batch."""

    def __init__(self, batches):
        super().__init__(batches, None, batches.use_multiprocessing)

    def __getitem__(self, index):
        return self.batches[index]

    def on_epoch_begin(self):
        """Does nothing."""

    def on_epoch_end(self):
        """Does nothing."""


class PartsOfEpochs(WithoutHooks):
    """`Batches` with epochs of any number of steps, each continuing where the last one stopped.

    After the last batch, the batches are shuffled again and start from the beginning.
    """

    def __init__(self, batches, steps):
        super().__init__(batches)
        self.passes = itertools.count(batches.epoch)
        self.steps, self.rest = steps, []
        self.on_epoch_end()

    def on_epoch_end(self):
        """Moves on to the next epoch."""
        places = self.rest
        while len(places) < self.steps:
            one = copy.copy(self.batches)
            one.start_epoch(next(self.passes))
            places = places + [(one, index) for index in range(len(one))]
        self.places, self.rest = places[: self.steps], places[self.steps :]

    @property
    def num_batches(self):
        return self.steps

    def __len__(self):
        return self.steps

    def __getitem__(self, index):
        batches, place = self.places[index]
        return batches[place]


def with_plain_weights(batches):
    """Returns batches whose examples weigh 1, for losses that add them up."""
    return MappedBatches(batches, lambda batch: (*batch[:2], (batch[2] > 0).astype("float32")))


def with_weights(batches, table):
    """Returns batches whose weights are multiplied by a table of weights by answer number."""

    def weigh(batch):
        features, answers, weights = batch
        return features, answers, weights * table[answers]

    return MappedBatches(batches, weigh)


def words_of(features):
    """Returns the words among the features of sentences, as an array or tensor, or `None`."""
    words = features.get("words") if isinstance(features, Mapping) else features
    return words if hasattr(words, "shape") else None


def weights_of(answers, features, shape, weights=None, table=None):
    """Returns the weights of answers in arrays: those passed, but 0 for tags of padding.

    Weights of words are returned as they are, so that they may count padding. The weights are
    multiplied by those in `table` by answer number, if there is one. Only outputs of the `shape`
    `(batch, words, tags)` are tags.
    """
    if table is not None:
        weights = weights_of(answers, features, shape, weights)
        numbers = keras.ops.convert_to_numpy(answers).astype("int32")
        factors = table[numbers.clip(0, len(table) - 1)]
        if weights is None:
            return factors
        weights = keras.ops.convert_to_numpy(weights)
        return factors * weights.reshape(weights.shape + (1,) * (factors.ndim - weights.ndim))
    words = words_of(features)
    if len(shape) < 3 or words is None or np.shape(words) != np.shape(answers):
        return weights
    words = keras.ops.convert_to_numpy(words)
    weights = None if weights is None else keras.ops.convert_to_numpy(weights)
    return weights_of_words(weights, words, lambda array: array.astype("float32"))


def weights_of_words(weights, words, cast):
    """Returns the weights of words: those passed, or those of their sentences, but 0 for padding.

    Args:
        weights: array or tensor `(batch, words)`, or `(batch,)` or `(batch, 1)` for sentences, or
            `None`.
        words: ids of words `(batch, words)`, of the same kind.
        cast: function that converts them to float32.
    """
    if weights is None:
        return cast(words != 0)
    if len(weights.shape) > 1 and weights.shape[1:] != (1,):
        return weights
    column = weights if len(weights.shape) > 1 else weights[:, None]
    return cast(column) * cast(words != 0)
