"""Losses and metrics of models whose outputs are logits."""

import functools
import inspect
from collections.abc import Mapping

import keras
from keras import ops

from keras_corefmem.metrics import AnswerCrossentropy, as_ids
from keras_corefmem.preprocessing.encoding.answers import ABSENT

# Features that contain word ids.
WORD_FEATURES = {"passage", "question", "sentences", "words"}
NO_ANSWERS = "There are no answers: give y, or data of pairs of features and answers."
ACCURACIES = ("accuracy", "acc")
CROSSENTROPIES = ("sparse_categorical_crossentropy", "SparseCategoricalCrossentropy")
# Names of Keras' functions for logits and answer numbers, and for logits and shares of each answer.
SPARSE = {
    "sparse_categorical_crossentropy",
    "sparse_categorical_accuracy",
    "sparse_top_k_categorical_accuracy",
}
CATEGORICAL = {
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_accuracy",
    "top_k_categorical_accuracy",
}
OF_SOFTMAX = (
    AnswerCrossentropy,
    keras.losses.SparseCategoricalCrossentropy,
    keras.losses.CategoricalCrossentropy,
)


class MeanLoss(keras.metrics.Mean):
    """Mean of the losses of batches, weighted by their answers, which is logged as `loss`."""

    def update_state(self, values, sample_weight=None):
        if sample_weight is not None:
            # The step in which TensorFlow finds no more data runs whatever does not need them.
            needed = ops.isnan(ops.sum(values))
            sample_weight = ops.where(needed, sample_weight, sample_weight)
        return super().update_state(values, sample_weight)

    def result(self):
        return {"loss": super().result()}


class ReportsMeans(keras.Model):
    """A model whose logs are means over examples, even if training batches have empty rows.

    In `Batches` to train on, a row whose targets are all 0 is empty, not an example; in those to
    evaluate on, one whose weights are.
    """

    # Whether the weights of training batches make up for their empty rows; `None` for data whose
    # means Keras computes correctly.
    mean_of_rows = None
    # The share of examples in such a batch, kept from `compute_loss` to `compute_metrics`.
    share = None
    # Whether data to evaluate on are `Batches`, whose weights make up for empty rows.
    evaluates_batches = False

    def compile(self, *args, **kwargs):
        super().compile(*args, **kwargs)
        if not hasattr(self, "mean_loss"):
            # Quantized models are locked.
            locked = self._tracker.locked
            self._tracker.unlock()
            self.mean_loss = MeanLoss()
            if locked:
                self._tracker.lock()

    def take_rows_of(self, batches):
        """Prepares to train on `Batches` or, with `None`, on other data."""
        by_rows = None
        if batches is not None and (batches.shuffle or batches.mean_of_rows or self.sums_answers):
            by_rows = batches.mean_of_rows and not self.sums_answers
        if by_rows != self.mean_of_rows:
            self.mean_of_rows, self.train_function = by_rows, None

    def evaluate_batches(self, are_batches):
        """Prepares to evaluate on `Batches` or, with `False`, on other data."""
        if are_batches != self.evaluates_batches:
            self.evaluates_batches, self.test_function = are_batches, None

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        if y is None:
            raise ValueError(NO_ANSWERS)
        if not training and self.reads_right_answers:
            y_pred = self.present_logits(x, y, y_pred)
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        filled_up = training and self.mean_of_rows is not None
        empty_rows = filled_up or not training and self.evaluates_batches
        marks = y if training or sample_weight is None else sample_weight
        share = self.share_of_examples(marks) if empty_rows else None
        self.share = share if filled_up else None
        # Strategies of TensorFlow sum the losses of devices.
        devices, count = _devices(self), self.count_of(y, y_pred, sample_weight)
        mean, count_of_mean = self.mean_of(loss * devices, count, share, sample_weight)
        self.mean_loss.update_state(mean, count_of_mean)
        if devices == 1 or not training or self.sums_answers:
            return loss
        # Devices count in proportion to their answers.
        factor = ops.divide_no_nan(count * devices, _sum_over_devices(count))
        return self.scaled(loss, factor, 1 / devices)

    @property
    def reductions(self):
        """The reductions of the losses."""
        return {getattr(each, "reduction", "") for each in keras.tree.flatten(self.loss)}

    @property
    def reads_right_answers(self):
        """Whether no loss counts the logits of wrong answers other than by their softmax."""
        return all(
            isinstance(each, OF_SOFTMAX) and not getattr(each, "label_smoothing", 0)
            for each in keras.tree.flatten(self.loss)
        )

    @property
    def weighs_answers(self):
        """Whether the loss of a batch is a mean over weights, which empty rows do not change."""
        return "mean_with_sample_weight" in self.reductions

    @property
    def sums_answers(self):
        """Whether the loss of a batch adds up those of its answers."""
        return not self.reductions.isdisjoint({"sum", "none", None})

    def count_of(self, y, y_pred, sample_weight):
        """Returns the number of answers or rows over which the loss of a batch is the mean."""
        count = ops.shape(y_pred)[0]
        if self.weighs_answers:
            count = ops.size(y) if sample_weight is None else ops.sum(sample_weight)
        return ops.cast(count, "float32")

    def mean_of(self, loss, count, share, sample_weight):
        """Returns the mean loss of a batch without its empty rows, and the number of answers."""
        if share is None or self.weighs_answers:
            return loss, count
        if self.sums_answers:
            # Of losses that are not even added up, Keras reports the mean.
            rows = share * count
            return (ops.divide_no_nan(ops.sum(loss), rows) if len(loss.shape) else loss), rows
        if self.share is None:
            return loss + self.correction_of(sample_weight, loss.dtype), count
        if not self.mean_of_rows:  # Empty rows have no loss.
            loss = self.scaled(loss, ops.divide_no_nan(1.0, share))
        return loss, share * count

    def scaled(self, loss, factor, regularized=1.0):
        """Scales a loss except its regularization, of which it contains the share `regularized`."""
        others = self.other_losses(loss.dtype) * regularized
        return (loss - others) * ops.cast(factor, loss.dtype) + others

    def other_losses(self, dtype):
        """Returns the sum of the losses of layers and weights."""
        return sum(ops.sum(ops.cast(each, dtype)) for each in self.losses)

    def correction_of(self, sample_weight, dtype):
        """Returns what to add to the loss of a batch, so that its layers' counts by its examples.

        Weights of examples are 1 on average, so that the one of a batch is its share of examples.
        """
        if sample_weight is None or len(sample_weight.shape) > 1:
            return 0.0
        return self.other_losses(dtype) * (ops.mean(ops.cast(sample_weight, dtype)) - 1)

    def share_of_examples(self, marks):
        """Returns the share of the rows of a batch, on all devices, that are not all 0."""
        rows = ops.reshape(marks, (ops.shape(marks)[0], -1))
        share = ops.mean(ops.cast(ops.any(ops.not_equal(rows, 0), axis=-1), "float32"))
        devices = _devices(self)
        return share if devices == 1 else _sum_over_devices(share) / devices

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        share, self.share = self.share, None
        if share is not None and self.mean_of_rows and sample_weight is not None:
            sample_weight = sample_weight * share
        return super().compute_metrics(x, y, self.present_logits(x, y, y_pred), sample_weight)

    def present_logits(self, x, y, logits):
        """Masks the logits of free symbols that are no word of their text, as `read` does.

        The right answer stays: its word may be in a sentence that is not read.
        """
        known = getattr(self, "preprocessor", None)
        own = getattr(known, "symbol_answers", ())
        if not own or not isinstance(x, Mapping):
            return logits
        size, count = len(known.vocabulary), logits.shape[-1]
        symbols, words = ops.arange(size - len(own), size, dtype="int32"), []
        for name in self.features:
            if name in WORD_FEATURES:
                same = ops.equal(ops.cast(x[name], "int32")[..., None], symbols)
                words.append(ops.any(same, axis=tuple(range(1, len(same.shape) - 1))))
        present = ops.cast(functools.reduce(ops.logical_or, words), "int32")
        present = ops.pad(present, ((0, 0), (own.start, count - own.stop)), constant_values=1)
        y = keras.tree.flatten(y)[0]
        of_shares = len(y.shape) == len(logits.shape) and y.shape[-1] == count
        right = y > 0 if of_shares else ops.equal(as_ids(y, logits)[..., None], range(count))
        right = ops.any(right, axis=1) if len(right.shape) == 3 else right
        kept = ops.logical_or(present > 0, right)
        kept = kept[:, None] if len(logits.shape) == 3 else kept
        return ops.where(kept, logits, ops.cast(ABSENT, logits.dtype))


def _sum_over_devices(value):
    import tensorflow as tf

    # Keras builds metrics outside the replicas.
    replica = tf.distribute.get_replica_context()
    return value if replica is None else replica.all_reduce("SUM", value)


def _devices(model):
    strategy = getattr(model, "distribute_strategy", None)
    return strategy.num_replicas_in_sync if strategy else 1


def regularize(variables, factor):
    """Adds an L2 penalty on all weights except biases and slopes to the loss."""
    for variable in variables:
        if len(variable.shape) > 1 and variable.name != "alpha":
            variable.regularizer = functools.partial(penalty, factor)


def penalty(factor, weight):
    """Returns the L2 penalty of a weight, in the only precision in which Keras sums losses."""
    return ops.cast(keras.regularizers.L2(factor)(weight), keras.config.floatx())


def resolve_loss(loss, default):
    """Returns the loss to use: the default, also for the name of Keras' own, or the one passed.

    Raises:
        ValueError: if it is a loss of Keras that does not expect logits of answers.
    """
    if loss is None or _name(loss) in CROSSENTROPIES:
        return default
    _check(loss, keras.losses, SPARSE | CATEGORICAL)
    return loss


def resolve_metrics(metrics, weighted_metrics, accuracy, loss=None):
    """Returns all metrics as a list of weighted ones, with the accuracy of answers by default.

    Raises:
        ValueError: if a metric of Keras does not expect logits, or answers in the form of the loss.
    """
    named = keras.tree.flatten([] if metrics is None else metrics)
    named += ["accuracy"] if weighted_metrics is None else keras.tree.flatten(weighted_metrics)
    of_shares = loss is not None and _function(_made(loss, keras.losses)) in CATEGORICAL
    fitting, resolved = CATEGORICAL if of_shares else SPARSE, {}
    for metric in named:
        if _name(metric) in ACCURACIES:
            metric = keras.metrics.CategoricalAccuracy("accuracy") if of_shares else accuracy
        elif of_shares and _name(metric) in ("crossentropy", "ce"):
            metric = keras.metrics.CategoricalCrossentropy(_name(metric), from_logits=True)
        elif not of_shares and _name(metric) in ("crossentropy", "ce", *CROSSENTROPIES):
            metric = keras.metrics.SparseCategoricalCrossentropy(_name(metric), from_logits=True)
        _check(metric, keras.metrics, fitting)
        resolved.setdefault(getattr(metric, "name", metric), metric)
    return list(resolved.values())


def _name(function):
    return function if isinstance(function, str) else getattr(function, "__name__", "")


def _made(identifier, module):
    """Returns a loss or metric that may be passed by its name or configuration."""
    return module.get(identifier) if isinstance(identifier, str | dict) else identifier


def _function(made):
    """Returns the function name of a loss or metric of Keras, `None` for a user's own."""
    kind = made if inspect.isroutine(made) or inspect.isclass(made) else type(made)
    if not kind.__module__.startswith("keras."):
        return None
    wrapped = getattr(made, "fn", getattr(made, "_fn", None))
    if wrapped is not None and not wrapped.__module__.startswith("keras."):
        return None
    return _name(wrapped) or _name(kind)


def _check(identifier, module, fitting):
    if identifier is None or (name := _function(made := _made(identifier, module))) is None:
        return
    known = _name(made) or type(made).__name__
    if name not in fitting:
        if getattr(made, "sparse_y_pred", True) is False:
            return  # An intersection over union of the best answers.
        what = "metrics" if module is keras.metrics else "a loss"
        raise ValueError(
            f"{known} is not for logits of answers: leave it out for the default, or choose "
            f"{what} of {', '.join(sorted(fitting))}, or a function of your own."
        )
    if hasattr(made, "get_config"):
        from_logits = made.get_config().get("from_logits", True)
    else:
        argument = inspect.signature(made).parameters.get("from_logits")
        from_logits = argument is None or argument.default
    if not from_logits:
        raise ValueError(
            f"{known} takes the outputs for probabilities, but they are logits: give "
            "from_logits=True, or leave it out for the default."
        )
