"""Word vectors from a backbone that reads word pieces."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.core.serializable import serializable


@serializable
class WordPieces(keras.layers.Layer):
    """Word vectors from a pretrained backbone that reads word pieces, such as KerasHub's.

    `y_t` is the mean of the backbone's states for the pieces of word t. The backbone reads the
    pieces of all words of a text, one after the other, between `first` and `last`. In a reader:

    ```python
    backbone = keras_hub.models.BertBackbone.from_preset("bert_tiny_en_uncased")
    tokenizer = keras_hub.models.BertTokenizer.from_preset("bert_tiny_en_uncased")

    def make_word_encoder(words):
        ends = tokenizer.cls_token_id, tokenizer.sep_token_id
        return WordPieces(backbone, [tokenizer(word) for word in words], *ends, max_length=512)

    reader = zoo.BiDAFReader.from_examples(examples, make_word_encoder=make_word_encoder)
    ```

    Args:
        backbone: functional Keras model. Its input is a dictionary of `token_ids` and, optionally,
            `padding_mask` and `segment_ids`, int32 `(batch, length)`. It returns `(batch, length,
            width)`, a list of several layers of that shape, or a dictionary that has either of them
            as `sequence_output`.
        pieces: list of lists, piece ids of each word, by word id; those of word 0, the padding, are
            not read.
        first: int, id of the piece before the text, or `None`.
        last: int, id of the piece after the text, or `None`.
        max_length: int, number of pieces that the backbone can read, `first` and `last` included.
            Longer texts are truncated. `None` for no limit.

    Call arguments:
        words: int32 `(batch, time)`, 0 = padding.

    Returns:
        `(batch, time, width)`, or `(batch, time, layers, width)` if the backbone returns several
        layers; 0 for padding, words without pieces and words that are cut off.

    Raises:
        ValueError: if an argument is not as described.

    Example:
        >>> ids = keras.Input((None,), dtype="int32", name="token_ids")
        >>> backbone = keras.Model({"token_ids": ids}, keras.layers.Embedding(9, 4)(ids))
        >>> layer = keras_corefmem.layers.WordPieces(backbone, [[], [3, 4], [5]], first=1, last=2)
        >>> tuple(layer(np.array([[1, 2, 0]])).shape)
        (1, 3, 4)
    """

    def __init__(self, backbone, pieces, first=None, last=None, max_length=None, **kwargs):
        super().__init__(**kwargs)
        inputs = getattr(backbone, "input", None)
        known = {"token_ids", "padding_mask", "segment_ids"}
        if not isinstance(inputs, dict) or not {"token_ids"} <= inputs.keys() <= known:
            raise ValueError(
                "The backbone must be a functional model whose input is a dictionary of token_ids "
                f"and perhaps padding_mask and segment_ids, got {inputs!r}."
            )
        pieces = [[], *(np.ravel(word).astype("int32") for word in pieces[1:])]
        longest = max(map(len, pieces))
        if not longest or min(min(word, default=0) for word in pieces) < 0:
            raise ValueError("pieces must be lists of ids from 0, of which one has some.")
        self.first, self.last, self.max_length = first, last, max_length
        ends = sum(end is not None for end in (first, last))
        self.room = None if max_length is None else max_length - ends
        if self.room is not None and self.room < 1:
            message = f"max_length must leave a piece between first and last, got {max_length}."
            raise ValueError(message)
        self.backbone = backbone
        self.pieces = [list(map(int, word)) for word in pieces]
        self.table = np.full((len(pieces), longest), -1, "int32")
        for row, word in zip(self.table, pieces, strict=True):
            row[: len(word)] = word

    def call(self, words):
        batch, time = ops.shape(words)
        width = self.table.shape[1]
        pieces = ops.take(ops.convert_to_tensor(self.table), words, axis=0)
        pieces = ops.reshape(pieces, (batch, time * width))
        real = ops.cast(pieces >= 0, "int32")
        place = ops.cumsum(real, axis=1) - 1
        if self.room is not None:
            real = ops.where(place < self.room, real, 0)
        # Moves the pieces to the front, in their order.
        order = ops.arange(time * width, dtype="int32")[None] + (1 - real) * time * width
        order = ops.argsort(order, axis=1)
        text = ops.take_along_axis(pieces, order, axis=1)
        if self.room is not None:
            text = text[:, : self.room]
        count = ops.sum(real, axis=1, keepdims=True)
        text, count, start = self.between_ends(text, count)
        read = ops.arange(ops.shape(text)[1], dtype="int32")[None] < count
        states = self.encode(ops.where(read, text, 0), ops.cast(read, "int32"))
        index = ops.clip(place + start, 0, ops.shape(text)[1] - 1)
        ones = [1] * (len(states.shape) - 2)
        vectors = ops.take_along_axis(
            states, ops.reshape(index, (batch, time * width, *ones)), axis=1
        )
        vectors = ops.reshape(vectors, (batch, time, width, *states.shape[2:]))
        weights = ops.reshape(ops.cast(real, vectors.dtype), (batch, time, width, *ones))
        return ops.sum(vectors * weights, axis=2) / ops.maximum(ops.sum(weights, axis=2), 1)

    def between_ends(self, text, count):
        """Returns the pieces between `first` and `last`, their count, and where the text begins."""
        start = int(self.first is not None)
        if self.first is not None:
            text = ops.pad(text, ((0, 0), (1, 0)), constant_values=self.first)
        if self.last is not None:
            text = ops.pad(text, ((0, 0), (0, 1)))
            columns = ops.arange(ops.shape(text)[1], dtype="int32")[None]
            text = ops.where(columns == count + start, self.last, text)
        return text, count + start + int(self.last is not None), start

    def encode(self, ids, mask):
        inputs = {"token_ids": ids, "padding_mask": mask, "segment_ids": ops.zeros_like(ids)}
        states = self.backbone({name: inputs[name] for name in self.backbone.input})
        if isinstance(states, dict):
            states = states["sequence_output"]
        return ops.stack(states, axis=2) if isinstance(states, list | tuple) else states

    @classmethod
    def from_config(cls, config):
        backbone = keras.saving.deserialize_keras_object(config["backbone"])
        return cls(**{**config, "backbone": backbone})
