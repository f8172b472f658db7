"""Registration of layers, with a configuration of their arguments."""

import inspect

import keras


def serializable(cls):
    """Registers a class of layers that keeps the arguments of `__init__` under their names.

    They are its configuration, objects and functions among them in their serialized form.
    """
    names = inspect.getfullargspec(cls.__init__).args[1:]

    def get_config(self):
        values = {name: getattr(self, name) for name in names}
        serialize = keras.saving.serialize_keras_object
        own = {name: serialize(v) if callable(v) else v for name, v in values.items()}
        return {**super(cls, self).get_config(), **own}

    cls.get_config = get_config
    return keras.saving.register_keras_serializable("keras_corefmem")(cls)
