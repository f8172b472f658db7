"""Optimizers that measure the norm of their gradients."""

import keras
from keras import ops

__all__ = ["Adagrad", "Adam", "MeasuresGradients", "RMSprop", "SGD"]


class MeasuresGradients:
    """Makes an optimizer measure the global norm of its gradients, before they are clipped.

    Where replicas of TensorFlow share batches, both are of the gradients of the whole batch, as on
    one device.

    The measure is a variable of the optimizer, so that no step is compiled again, but no part of
    its state: files are those of the optimizer without it, in both directions. Inherit from it
    before the optimizer.

    Example:
        >>> class Adamax(keras_corefmem.optimizers.MeasuresGradients, keras.optimizers.Adamax): ...
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> model.compile(Adamax(0.01), "mse", jit_compile=False)
        >>> _ = model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))
        >>> model.optimizer.gradient_norm > 0
        True
    """

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        # The sum of norms, and their number.
        self.norms = self.add_variable((2,), aggregation="only_first_replica", name="norms")

    def _backend_apply_gradients(self, grads, trainable_variables):
        if keras.backend.backend() == "tensorflow":
            # Keras would clip what each replica adds to the gradients, rather than their sum.
            pairs = super()._all_reduce_sum_gradients(zip(grads, trainable_variables, strict=True))
            grads = [gradient for gradient, _ in pairs]
        super()._backend_apply_gradients(grads, trainable_variables)
        # Flat, also because Keras has no norm of more than two axes, and TensorFlow then adds up
        # the rows of one word.
        flat = [ops.reshape(ops.cast(g, "float32"), (-1,)) for g in grads]
        norm = ops.norm(ops.stack(list(map(ops.norm, flat))))
        self.norms.assign_add(ops.stack([norm, ops.ones_like(norm)]))

    def _all_reduce_sum_gradients(self, grads_and_vars):
        # They are the sum already.
        return grads_and_vars

    @property
    def gradient_norm(self):
        """Mean norm of the gradients since the last reset, `None` where there were none."""
        total, count = ops.convert_to_numpy(self.norms) if self.built else (0, 0)
        return float(total / count) if count else None

    def reset_gradient_norm(self):
        """Begins to measure anew."""
        if self.built:
            self.norms.assign([0.0, 0.0])

    def save_own_variables(self, store):
        saved = {}
        super().save_own_variables(saved)
        # The measure was added last.
        saved.pop(str(len(saved) - 1), None)
        for name, value in saved.items():
            store[name] = value

    def load_own_variables(self, store):
        saved = {name: store[name] for name in store.keys()}
        super().load_own_variables({**saved, str(len(saved)): [0.0, 0.0]})


@keras.saving.register_keras_serializable("keras_corefmem")
class Adam(MeasuresGradients, keras.optimizers.Adam):
    """Adam that measures gradients.

    Args:
        *args: those of `keras.optimizers.Adam`.
        **kwargs: the same.

    Example:
        >>> keras_corefmem.optimizers.Adam(0.01).gradient_norm is None
        True
    """


@keras.saving.register_keras_serializable("keras_corefmem")
class RMSprop(MeasuresGradients, keras.optimizers.RMSprop):
    """RMSprop that measures gradients.

    Args:
        *args: those of `keras.optimizers.RMSprop`.
        **kwargs: the same.

    Example:
        >>> keras_corefmem.optimizers.RMSprop(0.01).gradient_norm is None
        True
    """


@keras.saving.register_keras_serializable("keras_corefmem")
class SGD(MeasuresGradients, keras.optimizers.SGD):
    """SGD that measures gradients.

    Args:
        *args: those of `keras.optimizers.SGD`.
        **kwargs: the same.

    Example:
        >>> keras_corefmem.optimizers.SGD(0.01).gradient_norm is None
        True
    """


@keras.saving.register_keras_serializable("keras_corefmem")
class Adagrad(MeasuresGradients, keras.optimizers.Adagrad):
    """Adagrad that measures gradients.

    Args:
        *args: those of `keras.optimizers.Adagrad`.
        **kwargs: the same.

    Example:
        >>> keras_corefmem.optimizers.Adagrad(0.01).gradient_norm is None
        True
    """
