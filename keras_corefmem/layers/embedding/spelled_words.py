"""Word vectors from a model that reads characters."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.core.serializable import serializable


@serializable
class SpelledWords(keras.layers.Layer):
    """Vectors of word ids from a model that reads characters, such as a language model.

    `zoo.CharacterLanguageModel.word_encoder` makes such a layer, and `ContextualVectors` mixes the
    layers of the model.

    Args:
        model: functional Keras model. Its input is a dictionary of `words`, int32 `(batch, time)`,
            which tell it what is padding, and `characters`, int32 `(batch, time, length)`; it
            returns vectors `(batch, time, width)`, or a list of those of several layers.
        spellings: list of lists, character ids of each word, by word id.

    Call arguments:
        words: int32 `(batch, time)`, 0 = padding.

    Returns:
        Vectors `(batch, time, width)`, or a list of them.

    Raises:
        ValueError: if an argument is not as described.

    Example:
        >>> words = keras.Input((None,), dtype="int32", name="words")
        >>> characters = keras.Input((None, 2), dtype="int32", name="characters")
        >>> vectors = keras.ops.sum(keras.layers.Embedding(9, 4)(characters), axis=2)
        >>> model = keras.Model({"words": words, "characters": characters}, vectors)
        >>> layer = keras_corefmem.layers.SpelledWords(model, [[0, 0], [1, 2]])
        >>> tuple(layer(np.array([[1, 0, 0]])).shape)
        (1, 3, 4)
    """

    def __init__(self, model, spellings, **kwargs):
        super().__init__(**kwargs)
        inputs = getattr(model, "input", None)
        if not isinstance(inputs, dict) or inputs.keys() != {"words", "characters"}:
            raise ValueError(
                "The model must be a functional one whose input is a dictionary of words and "
                f"characters, got {inputs!r}."
            )
        length = inputs["characters"].shape[-1]
        self.table = np.asarray(spellings, "int32")
        if self.table.ndim != 2 or self.table.shape[-1] != length:
            raise ValueError(f"spellings must have {length} ids of characters for each word.")
        self.model, self.spellings = model, self.table.tolist()

    def call(self, words):
        characters = ops.take(ops.convert_to_tensor(self.table), words, axis=0)
        return self.model({"words": words, "characters": characters})

    @classmethod
    def from_config(cls, config):
        model = keras.saving.deserialize_keras_object(config["model"])
        return cls(**{**config, "model": model})
