"""Optimizers that measure the norm of their gradients."""

import keras
from keras import ops

__all__ = ["Adagrad", "Adam", "MeasuresGradients", "RMSprop", "SGD"]


class MeasuresGradients:
    """Makes an optimizer measure the global norm of its gradients, before they are clipped.

    Where replicas of TensorFlow share batches, both are of the gradients of the whole batch. The
    measure is a variable that no file contains: files with and without it are the same. Inherit
    from it before the optimizer.

    Example:
        >>> class Adamax(keras_corefmem.optimizers.MeasuresGradients, keras.optimizers.Adamax): ...
        >>> weight = keras.Variable([1.0])
        >>> optimizer = Adamax(0.01)
        >>> optimizer.apply([keras.ops.ones(1)], [weight])
        >>> optimizer.gradient_norm
        1.0
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
        return grads_and_vars  # The sum already.

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


def _measuring(base):
    name = base.__name__
    doc = f"""{name} that measures gradients.

    Args: those of `keras.optimizers.{name}`.

    Example:
        >>> keras_corefmem.optimizers.{name}(0.01).gradient_norm is None
        True
    """
    kind = type(name, (MeasuresGradients, base), {"__doc__": doc, "__module__": __name__})
    return keras.saving.register_keras_serializable("keras_corefmem")(kind)


Adam = _measuring(keras.optimizers.Adam)
RMSprop = _measuring(keras.optimizers.RMSprop)
SGD = _measuring(keras.optimizers.SGD)
Adagrad = _measuring(keras.optimizers.Adagrad)
