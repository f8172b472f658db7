"""Checks of texts, features and answers before training and prediction."""

import functools
import numbers
import types
import warnings
from collections.abc import Mapping

import keras
import numpy as np

from keras_corefmem.datasets.example import UNKNOWN_ANSWER
from keras_corefmem.preprocessing.encoding.answers import check_kind
from keras_corefmem.text.vocabulary import UNKNOWN
from keras_corefmem.utils.checks import shapes_agree
from keras_corefmem.utils.names import did_you_mean
from zoo.architectures.inputs import (
    MappedBatches,
    is_text,
    weights_of,
    weights_of_words,
    words_of,
)
from zoo.architectures.losses import NO_ANSWERS
from zoo.reading.answers import unread_words

# Shares of unknown words from which texts are not those that a model was made for. A small
# vocabulary covers its texts completely, a larger one never does.
FEW_WORDS, SHARE_OF_FEW, SHARE_OF_MANY = 1000, 0.01, 0.12
# Number of unknown words or answers that a warning names.
SHOWN_WORDS = 5


def of_features(method):
    """Wraps a method of `keras.Model` that takes the features of one batch, to refuse texts."""

    @functools.wraps(method)
    def of_batch(self, x, *args, **kwargs):
        if is_text(x):
            raise ValueError(
                f"{method.__name__} takes the features of one batch, not texts: make these by "
                "`features, answers, weights = model.batches(examples, batch_size)[0]`."
            )
        return method(self, x, *args, **kwargs)

    return of_batch


def check_texts(preprocessor, examples):
    """Checks that examples are of the kind that a model reads.

    Raises:
        ValueError: if they have other texts, or tags instead of labels, or the reverse.
    """
    check_kind(examples, preprocessor.strings)
    if preprocessor.strings != ("sentence",):
        return
    for number, example in enumerate(examples):
        tagged = not isinstance(example.answer, str)
        if tagged != preprocessor.tags and example.answer != UNKNOWN_ANSWER:
            has, wants = ("tags", "a label") if tagged else ("a label", "tags")
            raise ValueError(
                f"{example.source or f'Example {number}'} has {has}, but the model was made for "
                f"sentences with {wants}: train another on these, from_examples(examples)."
            )


def check_features(features, inputs):
    """Checks that features are arrays that fit the inputs of a model and have equally many rows.

    Raises:
        ValueError: if they are not a dictionary, or one is missing or has another shape.
    """
    names, rows = [tensor.name for tensor in inputs], None
    if not isinstance(features, Mapping):
        wanted = f"a dictionary of arrays, {', '.join(names)}"
        raise ValueError(f"features must be {wanted}; got {features!r:.80}.")
    for name, tensor in zip(names, inputs, strict=True):
        if features.get(name) is None:
            raise ValueError(f"features has no {name!r}: the model reads {', '.join(names)}.")
        shape, wanted = np.shape(features[name]), (rows, *tensor.shape[1:])
        if not shapes_agree(shape, wanted):
            raise ValueError(f"{name} must have the shape {wanted}, None = any; got {shape}.")
        rows = shape[0]


def warn_of_other_texts(preprocessor, examples, encoded):
    """Warns if a model does not know many of the words of examples."""
    is_sentence = preprocessor.strings == ("sentence",)
    first = "passage" if encoded and hasattr(encoded[0], "passage") else "sentences"
    names = ("words",) if is_sentence else (first, "question")
    arrays = [getattr(row, name) for row in encoded for name in names]
    ids = np.concatenate([np.ravel(array) for array in arrays] or [[]]).astype("int32")
    ids = ids[ids != 0]
    words = preprocessor.vocabulary
    # The model tells words apart that it reads as free symbols.
    unknown = ids == UNKNOWN if words.free_symbols else words.is_unknown(ids)
    few = len(preprocessor.vocabulary) <= FEW_WORDS
    if len(unknown) and np.mean(unknown) >= (SHARE_OF_FEW if few else SHARE_OF_MANY):
        named = {}
        for row in (e.words if is_sentence else (e.passage, e.question) for e in examples):
            named |= dict.fromkeys(unread_words(preprocessor, preprocessor.unknown_words(*row)))
            if len(named) >= SHOWN_WORDS:
                break
        warnings.warn(
            f"The model does not know {np.mean(unknown):.0%} of the words, such as "
            f"{', '.join(map(repr, list(named)[:SHOWN_WORDS]))}: it was made for other texts. To "
            "train it on these, begin with zoo.from_preset(…, examples=examples) or "
            "from_examples(examples).",
            stacklevel=4,
        )


def warn_of_unknown_answers(preprocessor, encoded, examples=None, stacklevel=3):
    """Warns if a model cannot give the answers of some examples, which count as wrong."""
    missing, count = [], 0
    for n, row in enumerate(encoded):
        wrong = np.ravel(row.answer) == 0
        wrong = wrong if preprocessor.tags else wrong.any(keepdims=True)
        answer = examples[n].answer if examples else row.source or f"that of example {n}"
        answers = [answer] * len(wrong) if isinstance(answer, str) else answer
        missing += [each for each, is_wrong in zip(answers, wrong, strict=True) if is_wrong]
        count += len(wrong)
    if missing:
        named = list(dict.fromkeys(missing))[:SHOWN_WORDS]
        why = "are no candidates of their passages" if preprocessor.local else "were not learned"
        warnings.warn(
            f"{len(missing) / count:.0%} of the answers {why} and count as wrong, such as "
            f"{', '.join(map(repr, named))}: leave these examples out, or train a model that knows "
            "them, from_examples(examples).",
            stacklevel=stacklevel,
        )


def class_weights(class_weight, preprocessor, shape):
    """Returns the weights of answers by number, from a dictionary by text or number.

    Raises:
        ValueError: if there is no such answer, answers are not classes that all texts share, or a
            weight is not a number from 0 on.
    """
    tags = getattr(preprocessor, "tags", False)
    if getattr(preprocessor, "local", False) or (len(shape) == 3 and not tags):
        what = "words of each passage" if len(shape) == 2 else "sequences of words"
        raise ValueError(
            f"class_weight is for answers that are classes, but those of this model are {what}: "
            "leave it out; for features, sample_weight weighs examples."
        )
    known = getattr(preprocessor, "answer_numbers", {})
    table = np.ones(shape[-1], "float32")
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight must be a dictionary by answer, got {class_weight!r:.80}.")
    for answer, weight in class_weight.items():
        weight = weight.item() if np.shape(weight) == () and hasattr(weight, "item") else weight
        if not isinstance(weight, numbers.Real) or not 0 <= weight < np.inf:
            raise ValueError(
                f"class_weight: the weight of {answer!r} must be a number from 0 on, got "
                f"{weight!r}."
            )
        number = known.get(answer, answer)
        if number not in range(len(table)):
            near = did_you_mean(str(answer), known)
            raise ValueError(f"class_weight: there is no answer {answer!r}.{near}")
        table[number] = weight
    return table


def by_number(weights, shape):
    """Returns weights of answers as Keras takes them for data sets and generators.

    Raises:
        ValueError: if each word has an answer, since Keras would mistake these for shares.
    """
    if len(shape) == 3:
        raise ValueError(
            "class_weight of tags is for texts, Batches, and arrays without validation_split: give "
            "one of them and validation_data, or sample weights of words."
        )
    return dict(enumerate(weights.tolist()))


def check_answered(data, weights):
    """Raises a `ValueError` if there are weights of answers, but `data` are features alone."""
    if weights is not None and (isinstance(data, Mapping) or hasattr(data, "shape")):
        raise ValueError(NO_ANSWERS)


def check_numbers(answers, weights, shape, training=True):
    """Checks the numbers of answers in arrays, except those with weight 0.

    Args:
        answers: numbers of answers; shares of each answer are not checked.
        weights: weights, or `None`.
        shape: shape of the outputs.
        training: whether unknown answers are refused too.

    Raises:
        ValueError: if there is no such answer, an answer to train on is unknown, or the weights
            have another shape.
    """
    answers = keras.ops.convert_to_numpy(answers)
    if answers.shape[len(shape) - 1 :] == (1,):
        answers = answers[..., 0]
    if answers.ndim != len(shape) - 1:
        return
    wrong = (answers < int(training)) | (answers >= shape[-1])
    if weights is not None:
        weights = keras.ops.convert_to_numpy(weights)
        _check_weights(weights.shape, answers.shape)
        missing = (1,) * (answers.ndim - weights.ndim)
        wrong &= np.reshape(weights, weights.shape[: answers.ndim] + missing) != 0
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0])
        number = int(answers[place])
        what = "which is unknown and cannot be learned" if number == 0 else "which there is not"
        raise ValueError(
            f"The answer of example {place[0]} is number {number}, {what}: they go from 1 to "
            f"{shape[-1] - 1}. Leave the example out, or begin with from_examples(examples)."
        )


def _check_weights(shape, answers):
    pairs = zip(shape, (*answers, *[1] * len(shape)), strict=False)
    if not all(size in (1, count) for size, count in pairs):
        words = f", or {answers}, one for each word" if len(answers) > 1 else ""
        raise ValueError(
            f"sample_weight must have the shape {answers[:1]}, a weight for each example{words}; "
            f"got {shape}."
        )


def checked_batch(batch, shape, training=True):
    """Returns features, answers and weights of a batch, once `check_numbers` has checked it."""
    if not isinstance(batch, tuple | list) or len(batch) < 2 or batch[1] is None:
        return batch
    features, answers, *weights = batch
    weights = weights_of(answers, features, shape, *weights)
    check_numbers(answers, weights, shape, training)
    return (features, answers) if weights is None else (features, answers, weights)


def checked_validation(data, shape):
    """Returns features to validate on, in any form that Keras takes, with checked answers."""
    known = isinstance(data, tuple | list)
    return (checked_batch if known else checked)(data, shape, training=False)


def checked(data, shape, training=True):
    """Returns a data set or generator of features whose answers are checked before use."""
    check = functools.partial(checked_batch, shape=shape, training=training)
    if isinstance(data, keras.utils.PyDataset):
        return MappedBatches(data, check, data.use_multiprocessing)
    if isinstance(data, types.GeneratorType):
        return (check(batch) for batch in data)
    return _checked_dataset(data, shape, training) if hasattr(data, "element_spec") else data


def _checked_dataset(data, shape, training):
    import tensorflow as tf

    spec = data.element_spec
    if not isinstance(spec, tuple) or {type(each) for each in spec[1:]} != {tf.TensorSpec}:
        return data
    words = words_of(spec[0])
    if len(spec) == 2 and len(shape) == 3 and (words is None or words.shape.rank != 2):
        # Nobody knows which words are padding.
        return data
    rank, *ranks = [each.shape.rank for each in spec[1:]]
    is_column = rank == len(shape) and spec[1].shape[-1] == 1
    if None in ranks or not (is_column or rank == len(shape) - 1):
        return data
    return data.map(functools.partial(_check_in_graph, shape, training))


def _check_in_graph(shape, training, features, answers, *weights):
    import tensorflow as tf

    words, rank = words_of(features), len(shape) - 1
    if rank == 2 and words is not None and words.shape.rank == 2:
        cast = functools.partial(tf.cast, dtype="float32")
        weights = [weights_of_words(each, words, cast) for each in weights or [None]]
    numbers = answers[..., 0] if answers.shape.rank > rank else answers
    outside, unknown = (numbers < 0) | (numbers >= shape[-1]), numbers == 0
    for each in weights:
        extra = rank - each.shape.rank
        counts = (each[..., 0] if extra < 0 else each[(..., *[None] * extra)]) != 0
        outside, unknown = outside & counts, unknown & counts
    there_is_not = f"There is no answer of a number: they go from 1 to {shape[-1] - 1}"
    problems = [(outside, there_is_not)]
    if training:
        unlearned = "A number of an answer is 0, which is unknown and cannot be learned"
        problems.append((unknown, unlearned))
    checks = [tf.debugging.Assert(~tf.reduce_any(wrong), [text]) for wrong, text in problems]
    with tf.control_dependencies(checks):
        return features, tf.identity(answers), *weights
