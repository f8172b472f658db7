"""Losses and metrics by the names of Keras, for models whose outputs are logits."""

import inspect

import keras

ACCURACIES = ("accuracy", "acc")
CROSSENTROPIES = ("sparse_categorical_crossentropy", "SparseCategoricalCrossentropy")


def resolve_loss(loss, default):
    """The loss of a model: the default, also by the name of Keras' own, or another from logits.

    Raises:
        ValueError: if a loss takes outputs for probabilities.
    """
    if loss is None or _name(loss) in CROSSENTROPIES:
        return default
    _check_logits(loss, keras.losses)
    return loss


def resolve_metrics(metrics, weighted_metrics, accuracy):
    """All metrics in a list, to be weighted; the accuracy of answers by its name, or by default.

    Raises:
        ValueError: if a metric takes outputs for probabilities.
    """
    named = keras.tree.flatten([] if metrics is None else metrics)
    named += ["accuracy"] if weighted_metrics is None else keras.tree.flatten(weighted_metrics)
    resolved = {}
    for metric in named:
        if _name(metric) in ACCURACIES:
            metric = accuracy
        elif _name(metric) in ("crossentropy", "ce", *CROSSENTROPIES):
            name = _name(metric)
            metric = keras.metrics.SparseCategoricalCrossentropy(name, from_logits=True)
        _check_logits(metric, keras.metrics)
        resolved.setdefault(getattr(metric, "name", metric), metric)
    return list(resolved.values())


def _name(function):
    return function if isinstance(function, str) else getattr(function, "__name__", "")


def _check_logits(function, module):
    if function in ACCURACIES:
        return
    made = module.get(function) if isinstance(function, str) else function
    if hasattr(made, "get_config"):
        from_logits = made.get_config().get("from_logits", True)
    else:
        argument = inspect.signature(made).parameters.get("from_logits")
        from_logits = argument is None or argument.default
    if not from_logits:
        name = _name(made) or type(made).__name__
        raise ValueError(
            f"{name} takes the outputs for probabilities, but they are logits: give "
            "from_logits=True, or leave it out for the default."
        )
