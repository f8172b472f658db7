"""Layers whose configuration is their arguments, and what their inner layers take from them."""

import inspect

import keras


def serializable(cls):
    """Registers a layer class that keeps the arguments of `__init__` as attributes of those names.

    `get_config` returns them, with objects and functions serialized.
    """
    names = inspect.getfullargspec(cls.__init__).args[1:]

    def get_config(self):
        values = {name: getattr(self, name) for name in names}
        serialize = keras.saving.serialize_keras_object
        own = {name: serialize(v) if callable(v) else v for name, v in values.items()}
        return {**super(cls, self).get_config(), **own}

    cls.get_config = get_config
    return keras.saving.register_keras_serializable("keras_corefmem")(cls)


def inner_options(layer, **options):
    """Returns options of a layer's inner layers: its dtype policy, and whether it is trained."""
    return {"dtype": layer.dtype_policy, "trainable": layer.trainable, **options}
