"""The entity memory of recurrent entity networks (REN), question dependent in QDREN."""

import keras
from keras import ops

from keras_corefmem.layers.kernels.entity_recurrence import (
    ACTIVATIONS,
    EntityInputs,
    entity_recurrence,
    normalize,
    product,
)
from keras_corefmem.layers.rnn.abstract_rnn_cell import AbstractRNNCell


def make_activation(activation):
    """A PReLU that starts as the identity for its name, else as given.

    Raises:
        ValueError: if it is neither a name of `ACTIVATIONS` nor a `keras.layers.PReLU`.
    """
    if activation == "prelu":
        return keras.layers.PReLU(alpha_initializer="ones", shared_axes=[1], name="activation")
    if isinstance(activation, dict):
        activation = keras.saving.deserialize_keras_object(activation)
    if activation not in ACTIVATIONS and not isinstance(activation, keras.layers.PReLU):
        raise ValueError(
            f"activation must be one of {', '.join(ACTIVATIONS)} or a keras.layers.PReLU; got "
            f"{activation!r}."
        )
    return activation


def build_activation(activation, slots, units):
    """Makes the slopes of a PReLU, unless a layer that shares it has made them."""
    if isinstance(activation, keras.layers.PReLU) and not activation.built:
        activation.build((None, slots, units))


def serialize_activation(activation):
    """The configuration that `make_activation` takes."""
    if isinstance(activation, keras.layers.PReLU):
        return keras.saving.serialize_keras_object(activation)
    return activation


@keras.saving.register_keras_serializable("keras_corefmem")
class EntityMemoryCell(AbstractRNNCell):
    """One sentence into a memory with a slot per entity.

    ```
    g_j = σ(s·h_j + s·k_j [+ s·q] + b_j)
    h̃_j = φ(U h_j + V k_j + W s + b)
    h_j ← (h_j + g_j h̃_j) / ‖h_j + g_j h̃_j‖,  h_j = k_j before the first sentence
    ```

    Args:
        slots: number M of slots.
        units: width d of a slot, of its key, of a sentence and of the question.
        question_dependent: whether the question opens gates too (QDREN).
        activation: φ, a name (`"prelu"`, `"relu"`, `"sigmoid"`, `"tanh"`, `"linear"`) or a
            `keras.layers.PReLU`, which several layers may share. The PReLU made from its name has
            one slope per unit, for all slots, and starts as the identity.
        gate_bias: whether gates have a bias per slot, as in the authors' code.
        candidate_bias: whether candidates have a bias, as in the authors' code.
        initializer: initializer of keys and matrices.

    Call arguments:
        inputs: sentences `(batch, units)`; with a question, `(batch, 2 · units)`: the sentence,
            then the question.
        states: the memory and the keys, both `(batch, slots · units)`. Pass other keys than the
            learned ones as the initial state.

    References: [Henaff et al., ICLR 2017](https://arxiv.org/abs/1612.03969); the question:
    [Madotto and Attardi, 2017](https://arxiv.org/abs/1707.07922).
    """

    # Not where a layer that has the cell is given the keys of its texts.
    learns_keys = True

    def __init__(
        self,
        slots,
        units,
        question_dependent=False,
        activation="prelu",
        gate_bias=True,
        candidate_bias=True,
        initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        if slots < 1 or units < 1:
            raise ValueError(f"slots and units must be positive, got {slots} and {units}.")
        self.slots, self.units, self.question_dependent = slots, units, question_dependent
        self.activation = make_activation(activation)
        self.gate_bias, self.candidate_bias = gate_bias, candidate_bias
        self.initializer = keras.initializers.get(initializer)

    @property
    def state_size(self):
        return [self.slots * self.units] * 2

    @property
    def output_size(self):
        return self.slots * self.units

    def build(self, input_shape):
        width = self.units * (2 if self.question_dependent else 1)
        if input_shape[-1] != width:
            raise ValueError(
                f"Sentences{' and question' if self.question_dependent else ''} must be as wide as "
                f"the slots, {width} together; got {input_shape[-1]}."
            )
        matrix = (self.units, self.units)
        shapes = {"keys": (self.slots, self.units)} if self.learns_keys else {}
        shapes |= {name: matrix for name in ("memory_kernel", "key_kernel", "sentence_kernel")}
        for name, shape in shapes.items():
            # An initializer gives the same numbers whenever it is called.
            initializer = self.initializer.clone()
            weight = self.add_weight(name=name, shape=shape, initializer=initializer)
            setattr(self, name, weight)
        self.bias = self.gates_bias = 0.0
        if self.candidate_bias:
            self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")
        if self.gate_bias:
            self.gates_bias = self.add_weight(
                name="gates_bias", shape=(self.slots,), initializer="zeros"
            )
        build_activation(self.activation, self.slots, self.units)

    @property
    def activation_name(self):
        return "prelu" if isinstance(self.activation, keras.layers.PReLU) else self.activation

    @property
    def slopes(self):
        """Slopes of a PReLU, `(1 or slots, units)`, or `None`."""
        if self.activation_name != "prelu":
            return None
        return ops.convert_to_tensor(self.activation.alpha)

    def get_initial_state(self, batch_size=None):
        keys = ops.reshape(ops.convert_to_tensor(self.keys), (1, -1))
        keys = ops.cast(ops.tile(keys, (batch_size, 1)), self.compute_dtype)
        return [keys, keys]

    def gate_scores(self, sentences, keys, question=None):
        """What opens the gates besides the memory: `(…, slots)` from `(…, units)`."""
        scores = ops.einsum("...d,...md->...m", sentences, keys) + self.gates_bias
        if question is not None:
            scores = scores + ops.sum(sentences * question, axis=-1, keepdims=True)
        return scores

    def call(self, inputs, states, training=None):
        memory, keys = (ops.reshape(state, (-1, self.slots, self.units)) for state in states)
        sentence, question = inputs[..., : self.units], None
        if self.question_dependent:
            question = inputs[..., self.units :]
        scores = self.gate_scores(sentence, keys, question)
        gate = ops.sigmoid(ops.einsum("bd,bmd->bm", sentence, memory) + scores)
        before = product(memory, ops.convert_to_tensor(self.memory_kernel))
        before = before + product(keys, ops.convert_to_tensor(self.key_kernel))
        before = before + (ops.matmul(sentence, self.sentence_kernel) + self.bias)[:, None]
        slopes = self.slopes
        if slopes is not None:
            slopes = ops.cast(slopes, before.dtype)
        candidate = ACTIVATIONS[self.activation_name][0](before, slopes)
        raw = ops.cast(memory + gate[..., None] * candidate, "float32")
        memory = ops.cast(normalize(raw)[0], self.compute_dtype)
        memory = ops.reshape(memory, (-1, self.slots * self.units))
        return memory, [memory, states[1]]

    def get_config(self):
        return {
            **super().get_config(),
            "slots": self.slots,
            "units": self.units,
            "question_dependent": self.question_dependent,
            "activation": serialize_activation(self.activation),
            "gate_bias": self.gate_bias,
            "candidate_bias": self.candidate_bias,
            "initializer": keras.initializers.serialize(self.initializer),
        }


@keras.saving.register_keras_serializable("keras_corefmem")
class EntityMemory(keras.layers.Layer):
    """Entity memory over the sentences of a text, as one fused operation.

    The equations and the arguments are those of `EntityMemoryCell`; what does not depend on the
    memory is computed for all sentences at once.

    Args:
        slots: number M of slots.
        units: width d of a slot, its key, a sentence and the question.
        return_sequences: whether to return the memory after every sentence, or after the last.
        return_gates: whether to return the gates too.
        **kwargs: the further arguments of `EntityMemoryCell` and of a Keras layer.

    Call arguments:
        sentences: `(batch, time, units)`.
        question: `(batch, units)`, where question dependent.
        keys: `(batch, slots, units)` or `(1, slots, units)`, such as the word vectors of the
            entities; `None` for learned ones, which the layer then has.
        mask: bool `(batch, time)`; masked sentences leave the memory as it is.

    Returns:
        The memory, `(batch, slots, units)` or `(batch, time, slots, units)`; with `return_gates`,
        also the gates `(batch, time, slots)`.

    Raises:
        ValueError: if the question is missing, or given to a memory that takes none.
    """

    OWN = ("name", "trainable", "dtype")

    def __init__(self, slots, units, return_sequences=False, return_gates=False, **kwargs):
        own = {name: kwargs.pop(name) for name in self.OWN if name in kwargs}
        super().__init__(**own)
        self.return_sequences, self.return_gates = return_sequences, return_gates
        self.cell = EntityMemoryCell(slots, units, name="cell", dtype=self.dtype_policy, **kwargs)
        self.supports_masking = True

    def build(self, sentences_shape, question_shape=None, keys_shape=None):
        if self.cell.question_dependent != (question_shape is not None):
            wanted = "needs a" if self.cell.question_dependent else "takes no"
            raise ValueError(
                f"The memory {wanted} question: question_dependent is "
                f"{self.cell.question_dependent}."
            )
        width = sentences_shape[-1] + (question_shape[-1] if question_shape is not None else 0)
        self.cell.learns_keys = keys_shape is None
        self.cell.build((sentences_shape[0], width))

    def call(self, sentences, question=None, keys=None, mask=None, sentences_mask=None):
        cell, mask = self.cell, sentences_mask if mask is None else mask
        if keys is None:
            keys = ops.convert_to_tensor(cell.keys)[None]
        keys = ops.cast(keys, sentences.dtype)
        start = ops.broadcast_to(keys, (ops.shape(sentences)[0], *keys.shape[1:]))
        question = None if question is None else question[:, None]
        scores = cell.gate_scores(sentences, keys[:, None], question)
        candidates = ops.matmul(sentences, cell.sentence_kernel) + cell.bias
        inputs = EntityInputs(
            *(ops.transpose(tensor, (1, 0, 2)) for tensor in (sentences, scores, candidates)),
            keys=product(keys, ops.convert_to_tensor(cell.key_kernel)),
            memory=start,
            kernel=ops.convert_to_tensor(cell.memory_kernel),
            slopes=cell.slopes,
        )
        mask = None if mask is None else ops.transpose(mask)
        memory, gates = entity_recurrence(cell.activation_name, inputs, mask, self.return_sequences)
        memory = ops.cast(memory, self.compute_dtype)
        if self.return_sequences:
            memory = ops.transpose(memory, (1, 0, 2, 3))
        if not self.return_gates:
            return memory
        return memory, ops.cast(ops.transpose(gates, (1, 0, 2)), self.compute_dtype)

    def compute_output_shape(self, sentences_shape, question_shape=None, keys_shape=None):
        batch, time = sentences_shape[:2]
        slots = (self.cell.slots, self.cell.units)
        memory = (batch, time, *slots) if self.return_sequences else (batch, *slots)
        return (memory, (batch, time, self.cell.slots)) if self.return_gates else memory

    def compute_mask(self, *args, **kwargs):
        return None

    def get_config(self):
        cell = {k: v for k, v in self.cell.get_config().items() if k not in self.OWN}
        return {
            **super().get_config(),
            **cell,
            "return_sequences": self.return_sequences,
            "return_gates": self.return_gates,
        }
