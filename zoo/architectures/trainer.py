"""Training, evaluation and prediction as Keras' models do them, with the defaults of the zoo."""

import keras

from keras_corefmem import optimizers
from keras_corefmem.metrics import AnswerAccuracy, AnswerCrossentropy
from keras_corefmem.preprocessing.batches import Batches, EpochHooks, tensorflow_dataset
from zoo.architectures.devices import local_rows, resolve_jit

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


class TextTrainer(keras.Model):
    """A model of features of texts that is compiled with defaults and trains on batches of them."""

    @property
    def warm_up_epochs(self):
        """Number of first epochs that do not train the model as it is used."""
        return 0

    def training_callbacks(self):
        """Keras callbacks that belong to how this model is trained; `fit` adds them."""
        return []

    def fit(self, x=None, *args, validation_data=None, callbacks=None, **kwargs):
        """Trains the model as Keras does, with its `training_callbacks` before those given."""
        all_callbacks = self.training_callbacks()
        if isinstance(x, Batches) or hasattr(x, "element_spec"):
            kwargs["shuffle"] = False
        if keras.backend.backend() == "tensorflow":
            if isinstance(x, Batches):
                all_callbacks.append(EpochHooks(x))
                x = tensorflow_dataset(x)
            if isinstance(validation_data, Batches):
                validation_data = tensorflow_dataset(validation_data)
        elif isinstance(x, Batches):
            x = local_rows(x)
        all_callbacks += keras.tree.flatten([] if callbacks is None else callbacks)
        return super().fit(
            x, *args, validation_data=validation_data, callbacks=all_callbacks, **kwargs
        )

    def compile(
        self, optimizer=None, loss=None, *, weighted_metrics=None, jit_compile=None, **kwargs
    ):
        """Compiles with the defaults of the zoo where an argument is left out.

        Adam at 0.003, halved every 1000 updates, gradients clipped to a global norm of 10,
        cross-entropy, accuracy, XLA where that works (`resolve_jit`). Further arguments are
        those of Keras.

        Raises:
            ValueError: if the model cannot be trained so where batches are shared among devices.
        """
        super().compile(
            optimizer=make_optimizer() if optimizer is None else optimizer,
            loss=AnswerCrossentropy() if loss is None else loss,
            weighted_metrics=[AnswerAccuracy()] if weighted_metrics is None else weighted_metrics,
            jit_compile=resolve_jit(jit_compile),
            **kwargs,
        )
        # Made while TensorFlow traces a step, its variables would have it trace the step again.
        self.optimizer.build(self.trainable_variables)

    def compile_from_config(self, config):
        # Keras leaves this to models with a `compile` of their own.
        self.compile(**keras.saving.deserialize_keras_object(config))
