"""Bases of the recurrences over a graph: a cell with a memory for edges, and its fused layer."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.kernels.edges import index_edges
from keras_corefmem.layers.kernels.gates import GATES
from keras_corefmem.layers.kernels.graph_gru import graph_gru
from keras_corefmem.layers.kernels.recurrence import DirectionInputs
from keras_corefmem.layers.rnn.abstract_rnn_cell import AbstractRNNCell
from keras_corefmem.utils.checks import check_positions, check_sizes


class GraphCell(AbstractRNNCell):
    """Weights and one step of a `Recurrence` over a typed graph, sequential without chains."""

    def __init__(self, recurrence, units, chains=0, **kwargs):
        super().__init__(**kwargs)
        check_sizes(0, chains=chains)
        self.recurrence, self.units, self.chains = recurrence, units, chains
        self.types = len(recurrence.slices) - 1

    @property
    def output_size(self):
        return self.recurrence.units

    @property
    def columns(self):
        """Number of columns behind the token features that address the memory."""
        return 2 * self.types * self.chains

    def build(self, input_shape):
        spec, features = self.recurrence, input_shape[-1] - self.columns
        width = spec.blocks * spec.units
        self.kernel = self.add_weight(name="kernel", shape=(features, width))
        shape = self.recurrent_units, width
        self.recurrent_kernel = self.add_weight(name="recurrent_kernel", shape=shape)
        self.bias = self.add_weight(name="bias", shape=(width,), initializer="zeros")
        self.build_extras(features)

    def build_extras(self, features):
        """Weights beyond those of the plain recurrence."""

    @property
    def recurrent_units(self):
        return self.recurrence.gathered_units

    def recurrent(self):
        """The recurrent kernel by gathered unit."""
        return ops.convert_to_tensor(self.recurrent_kernel)

    def project(self, x):
        return ops.matmul(x, self.kernel) + self.bias

    def direction_inputs(self, x, edges, reverse):
        """Inputs of the fused recurrence from features `(time, batch, width)` and `Edges`."""
        return DirectionInputs(self.project(x), self.recurrent())

    def update(self, x, gathered, carry):
        product = ops.matmul(gathered, self.recurrent())
        return GATES[self.recurrence.gates].step(self.project(x), product, carry)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "chains": self.chains}

    def split_columns(self, inputs):
        """Token features, read columns and write columns."""
        slots = self.types * self.chains
        features = inputs.shape[-1] - 2 * slots
        return inputs[..., :features], *ops.split(inputs[..., features:], 2, axis=-1)

    def slots(self, values):
        """Views of the memory by edge type, `(batch, chains, width)`."""
        widths = [stop - start for start, stop in self.recurrence.slices[1:]]
        ends = [self.chains * sum(widths[: n + 1]) for n in range(len(widths))]
        return [
            ops.reshape(values[..., end - self.chains * width : end], (-1, self.chains, width))
            for end, width in zip(ends, widths, strict=True)
        ]

    def read(self, memory, reads):
        """Sums by edge type of the slots that the token reads."""
        if not self.chains:
            batch, slices = ops.shape(reads)[0], self.recurrence.slices[1:]
            return [ops.zeros((batch, stop - start), reads.dtype) for start, stop in slices]
        pairs = zip(ops.split(reads, self.types, axis=-1), self.slots(memory), strict=True)
        return [ops.einsum("bc,bcd->bd", read, slot) for read, slot in pairs]

    def write(self, memory, writes, h):
        """The memory with the new state in the slots that the token writes."""
        if not self.chains:
            return memory
        result = []
        writes = ops.split(writes[..., None], self.types, axis=1)
        slices = self.recurrence.slices[1:]
        for write, slot, (start, stop) in zip(writes, self.slots(memory), slices, strict=True):
            slot = (1 - write) * slot + write * h[:, None, start:stop]
            result.append(ops.reshape(slot, (-1, self.chains * (stop - start))))
        return ops.concatenate(result, axis=-1)


def _values_of(edges):
    """An array or eager tensor as an array; `None` for a tensor of a graph that is being traced."""
    if not (isinstance(edges, np.ndarray) or ops.is_tensor(edges)):
        return None
    try:
        return ops.convert_to_numpy(edges)
    except (NotImplementedError, TypeError):
        # How TensorFlow and JAX say that there are no values yet.
        return None


class GraphRNN(keras.layers.Layer):
    """A cell over a graph as one fused operation, in one or both directions.

    Edges are checked where they have values, in arrays and eager tensors. A compiled graph, such as
    `fit`, `predict`, `tf.function` or `jax.jit` run, does not check them: positions that do not lie
    before their token give wrong states there. `keras_corefmem.graphs.check_antecedents` and
    `check_sources` check arrays beforehand.
    """

    CELL: type
    # Name and axes of the call argument that holds the edges.
    EDGES: tuple = ("sources", ("batch", "time", "types", "edges"))

    def __init__(self, cell_options, bidirectional, return_sequences, dropout, **kwargs):
        super().__init__(**kwargs)
        self.cell_options, self.bidirectional = cell_options, bidirectional
        self.return_sequences, self.dropout = return_sequences, dropout
        names = ["forward", "backward"] if bidirectional else ["forward"]
        options = {"dtype": self.dtype_policy, **cell_options}
        self.cells = [self.CELL(name=name, **options) for name in names]
        self.drop = keras.layers.Dropout(dropout, noise_shape=(None, 1, None), name="dropout")

    @property
    def output_units(self):
        return sum(cell.output_size for cell in self.cells)

    def __call__(self, x, *args, **kwargs):
        edges = _values_of(args[0] if args else kwargs.get(self.EDGES[0]))
        if edges is not None and edges.ndim > 1:
            check_positions(edges)
        return super().__call__(x, *args, **kwargs)

    def build(self, x_shape, sources_shape=None):
        if sources_shape is not None:
            name, axes = self.EDGES
            lengths = {x_shape[1], sources_shape[1]} - {None}
            if len(sources_shape) != len(axes) or len(lengths) > 1:
                raise ValueError(
                    f"{name} must be ({', '.join(axes)}) for features (batch, time, width); got "
                    f"shapes {tuple(sources_shape)} and {tuple(x_shape)}."
                )
        for cell in self.cells:
            cell.build((None, x_shape[-1]))

    def run(self, x, sources, mask, x_mask, training):
        """States from features `(batch, time, width)` and sources `(batch, time, types, edges)`."""
        recurrence = self.cells[0].recurrence
        mask = x_mask if mask is None else mask
        if self.dropout:
            x = self.drop(x, training=training)
        x = ops.transpose(x, (1, 0, 2))
        edges = (None, None) if sources is None else index_edges(sources, recurrence.shared)
        cells = enumerate(self.cells)
        directions = [cell.direction_inputs(x, edges[n], n == 1) for n, cell in cells]
        mask = None if mask is None else ops.transpose(mask)
        states = graph_gru(recurrence, directions, edges, mask)
        if self.return_sequences:
            states = ops.transpose(ops.concatenate(states, axis=-1), (1, 0, 2))
        else:
            states = ops.concatenate([states[0][-1], *(s[0] for s in states[1:])], axis=-1)
        return ops.cast(states, self.compute_dtype)

    def compute_output_shape(self, x_shape, sources_shape=None):
        last = (self.output_units,)
        return (*x_shape[:2], *last) if self.return_sequences else (x_shape[0], *last)

    def compute_mask(self, inputs, previous_mask):
        return previous_mask if self.return_sequences else None

    def get_config(self):
        names = "bidirectional", "return_sequences", "dropout"
        options = {name: getattr(self, name) for name in names}
        return {**super().get_config(), **self.cell_options, **options}
