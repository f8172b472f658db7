"""Word vectors from characters."""

import keras
from keras import ops

from keras_corefmem.layers.core.masking import as_mask, clear_masked
from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.layers.kernels.activations import tanh
from keras_corefmem.utils.checks import check_sizes

# Below the score of any window, within the range of float16.
LOW = -6e4
ACTIVATIONS = {"tanh": tanh, "relu": ops.relu}


@serializable
class CharacterCNN(keras.layers.Layer):
    """Convolutions of several widths over the characters of a word, pooled by maximum.

    ```
    c_p = W_k [x_{p-k+1}; …; x_p],   p = 1 … n + k - 1,   x = 0 before the first and after the last
    y_k = f(max_p c_p + b_k),        concatenated over all widths k
    ```

    Args:
        filters: int, number of filters of each width.
        widths: tuple of ints, widths of the convolutions in characters.
        activation: f, `"tanh"` or `"relu"`.

    Call arguments:
        characters: `(batch, time, characters, features)`, words of n vectors, padded at the end.
        mask: bool `(batch, time, characters)`; masked characters are ignored. `None` for no mask.

    Returns:
        `(batch, time, filters · number of widths)`, 0 for a word without characters.

    Raises:
        ValueError: if `filters` or a width is less than 1, there is no width, or the activation is
            unknown.

    References: [Santos and Zadrozny, ICML 2014](https://proceedings.mlr.press/v32/santos14.html);
    several widths: [Kim et al., AAAI 2016](https://arxiv.org/abs/1508.06615).

    Example:
        >>> layer = keras_corefmem.layers.CharacterCNN(filters=4, widths=(2, 3))
        >>> tuple(layer(np.ones((2, 5, 7, 3))).shape)
        (2, 5, 8)
    """

    def __init__(self, filters=32, widths=(2, 3, 4), activation="tanh", **kwargs):
        super().__init__(**kwargs)
        self.filters, self.widths = filters, tuple(widths)
        check_sizes(filters=filters, widths=min(self.widths, default=0))
        if activation not in ACTIVATIONS:
            names = ", ".join(ACTIVATIONS)
            raise ValueError(f"activation must be one of {names}; got {activation!r}.")
        self.activation = activation

    def build(self, characters_shape):
        features, units = characters_shape[-1], self.filters * len(self.widths)
        self.kernels = [
            self.add_weight(name=f"kernel_{width}", shape=(width * features, self.filters))
            for width in self.widths
        ]
        self.bias = self.add_weight(name="bias", shape=(units,), initializer="zeros")

    def call(self, characters, mask=None):
        axes = zip(("batch", "time", "characters"), characters.shape, strict=False)
        mask, (*shape, length, _) = as_mask(mask, **dict(axes)), ops.shape(characters)
        characters = clear_masked(characters, mask)
        real = ops.ones((*shape, length)) if mask is None else mask
        real = ops.cast(real, characters.dtype)
        largest = []
        for width, kernel in zip(self.widths, self.kernels, strict=True):
            edges = ((0, 0), (0, 0), (width - 1, width - 1))
            padded, covered = ops.pad(characters, (*edges, (0, 0))), ops.pad(real, edges)
            slices = [slice(n, n + length + width - 1) for n in range(width)]
            frames = ops.concatenate([padded[:, :, part] for part in slices], axis=-1)
            touches = sum(covered[:, :, part] for part in slices) > 0
            scores = ops.where(touches[..., None], ops.matmul(frames, kernel), LOW)
            largest.append(ops.max(scores, axis=2, initial=LOW))
        largest = ops.concatenate(largest, axis=-1)
        words = ACTIVATIONS[self.activation](largest + self.bias)
        return words * ops.max(real, axis=-1, initial=0)[..., None]

    def compute_output_shape(self, characters_shape):
        return (*characters_shape[:2], self.filters * len(self.widths))

    def compute_mask(self, characters, previous_mask=None):
        return None if previous_mask is None else ops.any(as_mask(previous_mask), axis=-1)
