"""Losses and metrics by the names of Keras, for models whose outputs are logits."""

import inspect

import keras

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
