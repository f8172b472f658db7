"""The dynamic memory network for classification and tagging of single sentences."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import keras
import pydantic
from keras import ops

from keras_corefmem.layers import MAGEGRU, CharacterCNN, EpisodicMemory, HashDropout, WordMemory
from keras_corefmem.text import UNKNOWN
from zoo.architectures.config import LEARNED, Count, Factor, Learned, LearnedCount, Share, Size
from zoo.architectures.precision import answer_dtype
from zoo.architectures.sentences.sentence_model import SentenceModel


@keras.saving.register_keras_serializable("keras_corefmem")
class SentenceDynamicMemoryNetwork(SentenceModel):
    """Reads a sentence in several passes over its words, which are the facts.

    ```
    x_t = [E w_t ; CharacterCNN(characters of w_t)]
    c_t = state of a GRU over x at word t, s = its last state
    m = EpisodicMemory(c, q),           P = softmax(W [m ; s] + b)            (class)
    m_i = EpisodicMemory(c_1 … c_i, q), P_i = softmax(W [m_i ; c_i] + b)      (tags)
    ```

    The paper leaves three things open. A sentence has no question: here, q is one learned vector
    for all sentences. The answer depends on the memory and on the last state of the input (for
    tags, that of the word), so that there is an answer even without passes. In all its passes, a
    tagger reads for each word the sentence up to that word, which is the paper's e_i = h_i in the
    first pass.

    Args:
        vocabulary_size: int, number of word ids.
        num_answers: int, number of answers; answer 0 is the unknown one and never predicted.
        num_characters: int, number of character ids; 0 if characters are not read.
        word_length: int, number of characters of a word.
        output: str, `"class"`, or `"tags"` for an answer for each word.
        embedding_dim: int, width of word vectors.
        units: int, width of facts and memory, with both directions together.
        passes: int, number of passes.
        attention: str, see `EpisodicMemory`.
        compact: bool, see `EpisodicMemory`.
        update: str, see `EpisodicMemory`.
        bidirectional: bool, whether the GRU reads in both directions, each with half the width.
        character_dim: int, width of character vectors.
        filters: int, number of filters of each width of the `CharacterCNN`.
        filter_widths: tuple, widths of the filters.
        word_dropout: float, fraction of the words that are read as unknown in training, so that the
            model learns from their characters and neighbours.
        dropout: float, fraction of the units of word vectors, facts and answer module to drop.
        l2: float, factor of an L2 penalty on all weights except biases.
        preprocessor: the `SentencePreprocessor` (or its configuration) that turns text into
            features.
        name: str, name of the model.
        trainable: bool, whether its weights are trained.
        dtype: str or `keras.DTypePolicy`, precision, such as `"mixed_bfloat16"`; `None` for Keras'
            default.

    Input: a dictionary of int32 features: `words` `(batch, time)` and, if characters are read,
    `characters` `(batch, time, word_length)`. Padding is 0, at the end.

    Output: logits `(batch, num_answers)`, or `(batch, time, num_answers)` for tags, float32.

    `attend` returns the attention of all passes: `(batch, words, passes)`, for tags `(batch, words,
    facts, passes)`. Without passes there is none.

    Raises:
        ValueError: if `units` is odd and `bidirectional` is set, or an argument is invalid.

    Reference: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285), Sections 4.2 and 4.3.

    Example:

    >>> from keras_corefmem.datasets.sentences.sentence import Sentence
    >>> sentences = [Sentence(("great", "film"), "good"), Sentence(("bad", "film"), "bad")]
    >>> model = zoo.SentenceDynamicMemoryNetwork.from_examples(sentences, units=4)
    >>> model.features
    ('words',)
    """

    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        num_characters: LearnedCount = 0,
        word_length: Size = 16,
        output: Annotated[Literal["class", "tags"], LEARNED] = "class",
        embedding_dim: Size = 50,
        units: Size = 64,
        passes: Count = 2,
        attention: Literal["gated", "softmax", "attention_gru"] = "gated",
        compact: bool = False,
        update: Literal["gru", "relu"] = "gru",
        bidirectional: bool = True,
        character_dim: Size = 16,
        filters: Size = 32,
        filter_widths: Annotated[tuple[Size, ...], pydantic.Field(strict=False)] = (2, 3, 4),
        word_dropout: Share = 0.0,
        dropout: Share = 0.3,
        l2: Factor = 0.0,
        preprocessor: Any = None,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        super().__init__(locals())

    @classmethod
    def check_arguments(cls, config):
        if config.bidirectional and config.units % 2:
            raise ValueError(f"units must be even where bidirectional, got {config.units}.")

    @staticmethod
    def read_sentence(inputs, read, config):
        units, words = config.units, inputs["words"]
        drop = HashDropout(config.dropout, noise_shape=(None, 1, None))
        half = units // 2 if config.bidirectional else units
        encode = MAGEGRU((half,), bidirectional=config.bidirectional, name="input_gru")
        states = encode(drop(vectors(inputs, config)), mask=read)
        # There is one question, number 0.
        question = keras.layers.Embedding(1, units, name="question")(ops.zeros_like(words[:, 0]))
        options = {
            name: getattr(config, name) for name in ("passes", "attention", "compact", "update")
        }
        if config.output == "tags":
            episodes = WordMemory(units, **options, name="episodic_memory")
            last = states
        else:
            episodes = EpisodicMemory(units, **options, name="episodic_memory")
            # Padding keeps the state.
            last = ops.concatenate([states[:, -1, :half], states[:, 0, half:]], axis=-1)
        memory, gates = episodes(drop(states), question, mask=read)
        both = ops.concatenate([memory, last], axis=-1)
        both = HashDropout(config.dropout, name="answer_dropout")(both)
        logits = keras.layers.Dense(config.num_answers, dtype=answer_dtype(), name="answer")(both)
        if not config.passes:
            return logits, None
        attention = ops.moveaxis(gates, 1, -1)
        if config.output == "tags":
            attention = ops.where(read[:, :, None, None], attention, 0.0)
        return logits, attention


def vectors(inputs, config):
    """Embeds words, with their characters if these are read."""
    table = keras.layers.Embedding(
        config.vocabulary_size, config.embedding_dim, name="word_embedding"
    )
    words = inputs["words"]
    kept = HashDropout(config.word_dropout, name="word_dropout")(ops.ones_like(words, "float32"))
    x = table(ops.where(kept > 0, words, UNKNOWN))
    if not config.num_characters:
        return x
    characters = inputs["characters"]
    letters = keras.layers.Embedding(
        config.num_characters, config.character_dim, name="character_embedding"
    )
    spell = CharacterCNN(config.filters, config.filter_widths, name="character_cnn")
    spelt = spell(letters(characters), mask=ops.not_equal(characters, 0))
    return ops.concatenate([x, spelt], axis=-1)
