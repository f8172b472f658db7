"""The memory of end-to-end memory networks (MemN2N)."""

import keras
from keras import ops

from keras_corefmem.layers.core.masking import mask_scores
from keras_corefmem.layers.core.serializable import serializable
from keras_corefmem.layers.embedding.sentence_encoders import encode_words, position_factors
from keras_corefmem.layers.kernels.buffers import float_type
from keras_corefmem.utils.checks import check_shape, check_shares, check_sizes


@serializable
class EndToEndMemory(keras.layers.Layer):
    """Attends to sentences several times, with embeddings tied between adjacent hops.

    ```
    m_i = Σ_j l_j ⊙ A^k x_ij + T^k_i,   c_i = Σ_j l_j ⊙ A^{k+1} x_ij + T^{k+1}_i
    p_i = exp(u·m_i) / (Σ_j exp(u·m_j) + number of empty slots)
    u ← u + Σ_i p_i c_i,   u = Σ_j l_j ⊙ A^1 q_j before the first hop
    ```

    `l` is twice the factors of `PositionEncoding`, and `T_i` belongs to the i-th sentence from the
    end. As in the authors' code, factors are 1 on average, the memory has `max_sentences` slots,
    and attention to empty slots reads nothing: with a softmax over the sentences alone, the network
    overfits. While the weight `linear` is 1, there is no softmax: `p = u·m`, see `zoo.LinearStart`.

    Args:
        vocabulary_size: int, number of token ids.
        units: int, width d of embeddings.
        hops: int, number K of hops.
        max_sentences: int, number of slots; older sentences share the time vector of the first.
        sentence_length: int, words of the longest sentence or question.
        answer_tokens: list of the token id of each answer; the table of the last hop scores them.
        time_noise: float, share of empty sentences that training inserts at random, which moves
            earlier sentences back in time.
        seed: int, seed of the noise.

    Call arguments:
        sentences: int token ids `(batch, time, words)`; a sentence of zeros is padding.
        question: int token ids `(batch, words)`.

    Returns:
        Logits `(batch, answers)` and the attention of every hop `(batch, hops, time)`, float32.

    Raises:
        ValueError: if a size is less than 1, `time_noise` is not from 0 to 1, or there are not as
            many questions as texts.

    Reference: [Sukhbaatar et al., NIPS 2015](https://arxiv.org/abs/1503.08895).

    Example:
        >>> layer = keras_corefmem.layers.EndToEndMemory(
        ...     9, 4, hops=2, max_sentences=5, sentence_length=3, answer_tokens=[0, 6, 7])
        >>> logits, attention = layer(np.array([[[2, 3, 0], [4, 5, 6]]]), np.array([[7, 8, 0]]))
        >>> tuple(logits.shape), tuple(attention.shape)
        ((1, 3), (1, 2, 2))
    """

    def __init__(
        self,
        vocabulary_size,
        units,
        hops,
        max_sentences,
        sentence_length,
        answer_tokens,
        time_noise=0.1,
        seed=0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_sizes(vocabulary_size=vocabulary_size, units=units, hops=hops)
        check_sizes(max_sentences=max_sentences, sentence_length=sentence_length)
        check_shares(time_noise=time_noise)
        self.vocabulary_size, self.units, self.hops = vocabulary_size, units, hops
        self.max_sentences, self.sentence_length = max_sentences, sentence_length
        self.answer_tokens = list(answer_tokens)
        self.time_noise, self.seed = time_noise, seed
        self.factors = 2 * position_factors(sentence_length, units)
        self.generator = keras.random.SeedGenerator(seed)

    def build(self, sentences_shape, question_shape):
        def tables(name, rows):
            normal, shape = keras.initializers.RandomNormal, (rows, self.units)
            names = [f"{name}_{n}" for n in range(self.hops + 1)]
            return [self.add_weight(shape, normal(stddev=0.1), name=name) for name in names]

        self.tables = tables("embedding", self.vocabulary_size)
        self.times = tables("time", self.max_sentences)
        self.linear = self.add_weight(name="linear", shape=(), trainable=False, initializer="zeros")

    def ages(self, read, training):
        """Returns the number of sentences after each one, `(batch, time)`."""
        ones = ops.cast(read, "int32")
        if training and self.time_noise:
            noise = keras.random.uniform(ops.shape(read), seed=self.generator)
            ones = ones * (1 + ops.cast(noise < self.time_noise, "int32"))
        behind = ops.flip(ops.cumsum(ops.flip(ones, axis=1), axis=1), axis=1)
        return ops.clip(behind - 1, 0, self.max_sentences - 1)

    def encode(self, n, tokens):
        vectors = ops.take(self.tables[n], tokens, axis=0)
        return encode_words(vectors, self.factors, ops.not_equal(tokens, 0))

    def call(self, sentences, question, training=None):
        check_shape("question", question, batch=sentences.shape[0], words=None)
        read = ops.any(ops.not_equal(sentences, 0), axis=-1)
        ages = self.ages(read, training)
        vectors = [
            self.encode(n, sentences) + ops.take(self.times[n], ages, axis=0)
            for n in range(self.hops + 1)
        ]
        state, attentions = self.encode(0, question), []
        empty = self.max_sentences - ops.sum(ops.cast(read, "float32"), axis=1, keepdims=True)
        nothing = ops.log(ops.maximum(empty, 0.0))
        for memory, output in zip(vectors[:-1], vectors[1:], strict=True):
            scores = mask_scores(ops.einsum("bd,btd->bt", state, memory), read)
            soft = ops.softmax(ops.concatenate([scores, nothing], axis=1), axis=-1)[:, :-1]
            attention = ops.where(read, ops.where(self.linear > 0, scores, soft), 0.0)
            attentions.append(attention)
            state = state + ops.einsum("bt,btd->bd", ops.cast(attention, output.dtype), output)
        answers = ops.take(self.tables[-1], self.answer_tokens, axis=0)
        logits = ops.matmul(state, ops.transpose(answers))
        return ops.cast(logits, "float32"), ops.stack(attentions, axis=1)

    def compute_output_shape(self, sentences_shape, question_shape):
        batch, time, _ = sentences_shape
        return (batch, len(self.answer_tokens)), (batch, self.hops, time)

    def compute_output_spec(self, sentences, question, training=None):
        logits, attention = self.compute_output_shape(sentences.shape, question.shape)
        logits = keras.KerasTensor(logits, dtype="float32")
        return logits, keras.KerasTensor(attention, dtype=float_type(self.compute_dtype))
