"""Inputs of `fit`, `evaluate` and `predict`: texts or features, and their answers."""

import dataclasses
import os
import types
import warnings
from collections.abc import Mapping

import keras
import numpy as np

from keras_corefmem.datasets import Example, Sentence, as_examples

# Shares of unknown words that tell other texts from those that a model was made for. A vocabulary
# of few words has all of its texts; beyond a larger one there are always some.
FEW_WORDS, SHARE_OF_FEW, SHARE_OF_MANY = 1000, 0.01, 0.12


def is_text(data):
    """Whether data are texts, or hold them, rather than features."""
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
        return any(map(is_text, data.values()))
    if isinstance(data, list | tuple):
        return not data or is_text(data[0])
    # Frames, data sets and Docs.
    return any(hasattr(data, name) for name in ("columns", "column_names", "user_data"))


def examples_of(texts, answers=None, answered=True):
    """Examples of texts, with their answers where these are apart.

    Raises:
        ValueError: if there is not one answer for each text, or one is no text.
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


def validation_examples(data):
    """Examples of `validation_data`, `None` where it is no text."""
    if not is_text(data):
        return None
    one = str | tuple | Example | Sentence
    apart = isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], one)
    apart = apart and not all(isinstance(each, Mapping) for each in data)
    return examples_of(*data) if apart else examples_of(data)


def warn_of_unknown_words(preprocessor, examples, encoded):
    """Warns where a model does not know many of the words of examples."""
    is_sentence = preprocessor.strings == ("sentence",)
    first = "passage" if encoded and hasattr(encoded[0], "passage") else "sentences"
    names = ("words",) if is_sentence else (first, "question")
    arrays = [getattr(row, name) for row in encoded for name in names]
    ids = np.concatenate([np.ravel(array) for array in arrays] or [[]]).astype("int32")
    unknown = preprocessor.vocabulary.is_unknown(ids[ids != 0])
    few = len(preprocessor.vocabulary) <= FEW_WORDS
    if not len(unknown) or np.mean(unknown) < (SHARE_OF_FEW if few else SHARE_OF_MANY):
        return
    words = {}
    for example in examples:
        texts = example.words if is_sentence else (example.passage, example.question)
        words |= dict.fromkeys(preprocessor.unknown_words(*texts))
        if len(words) >= 5:
            break
    warnings.warn(
        f"The model does not know {np.mean(unknown):.0%} of the words, such as "
        f"{', '.join(map(repr, list(words)[:5]))}: it was made for other texts. To train it on "
        "these, begin with zoo.from_preset(…, examples=examples) or from_examples(examples).",
        stacklevel=4,
    )


class MappedBatches(keras.utils.PyDataset):
    """A function of each batch of a `keras.utils.PyDataset`."""

    def __init__(self, batches, function):
        super().__init__(workers=batches.workers, max_queue_size=batches.max_queue_size)
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


def weigh(batches, class_weight):
    """Batches whose weights are multiplied by those of answers, by their texts or numbers.

    Raises:
        ValueError: if there is no such answer.
    """
    answers = batches.preprocessor.answers
    table, numbers = np.ones(len(answers), "float32"), batches.preprocessor.answer_numbers
    for answer, weight in class_weight.items():
        number = numbers.get(answer, answer)
        if number not in range(len(answers)):
            raise ValueError(f"class_weight: there is no answer {answer!r}.")
        table[number] = weight

    def weigh(batch):
        features, answers, weights = batch
        return features, answers, weights * table[answers]

    return MappedBatches(batches, weigh)


def weights_of(answers, features, weights=None):
    """Weights of the answers in arrays: those that are given, or 0 for the tags of padding."""
    words = features.get("words") if isinstance(features, Mapping) else features
    if weights is None and len(np.shape(answers)) == 2 and hasattr(words, "shape"):
        words = keras.ops.convert_to_numpy(words)
        if words.shape == np.shape(answers):
            return (words != 0).astype("float32")
    return weights


def check_numbers(answers, weights, shape, training=True):
    """Checks the numbers of answers in arrays; those that weigh nothing do not count.

    Args:
        answers: numbers; a share of each answer is not checked.
        weights: weights, or `None`.
        shape: shape of the outputs.
        training: whether unknown answers are refused.

    Raises:
        ValueError: if there is no such answer, or one to train on is unknown.
    """
    answers = keras.ops.convert_to_numpy(answers)
    if answers.ndim != len(shape) - 1:
        return
    wrong = (answers < int(training)) | (answers >= shape[-1])
    if weights is not None:
        weights = keras.ops.convert_to_numpy(weights)
        wrong &= np.reshape(weights, weights.shape + (1,) * (answers.ndim - weights.ndim)) != 0
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0])
        number = int(answers[place])
        what = "which is unknown and cannot be learned" if number == 0 else "which there is not"
        raise ValueError(
            f"The answer of example {place[0]} is number {number}, {what}: they go from 1 to "
            f"{shape[-1] - 1}. Leave the example out, or begin with from_examples(examples)."
        )


def checked(data, shape):
    """Data sets and generators of features whose answers are checked before they are learned."""

    def check(batch):
        if not isinstance(batch, tuple) or len(batch) < 2:
            return batch
        features, answers, *weights = batch
        weights = weights_of(answers, features, *weights)
        check_numbers(answers, weights, shape)
        return batch if weights is None else (features, answers, weights)

    if isinstance(data, keras.utils.PyDataset) and not data.use_multiprocessing:
        return MappedBatches(data, check)
    if isinstance(data, types.GeneratorType):
        return (check(batch) for batch in data)
    spec = getattr(data, "element_spec", None)
    if isinstance(spec, tuple) and len(spec) > 1 and len(spec[1].shape) == len(shape) - 1 == 1:
        return data.map(_check_in_graph)
    return data


def _check_in_graph(features, answers, *weights):
    import tensorflow as tf

    unknown = answers < 1
    for each in weights:
        unknown &= each != 0
    problem = "A number of an answer is 0, which is unknown and cannot be learned"
    with tf.control_dependencies([tf.debugging.Assert(~tf.reduce_any(unknown), [problem])]):
        return features, tf.identity(answers), *weights
