"""Loss and attention mass of supervised heads, in the history of training and evaluation."""

import keras
from keras import ops

from keras_corefmem.layers.attention.supervised_attention import SupervisedMultiHeadAttention


class _SupervisionMetrics(keras.metrics.Metric):
    """Mean loss over instances and mean attention mass over rows with targets, by signal."""

    def __init__(self, names, name="supervision", **kwargs):
        super().__init__(name=name, **kwargs)
        self.names = tuple(names)
        self.sums = self.add_variable((len(self.names), 4), initializer="zeros", name="sums")

    def update_state(self, measured):
        self.sums.assign_add(ops.cast(measured, self.sums.dtype))

    def result(self):
        values = {}
        for n, name in enumerate(self.names):
            loss, instances, mass, rows = (self.sums[n, column] for column in range(4))
            values[f"{name}_loss"] = loss / ops.maximum(instances, 1)
            values[f"{name}_attention_mass"] = mass / ops.maximum(rows, 1)
        return values


class ReportsSupervision:
    """Mixin that makes a model report loss and attention mass of each supervised signal.

    They are in the logs of `fit` and `evaluate` as `<signal>_loss` and `<signal>_attention_mass`.
    The name of the layer comes first if several layers share a signal, and the number of the head
    is added if several heads of a layer do. Inherit from it before `keras.Model`, and create
    supervised layers in `__init__`, or build the model before it is compiled. Training raises a
    `ValueError` if such layers were created after compiling. On JAX, layers that are called more
    than once keep the losses of all calls, whereas Keras keeps only the last.

    Example:
        >>> class Reader(keras_corefmem.layers.ReportsSupervision, keras.Model): ...
        >>> states, pairs = keras.Input((None, 8)), keras.Input((None, 2), dtype="int32")
        >>> layer = keras_corefmem.layers.SupervisedMultiHeadAttention(2, 4, [(0, "coref")])
        >>> model = Reader([states, pairs], layer(states, [pairs]))
        >>> model.compile("sgd", "mse")
        >>> sorted(model.get_metrics_result())
        ['coref_attention_mass', 'coref_loss', 'loss']
    """

    def compile(self, *args, **kwargs):
        super().compile(*args, **kwargs)
        if not hasattr(self, "supervision_metrics"):
            self.supervision_metrics = [
                _SupervisionMetrics(names, name=f"{label}_supervision")
                for label, names in _names_of(self.supervised_layers())
            ]

    def compile_from_config(self, config):
        # Keras requires this of models that override `compile`.
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.built:
            # Creates the variables that the optimizer's saved state is loaded into.
            self.optimizer.build(self.trainable_variables)

    def supervised_layers(self):
        """Returns the layers with signals, including nested ones."""
        layers, kind = self._flatten_layers(include_self=False), SupervisedMultiHeadAttention
        return [layer for layer in layers if isinstance(layer, kind) and layer.signals]

    def train_step(self, *args, **kwargs):
        self.forget()
        return super().train_step(*args, **kwargs)

    def test_step(self, *args, **kwargs):
        self.forget()
        return super().test_step(*args, **kwargs)

    def stateless_call(
        self, trainable_variables, non_trainable_variables, *args, return_losses=False, **kwargs
    ):
        # On JAX, Keras would run `call` alone here, and a layer that is called again would drop the
        # loss of its previous call.
        state = zip(
            [*self.trainable_variables, *self.non_trainable_variables],
            [*trainable_variables, *non_trainable_variables],
            strict=True,
        )
        with keras.StatelessScope(list(state), collect_losses=return_losses) as scope:
            outputs = self(*args, **kwargs)
            losses = self.losses if return_losses else []
        updated = [scope.get_current_value(each) for each in self.non_trainable_variables]
        return (outputs, updated, losses) if return_losses else (outputs, updated)

    def forget(self):
        """Drops measurements of calls outside of a step, which belong to no metric."""
        for layer in self.supervised_layers():
            layer.measured = None

    def compute_loss(self, *args, **kwargs):
        # On JAX, metric updates within `call` are lost; those made here are kept on all backends.
        loss = super().compute_loss(*args, **kwargs)
        layers = self.supervised_layers()
        if len(layers) != len(self.supervision_metrics):
            counts = f"had {len(self.supervision_metrics)} supervised layers when it was compiled"
            remedy = f"and has {len(layers)}: make them in __init__, or build it before."
            raise ValueError(f"{self.name} {counts}, {remedy}")
        for layer, metric in zip(layers, self.supervision_metrics, strict=True):
            if layer.measured is not None:
                metric.update_state(layer.measured)
                layer.measured = None
        return loss


def _names_of(layers):
    """Returns, for each layer, a label and names of its signals, no two of them the same."""
    names = [layer.name for layer in layers]
    signals = [name for layer in layers for _, name in layer.signals]
    result = []
    for n, layer in enumerate(layers):
        # A layer that is not built has no path yet.
        number = names[:n].count(layer.name) + 1
        path = layer.path or f"{layer.name}_{number}"
        label = layer.name if names.count(layer.name) == 1 else path.replace("/", "_")
        own = [name for _, name in layer.signals]
        labels = [
            (f"{label}_{name}" if signals.count(name) > own.count(name) else name)
            + (f"_head_{head}" if own.count(name) > 1 else "")
            for head, name in layer.signals
        ]
        result.append((label, labels))
    return result
