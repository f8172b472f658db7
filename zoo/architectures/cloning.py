"""Cloning of models by `keras.models.clone_model`, and freezing of their layers."""

import collections
import functools
import inspect
import re

import keras

from keras_corefmem.utils.checks import check_listed
from zoo.architectures.config import constructor

# Entries of a configuration that are not arguments of the constructor, with their defaults.
STATE = {"quantized": None, "frozen": (), "temperature": 1.0}


class CloneableModel(keras.Model):
    """A functional model with its own constructor, whose clones are of its class.

    To clone a model, Keras runs its graph with new layers and calls the constructor of its class
    with the inputs and the output. This class recognizes such a call and makes it one with the
    arguments of the cloned model.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = _taking_a_graph(cls.__init__)
            _, *parameters = inspect.signature(constructor(cls)).parameters.values()
            cls.__signature__ = inspect.Signature(parameters)

    def _run_through_graph(self, *args, **kwargs):
        output = super()._run_through_graph(*args, **kwargs)
        if isinstance(output, keras.KerasTensor):
            output.clone_of = self
        return output

    def freeze_layers(self, names):
        """Freezes layers; compile the model afterwards.

        Args:
            names: list of names of layers with weights, `outer/inner` for inner ones.

        Raises:
            ValueError: if there is no such layer.
        """
        check_listed(frozen=names)
        known = {name for name, layer in _named_layers(self) if layer.weights}
        for name in names:
            if name not in known:
                listed = ", ".join(sorted(known))
                raise ValueError(f"frozen: no layer {name!r} has weights; choose of {listed}.")
        freeze(self, names)


def restore_state(model, state):
    """Restores what `pop_state` took from a configuration."""
    model.temperature = state["temperature"]
    if state["quantized"] is not None:
        model.quantize(config=keras.saving.deserialize_keras_object(state["quantized"]))
    freeze(model, state["frozen"])


def _taking_a_graph(initializer):
    @functools.wraps(initializer)
    def initialize(self, *args, **kwargs):
        source = getattr(args[1], "clone_of", None) if len(args) == 2 else None
        if source is None:
            return initializer(self, *args, **kwargs)
        layers = keras.Model(*args).layers
        if list(map(_configuration, layers)) != list(map(_configuration, source.layers)):
            raise ValueError(
                f"A {type(self).__name__} is cloned as it is: give its constructor other arguments "
                "in place of a clone_function or a call_function."
            )
        arguments = {**source.get_config(), **kwargs}
        state = pop_state(arguments)
        initializer(self, **arguments)
        restore_state(self, state)

    # Keras fails where the names of a signature are not those of the function itself.
    del initialize.__wrapped__
    initialize.initializer = initializer
    return initialize


def plain(value):
    """Returns arguments as values of JSON, with layers as their configurations.

    Containers that Keras tracks become plain ones: they refer to the model, so that copying them
    would copy it too.
    """
    if isinstance(value, keras.Layer):
        return keras.saving.serialize_keras_object(value)
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(map(plain, value))
    return value


def pop_state(arguments):
    """Removes and returns the entries of a configuration that the constructor does not take."""
    return {name: arguments.pop(name, default) for name, default in STATE.items()}


def _configuration(layer):
    return type(layer), keras.saving.serialize_keras_object(layer)["config"]


def freeze(model, names):
    """Freezes layers by the names that `frozen_layers` returns; unknown names are ignored."""
    for name, layer in _named_layers(model):
        if name in names:
            layer.trainable = False


def frozen_layers(model):
    """Returns the names of frozen layers that have weights, inner ones as `outer/inner`."""
    return [name for name, layer in _named_layers(model) if layer.weights and not layer.trainable]


def _named_layers(layer, prefix=""):
    """Yields layers and their names, in which numbers that Keras appends start again at 1."""
    layers = list(layer._flatten_layers(include_self=False, recursive=False))
    totals, counts = collections.Counter(map(_automatic_name, layers)), collections.Counter()
    for each in layers:
        name = _automatic_name(each)
        counts[name] += 1
        if name is None:
            name = each.name
        elif totals[name] > 1:
            name = f"{name}_{counts[name]}"
        yield prefix + name, each
        if each.trainable:
            yield from _named_layers(each, f"{prefix}{name}/")


def _automatic_name(layer):
    """Returns the name that Keras makes of a layer's class, without its number, or `None`."""
    name = re.sub(r"_\d+$", "", layer.name)
    return name if name.replace("_", "") == type(layer).__name__.lower() else None
