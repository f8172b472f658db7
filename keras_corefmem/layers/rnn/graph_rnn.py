"""Base class of layers that run a cell over a graph as one fused operation."""

import keras
from keras import ops

from keras_corefmem.layers.core.masking import as_long_as, as_mask, clear_masked
from keras_corefmem.layers.core.serializable import inner_options
from keras_corefmem.layers.kernels.buffers import float_type, last_row
from keras_corefmem.layers.kernels.edges import index_edges, points_back, to_positions
from keras_corefmem.layers.kernels.graph_gru import graph_gru
from keras_corefmem.layers.rnn.graph_cell import CELL_OPTIONS
from keras_corefmem.utils.checks import (
    as_positions,
    check_position_type,
    check_positions,
    check_shares,
    shapes_agree,
)

# Options of Keras' GRU that these layers lack: the values that have no effect, and the reason.
REFUSED = {
    "stateful": ((False,), "edges are positions in one text, so no state reaches the next batch"),
    "unroll": ((False,), "all steps are one compiled loop"),
    "reset_after": ((True,), "the equations reset after the product with the recurrent kernel"),
    "use_cudnn": ((False, "auto"), "cuDNN knows no edges"),
    "implementation": ((0, 1, 2), "there is one"),
    "time_major": ((False,), "inputs are (batch, time, features)"),
    "zero_output_for_mask": ((False,), "masked tokens keep the state before them"),
}
INVALID_EDGES = ("ignore", "nan")


def _values_of(edges):
    """Returns an array or eager tensor as an array, or `None` for a tensor that is being traced."""
    on_tensorflow = keras.backend.backend() == "tensorflow"
    if on_tensorflow and ops.is_tensor(edges) and not hasattr(edges, "numpy"):
        return None  # NumPy would warn before it raises an error.
    try:
        return ops.convert_to_numpy(edges)
    except (NotImplementedError, TypeError):
        # TensorFlow's variables and JAX raise these while they are being traced.
        return None


def _check_directions(bidirectional=False, go_backwards=False, **options):
    if bidirectional and go_backwards:
        remedy = "bidirectional=True has both, and takes the place of keras.layers.Bidirectional"
        raise ValueError(f"go_backwards is for one direction; {remedy}.")


def _type_and_shape(state):
    if not hasattr(state, "dtype"):
        return type(state).__name__, ()
    return keras.backend.standardize_dtype(state.dtype), tuple(state.shape)


class GraphRNN(keras.layers.Layer):
    """Base class of layers that run a cell over a graph, in one or both directions.

    Edges in arrays and eager tensors raise an error if they do not come from an earlier token. A
    compiled graph, as in `fit`, `predict`, `tf.function` or `jax.jit`, reads such edges as none or,
    with `invalid_edges="nan"`, makes all states of their text NaN. To check arrays beforehand, use
    `keras_corefmem.graphs.check_antecedents` and `check_sources`.
    """

    CELL: type
    # Name and axes of the call argument that holds the edges.
    EDGES: tuple = ("sources", ("batch", "time", "types", "edges"))
    # Arguments of the cell besides those that all cells share.
    EXTRA: tuple = ()
    # Keras' `Bidirectional` reads these attributes.
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
        invalid_edges="ignore",
        **kwargs,
    ):
        arguments = {**locals(), **kwargs}
        options = {name: arguments[name] for name in ("units", *self.EXTRA, *CELL_OPTIONS)}
        for name, (harmless, reason) in REFUSED.items():
            if kwargs.pop(name, harmless[0]) not in harmless:
                raise ValueError(f"{type(self).__name__} has no {name}: {reason}.")
        check_shares(dropout=dropout, recurrent_dropout=recurrent_dropout)
        super().__init__(**{k: value for k, value in kwargs.items() if k not in self.EXTRA})
        _check_directions(bidirectional, go_backwards)
        if invalid_edges not in INVALID_EDGES:
            choices = ", ".join(INVALID_EDGES)
            raise ValueError(f"invalid_edges must be one of {choices}; got {invalid_edges!r}.")
        self.invalid_edges = invalid_edges
        self.bidirectional, self.return_sequences = bidirectional, return_sequences
        self.return_state, self.go_backwards = return_state, go_backwards
        self.dropout, self.recurrent_dropout, self.seed = dropout, recurrent_dropout, seed
        directions = ["forward", "backward"] if bidirectional else ["forward"]
        options = inner_options(self, **options)
        self.cells = [self.CELL(name=name, **options) for name in directions]
        drop = keras.layers.Dropout
        own = {"name": "dropout", "dtype": self.dtype_policy}
        self.drop = drop(dropout, (None, 1, None), seed, **own)
        if recurrent_dropout:
            seed = None if seed is None else seed + 1
            own = {"name": "recurrent_dropout", "dtype": float_type(self.compute_dtype)}
            self.recurrent_drop = drop(recurrent_dropout, seed=seed, **own)

    @property
    def output_units(self):
        return sum(cell.output_size for cell in self.cells)

    def __call__(self, x, *args, **kwargs):
        if isinstance(x, (list, tuple)) and len(x) == 2 and not args and hasattr(x[0], "shape"):
            x, *args = x
        named = kwargs.get(self.EDGES[0])
        if args and named is not None:
            raise ValueError(f"{self.EDGES[0]} were given twice: behind the features, and by name.")
        edges = args[0] if args else named
        for name, tensor in (("x", x), (self.EDGES[0], edges)):
            if type(tensor).__name__ == "RaggedTensor":
                remedy = "give its to_tensor(), and mask=tf.sequence_mask(x.row_lengths())"
                raise ValueError(f"{name} is a RaggedTensor: {remedy}.")
        if edges is not None:
            kwargs.pop(self.EDGES[0], None)
            args = self.check_edges(edges, getattr(x, "shape", None)), *args[1:]
        return super().__call__(x, *args, **kwargs)

    def check_edges(self, edges, x_shape):
        """Checks the type, shape and, if known, values of edges, and returns them as int32."""
        name, axes = self.EDGES
        symbolic = isinstance(edges, keras.KerasTensor)
        if not symbolic and not ops.is_tensor(edges):
            edges = as_positions(name, edges)
        check_position_type(name, keras.backend.standardize_dtype(edges.dtype))
        shapes = [tuple(shape) for shape in (edges.shape, x_shape) if shape is not None]
        if len(shapes[0]) != len(axes) or not shapes_agree(*(shape[:2] for shape in shapes)):
            raise ValueError(
                f"{name} must be ({', '.join(axes)}) for features (batch, time, width); got shapes "
                f"{' and '.join(map(str, shapes))}."
            )
        if symbolic:
            return edges
        values = _values_of(edges)
        if values is not None:
            check_positions(values, f"{name}: position")
        # Cast before Keras casts floats to half precision, which rounds positions.
        return to_positions(edges)

    def build(self, x_shape, sources_shape=None):
        is_pair = isinstance(x_shape[0], (list, tuple))
        if len(x_shape) != 3 or is_pair or x_shape[2] is None:
            wanted = f"{type(self).__name__} reads features (batch, time, width) of a known width"
            remedy = "bidirectional=True reads edges both ways, keras.layers.Bidirectional does not"
            remedy = f"; {remedy}" if is_pair else ""
            raise ValueError(f"{wanted}, got shape {x_shape}{remedy}.")
        self.input_spec = keras.layers.InputSpec(ndim=3, axes={-1: int(x_shape[2])})
        for cell in self.cells:
            cell.build((None, x_shape[-1]))

    def initial_states(self, states, batch):
        """Returns the initial states as a list, one for each direction."""
        states, wanted = keras.tree.flatten(states), (batch, self.cells[0].output_size)
        types, shapes = zip(*map(_type_and_shape, states), strict=True)
        floating = all("float" in dtype for dtype in types)
        if floating and len(states) == len(self.cells) and shapes_agree(wanted, *shapes):
            return states
        count = "a tensor" if len(self.cells) == 1 else "a list of two tensors"
        got = ", ".join(f"{dtype} {shape}" for dtype, shape in zip(types, shapes, strict=True))
        # Keras' Bidirectional mistakes edges for states.
        remedy = "" if floating else f" To read {self.EDGES[0]} both ways, use bidirectional=True."
        raise ValueError(f"initial_state must be {count}, float {wanted}; got {got}.{remedy}")

    def direction_inputs(self, n, x, edges, state, training):
        cell, reverse = self.cells[n], self.go_backwards or n == 1
        inputs = cell.direction_inputs(x, edges[int(reverse)], reverse)._replace(
            initial_state=state
        )
        if training and self.recurrent_dropout:
            ones = ops.ones((ops.shape(x)[1], cell.recurrent_units), float_type(x))
            mask = self.recurrent_drop(ones, training=True)
            copies = cell.recurrence.gathered_units // cell.recurrent_units
            inputs = inputs._replace(recurrent_mask=ops.tile(mask, (1, copies)))
        return inputs

    def prepare(self, x, sources, mask=None, training=None, initial_state=None):
        """Returns the edges, the inputs of each direction, and the mask, time-major."""
        recurrence = self.cells[0].recurrence
        batch, time, _ = x.shape
        mask = as_mask(mask, batch=batch, time=time)
        states = [None] * 2
        if initial_state is not None:
            states = self.initial_states(initial_state, batch)
        x = clear_masked(x, mask)
        if self.dropout:
            x = self.drop(x, training=training)
        types = len(recurrence.slices) - 1
        if sources is None and types:
            sources = ops.zeros((*ops.shape(x)[:2], types, 1), "int32")
        elif sources is not None:
            sources = as_long_as(sources, x, 2)
        x = ops.transpose(x, (1, 0, 2))
        edges = (None, None) if sources is None else index_edges(sources, recurrence.shared)
        directions = [
            self.direction_inputs(n, x, edges, states[n], training) for n in range(len(self.cells))
        ]
        return edges, directions, None if mask is None else ops.transpose(mask)

    def run(self, x, sources, mask, x_mask, training, initial_state):
        """Computes states from `(batch, time, width)` and sources `(batch, time, types, edges)`."""
        mask = x_mask if mask is None else mask
        edges, directions, mask = self.prepare(x, sources, mask, training, initial_state)
        recurrence = self.cells[0].recurrence
        hidden = graph_gru(recurrence, directions, edges, mask, self.go_backwards)
        hidden = [ops.cast(h, self.compute_dtype) for h in hidden]
        if self.invalid_edges == "nan" and sources is not None:
            valid = ops.all(points_back(sources), axis=(1, 2, 3))[:, None]
            hidden = [ops.where(valid, h, float("nan")) for h in hidden]
        ends = []
        if self.return_state or not self.return_sequences:
            ends = [
                last_row(h, d.initial_state, self.go_backwards or n == 1)
                for n, (h, d) in enumerate(zip(hidden, directions, strict=True))
            ]
        if self.return_sequences:
            outputs = ops.transpose(ops.concatenate(hidden, axis=-1), (1, 0, 2))
            outputs = ops.flip(outputs, axis=1) if self.go_backwards else outputs
        else:
            outputs = ops.concatenate(ends, axis=-1)
        return (outputs, *ends) if self.return_state else outputs

    def compute_output_shape(self, x_shape, sources_shape=None):
        batch, last = x_shape[0], (self.output_units,)
        outputs = (*x_shape[:2], *last) if self.return_sequences else (batch, *last)
        states = [(batch, cell.output_size) for cell in self.cells]
        return (outputs, *states) if self.return_state else outputs

    def compute_mask(self, inputs, previous_mask):
        mask = as_mask(previous_mask) if self.return_sequences else None
        if mask is not None and self.go_backwards:
            mask = ops.flip(mask, axis=1)
        return (mask, *[None] * len(self.cells)) if self.return_state else mask

    @classmethod
    def from_config(cls, config):
        # Without this check, Keras' Bidirectional reports that there is no such layer.
        _check_directions(**config)
        return super().from_config(config)

    def get_config(self):
        cell = {k: v for k, v in self.cells[0].get_config().items() if k not in self.OWN}
        names = "bidirectional", "return_sequences", "dropout", "return_state", "go_backwards"
        names = *names, "recurrent_dropout", "seed", "invalid_edges"
        own = {name: getattr(self, name) for name in names}
        return {**super().get_config(), **cell, **own}
