"""The entity memory of recurrent entity networks and of QDREN, and its output."""

import keras
from keras import ops

from keras_corefmem.layers.core.masking import as_long_as, as_mask, clear_masked
from keras_corefmem.layers.core.serializable import inner_options, serializable
from keras_corefmem.layers.kernels.buffers import float_type, product, widen
from keras_corefmem.layers.kernels.entity_recurrence import (
    ACTIVATIONS,
    EntityInputs,
    entity_recurrence,
    normalize,
)
from keras_corefmem.layers.rnn.abstract_rnn_cell import AbstractRNNCell
from keras_corefmem.utils.checks import check_shape, check_sizes


def _make_activation(activation, **own):
    if activation == "prelu":
        options = {"alpha_initializer": "ones", "shared_axes": [1], "name": "activation"}
        return keras.layers.PReLU(**options, **own)
    if isinstance(activation, dict):
        activation = keras.saving.deserialize_keras_object(activation)
    if activation not in ACTIVATIONS and not isinstance(activation, keras.layers.PReLU):
        raise ValueError(
            f"activation must be one of {', '.join(ACTIVATIONS)} or a keras.layers.PReLU; got "
            f"{activation!r}."
        )
    return activation


def _build_activation(activation, slots, units):
    # Another layer that shares the PReLU may have built it.
    if isinstance(activation, keras.layers.PReLU) and not activation.built:
        activation.build((None, slots, units))


def _slopes_of(activation):
    """Returns the slopes of a PReLU, `(1 or slots, 1 or units)`, or `None` for a name."""
    is_prelu = isinstance(activation, keras.layers.PReLU)
    return ops.convert_to_tensor(activation.alpha) if is_prelu else None


@serializable
class EntityMemoryCell(AbstractRNNCell):
    """One step of an entity memory: a sentence updates a slot for each entity.

    ```
    g_j = σ(s·h_j + s·k_j [+ s·q] + b_j)
    h̃_j = φ(U h_j + V k_j + W s + b)
    h_j ← (h_j + g_j h̃_j) / ‖h_j + g_j h̃_j‖,  h_j = k_j before the first sentence
    ```

    Args:
        slots: int, number M of slots.
        units: int, width d of a slot, of its key, of a sentence and of the question.
        question_dependent: bool, whether the question opens gates too (QDREN).
        activation: φ, a name (`"prelu"`, `"relu"`, `"sigmoid"`, `"tanh"`, `"linear"`) or a
            `keras.layers.PReLU`, which several layers may share. The PReLU made from its name has
            one slope per unit, for all slots, and starts as the identity.
        gate_bias: bool, whether gates have a bias per slot, as in the authors' code.
        candidate_bias: bool, whether candidates have a bias, as in the authors' code.
        initializer: initializer of keys and matrices.

    Call arguments:
        inputs: sentences `(batch, units)`; with a question, `(batch, 2 · units)`: the sentence,
            then the question.
        states: the memory and the keys, both `(batch, slots · units)`. To use other keys than the
            learned ones, pass them as the initial state.

    Returns:
        The memory `(batch, slots · units)`, and the new states.

    Raises:
        ValueError: if a size is less than 1, the activation is unknown, or sentences have another
            width than slots.

    References: [Henaff et al., ICLR 2017](https://arxiv.org/abs/1612.03969); the question:
    [Madotto and Attardi, 2017](https://arxiv.org/abs/1707.07922).

    Example:
        >>> cell = keras_corefmem.layers.EntityMemoryCell(slots=3, units=4)
        >>> memories = keras.layers.RNN(cell, return_sequences=True)(np.ones((2, 5, 4)))
        >>> tuple(memories.shape)
        (2, 5, 12)
    """

    # False if the layer around the cell is built with keys.
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
        check_sizes(slots=slots, units=units)
        self.slots, self.units, self.question_dependent = slots, units, question_dependent
        own = inner_options(self)
        self.activation = _make_activation(activation, **own)
        self.gate_bias, self.candidate_bias = gate_bias, candidate_bias
        self.initializer = keras.initializers.get(initializer)

    output_size = property(lambda self: self.slots * self.units)
    state_size = property(lambda self: [self.output_size] * 2)

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
            # An initializer returns the same numbers at each call.
            setattr(self, name, self.add_weight(shape, self.initializer.clone(), name=name))
        self.bias = self.gates_bias = 0.0
        if self.candidate_bias:
            self.bias = self.add_weight((self.units,), "zeros", name="bias")
        if self.gate_bias:
            self.gates_bias = self.add_weight((self.slots,), "zeros", name="gates_bias")
        _build_activation(self.activation, self.slots, self.units)

    @property
    def activation_name(self):
        return "prelu" if isinstance(self.activation, keras.layers.PReLU) else self.activation

    @property
    def slopes(self):
        """Slopes of the PReLU, `(1 or slots, 1 or units)`, or `None`."""
        return _slopes_of(self.activation)

    def get_initial_state(self, batch_size=None):
        keys = ops.reshape(ops.convert_to_tensor(self.keys), (1, -1))
        keys = ops.cast(ops.tile(keys, (batch_size, 1)), self.compute_dtype)
        return [keys, keys]

    def gate_scores(self, sentences, keys, question=None):
        """Computes gate scores without the memory's term, `(…, slots)`, from `(…, units)`."""
        # In half precision, some processors get this product wrong.
        products = ops.einsum("...d,...md->...m", widen(sentences), widen(keys))
        scores = ops.cast(products, sentences.dtype) + self.gates_bias
        if question is not None:
            scores = scores + ops.sum(sentences * question, axis=-1, keepdims=True)
        return scores

    def call(self, inputs, states, training=None):
        memory, keys = (ops.reshape(state, (-1, self.slots, self.units)) for state in states)
        sentence = inputs[..., : self.units]
        question = inputs[..., self.units :] if self.question_dependent else None
        scores = self.gate_scores(sentence, keys, question)
        gate = ops.sigmoid(ops.einsum("bd,bmd->bm", sentence, memory) + scores)
        before = product(memory, ops.convert_to_tensor(self.memory_kernel))
        before = before + product(keys, ops.convert_to_tensor(self.key_kernel))
        before = before + (ops.matmul(sentence, self.sentence_kernel) + self.bias)[:, None]
        slopes = None if self.slopes is None else ops.cast(self.slopes, before.dtype)
        candidate = ACTIVATIONS[self.activation_name][0](before, slopes)
        raw = widen(memory + gate[..., None] * candidate)
        memory = ops.cast(normalize(raw)[0], self.compute_dtype)
        memory = ops.reshape(memory, (-1, self.slots * self.units))
        return memory, [memory, states[1]]


@keras.saving.register_keras_serializable("keras_corefmem")
class EntityMemory(keras.layers.Layer):
    """Entity memory over the sentences of a text, as one fused operation.

    The equations are those of `EntityMemoryCell`; terms that do not depend on the memory are
    computed for all sentences at once.

    Args:
        slots: int, number M of slots.
        units: int, width d of a slot, its key, a sentence and the question.
        return_sequences: bool, whether to return the memory after all sentences, or only the last.
        return_gates: bool, whether to return the gates too.
        question_dependent, activation, …, initializer: as in `EntityMemoryCell`.

    Call arguments:
        sentences: `(batch, time, units)`.
        question: `(batch, units)`, if the memory is question dependent.
        keys: `(batch, slots, units)` or `(1, slots, units)`, such as the word vectors of the
            entities. `None` for learned keys, which the layer has if it is built without `keys`.
        mask: bool `(batch, time)`; masked sentences do not change the memory, and their gates are
            0.

    Returns:
        The memory, `(batch, slots, units)` or `(batch, time, slots, units)`; with `return_gates`,
        also the gates `(batch, time, slots)`.

    Raises:
        ValueError: if the question is missing or passed to a memory that takes none, learned keys
            are missing, or an argument is not as described for `EntityMemoryCell`.

    Reference: see `EntityMemoryCell`.

    Example:
        >>> layer = keras_corefmem.layers.EntityMemory(3, 4, question_dependent=True)
        >>> memory = layer(np.ones((2, 5, 4)), np.ones((2, 4)))
        >>> tuple(memory.shape)
        (2, 3, 4)
    """

    def __init__(
        self,
        slots,
        units,
        return_sequences=False,
        return_gates=False,
        question_dependent=False,
        activation="prelu",
        gate_bias=True,
        candidate_bias=True,
        initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.return_sequences, self.return_gates = return_sequences, return_gates
        options = question_dependent, activation, gate_bias, candidate_bias, initializer
        own = inner_options(self, name="cell")
        self.cell = EntityMemoryCell(slots, units, *options, **own)

    def build(self, sentences_shape, question_shape=None, keys_shape=None):
        self.check_question(question_shape)
        width = sentences_shape[-1] + (question_shape[-1] if question_shape is not None else 0)
        self.cell.learns_keys = keys_shape is None
        self.cell.build((sentences_shape[0], width))

    def check_question(self, question):
        dependent = self.cell.question_dependent
        if dependent != (question is not None):
            needs = "needs a" if dependent else "takes no"
            raise ValueError(f"The memory {needs} question: question_dependent is {dependent}.")

    def check_shapes(self, sentences, question, keys):
        slots, units = self.cell.slots, self.cell.units
        check_shape("sentences", sentences, batch=None, time=None, units=units)
        batch = sentences.shape[0]
        self.check_question(question)
        check_shape("question", question, batch=batch, units=units)
        if keys is not None:
            one = keys.shape[0] == 1
            check_shape("keys", keys, batch=1 if one else batch, slots=slots, units=units)
        elif not self.cell.learns_keys:
            raise ValueError("keys are needed: the memory was first called with some.")

    def call(self, sentences, question=None, keys=None, mask=None, sentences_mask=None):
        cell, mask = self.cell, sentences_mask if mask is None else mask
        self.check_shapes(sentences, question, keys)
        mask = as_mask(mask, batch=sentences.shape[0], time=sentences.shape[1])
        if keys is None:
            keys = ops.convert_to_tensor(cell.keys)[None]
        sentences, keys = clear_masked(sentences, mask), ops.cast(keys, sentences.dtype)
        start = ops.broadcast_to(keys, (ops.shape(sentences)[0], *keys.shape[1:]))
        question = None if question is None else as_long_as(question, sentences)[:, None]
        scores = cell.gate_scores(sentences, keys[:, None], question)
        candidates = product(sentences, cell.sentence_kernel) + cell.bias
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
        returns = {name: getattr(self, name) for name in ("return_sequences", "return_gates")}
        return {**self.cell.get_config(), **super().get_config(), **returns}


@serializable
class EntityOutput(keras.layers.Layer):
    """Reads an entity memory with a question.

    ```
    p = softmax_j(q·h_j),   u = Σ_j p_j h_j,   y = φ(q + H u)
    ```

    Args:
        activation: φ, a name or a `keras.layers.PReLU`, such as that of the memory.
        initializer: initializer of H.

    Call arguments:
        memory: `(batch, slots, units)`.
        question: `(batch, units)`.

    Returns:
        `y` `(batch, units)` and the attention p `(batch, slots)`, float32.

    Raises:
        ValueError: if the activation is unknown, or has slopes for each slot, or shapes do not
            match.

    Reference: [Henaff et al., ICLR 2017](https://arxiv.org/abs/1612.03969), Section 2.3.

    Example:
        >>> y, attention = keras_corefmem.layers.EntityOutput()(np.ones((2, 3, 4)), np.ones((2, 4)))
        >>> tuple(attention.shape)
        (2, 3)
    """

    def __init__(self, activation="prelu", initializer="glorot_uniform", **kwargs):
        super().__init__(**kwargs)
        own = inner_options(self)
        self.activation = _make_activation(activation, **own)
        self.initializer = keras.initializers.get(initializer)

    def build(self, memory_shape, question_shape):
        units = memory_shape[-1]
        self.kernel = self.add_weight((units, units), self.initializer, name="kernel")
        _build_activation(self.activation, 1, units)
        if isinstance(self.activation, keras.layers.PReLU) and self.activation.alpha.shape[0] > 1:
            remedy = "give it shared_axes=[1], or the output one of its own."
            raise ValueError(f"The PReLU of {self.name} has slopes for each slot: {remedy}")

    def call(self, memory, question):
        batch, _, units = memory.shape
        check_shape("question", question, batch=batch, units=units)
        scores = widen(ops.einsum("bd,bmd->bm", question, memory))
        attention = ops.softmax(scores, axis=-1)
        summary = ops.einsum("bm,bmd->bd", ops.cast(attention, memory.dtype), memory)
        before = question + ops.matmul(summary, self.kernel)
        slopes = _slopes_of(self.activation)
        if slopes is None:
            return ACTIVATIONS[self.activation][0](before, None), attention
        # A shared PReLU may have another dtype policy.
        return ACTIVATIONS["prelu"][0](before, ops.cast(slopes, before.dtype)), attention

    def compute_output_shape(self, memory_shape, question_shape):
        return question_shape, memory_shape[:2]

    def compute_output_spec(self, memory, question):
        shapes = self.compute_output_shape(memory.shape, question.shape)
        dtypes = self.compute_dtype, float_type(self.compute_dtype)
        return tuple(map(keras.KerasTensor, shapes, dtypes))
