"""The attention of a reader's MAGE-GRUs to edges of each type."""

import keras
import numpy as np

from keras_corefmem.layers import MAGEGRU

SEQUENCE = "sequence"


class _EdgeWeights(keras.layers.Layer):
    """The edge weights of an encoder, without its states."""

    def __init__(self, encoder):
        super().__init__(name=f"edge_weights_{encoder.name}")
        self.encoder, self.supports_masking = encoder, True

    def call(self, x, sources, mask=None):
        return self.encoder.edge_weights(x, sources, mask)

    def compute_output_shape(self, x_shape, sources_shape):
        return (x_shape[0], len(self.encoder.cells), *sources_shape[1:])


def edge_weights(model):
    """Symbolic weights and sources of each encoder of a reader that attends to edges, by name."""
    outputs = {}
    for layer in model.layers:
        if isinstance(layer, MAGEGRU) and layer.cells[0].edge_attention:
            x, sources, mask = layer.input
            outputs[layer.name] = [_EdgeWeights(layer)(x, sources, mask=mask), sources]
    return outputs


def shares_by_type(outputs, types, rows):
    """The mean attention of each type over the tokens that read an edge, the sequence's first.

    Args:
        outputs: arrays of weights `(batch, directions, time, types, edges)` and sources, by name.
        types: names of the types.
        rows: examples that count, the first ones.
    """
    total, count = np.zeros(len(types)), 0
    for weights, sources in outputs.values():
        weights, sources = np.asarray(weights)[:rows], np.asarray(sources)[:rows]
        row, token, *_ = np.nonzero(sources)
        # Forward, a token reads; backward, its source does.
        for direction, readers in enumerate((token + 1, sources[sources > 0])[: weights.shape[1]]):
            total += weights[:, direction].sum(axis=(0, 1, 3))
            count += len(np.unique(np.stack([row, readers]), axis=1).T)
    shares = total / max(count, 1)
    return {SEQUENCE: float(1 - shares.sum()), **dict(zip(types, shares.tolist(), strict=True))}
