"""Models that `keras.models.clone_model` gives back as what they are."""

import functools

import keras


class CloneableModel(keras.Model):
    """A functional model with a constructor of its own, whose clones are of its class.

    Keras runs the graph of a model with new layers, and calls the constructor of its class with the
    inputs and the output where that takes them. Such a call is answered here by the constructor's
    own arguments, those of the model that is cloned.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = _taking_a_graph(cls.__init__)

    def _run_through_graph(self, *args, **kwargs):
        output = super()._run_through_graph(*args, **kwargs)
        if isinstance(output, keras.KerasTensor):
            output.clone_of = self
        return output


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
        arguments.pop("quantized", None)
        return initializer(self, **arguments)

    return initialize


def _configuration(layer):
    return type(layer), keras.saving.serialize_keras_object(layer)["config"]
