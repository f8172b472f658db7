"""Optimizers that measure the norm of their gradients and let callbacks override schedules."""

import keras
from keras import ops
from keras.optimizers.schedules import LearningRateSchedule

__all__ = ["Adagrad", "Adam", "MeasuresGradients", "RMSprop", "SGD"]


class MeasuresGradients:
    """Mixin that measures the global norm of an optimizer's gradients before clipping.

    Inherit from it ahead of the optimizer. If replicas of TensorFlow share batches, norm and
    clipping are those of the gradients of the whole batch. The norm is a variable that is not
    saved: files with and without it are the same.

    Setting `learning_rate` overrides a schedule, which Keras' own optimizers do not allow, so that
    `ReduceLROnPlateau` and `LearningRateScheduler` work with schedules too. The rate set is saved.

    Example:
        >>> class Adamax(keras_corefmem.optimizers.MeasuresGradients, keras.optimizers.Adamax): ...
        >>> weight = keras.Variable([1.0])
        >>> optimizer = Adamax(0.01)
        >>> optimizer.apply([keras.ops.ones(1)], [weight])
        >>> optimizer.gradient_norm
        1.0
    """

    # The learning rate that overrides a schedule; negative if none was set.
    fixed_rate = -1.0

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        options = {"aggregation": "only_first_replica"}
        fixed = keras.initializers.Constant(self.fixed_rate)
        self.fixed_rate = self.add_variable((), fixed, name="fixed_rate", **options)
        # Sum and number of the norms since the last reset.
        self.norms = self.add_variable((2,), name="norms", **options)

    @property
    def learning_rate(self):
        return self._get_current_learning_rate()

    @learning_rate.setter
    def learning_rate(self, rate):
        fixed = -1.0
        if isinstance(self._learning_rate, LearningRateSchedule) and not callable(rate):
            fixed = float(rate)
        else:
            super(MeasuresGradients, type(self)).learning_rate.fset(self, rate)
        if self.built:
            self.fixed_rate.assign(fixed)
        else:
            self.fixed_rate = fixed

    def _get_current_learning_rate(self):
        rate = super()._get_current_learning_rate()
        if not isinstance(self._learning_rate, LearningRateSchedule):
            return rate
        fixed = ops.convert_to_tensor(self.fixed_rate)
        return ops.where(fixed < 0, rate, fixed)

    def _backend_apply_gradients(self, grads, trainable_variables):
        if keras.backend.backend() == "tensorflow":
            import tensorflow as tf

            # Keras would clip the gradients of each replica rather than their sum.
            pairs = super()._all_reduce_sum_gradients(zip(grads, trainable_variables, strict=True))
            # It would also clip or square the gradients of a repeated word before adding them up.
            grads = [tf.convert_to_tensor(gradient) for gradient, _ in pairs]
        super()._backend_apply_gradients(grads, trainable_variables)
        # Flattened, since `ops.norm` takes at most two axes.
        flat = [ops.reshape(ops.cast(g, "float32"), (-1,)) for g in grads]
        norm = ops.norm(ops.stack(list(map(ops.norm, flat))))
        self.norms.assign_add(ops.stack([norm, ops.ones_like(norm)]))

    def _all_reduce_sum_gradients(self, grads_and_vars):
        return grads_and_vars  # Already summed over replicas.

    def finalize_variable_values(self, var_list):
        on_jax = keras.backend.backend() == "jax"
        if on_jax and any(variable._value is None for variable in var_list):
            return  # Keras took their values for a step that was interrupted.
        super().finalize_variable_values(var_list)
        if self.use_ema and on_jax:
            # They share buffers with the averages, which prediction would donate.
            for variable in var_list:
                variable.assign(ops.copy(variable))

    @property
    def gradient_norm(self):
        """Mean norm of the gradients since the last reset, or `None` if there were none."""
        total, count = ops.convert_to_numpy(self.norms) if self.built else (0, 0)
        return float(total / count) if count else None

    def reset_gradient_norm(self):
        """Resets the mean gradient norm."""
        if self.built:
            self.norms.assign([0.0, 0.0])

    def save_own_variables(self, store):
        saved = {}
        super().save_own_variables(saved)
        # `fixed_rate` and `norms` were added last.
        if self.built:
            saved.pop(str(len(saved) - 1))
            rate = saved.pop(str(len(saved) - 1))
            saved |= {"learning_rate": rate} if rate >= 0 else {}
        for name, value in saved.items():
            store[name] = value

    def load_own_variables(self, store):
        saved = {name: store[name] for name in store.keys()}
        own = [saved.pop("learning_rate", -1.0), [0.0, 0.0]] if self.built else []
        saved |= {str(len(saved) + n): value for n, value in enumerate(own)}
        super().load_own_variables(saved)


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
