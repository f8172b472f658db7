"""The Gated-Attention Reader."""

from __future__ import annotations

from typing import Any

import keras

from keras_corefmem.utils.deprecation import renamed_arguments
from zoo.architectures.config import (
    AnswerHead,
    Carry,
    EdgeTypes,
    Encoder,
    Learned,
    LearnedCount,
    Order,
    Share,
    Size,
    Sizes,
)
from zoo.architectures.passage.reader_model import ReaderModel
from zoo.configs.renamed import RENAMED


@keras.saving.register_keras_serializable("keras_corefmem")
class GatedAttentionReader(ReaderModel):
    """Reads a passage in K layers, between which the question gates its tokens.

    ```
    D^k = encoder(X^{k-1}),  Q^k = encoder(Q^{k-1})
    A^k = softmax(D^k (Q^k)ᵀ)
    X^k = dropout(D^k ⊙ (A^k Q^k)),  k < K
    q = last forward state of Q^K ‖ first backward state of Q^K
    P(c) ∝ Σ_{t mentions c} exp(D^K_t · q)
    ```

    `X^0` and `Q^0` are word vectors. With `joint`, one encoder reads passage and question as one
    sequence; otherwise each has its own encoder, as in the paper. With
    `answer_head="classification"`, `P` is a softmax over `W Σ_t s_t D^K_t + b` with
    `s = softmax(D^K q)`; with `"pointer_or_class"` it is
    `g P_pointer + (1 - g) P_class`, `g = sigmoid(v · q + c)`, over its sum without the unknown
    answer, which `P_class` includes.

    Args:
        vocabulary_size: int, number of token ids.
        num_answers: int, number of answers; answer 0 is the unknown one and never predicted.
        encoder: str or layer, `"gru"`, `"one_hot"`, `"dag_rnn"`, `"mage_gru"`, `"mage_gru_shared"`
            or `"coref_gru"`, also with hyphens; or any Keras layer that returns a state for each
            token. Each use of the layer is a copy with its own weights, which is called with the
            `antecedents` or `sources` of the tokens if its `call` takes them. If it takes no
            `mask`, padding is zeros behind all tokens; in a joint sequence whose structure it
            reads, also between the parts.
        units: int, width of the state per direction of a named encoder; even for a `coref_gru`.
        edge_units: int or list of ints, how many of the units the edges of each type carry in a
            `mage_gru`; the rest, at least one, is for the sequence.
        carry: str, carry rule of a MAGE-GRU: `"gathered"`, `"previous"` or `"mixed"`.
        edge_types: list of str, the edge types that an encoder of `sources` reads, in the order of
            `edge_units`, such as `["coreference", "dependency", "married_to"]`, see
            `ReaderPreprocessor`. The backward direction reads each edge from target to source.
        edge_attention: bool, whether a MAGE-GRU weights the edges into a token by attention.
        max_sources: int, largest number of edges of one type into a token; the nearest are kept.
        embedding_dim: int, width of the word vectors.
        dropout: float, dropout rate of the passage between layers and before the output, with one
            mask for all tokens of a sequence.
        max_chains: int, number of chains of the one-hot baseline.
        num_characters: int, number of character ids, 0 if characters are not read.
        word_length: int, number of characters of a word that are read.
        character_units: int, number of filters of width 5 over the characters of a word, which have
            vectors of 10 units.
        character_activation: str, activation of these filters.
        answer_head: str, `"pointer_sum"` if the answer is a word of the passage, `"span_sum"` if it
            is a candidate of several words, `"classification"`, or `"pointer_or_class"`, a mixture
            of a pointer sum and a classification.
        joint: bool, whether question and passage are one sequence, linked by coreference.
        order: str, order of the joint sequence: `"question_first"`, `"passage_first"`, or
            `"random"`, which depends on the words of each text, as in Section 3.3 of the paper on
            the MAGE-GRU.
        question_overlap: bool, whether each word of the passage has a feature that says if the
            question contains it too.
        layers: int, number K of layers.
        tied: bool, whether all layers share their weights, except the first, which reads word
            vectors; this makes a difference from three layers on.
        preprocessor: the `ReaderPreprocessor` or `CandidatePreprocessor` (or its configuration)
            that turns text into features.
        name: str, name of the model.
        trainable: bool, whether its weights are trained.
        dtype: str or `keras.DTypePolicy`, precision, such as `"mixed_bfloat16"`; `None` for Keras'
            default.

    Input: a dictionary of int32 features, listed by `model.features`: `passage` `(batch, time)`,
    `question` `(batch, question time)`; for both, depending on the encoder, `_antecedents` or
    `_chains` of the same shape, or `_sources` `(batch, time, edge types, max_sources)`; with
    characters, `_characters` `(batch, time, word_length)`; with `question_overlap`, `passage_asked`
    `(batch, time)`; and `candidates`, `(batch, time)` for a pointer sum or bool `(batch, time,
    num_answers)` for a span sum.

    Output: logits `(batch, num_answers)`, float32. `attend` returns the attention over the passage
    `(batch, time)`, whose rows sum to 1. A pointer sum attends only to mentions of answers, and
    rows without any are 0.

    Raises:
        ValueError: if an argument is invalid, or the preprocessor does not fit the model.

    Reference: [Dhingra et al., ACL 2017](https://arxiv.org/abs/1606.01549); encoders from
    [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620) and
    [Dhingra et al., NAACL 2018](https://arxiv.org/abs/1804.05922); mixture from
    [Gulcehre et al., ACL 2016](https://arxiv.org/abs/1603.08148).

    Example:

    >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
    >>> reader = zoo.GatedAttentionReader.from_examples(stories, units=4, layers=2)
    >>> reader.output.shape[-1] == len(reader.preprocessor.answers)
    True
    """

    @renamed_arguments(**RENAMED)
    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        encoder: Encoder = "coref_gru",
        units: Size = 64,
        edge_units: Sizes = 24,
        carry: Carry = "mixed",
        edge_types: EdgeTypes = ("coreference",),
        edge_attention: bool = False,
        max_sources: Learned = 1,
        embedding_dim: Size = 64,
        dropout: Share = 0.2,
        max_chains: Size = 32,
        num_characters: LearnedCount = 0,
        word_length: Size = 15,
        character_units: Size = 50,
        character_activation: Any = "tanh",
        answer_head: AnswerHead = "pointer_sum",
        joint: bool = True,
        order: Order = "question_first",
        question_overlap: bool = False,
        layers: Size = 3,
        tied: bool = False,
        preprocessor: Any = None,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        super().__init__(locals())
