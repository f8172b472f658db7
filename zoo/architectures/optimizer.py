"""The optimizer that models are compiled with by default."""

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
    """An optimizer that clips gradients by their norm, and measures it."""
    rate = learning_rate
    if halve_every:
        rate = keras.optimizers.schedules.ExponentialDecay(rate, halve_every, 0.5, staircase=True)
    clip = {"clipnorm" if clip_each else "global_clipnorm": clip_norm}
    return OPTIMIZERS[optimizer](rate, **clip, use_ema=average > 0, ema_momentum=average)
