"""The precision of a model: dtype policies of its layers, and quantization."""

import contextlib
import functools
import warnings

import keras


@contextlib.contextmanager
def precision(dtype):
    """Sets the dtype policy of layers that this thread makes inside; `None` keeps the default."""
    before = keras.config.dtype_policy()
    try:
        keras.config.set_dtype_policy(keras.dtype_policies.get(before if dtype is None else dtype))
        yield
    finally:
        keras.config.set_dtype_policy(before)


def answer_dtype():
    """Returns the policy of output layers: float32 if the default is mixed, else the default.

    With it, all weights have one precision, which optimizers need to clip them together.
    """
    policy = keras.config.dtype_policy()
    return "float32" if policy.compute_dtype != policy.variable_dtype else policy


def cached_names(cls):
    """Returns the names of the cached properties of a class."""
    attributes = (pair for each in cls.__mro__ for pair in vars(each).items())
    return {name for name, value in attributes if isinstance(value, functools.cached_property)}


class QuantizableModel(keras.Model):
    """A model whose embeddings and dense layers may be quantized."""

    # The configuration of `quantize`.
    quantized = None

    def quantize(self, mode=None, config=None, filters=None):
        """Quantizes the weights of embeddings and dense layers, for prediction.

        Recurrent layers, memories and attention keep their precision.

        Args:
            mode: str, `"int8"` or `"int4"`, or `"float8"` for dense layers alone.
            config: a `QuantizationConfig` of Keras.
            filters: must be `None`, since saved models would not contain them.

        Raises:
            ValueError: if the mode is another one, filters are passed, or there is nothing to
                quantize.
        """
        if mode not in ("int8", "int4", "float8") or filters is not None:
            raise ValueError(
                f"{type(self).__name__} is quantized to int8, int4 or float8, and without filters; "
                f"got mode={mode!r}."
            )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Layer .* does not have a `quantize` method")
            warnings.filterwarnings("ignore", "Invalid quantization mode")  # Embeddings' float8.
            super().quantize(mode, config)
        if not any(getattr(each, "quantization_mode", None) for each in self._flatten_layers()):
            kinds = "dense layer" if mode == "float8" else "embedding or dense layer"
            raise ValueError(f"{type(self).__name__} has no {kinds} to quantize to {mode}.")
        self.quantized = keras.saving.serialize_keras_object(config)
        # Cached functions have the old weights.
        for name in cached_names(type(self)):
            self.__dict__.pop(name, None)
