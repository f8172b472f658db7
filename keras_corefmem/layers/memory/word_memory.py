"""An episodic memory for each word of a sentence, for tagging."""

import keras
from keras import ops

from keras_corefmem.layers.core.masking import as_long_as, as_mask, clear_masked, mask_scores
from keras_corefmem.layers.kernels.activations import tanh
from keras_corefmem.layers.kernels.buffers import float_type, widen
from keras_corefmem.layers.memory.episodic_memory import EpisodicMemory


@keras.saving.register_keras_serializable("keras_corefmem")
class WordMemory(EpisodicMemory):
    """The `EpisodicMemory` of the words up to each word, for all words at once.

    ```
    m_i = EpisodicMemory(c_1 … c_i, q)
    ```

    With `"gated"` attention, the first episode of word i is the state `h_i` of a single GRU over
    all facts, as in the paper. Later passes have different gates for each word, since `m_i`
    differs, and cost O(time²) each.

    Args:
        units: int, width of the memory, the facts and the question.
        passes: int, number of passes; with 0, the question is returned.
        attention, compact, update, dropout: as in `EpisodicMemory`.

    Call arguments:
        facts: `(batch, time, units)`.
        question: `(batch, units)`.
        mask: bool `(batch, time)`, or `None`; padding is at the end.

    Returns:
        The memories `(batch, time, units)` and the gates of all passes, `(batch, passes, words,
        facts)`, float32, 0 where a fact is masked or after the word.

    Raises:
        ValueError: if an argument is not as described, or `end_of_passes`, `gate_loss` or
            `teacher_forcing` is set.

    Reference: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285), Sections 2.3 and 4.3.

    Example:
        >>> layer = keras_corefmem.layers.WordMemory(units=4, passes=2)
        >>> memories, gates = layer(np.ones((2, 5, 4)), np.ones((2, 4)))
        >>> tuple(memories.shape), tuple(gates.shape)
        ((2, 5, 4), (2, 2, 5, 5))
    """

    def __init__(
        self,
        units,
        passes=1,
        attention="gated",
        compact=False,
        update="gru",
        dropout=0.0,
        **kwargs,
    ):
        for name in ("end_of_passes", "gate_loss", "teacher_forcing"):
            if kwargs.get(name):
                raise ValueError(f"{name} is for one memory a text, not for one a word.")
        super().__init__(units, passes, attention, compact, update, dropout=dropout, **kwargs)

    def build(self, facts_shape, question_shape):
        super().build(facts_shape, question_shape)

    def score_all(self, facts, memories, question):
        """Computes scores `(batch, words, facts)` of all facts for the memories of all words."""
        kernel = ops.cast(self.hidden.kernel, facts.dtype)
        blocks = 4 if self.compact else 7
        rows = ops.split(kernel[: blocks * self.units], blocks)
        question, pairs = question[:, None], (facts[:, None], memories[:, :, None])
        by_fact = [(facts * question, rows[-4]), (ops.abs(facts - question), rows[-2])]
        by_pair = [(pairs[0] * pairs[1], rows[-3]), (ops.abs(pairs[0] - pairs[1]), rows[-1])]
        if not self.compact:
            by_fact += [(facts, rows[0]), (ops.broadcast_to(question, ops.shape(facts)), rows[2])]
        # Features of a fact or a memory alone are projected before the two are paired.
        hidden = _project(by_pair) + _project(by_fact)[:, None] + self.hidden.bias
        if not self.compact:
            projected = ops.matmul(facts, self.similarity)
            by_question = ops.sum(projected * question, axis=-1)[:, None, :, None]
            by_memory = ops.einsum("btd,bid->bit", projected, memories)[..., None]
            hidden = hidden + ops.matmul(memories, rows[1])[:, :, None]
            hidden = hidden + by_question * kernel[-2] + by_memory * kernel[-1]
        return widen(self.score(tanh(hidden))[..., 0])

    def call(self, facts, question, mask=None, facts_mask=None, training=None):
        self.check_shapes(facts, question)
        mask = facts_mask if mask is None else mask
        mask = as_mask(mask, batch=facts.shape[0], time=facts.shape[1])
        facts, question = clear_masked(facts, mask), as_long_as(question, facts)
        batch, time = ops.shape(facts)[:2]
        position = ops.arange(time)
        before = ops.broadcast_to(position[None, :, None] >= position, (batch, time, time))
        if mask is not None:
            before = ops.logical_and(before, mask[:, None])
        projected = None if self.attention == "softmax" else self.episode.project(facts)
        copies = ops.broadcast_to(question[:, None], ops.shape(facts))
        memories, gates_by_pass = copies, []
        for n, update in enumerate(self.updates):
            if n:
                scores = self.score_all(facts, memories, question)
            else:
                shared = self.scores_of(facts, question, question)
                scores = ops.broadcast_to(shared[:, None], (batch, time, time))
            gates = self.gates_of(mask_scores(scores, before))
            gates_by_pass.append(gates)
            if n or self.attention != "gated":
                episodes = self.read_all(facts, projected, gates, before)
            else:
                episodes = self.episode.run(projected, ops.sigmoid(shared), mask)
            flat = (ops.reshape(each, (-1, self.units)) for each in (memories, episodes, copies))
            new = self.next_memory(update, *flat, training)
            memories = ops.reshape(new, (batch, time, self.units))
        if not gates_by_pass:
            return memories, ops.zeros((batch, 0, time, time), float_type(facts))
        return memories, ops.stack(gates_by_pass, axis=1)

    def read_all(self, facts, projected, gates, before):
        """Returns episodes of one pass, `(batch, words, units)`, from the facts up to each word."""
        if self.attention == "softmax":
            return ops.matmul(ops.cast(gates, facts.dtype), facts)
        batch, time = ops.shape(facts)[:2]

        def by_word(tensor):
            return ops.reshape(tensor, (batch * time, time, *tensor.shape[3:]))

        width = projected.shape[-1]
        copies = ops.broadcast_to(projected[:, None], (batch, time, time, width))
        ends = self.episode.run(by_word(copies), by_word(gates), by_word(before), last=True)
        return ops.reshape(ends, (batch, time, self.units))

    def compute_output_shape(self, facts_shape, question_shape):
        batch, time, units = facts_shape
        return (batch, time, units), (batch, self.passes, time, time)


def _project(parts):
    """Sums the projections of features by their rows of a kernel."""
    features, rows = zip(*parts, strict=True)
    return ops.matmul(ops.concatenate(features, axis=-1), ops.concatenate(rows, axis=0))
