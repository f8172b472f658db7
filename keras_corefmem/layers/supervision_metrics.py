"""How well supervised heads attend, in the history of training and evaluation."""

import keras
from keras import ops

from keras_corefmem.layers.supervised_attention import SupervisedMultiHeadAttention


class SupervisionMetrics(keras.metrics.Metric):
    """Loss and hit rate of every signal of a layer.

    The loss is the mean of L over instances, the hit rate the mean attention on targets over rows
    with a target; 0 where there is nothing yet.

    Args:
        names: name of each signal; results are called `<name>_loss` and `<name>_hit_rate`.
        name: name of the metric.
    """

    def __init__(self, names, name="supervision", **kwargs):
        super().__init__(name=name, **kwargs)
        self.names = tuple(names)
        self.sums = self.add_variable((len(self.names), 4), initializer="zeros", name="sums")

    def update_state(self, measured):
        """Adds what a `SupervisedMultiHeadAttention` measured."""
        self.sums.assign_add(ops.cast(measured, self.sums.dtype))

    def result(self):
        values = {}
        for n, name in enumerate(self.names):
            loss, instances, mass, rows = (self.sums[n, column] for column in range(4))
            values[f"{name}_loss"] = loss / ops.maximum(instances, 1)
            values[f"{name}_hit_rate"] = mass / ops.maximum(rows, 1)
        return values


class ReportsSupervision:
    """Makes a model report loss and hit rate of each signal of its supervised attention.

    They are in the logs of `fit` and `evaluate` as `<signal>_loss` and `<signal>_hit_rate`, behind
    the name of the layer where layers share a signal. Inherit from it before `keras.Model`:

    ```python
    class Reader(ReportsSupervision, keras.Model): ...
    ```

    On JAX, what a layer does to metrics within `call` is lost; `compute_loss` follows in the same
    step, and what it does is kept on every backend.
    """

    def compile(self, *args, **kwargs):
        super().compile(*args, **kwargs)
        if not hasattr(self, "supervision_metrics"):
            layers = self.supervised_layers()
            names = [name for layer in layers for _, name in layer.signals]
            self.supervision_metrics = [
                SupervisionMetrics(
                    [
                        name if names.count(name) == 1 else f"{layer.name}_{name}"
                        for _, name in layer.signals
                    ],
                    name=f"{layer.name}_supervision",
                )
                for layer in layers
            ]

    def compile_from_config(self, config):
        # Keras leaves this to models with a `compile` of their own.
        self.compile(**keras.saving.deserialize_keras_object(config))

    def supervised_layers(self):
        """The layers with signals, also those within others."""
        layers = self._flatten_layers(include_self=False)
        kind = SupervisedMultiHeadAttention
        return [layer for layer in layers if isinstance(layer, kind) and layer.signals]

    def compute_loss(self, *args, **kwargs):
        loss = super().compute_loss(*args, **kwargs)
        for layer, metric in zip(self.supervised_layers(), self.supervision_metrics, strict=True):
            if layer.measured is not None:
                metric.update_state(layer.measured)
                layer.measured = None
        return loss
