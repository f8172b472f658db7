"""Losses and metrics of models whose outputs are logits: Keras' by name, means, penalties."""

import functools
import inspect

import keras
from keras import ops

ACCURACIES = ("accuracy", "acc")
CROSSENTROPIES = ("sparse_categorical_crossentropy", "SparseCategoricalCrossentropy")
# Those of Keras that are right for logits and numbers of answers, or for logits and shares of each
# answer: their names as functions.
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


class MeanLoss(keras.metrics.Mean):
    """Mean of the loss of batches, each as often as it has answers; in logs it is the `loss`."""

    def result(self):
        return {"loss": super().result()}


class ReportsMeans(keras.Model):
    """A model whose logs have means over examples, also where batches to train on are filled up.

    In those of shuffled `Batches`, a row whose targets are all 0 is no example.
    """

    # Whether weights make up for the empty rows of a batch to train on, by batch; `None` for data
    # that Keras takes the right means of.
    mean_of_rows = None
    # The share of such a batch that are examples, from `compute_loss` to `compute_metrics`.
    share = None

    def compile(self, *args, **kwargs):
        super().compile(*args, **kwargs)
        if not hasattr(self, "mean_loss"):
            self.mean_loss = MeanLoss()

    def take_rows_of(self, batches):
        """Prepares to train on `Batches` or, with `None`, on other data."""
        filled_up = batches is not None and (batches.shuffle or batches.mean_of_rows)
        by_rows = batches.mean_of_rows if filled_up else None
        if by_rows != self.mean_of_rows:
            self.mean_of_rows, self.train_function = by_rows, None

    def train_on_batch(self, *args, **kwargs):
        self.take_rows_of(None)
        return super().train_on_batch(*args, **kwargs)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        filled_up = training and self.mean_of_rows is not None
        self.share = self.share_of_examples(y) if filled_up else None
        # Strategies of TensorFlow add up what the devices make of their rows.
        devices, count = _devices(self), self.count_of(y, y_pred, sample_weight)
        self.mean_loss.update_state(*self.mean_of(loss * devices, count))
        if devices == 1 or not training or not self.reductions.isdisjoint({"sum", "none", None}):
            return loss
        # Those of unequal numbers of answers count by these.
        factor = ops.divide_no_nan(count * devices, _sum_over_devices(count))
        return self.scaled(loss, factor, 1 / devices)

    @property
    def reductions(self):
        """How losses of answers are reduced to those of batches."""
        return {getattr(each, "reduction", "") for each in keras.tree.flatten(self.loss)}

    @property
    def weighs_answers(self):
        """Whether the loss of a batch is its mean over weights, which empty rows do not change."""
        return "mean_with_sample_weight" in self.reductions

    def count_of(self, y, y_pred, sample_weight):
        """The number of answers, or of rows, whose mean the loss of a batch is."""
        count = ops.shape(y_pred)[0]
        if self.weighs_answers:
            count = ops.size(y) if sample_weight is None else ops.sum(sample_weight)
        return ops.cast(count, "float32")

    def mean_of(self, loss, count):
        """The mean loss of a batch, and of how many answers."""
        share = self.share
        if share is None or self.weighs_answers:
            return loss, count
        if not self.mean_of_rows:  # Empty rows have no loss.
            loss = self.scaled(loss, ops.divide_no_nan(1.0, share))
        return loss, share * count

    def scaled(self, loss, factor, regularized=1.0):
        """The loss whose part of answers is scaled, beside a share of what regularizes weights."""
        others = sum(ops.sum(ops.cast(each, loss.dtype)) for each in self.losses) * regularized
        return (loss - others) * ops.cast(factor, loss.dtype) + others

    def share_of_examples(self, y):
        """The share of the rows of a batch, on all devices, that are examples."""
        answers = ops.reshape(y, (ops.shape(y)[0], -1))
        share = ops.mean(ops.cast(ops.any(ops.not_equal(answers, 0), axis=-1), "float32"))
        devices = _devices(self)
        return share if devices == 1 else _sum_over_devices(share) / devices

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        share, self.share = self.share, None
        if share is not None and self.mean_of_rows and sample_weight is not None:
            sample_weight = sample_weight * share
        return super().compute_metrics(x, y, y_pred, sample_weight)


def _sum_over_devices(value):
    import tensorflow as tf

    return tf.distribute.get_replica_context().all_reduce("SUM", value)


def _devices(model):
    strategy = getattr(model, "distribute_strategy", None)
    return strategy.num_replicas_in_sync if strategy else 1


def regularize(variables, factor):
    """Adds the squares of all weights but biases and slopes to the loss."""
    for variable in variables:
        if len(variable.shape) > 1 and variable.name != "alpha":
            variable.regularizer = functools.partial(penalty, factor)


def penalty(factor, weight):
    """The L2 penalty of a weight; Keras adds up losses of its default precision alone."""
    return ops.cast(keras.regularizers.L2(factor)(weight), keras.config.floatx())


def resolve_loss(loss, default):
    """The loss of a model: the default, also by the name of Keras' own, or another from logits.

    Raises:
        ValueError: if it is one of Keras' that takes outputs for something else.
    """
    if loss is None or _name(loss) in CROSSENTROPIES:
        return default
    _check(loss, keras.losses, SPARSE | CATEGORICAL)
    return loss


def resolve_metrics(metrics, weighted_metrics, accuracy, loss=None):
    """All metrics in a list, to be weighted; the accuracy of answers by its name, or by default.

    Raises:
        ValueError: if one of Keras' takes outputs, or answers as the loss does, for something else.
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


def _made(given, module):
    """A loss or metric that may be given by its name or configuration."""
    return module.get(given) if isinstance(given, str | dict) else given


def _function(made):
    """The name of a loss or metric of Keras as a function, `None` of a user's own."""
    kind = made if inspect.isroutine(made) or inspect.isclass(made) else type(made)
    if not kind.__module__.startswith("keras."):
        return None
    wrapped = getattr(made, "fn", getattr(made, "_fn", None))
    if wrapped is not None and not wrapped.__module__.startswith("keras."):
        return None
    return _name(wrapped) or _name(kind)


def _check(given, module, fitting):
    if given is None or (name := _function(made := _made(given, module))) is None:
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
