"""The base of layers over a graph: a cell as one fused operation."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.layers.core.masking import clear_masked
from keras_corefmem.layers.kernels.edges import index_edges
from keras_corefmem.layers.kernels.graph_gru import graph_gru
from keras_corefmem.layers.rnn.graph_cell import CELL_OPTIONS
from keras_corefmem.utils.checks import check_positions

# Options of Keras' GRU that these layers do not have: the values that ask for nothing, and why.
REFUSED = {
    "stateful": ((False,), "edges are positions in one text, so no state reaches the next batch"),
    "unroll": ((False,), "all steps are one compiled loop"),
    "reset_after": ((True,), "the equations reset after the product with the recurrent kernel"),
    "use_cudnn": ((False, "auto"), "cuDNN knows no edges"),
    "implementation": ((0, 1, 2), "there is one"),
    "time_major": ((False,), "inputs are (batch, time, features)"),
    "zero_output_for_mask": ((False,), "masked tokens keep the state before them"),
}


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

    Edges that do not lie before their token raise an error where they have values, in arrays and
    eager tensors. A compiled graph, such as `fit`, `predict`, `tf.function` or `jax.jit` run, reads
    them as none. `keras_corefmem.graphs.check_antecedents` and `check_sources` check arrays
    beforehand.
    """

    CELL: type
    # Name and axes of the call argument that holds the edges.
    EDGES: tuple = ("sources", ("batch", "time", "types", "edges"))
    # Arguments of the cell beside those of all cells.
    EXTRA: tuple = ()
    # Keras' `Bidirectional` reads them.
    stateful, states = False, None
    OWN = ("name", "trainable", "dtype", "chains")

    def __init__(
        self,
        units,
        bidirectional=False,
        return_sequences=True,
        dropout=0.0,
        return_state=False,
        go_backwards=False,
        recurrent_dropout=0.0,
        seed=None,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        arguments = {**locals(), **kwargs}
        options = {name: arguments[name] for name in ("units", *self.EXTRA, *CELL_OPTIONS)}
        for name, (harmless, reason) in REFUSED.items():
            if kwargs.pop(name, harmless[0]) not in harmless:
                raise ValueError(f"{type(self).__name__} has no {name}: {reason}.")
        super().__init__(**{k: value for k, value in kwargs.items() if k not in self.EXTRA})
        if bidirectional and go_backwards:
            raise ValueError("go_backwards is for one direction; bidirectional=True has both.")
        self.bidirectional, self.return_sequences = bidirectional, return_sequences
        self.return_state, self.go_backwards = return_state, go_backwards
        self.dropout, self.recurrent_dropout, self.seed = dropout, recurrent_dropout, seed
        directions = ["forward", "backward"] if bidirectional else ["forward"]
        options["dtype"] = self.dtype_policy
        self.cells = [self.CELL(name=name, **options) for name in directions]
        drop = keras.layers.Dropout
        self.drop = drop(dropout, (None, 1, None), seed, name="dropout")
        if recurrent_dropout:
            seed = None if seed is None else seed + 1
            self.recurrent_drop = drop(recurrent_dropout, seed=seed, name="recurrent_dropout")

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

    def initial_states(self, states):
        """The initial states as a list with one for each direction."""
        states, units = keras.tree.flatten(states), self.cells[0].output_size
        for state in states:
            floats = "float" in keras.backend.standardize_dtype(state.dtype)
            if len(states) != len(self.cells) or state.shape[1:] != (units,) or not floats:
                shapes = ", ".join(f"{s.dtype} {tuple(s.shape)}" for s in states)
                wanted = f"{len(self.cells)} of float (batch, {units}), got {shapes}"
                remedy = f"use bidirectional=True; Bidirectional takes no {self.EDGES[0]}"
                raise ValueError(f"initial_state must be {wanted}; to read both ways, {remedy}.")
        return states

    def direction_inputs(self, n, x, edges, state, training):
        cell, reverse = self.cells[n], self.go_backwards or n == 1
        inputs = cell.direction_inputs(x, edges[int(reverse)], reverse)._replace(
            initial_state=state
        )
        if training and self.recurrent_dropout:
            ones = ops.ones((ops.shape(x)[1], cell.recurrent_units), x.dtype)
            mask = self.recurrent_drop(ones, training=True)
            copies = cell.recurrence.gathered_units // cell.recurrent_units
            inputs = inputs._replace(recurrent_mask=ops.tile(mask, (1, copies)))
        return inputs

    def run(self, x, sources, mask, x_mask, training, initial_state):
        """States from features `(batch, time, width)` and sources `(batch, time, types, edges)`."""
        recurrence = self.cells[0].recurrence
        mask = x_mask if mask is None else mask
        states = [None] * 2 if initial_state is None else self.initial_states(initial_state)
        x = clear_masked(x, mask)
        if self.dropout:
            x = self.drop(x, training=training)
        types = len(recurrence.slices) - 1
        if sources is None and types:
            sources = ops.zeros((*ops.shape(x)[:2], types, 1), "int32")
        x = ops.transpose(x, (1, 0, 2))
        edges = (None, None) if sources is None else index_edges(sources, recurrence.shared)
        directions = [
            self.direction_inputs(n, x, edges, states[n], training) for n in range(len(self.cells))
        ]
        mask = None if mask is None else ops.transpose(mask)
        hidden = graph_gru(recurrence, directions, edges, mask, self.go_backwards)
        hidden = [ops.cast(h, self.compute_dtype) for h in hidden]
        ends = [h[0 if self.go_backwards or n == 1 else -1] for n, h in enumerate(hidden)]
        outputs = ops.concatenate(ends, axis=-1)
        if self.return_sequences:
            outputs = ops.transpose(ops.concatenate(hidden, axis=-1), (1, 0, 2))
            outputs = ops.flip(outputs, axis=1) if self.go_backwards else outputs
        return (outputs, *ends) if self.return_state else outputs

    def compute_output_shape(self, x_shape, sources_shape=None):
        batch, last = x_shape[0], (self.output_units,)
        outputs = (*x_shape[:2], *last) if self.return_sequences else (batch, *last)
        states = [(batch, cell.output_size) for cell in self.cells]
        return (outputs, *states) if self.return_state else outputs

    def compute_mask(self, inputs, previous_mask):
        mask = previous_mask if self.return_sequences else None
        if mask is not None and self.go_backwards:
            mask = ops.flip(mask, axis=1)
        return (mask, *[None] * len(self.cells)) if self.return_state else mask

    def get_config(self):
        cell = {k: v for k, v in self.cells[0].get_config().items() if k not in self.OWN}
        names = "bidirectional", "return_sequences", "dropout", "return_state", "go_backwards"
        own = {name: getattr(self, name) for name in (*names, "recurrent_dropout", "seed")}
        return {**super().get_config(), **cell, **own}
