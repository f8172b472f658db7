"""Optimizers of models."""

import contextlib

import keras

from keras_corefmem import optimizers

OPTIMIZERS = {
    "adam": optimizers.Adam,
    "rmsprop": optimizers.RMSprop,
    "sgd": optimizers.SGD,
    "adagrad": optimizers.Adagrad,
}


def make_optimizer(
    learning_rate=3e-3,
    halve_every=1000,
    optimizer="adam",
    clip_norm=10.0,
    clip_each=False,
    average=0.0,
):
    """Makes an optimizer that clips gradients by their norm, and measures it."""
    rate = learning_rate
    if halve_every:
        rate = keras.optimizers.schedules.ExponentialDecay(rate, halve_every, 0.5, staircase=True)
    clip = {"clipnorm" if clip_each else "global_clipnorm": clip_norm}
    return OPTIMIZERS[optimizer](rate, **clip, use_ema=average > 0, ema_momentum=average)


def match_optimizer(model):
    """Rebuilds the optimizer of a model if layers were frozen or unfrozen since it was built.

    Raises:
        ValueError: if the optimizer has already been used for training.
    """
    optimizer, variables = model.optimizer, model.trainable_variables
    if not optimizer.built or [*map(id, optimizer._trainable_variables)] == [*map(id, variables)]:
        return
    if int(optimizer.iterations):
        raise ValueError(
            "The layers that are trained are others than before: compile the model again, so that "
            "its optimizer trains these."
        )
    scope = getattr(getattr(model, "distribute_strategy", None), "scope", contextlib.nullcontext)
    with scope():
        model.optimizer = type(optimizer).from_config(optimizer.get_config())
        # The configuration lacks a learning rate that was set in place of a schedule.
        old, new = (getattr(o, "inner_optimizer", o) for o in (optimizer, model.optimizer))
        if float(getattr(old, "fixed_rate", -1.0)) >= 0:
            new.learning_rate = float(old.fixed_rate)
        model.optimizer.build(variables)
