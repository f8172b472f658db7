"""Base class of cells with a memory for the edges of a graph."""

from dataclasses import replace

import keras
from keras import ops

from keras_corefmem.layers.kernels.activations import check_elementwise
from keras_corefmem.layers.kernels.recurrence import DirectionInputs
from keras_corefmem.layers.rnn.abstract_rnn_cell import AbstractRNNCell
from keras_corefmem.utils.checks import check_sizes

INITIALIZERS = {"kernel": "glorot_uniform", "recurrent": "glorot_uniform", "bias": "zeros"}
KINDS = {
    "initializer": keras.initializers,
    "regularizer": keras.regularizers,
    "constraint": keras.constraints,
}
WEIGHT_OPTIONS = {f"{weight}_{kind}": (weight, kind) for kind in KINDS for weight in INITIALIZERS}
CELL_OPTIONS = ("activation", "recurrent_activation", "use_bias", *WEIGHT_OPTIONS)


def cell_options(arguments):
    """Selects the options that all cells share from the arguments of one, and adds its `kwargs`."""
    return {name: arguments[name] for name in CELL_OPTIONS} | arguments["kwargs"]


class GraphCell(AbstractRNNCell):
    """Base class of cells: the weights and one step of a `Recurrence` over a typed graph.

    With 0 chains, the step reads only the sequential edge.
    """

    def __init__(
        self,
        recurrence,
        units,
        chains=0,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        **kwargs,
    ):
        options = {name: kwargs.pop(name, None) for name in WEIGHT_OPTIONS}
        super().__init__(**kwargs)
        check_sizes(0, chains=chains)
        check_elementwise("activation", activation)
        check_elementwise("recurrent_activation", recurrent_activation)
        self.activation = keras.activations.get(activation)
        self.recurrent_activation = keras.activations.get(recurrent_activation)
        gates = {"recurrent_activation": self.recurrent_activation}
        self.recurrence = replace(recurrence, activation=self.activation, **gates)
        self.units, self.chains, self.use_bias = units, chains, use_bias
        self.types = len(recurrence.slices) - 1
        for name, (weight, kind) in WEIGHT_OPTIONS.items():
            default = INITIALIZERS[weight] if kind == "initializer" else None
            value = default if options[name] is None else options[name]
            setattr(self, name, KINDS[kind].get(value))

    @property
    def output_size(self):
        return self.recurrence.units

    @property
    def columns(self):
        """Number of input columns after the token features; they address the memory."""
        return 2 * self.types * self.chains

    def build(self, input_shape):
        spec, features = self.recurrence, input_shape[-1] - self.columns
        width = spec.blocks * spec.units
        self.kernel = self.make_weight("kernel", "kernel", features, width)
        shape = self.recurrent_units, width
        self.recurrent_kernel = self.make_weight("recurrent_kernel", "recurrent", *shape)
        if self.use_bias:
            self.bias = self.make_weight("bias", "bias", width)
        self.build_extras(features)

    def make_weight(self, name, options, *shape):
        options = {kind: getattr(self, f"{options}_{kind}") for kind in KINDS}
        if isinstance(options["initializer"], keras.initializers.Initializer):
            # Directions that share an initializer must not start with the same weights.
            options["initializer"] = options["initializer"].clone()
        return self.add_weight(shape, name=name, **options)

    def build_extras(self, features):
        """Adds weights beyond those of the plain recurrence."""

    @property
    def recurrent_units(self):
        return self.recurrence.gathered_units

    def recurrent(self):
        """Returns the recurrent kernel, with one row per gathered unit."""
        return ops.convert_to_tensor(self.recurrent_kernel)

    def project(self, x):
        projected = ops.matmul(x, self.kernel)
        return projected + self.bias if self.use_bias else projected

    def direction_inputs(self, x, edges, reverse):
        """Returns fused-recurrence inputs from features `(time, batch, width)` and `Edges`."""
        return DirectionInputs(
            x,
            self.recurrent(),
            input_kernel=ops.convert_to_tensor(self.kernel),
            bias=ops.convert_to_tensor(self.bias) if self.use_bias else None,
        )

    def update(self, x, gathered, carry):
        product = ops.matmul(gathered, self.recurrent())
        return self.recurrence.make_gates().step(self.project(x), product, carry)

    def get_config(self):
        options = {"units": self.units, "chains": self.chains, "use_bias": self.use_bias}
        for name in ("activation", "recurrent_activation"):
            options[name] = keras.activations.serialize(getattr(self, name))
        for name, (_, kind) in WEIGHT_OPTIONS.items():
            options[name] = KINDS[kind].serialize(getattr(self, name))
        return {**super().get_config(), **options}

    def split_columns(self, inputs):
        """Splits inputs into token features, read columns and write columns."""
        slots = self.types * self.chains
        features = inputs.shape[-1] - 2 * slots
        return inputs[..., :features], *ops.split(inputs[..., features:], 2, axis=-1)

    def slots(self, values):
        """Splits the memory by edge type into slots, `(batch, chains, width)` each."""
        widths = [stop - start for start, stop in self.recurrence.slices[1:]]
        ends = [self.chains * sum(widths[: n + 1]) for n in range(len(widths))]
        return [
            ops.reshape(values[..., end - self.chains * width : end], (-1, self.chains, width))
            for end, width in zip(ends, widths, strict=True)
        ]

    def read(self, memory, reads):
        """Returns, for each edge type, the sum of the slots that the token reads."""
        if not self.chains:
            batch, slices = ops.shape(reads)[0], self.recurrence.slices[1:]
            return [ops.zeros((batch, stop - start), reads.dtype) for start, stop in slices]
        pairs = zip(ops.split(reads, self.types, axis=-1), self.slots(memory), strict=True)
        return [ops.einsum("bc,bcd->bd", read, slot) for read, slot in pairs]

    def write(self, memory, writes, h):
        """Returns the memory with the new state in the slots that the token writes."""
        if not self.chains:
            return memory
        result = []
        writes = ops.split(writes[..., None], self.types, axis=1)
        slices = self.recurrence.slices[1:]
        for write, slot, (start, stop) in zip(writes, self.slots(memory), slices, strict=True):
            slot = (1 - write) * slot + write * h[:, None, start:stop]
            result.append(ops.reshape(slot, (-1, self.chains * (stop - start))))
        return ops.concatenate(result, axis=-1)
