"""The episodic memory of dynamic memory networks (DMN and DMN+)."""

import keras
from keras import ops

from keras_corefmem.layers.core.hash_dropout import HashDropout
from keras_corefmem.layers.core.masking import (
    MASKED,
    as_long_as,
    as_mask,
    clear_masked,
    mask_scores,
)
from keras_corefmem.layers.core.serializable import inner_options, serializable
from keras_corefmem.layers.kernels.buffers import float_type, widen
from keras_corefmem.layers.kernels.edges import to_positions
from keras_corefmem.layers.rnn.gru import AttentionGRUCell, GRUCell
from keras_corefmem.utils.checks import check_position_type, check_shape, check_shares, check_sizes

ATTENTIONS = ("gated", "softmax", "attention_gru")
UPDATES = ("gru", "relu")


@serializable
class EpisodicMemory(keras.layers.Layer):
    """Reads facts in several passes, each with attention that depends on the memory so far.

    ```
    z(c, m, q) = [c, m, q, c ⊙ q, c ⊙ m, |c - q|, |c - m|, cᵀW q, cᵀW m]
    s = W₂ tanh(W₁ z + b₁) + b₂,   g = σ(s)
    e = last state of h_t = g_t GRU(c_t, h_{t-1}) + (1 - g_t) h_{t-1}
    m ← GRU(e, m),   m = q before the first pass
    ```

    Args:
        units: int, width of the memory, the facts and the question.
        passes: int, maximum number of passes; with 0, the question is returned.
        attention: `"gated"` as above; `"softmax"`, where `e = Σ softmax(s)_t c_t`; or
            `"attention_gru"`, where `softmax(s)_t` is the update gate of the GRU (DMN+).
        compact: bool, whether `z = [c ⊙ q, c ⊙ m, |c - q|, |c - m|]` (DMN+).
        update: `"gru"`, or `"relu"`: `m ← ReLU(W [m, e, q] + b)` with weights for each pass (DMN+).
        end_of_passes: bool, whether to append a learned fact that ends the reading: a pass that
            attends to it most leaves the memory unchanged, and so do all later passes.
        gate_loss: float, weight of a loss that makes passes attend to their supporting facts f: the
            mean of `-log softmax(s)_f` or, with `"gated"`, of `-log g_f - Σ log(1 - g_t)` over the
            other facts t. With `end_of_passes`, the pass after that of the last supporting fact
            should attend to the end. On JAX, a layer that is called more than once keeps only its
            last loss, unless the model is a `ReportsSupervision`.
        dropout: float, fraction of the units of the memory to drop after each pass.
        teacher_forcing: bool, whether in training the reading ends after a pass for each
            supporting fact, if they are known, instead of when the gates end it. It needs
            `end_of_passes`.
            Without it, all passes are the same as long as the gates end the reading at once.

    Call arguments:
        facts: `(batch, time, units)`.
        question: `(batch, units)`.
        supporting_facts: int `(batch, n)`, the 1-based fact f of each of the first passes, padded
            with 0 at the end, for `gate_loss` and `teacher_forcing`. The loss ignores facts that
            are masked, out of range or no integers.
        mask: bool `(batch, time)`, or `None`.

    Returns:
        The memory `(batch, units)` and the gates of all passes, `(batch, passes, time)`, float32: g
        or, without `"gated"`, `softmax(s)`; 0 where a fact is masked. With `end_of_passes`, there
        is one more column for the fact that ends the reading, and all later passes have gates of 0.

    Raises:
        ValueError: if an argument is not as described.

    References: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285), Section 2.3; DMN+:
    [Xiong et al., ICML 2016](https://arxiv.org/abs/1603.01417).

    Example:
        >>> layer = keras_corefmem.layers.EpisodicMemory(units=4, passes=2)
        >>> memory, gates = layer(np.ones((2, 5, 4)), np.ones((2, 4)))
        >>> tuple(memory.shape), tuple(gates.shape)
        ((2, 4), (2, 2, 5))
    """

    def __init__(
        self,
        units,
        passes=3,
        attention="gated",
        compact=False,
        update="gru",
        end_of_passes=False,
        gate_loss=0.0,
        dropout=0.0,
        teacher_forcing=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_sizes(units=units)
        check_sizes(0, passes=passes)
        check_shares(dropout=dropout)
        chosen = ("attention", attention, ATTENTIONS), ("update", update, UPDATES)
        for name, value, choices in chosen:
            if value not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
        if gate_loss < 0:
            raise ValueError(f"gate_loss must not be negative, got {gate_loss}.")
        if teacher_forcing and not end_of_passes:
            raise ValueError("teacher_forcing is about where passes end: set end_of_passes, too.")
        self.units, self.passes, self.attention = units, passes, attention
        self.compact, self.update, self.end_of_passes = compact, update, end_of_passes
        self.gate_loss, self.dropout = gate_loss, dropout
        self.teacher_forcing = teacher_forcing
        self.drop = HashDropout(dropout, **inner_options(self, name="dropout"))

    def build(self, facts_shape, question_shape, supporting_facts_shape=None):
        if not facts_shape[-1] == question_shape[-1] == self.units:
            raise ValueError(
                f"Facts and question must be {self.units} wide, as the memory; got "
                f"{facts_shape[-1]} and {question_shape[-1]}."
            )
        own = inner_options(self)
        width = (4 if self.compact else 7) * self.units + (0 if self.compact else 2)
        self.hidden = keras.layers.Dense(self.units, activation="tanh", name="gate_hidden", **own)
        self.score = keras.layers.Dense(1, name="gate_score", **own)
        self.hidden.build((None, width))
        self.score.build((None, self.units))
        if not self.compact:
            self.similarity = self.add_weight(name="similarity", shape=(self.units, self.units))
        if self.attention != "softmax":
            self.episode = AttentionGRUCell(
                self.units, update_gate=self.attention == "gated", name="episode", **own
            )
            self.episode.build((None, self.units + 1))
        if self.update == "gru":
            self.memory = GRUCell(self.units, name="memory", **own)
            self.memory.build((None, self.units))
            self.updates = [self.memory] * self.passes
        else:
            self.updates = [
                keras.layers.Dense(self.units, activation="relu", name=f"memory_{n}", **own)
                for n in range(1, self.passes + 1)
            ]
            for layer in self.updates:
                layer.build((None, 3 * self.units))
        if self.end_of_passes:
            self.end = self.add_weight(name="end_of_passes", shape=(1, 1, self.units))

    def check_shapes(self, facts, question, supporting_facts=None):
        check_shape("facts", facts, batch=None, time=None, units=self.units)
        check_shape("question", question, batch=facts.shape[0], units=self.units)
        check_shape("supporting_facts", supporting_facts, batch=facts.shape[0], n=None)

    def features(self, facts, memory, question):
        """Computes the inputs z of the gate network for all facts, `(batch, time, width)`."""
        pairs = [vector[:, None] for vector in (question, memory)]
        products = [facts * vector for vector in pairs]
        distances = [ops.abs(facts - vector) for vector in pairs]
        if self.compact:
            return ops.concatenate([*products, *distances], axis=-1)
        projected = ops.matmul(facts, self.similarity)
        bilinear = [ops.sum(projected * vector, axis=-1, keepdims=True) for vector in pairs]
        copies = [ops.broadcast_to(vector, ops.shape(facts)) for vector in pairs[::-1]]
        return ops.concatenate([facts, *copies, *products, *distances, *bilinear], axis=-1)

    def scores_of(self, facts, memory, question):
        hidden = self.hidden(self.features(facts, memory, question))
        return widen(self.score(hidden)[..., 0])

    def gates_of(self, scores):
        if self.attention == "gated":
            return ops.sigmoid(scores)
        # If all facts are masked, the softmax alone would attend to each of them.
        return ops.where(scores > MASKED, ops.softmax(scores, axis=-1), 0.0)

    def read(self, facts, projected, gates, mask):
        if self.attention == "softmax":
            return ops.einsum("bt,btd->bd", ops.cast(gates, facts.dtype), facts)
        return self.episode.run(projected, gates, mask, last=True)

    def next_memory(self, update, memory, episode, question, training):
        if self.update == "gru":
            new, _ = update(episode, [memory])
        else:
            new = update(ops.concatenate([memory, episode, question], axis=-1))
        return self.drop(new, training=training)

    def call(
        self, facts, question, supporting_facts=None, mask=None, facts_mask=None, training=None
    ):
        self.check_shapes(facts, question, supporting_facts)
        if supporting_facts is not None:
            dtype = keras.backend.standardize_dtype(supporting_facts.dtype)
            check_position_type("supporting_facts", dtype)
            supporting_facts = as_long_as(to_positions(supporting_facts), facts)
        mask = facts_mask if mask is None else mask
        mask = as_mask(mask, batch=facts.shape[0], time=facts.shape[1])
        facts, question = clear_masked(facts, mask), as_long_as(question, facts)
        batch = ops.shape(facts)[0]
        if self.end_of_passes:
            end = ops.broadcast_to(ops.cast(self.end, facts.dtype), (batch, 1, self.units))
            facts = ops.concatenate([facts, end], axis=1)
            if mask is not None:
                mask = ops.concatenate([mask, ops.ones((batch, 1), dtype="bool")], axis=1)
        projected = None if self.attention == "softmax" else self.episode.project(facts)
        memory, scores_by_pass, gates_by_pass = question, [], []
        reading = ops.ones((batch, 1), dtype="bool")
        count = None
        if training and self.teacher_forcing and supporting_facts is not None:
            count = ops.sum(ops.cast(supporting_facts > 0, "int32"), axis=-1)
        for number, update in enumerate(self.updates, 1):
            scores = mask_scores(self.scores_of(facts, memory, question), mask)
            scores_by_pass.append(scores)
            gates = self.gates_of(scores)
            gates_by_pass.append(ops.where(reading, gates, 0.0))
            episode = self.read(facts, projected, gates, mask)
            new = self.next_memory(update, memory, episode, question, training)
            if self.end_of_passes:
                going_on = ops.max(scores[:, :-1], axis=-1, initial=MASKED) >= scores[:, -1]
                if count is not None:
                    going_on = ops.where(count > 0, number <= count, going_on)
                reading = ops.logical_and(reading, going_on[:, None])
                new = ops.where(reading, new, memory)
            memory = new
        if not gates_by_pass:
            return memory, ops.zeros((batch, 0, ops.shape(facts)[1]), float_type(facts))
        if self.gate_loss and supporting_facts is not None:
            scores = ops.stack(scores_by_pass, axis=1)
            gated = self.attention == "gated"
            loss = _supervision_loss(scores, supporting_facts, self.end_of_passes, gated)
            self.add_loss(self.gate_loss * loss)
        return memory, ops.stack(gates_by_pass, axis=1)

    def compute_output_shape(self, facts_shape, question_shape, supporting_facts_shape=None):
        batch, time, units = facts_shape
        if time is not None and self.end_of_passes:
            time += 1
        return (batch, units), (batch, self.passes, time)

    def compute_output_spec(self, facts, question, *args, **kwargs):
        memory, gates = self.compute_output_shape(facts.shape, question.shape)
        memory = keras.KerasTensor(memory, dtype=self.compute_dtype)
        return memory, keras.KerasTensor(gates, dtype=float_type(self.compute_dtype))

    def compute_mask(self, *args, **kwargs):
        return None


def _supervision_targets(facts, passes, time, end_of_passes):
    """Returns the 1-based column that each pass should attend to, 0 = any, `(batch, passes)`."""
    count = ops.sum(ops.cast(facts > 0, "int32"), axis=-1, keepdims=True)
    facts = ops.pad(facts[:, :passes], ((0, 0), (0, max(0, passes - facts.shape[1]))))
    facts = ops.where(facts <= time - int(end_of_passes), facts, 0)
    if not end_of_passes:
        return facts
    ends = ops.logical_and(ops.arange(passes)[None] == count, count > 0)
    return ops.where(ends, time, facts)


def _supervision_loss(scores, facts, end_of_passes, gated):
    """Returns the mean cross-entropy over passes that should attend to a certain fact, or 0.

    It is that of a softmax over the facts or, if `gated`, of a sigmoid for each fact.
    """
    passes, time = ops.shape(scores)[1:]
    targets = _supervision_targets(facts, passes, time, end_of_passes)
    # There is a column to look up then, also in texts without facts.
    scores = ops.pad(scores, ((0, 0), (0, 0), (0, 1)), constant_values=MASKED)
    index = ops.maximum(targets, 1)[..., None] - 1
    chosen = ops.take_along_axis(scores, index, axis=-1)[..., 0]
    supervised = ops.cast(ops.logical_and(targets > 0, chosen > MASKED), scores.dtype)
    others = ops.sum(ops.softplus(scores), -1) if gated else ops.logsumexp(scores, axis=-1)
    return ops.sum(supervised * (others - chosen)) / ops.maximum(ops.sum(supervised), 1)
