"""The attention of a reader's MAGE-GRUs to edges of each type."""

import functools

import keras
import numpy as np

from keras_corefmem.layers import MAGEGRU
from keras_corefmem.preprocessing.encoding.features import coarse_length

SEQUENCE = "sequence"


class _EdgeWeights(keras.layers.Layer):
    """A layer that returns the edge weights of an encoder, without its states."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.supports_masking = encoder, True

    def call(self, x, sources, mask=None):
        return self.encoder.edge_weights(x, sources, mask)

    def compute_output_shape(self, x_shape, sources_shape):
        return (x_shape[0], len(self.encoder.cells), *sources_shape[1:])


def edge_weights(model):
    """Returns symbolic weights and sources for each call of an encoder with edge attention."""
    outputs = {}
    # Iterates over calls, since a tied layer has several.
    for node in (node for level in model._nodes_by_depth.values() for node in level):
        layer = node.operation
        if isinstance(layer, MAGEGRU) and layer.cells[0].edge_attention:
            x, sources, mask = node.input_tensors
            name = f"{layer.name}_{len(outputs)}"
            outputs[name] = [_EdgeWeights(layer)(x, sources, mask=mask), sources]
    return outputs


class EdgeAttentionLogs(keras.callbacks.Callback):
    """Adds the mean attention to edges of each type to the logs, as `edge_attention_TYPE`.

    Args:
        preprocessor: the preprocessor of the model.
        encoded: encoded examples to measure it on, in one batch.
    """

    def __init__(self, preprocessor, encoded):
        super().__init__()
        self.preprocessor, self.encoded = preprocessor, encoded

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            shares = self.model.attend_to_edges(self._features)
            logs |= {f"edge_attention_{name}": share for name, share in shares.items()}

    @functools.cached_property
    def _features(self):
        known, rows = self.preprocessor, self.encoded
        lengths = (max(map(length, rows)) for length in (known.length, known.question_length))
        sizes = [coarse_length(length) for length in lengths]
        return known.collate(rows, len(rows), *map(int, sizes), self.model.features)


class EdgeShares:
    """Mean attention to edges of each type, over the tokens that read an edge.

    Args:
        types: names of the types.
    """

    def __init__(self, types):
        self.types, self.readers = types, 0
        # Sums of the attention, and of equal weights for all edges into a token.
        self.sums = np.zeros((2, len(types)))

    def add(self, outputs, rows=None):
        """Adds a batch.

        Args:
            outputs: arrays of weights `(batch, directions, time, types, edges)` and sources, by
                name of the call.
            rows: number of examples that count, the first ones; `None` for all.
        """
        for weights, sources in outputs.values():
            weights, sources = np.asarray(weights)[:rows], np.asarray(sources)[:rows]
            row, token, number, _ = np.nonzero(sources)
            # Forward, the token reads the edge; backward, its source does.
            for direction, reader in enumerate((token + 1, sources[sources > 0])):
                if direction < weights.shape[1]:
                    key = row * (sources.shape[1] + 1) + reader
                    _, edge, counts = np.unique(key, return_inverse=True, return_counts=True)
                    alike = np.bincount(number, 1 / (1 + counts[edge]), len(self.types))
                    self.sums += weights[:, direction].sum(axis=(0, 1, 3)), alike
                    self.readers += len(counts)

    @property
    def shares(self):
        """Shares by type, which sum to 1; that of the sequence is first."""
        return self._named(self.sums[0])

    @property
    def even(self):
        """Shares by type if all edges into a token had the same attention."""
        return self._named(self.sums[1])

    def _named(self, sums):
        shares = sums / max(self.readers, 1)
        return {
            SEQUENCE: float(1 - shares.sum()),
            **dict(zip(self.types, shares.tolist(), strict=True)),
        }
