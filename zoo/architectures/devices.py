"""Training and prediction on devices: sharing of batches, interruptions, and use of XLA."""

import contextlib
import functools
import sys

import keras
import numpy as np

from keras_corefmem.preprocessing.batching.batches import Batches
from keras_corefmem.preprocessing.batching.tf_data import EpochHooks, tensorflow_dataset
from zoo.architectures.inputs import MappedBatches, WithoutHooks


def rows_of(batch, process, processes):
    """Returns the rows of a batch that belong to one of the processes that share it.

    Raises:
        ValueError: if the batch cannot be shared evenly.
    """

    def own(array):
        if len(array) % processes:
            raise ValueError(
                f"{processes} processes cannot share a batch of {len(array)} rows: give a "
                "multiple as batch_size."
            )
        return np.split(np.asarray(array), processes)[process]

    return keras.tree.map_structure(own, batch)


def local_rows(batches):
    """Returns batches with only the rows of this process if several processes share them."""
    if keras.backend.backend() == "jax":
        import jax

        if (processes := jax.process_count()) > 1:
            process = jax.process_index()
            return MappedBatches(batches, lambda batch: rows_of(batch, process, processes))
    return batches


def first_replica(outputs, rows):
    """Returns the outputs of `predict_on_batch` once; under a strategy, all devices repeat them."""
    return keras.tree.map_structure(lambda array: array[:rows], outputs)


# The error of TensorFlow if the parts of a batch have different sizes.
UNEVEN = "AddN must have the same size and shape"


class LightModel(keras.Model):
    """A model that XLA compiles as a whole only for training, and only if training takes long.

    On TensorFlow, the recurrent kernels compile themselves. Compiling the rest of a forward pass,
    for each shape of a batch, would take longer than it saves. A training step becomes a fifth
    faster.
    """

    # Whether the model decides what XLA compiles, because `compile` left it open.
    chooses_xla = False
    # Whether only the kernels of training steps are compiled too.
    by_kernel = False
    # Variables that were trainable when the functions below were made.
    made_for = ()

    def make_train_function(self, force=False):
        self._drop_stale_functions()
        with _without_xla(self) if self.by_kernel else contextlib.nullcontext():
            return super().make_train_function(force)

    def make_test_function(self, force=False):
        self._drop_stale_functions()
        with _without_xla(self):
            return super().make_test_function(force)

    def make_predict_function(self, force=False):
        _check_process()
        self._drop_stale_functions()
        with _without_xla(self):
            return super().make_predict_function(force)

    def data_of(self, x, batches, validation_data, own):
        """Returns data as the backend reads them, and adds the callbacks they need to `own`.

        Args:
            x: data to train on: features or, in the order of an epoch, `batches`.
            batches: the `Batches`, or `None`.
            validation_data: data to validate on.
            own: list of callbacks.
        """
        if batches is not None:
            own.append(EpochHooks(x))
        if keras.backend.backend() != "tensorflow":
            return x if batches is None else local_rows(WithoutHooks(x)), validation_data
        if batches is not None:
            if self.chooses_xla:
                own.append(LateXLA(len(x) * batches.batch_size * max(batches.buckets)))
            x = tensorflow_dataset(x, like=batches)
        elif self.by_kernel:
            # An earlier `fit` may have ended before XLA compiled the step.
            self.by_kernel, self.train_function = False, None
        if isinstance(validation_data, Batches):
            validation_data = tensorflow_dataset(validation_data)
        return x, validation_data

    def _drop_stale_functions(self):
        # Keras passes weights to JAX in order, trained ones first: functions made before layers
        # were frozen or unfrozen would confuse them.
        now = tuple(map(id, self.trainable_variables))
        if now != self.made_for:
            self.made_for = now
            self.train_function = self.test_function = self.predict_function = None


def _check_process():
    """Raises `ValueError` if several processes share batches: none could fetch all predictions."""
    if keras.backend.backend() == "jax" and keras.distribution.distribution() is not None:
        import jax

        if jax.process_count() > 1:
            raise ValueError(
                "Processes that share each batch cannot predict it: `evaluate` and `read` work "
                "there, and `predict` where the saved model is loaded in a process of its own."
            )


@contextlib.contextmanager
def keeping_weights(model, training=False):
    """Restores the weights of a model if Keras is interrupted or a batch fails.

    Keras removes weights from the model while JAX computes, and sets them to the results of the
    last step. In `training`, they can be restored until the first step, which uses them up;
    otherwise they are copied.

    Raises:
        ValueError: if devices cannot share a batch evenly.
    """
    state = model.optimizer.variables if training else []
    variables = [*model.variables, *state, *model.metrics_variables]
    values = [(variable, variable.value) for variable in variables if variable._value is not None]
    is_jax = keras.backend.backend() == "jax"
    if is_jax and not training:
        # A step uses up the arrays that it is passed.
        values = [(variable, value.copy()) for variable, value in values]
    try:
        yield
    except Exception as error:
        # JAX refuses any uneven batch, Keras on TensorFlow refuses to start with one.
        if type(error).__name__ != "IndivisibleError" and UNEVEN not in str(error):
            raise
        raise ValueError(
            "The devices cannot share a batch, whose rows are no multiple of their number: give "
            "such a batch_size, and texts or Batches, which fill up the last batch, not arrays."
        ) from None
    finally:
        if is_jax and not training:
            model._jax_state, model._jax_state_synced = None, True
        for variable, value in values:
            if variable._value is None and not value.is_deleted():
                variable.assign(value)
        if any(variable._value is None for variable in model.metrics_variables):
            model.reset_metrics()


def predictor_of(model):
    """Returns a function from features of any length to the outputs of a model, as arrays.

    Threads may share the function, unlike Keras' `predict_on_batch`, which takes the weights from
    the model during a call on JAX. On TensorFlow, it is traced once, not again for a second length.
    """
    return PREDICTORS.get(keras.backend.backend(), lambda model: model.predict_on_batch)(model)


def _tensorflow_predictor(model):
    import tensorflow as tf

    specs = {t.name: tf.TensorSpec(t.shape, t.dtype, name=t.name) for t in model.inputs}
    graph = tf.function(functools.partial(model, training=False), [specs], autograph=False)

    def predict(features):
        tensors = {
            name: keras.ops.convert_to_tensor(features[name], spec.dtype.name)
            for name, spec in specs.items()
        }
        return keras.tree.map_structure(keras.ops.convert_to_numpy, graph(tensors))

    return predict


def _jax_predictor(model):
    import jax

    # Their order does not depend on which are trainable.
    variables = model.variables
    types = {tensor.name: tensor.dtype for tensor in model.inputs}

    @jax.jit
    def call(values, features):
        with keras.StatelessScope(list(zip(variables, values, strict=True))):
            return model(features, training=False)

    def predict(features):
        values = [variable._value for variable in variables]
        arrays = {name: np.asarray(features[name], dtype) for name, dtype in types.items()}
        if not _in_use(values):
            try:
                return keras.tree.map_structure(keras.ops.convert_to_numpy, call(values, arrays))
            except (RuntimeError, ValueError):
                if not _in_use(values):
                    raise
        raise RuntimeError(
            f"{model.name} cannot be read while fit, evaluate or predict compute with its weights, "
            "which JAX overwrites: read it afterwards, or between epochs, or read a copy of it."
        )

    return predict


def _in_use(values):
    # Keras takes the values from the variables while JAX computes, and lets it reuse their memory.
    return any(value is None or value.is_deleted() for value in values)


PREDICTORS = {"tensorflow": _tensorflow_predictor, "jax": _jax_predictor}


class LateXLA(keras.callbacks.Callback):
    """Makes XLA compile training steps as a whole, from the epoch in which that pays off.

    The epoch depends only on `size`, so that repeated and continued runs have the same result.

    Args:
        size: number of rows of an epoch times their length.
    """

    # Positions after which XLA has saved its compilation time; measured from 0.4 to 1.2 million.
    POSITIONS = 500_000

    def __init__(self, size):
        super().__init__()
        self.size = size

    def on_epoch_begin(self, epoch, logs=None):
        by_kernel = (epoch + 1) * self.size <= self.POSITIONS
        if by_kernel != self.model.by_kernel:
            self.model.by_kernel = by_kernel
            self.model.make_train_function(force=True)


@contextlib.contextmanager
def _without_xla(model):
    chosen = model.jit_compile
    # Without XLA, JAX would execute single operations.
    if keras.backend.backend() == "tensorflow":
        model.jit_compile = False
    try:
        yield
    finally:
        model.jit_compile = chosen


def resolve_jit(jit_compile, run_eagerly=False):
    """Returns whether to compile a model with XLA, by default wherever that works."""
    jit_compile = False if jit_compile is None and run_eagerly else jit_compile
    tf = sys.modules.get("tensorflow")
    if keras.backend.backend() != "tensorflow" or tf is None or not tf.distribute.has_strategy():
        return True if jit_compile is None else jit_compile
    strategy = tf.distribute.get_strategy()
    if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        raise ValueError(
            "Keras cannot fit under MultiWorkerMirroredStrategy; to train on several machines, set "
            "KERAS_BACKEND=jax and use keras.distribution."
        )
    if jit_compile:
        raise ValueError(
            "jit_compile=True does not work under a tf.distribute.Strategy: leave it out, or set "
            "KERAS_BACKEND=jax and use keras.distribution."
        )
    return False
