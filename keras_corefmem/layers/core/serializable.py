"""Registration of layers whose configuration is their arguments."""

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
