"""BiDAF with supervised self-attention."""

from __future__ import annotations

import functools
from typing import Any, Literal

import keras
from keras import ops

from keras_corefmem import callbacks as boards
from keras_corefmem.layers import AttentionSum, ReportsSupervision, SpelledWords, WordPieces
from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from keras_corefmem.visualization import views
from zoo.architectures.config import (
    Carry,
    EdgeTypes,
    Encoder,
    ExamplesMethod,
    Factor,
    Layer,
    Learned,
    LearnedCount,
    Share,
    Size,
    Sizes,
)
from zoo.architectures.passage.bidaf_graph import bidaf_inputs, build_bidaf
from zoo.architectures.passage.encoders import copy_layer, structure_read
from zoo.architectures.passage.parts import attend, readable_tokens
from zoo.architectures.passage.passage_model import PassageModel
from zoo.architectures.passage.supervision import (
    SELF_ATTENTION,
    as_sequences,
    plan_supervision,
)
from zoo.architectures.sentences.character_language_model import load_language_model
from zoo.architectures.text_model import Graph


@keras.saving.register_keras_serializable("keras_corefmem")
class BiDAFReader(ReportsSupervision, PassageModel):
    """Attends from passage to question and back, with self-attention supervised by structure.

    ```
    X = Highway(words ‖ CharacterCNN(characters)),  of passage and question
    H, U = encoder(X),  or with early self-attention AttentionEncoder(X)
    G = LayerNorm(BidirectionalAttention(H, U)),  with late self-attention AttentionEncoder(G)
    M = LayerNorm(two bidirectional encoders(G))
    P(c) ∝ Σ_{t mentions c} exp(w · [G_t ; M_t])
    ```

    Supervised heads have the loss of `SupervisedMultiHeadAttention`. The loss of each head and its
    attention mass on targets are in the logs of `fit` and `evaluate`, as `<signal>_loss` and
    `<signal>_attention_mass`.

    Args:
        vocabulary_size: int, number of token ids.
        num_answers: int, largest number of candidates of a passage, plus one.
        encoder: str or layer, recurrent encoder of the contextual or the modeling layer, as for a
            `GatedAttentionReader`: `"gru"`, `"coref_gru"`, `"mage_gru"` or any Keras layer, for
            instance. The other layer has GRUs.
        encoder_at: str, layer of the encoder, `"contextual"` or `"modeling"`.
        self_attention: str, `"none"`; `"early"`, in place of the contextual encoder; `"late"`,
            after the bidirectional attention; or `"both"`.
        supervision: list, names of signals that supervise one head each, see `attention_pairs`;
            or sequences of a signal, `"early"` or `"late"`, a layer (from 1) and a head (from 0),
            whose last items may be left out. The default is layer 3 of the first place, or its last
            layer if it has fewer, and the next free head.
        loss_weight: float, λ, the weight of the loss of supervision.
        row_weight: str, `"count"` or `"mean"`, see `SupervisedMultiHeadAttention`.
        units: int, width of the state per direction; attention is twice as wide.
        early_layers: int, number of layers of early self-attention.
        late_layers: int, number of layers of late self-attention.
        heads: int, number of heads of each of these layers.
        inner_units: int, width of the hidden layers of their feed-forward networks.
        edge_units: int or list of ints, how many of the units the edges of each type carry in a
            `mage_gru`; the rest, at least one, is for the sequence.
        carry: str, carry rule of a MAGE-GRU: `"gathered"`, `"previous"` or `"mixed"`.
        edge_types: list of str, the edge types that an encoder of `sources` reads, in the order of
            `edge_units`, such as `["coreference", "dependency", "married_to"]`, see
            `ReaderPreprocessor`. The backward direction reads each edge from target to source.
        edge_attention: bool, whether a MAGE-GRU weights the edges into a token by attention.
        max_sources: int, largest number of edges of one type into a token; the nearest are kept.
        embedding_dim: int, width of the word vectors.
        dropout: float, dropout rate of all layers, with one mask for all tokens of a sequence.
        joint: bool, whether the contextual encoder reads passage and question as one sequence with
            common chains, rather than separately; with `None`, it does if it reads structure.
        max_chains: int, number of chains of a `"one_hot"` encoder.
        num_characters: int, number of character ids, 0 if characters are not read.
        word_length: int, number of characters of a word that are read.
        character_units: int, number of filters of width 5 over the characters of a word.
        freeze_word_vectors: bool, whether word vectors are not trained.
        word_encoder: a Keras layer or registered function from word ids to contextual vectors,
            which replace word vectors, see `ContextualVectors`.
        freeze_word_encoder: bool, whether the word encoder is not trained.
        answer_head: str, `"pointer_sum"` if candidates are single words, or `"span_sum"` if they
            may be longer.
        preprocessor: the `CandidatePreprocessor` (or its configuration) that turns text into
            features.
        name: str, name of the model.
        trainable: bool, whether its weights are trained.
        dtype: str or `keras.DTypePolicy`, precision, such as `"mixed_bfloat16"`; `None` for Keras'
            default.

    Input: a dictionary of int32 features, listed by `model.features`: those of a
    `GatedAttentionReader`,
    `passage_targets_<signal>` `(batch, pairs, 2)` and, if a head attends within sentences,
    `passage_sentences` `(batch, time)`. Targets affect only the loss.

    Output: logits `(batch, num_answers)`, float32. `attend` returns the attention over the passage
    `(batch, time)`, `look` that of supervised heads.

    Raises:
        ValueError: if an argument is invalid.

    References: Cheng and Erk, "Attending to Entities for Better Text Understanding",
    [AAAI 2020](https://arxiv.org/abs/1911.04361); [Seo et al., ICLR
    2017](https://arxiv.org/abs/1611.01603).

    Example:

    >>> Example = keras_corefmem.datasets.Example
    >>> examples = [Example(("Mary left .", "Fred met her ."), "home went", "mary")]
    >>> sizes = {"units": 4, "heads": 2, "inner_units": 8, "early_layers": 1}
    >>> reader = zoo.BiDAFReader.from_examples(examples, self_attention="early", **sizes)
    >>> reader.signals
    ()
    """

    # Arguments that other readers leave open.
    FIXED = {
        "order": "passage_first",
        "question_overlap": False,
        "character_activation": "relu",
    }

    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        encoder: Encoder = "gru",
        encoder_at: Literal["contextual", "modeling"] = "contextual",
        self_attention: Literal["none", "early", "late", "both"] = "none",
        supervision: Any = (),
        loss_weight: Factor = 0.3,
        row_weight: Literal["count", "mean"] = "count",
        units: Size = 100,
        early_layers: Size = 4,
        late_layers: Size = 1,
        heads: Size = 4,
        inner_units: Size = 512,
        edge_units: Sizes = 24,
        carry: Carry = "mixed",
        edge_types: EdgeTypes = ("coreference",),
        edge_attention: bool = False,
        max_sources: Learned = 1,
        embedding_dim: Size = 100,
        dropout: Share = 0.2,
        joint: bool | None = None,
        max_chains: Size = 32,
        num_characters: LearnedCount = 0,
        word_length: Size = 15,
        character_units: Size = 100,
        freeze_word_vectors: bool = False,
        word_encoder: Layer = None,
        freeze_word_encoder: bool = True,
        answer_head: Literal["pointer_sum", "span_sum"] = "pointer_sum",
        preprocessor: Any = None,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        super().__init__(locals())

    @classmethod
    def check_arguments(cls, config):
        super().check_arguments(config)
        if config.self_attention != "none" and 2 * config.units % config.heads:
            raise ValueError(
                f"heads must divide both directions of the units: {config.units} units are no "
                f"multiple of half of {config.heads} heads."
            )
        if config.encoder == "one_hot" and config.encoder_at == "modeling":
            raise ValueError(
                "one_hot is no encoder of the modeling layer: take coref_gru or mage_gru there."
            )
        early = "early" in SELF_ATTENTION[config.self_attention]
        if early and config.encoder != "gru" and config.encoder_at == "contextual":
            raise ValueError(
                f"Early self-attention is in place of the contextual encoder, so that "
                f'{config.encoder} has no place there; take encoder_at="modeling".'
            )
        encoder = config.word_encoder
        if (
            isinstance(encoder, WordPieces | SpelledWords)
            and len(encoder.table) != config.vocabulary_size
        ):
            raise ValueError(
                f"word_encoder knows {len(encoder.table)} words, the vocabulary has "
                f"{config.vocabulary_size}: give it all words, by id."
            )
        layers = {"early": config.early_layers, "late": config.late_layers}
        planned = plan_supervision(config.supervision, config.self_attention, layers, config.heads)
        config.supervision = [list(each) for each in planned]
        config.joint = reads_jointly(config.joint, config.encoder, config.encoder_at)

    @classmethod
    def build_graph(cls, config):
        word_encoder = config.word_encoder
        if isinstance(word_encoder, dict):
            word_encoder = copy_layer(word_encoder)
        inputs = bidaf_inputs(config)
        scores, heads = build_bidaf(inputs, config, word_encoder)
        column, one = scores[..., None], ops.ones_like(scores[:, :1])
        attention = attend(column, one, readable_tokens(inputs, {}, config.answer_head))
        pointer = AttentionSum(config.num_answers, name="attention_sum")
        return Graph(inputs, pointer(column, one, inputs["candidates"]), attention, heads)

    @classmethod
    def check_preprocessor(cls, preprocessor, config):
        missing = [each[0] for each in config.supervision if each[0] not in preprocessor.signals]
        if missing:
            raise ValueError(
                f"The preprocessor makes no targets of {', '.join(missing)}: give it as signals "
                "all that are in supervision."
            )
        super().check_preprocessor(preprocessor, config)

    @ExamplesMethod
    def from_examples(
        cls,
        examples,
        tokenizer="words",
        characters=True,
        max_words=None,
        min_count=1,
        unknown_types=1,
        num_candidates=None,
        entity_words=None,
        max_sources=None,
        word_vectors=None,
        make_word_encoder=None,
        language_model=None,
        **arguments,
    ):
        """Makes an untrained reader for the words of training examples.

        Answers are words of the passage, or the candidates of the example if it has some. Targets
        come from the `structure` of annotated examples; without it, those of coreference come from
        chains.

        Args:
            examples: training examples, in any form that `keras_corefmem.datasets.as_examples`
                takes; the preprocessing is learned from them.
            tokenizer: name of the tokenizer.
            characters: whether to read the characters of words.
            max_words: number of the most frequent words that are known; `None` for all.
            min_count: number of times that a word must occur to be known.
            unknown_types: number of types of unknown words, see `Vocabulary`.
            num_candidates: largest number of candidates; `None` for that of the examples.
            entity_words: words in lower case that, like answers, are linked if they are repeated in
                text without annotation; with `None`, they are learned from examples that have
                neither annotation nor candidates.
            max_sources: largest number of edges of one type into a token; the nearest are kept.
                `None` for the least of 1, 2 and 4 that keeps 99% of the examples' edges.
            word_vectors: path of a file of pretrained vectors, of GloVe or word2vec, to start
                from; `coverage` says how many words it contains.
            make_word_encoder: function from the list of words, by id, to a `word_encoder`.
            language_model: path of a `CharacterLanguageModel`, a mixture of whose layers replaces
                the vectors of words and characters.
            **arguments: arguments of the constructor.

        Raises:
            FileNotFoundError: if there is no language model at its path.
            ValueError: if the vectors do not have the width `embedding_dim`, if this is passed,
                there are both word vectors and a word encoder, or no training example has a target
                of one of the signals.
        """
        if language_model is not None:
            make_word_encoder = load_language_model(language_model).word_encoder
            characters = False
        encoded = make_word_encoder is not None or arguments.get("word_encoder") is not None
        if encoded and word_vectors is not None:
            raise ValueError("word_vectors are not read where there is a word encoder: leave one.")
        names = "max_chains", "word_length", "edge_types"
        shared = {k: arguments[k] for k in names if k in arguments}
        preprocessor = CandidatePreprocessor.fit(
            examples,
            max_words=max_words,
            min_count=min_count,
            characters=characters,
            tokenizer=tokenizer,
            num_candidates=num_candidates,
            entity_words=entity_words,
            signals=[signal for signal, *_ in as_sequences(arguments.get("supervision", ()))],
            unknown_types=unknown_types,
            joint=reads_jointly(*map(arguments.get, ("joint", "encoder", "encoder_at"))),
            order="passage_first",
            max_sources=max_sources,
            **shared,
        )
        arguments["answer_head"] = preprocessor.head
        if make_word_encoder is not None:
            arguments["word_encoder"] = make_word_encoder(preprocessor.vocabulary.words)
        return cls.start(preprocessor, examples, word_vectors, **arguments)

    @property
    def signals(self):
        """Names of the signals that supervise heads."""
        return tuple(self.heads_output)

    @functools.cached_property
    def _look(self):
        # A plain dictionary: JAX does not take those that Keras tracks for containers.
        return self.predictor(dict(self.heads_output))

    def look(self, features):
        """Computes the attention of supervised heads, before dropout.

        Args:
            features: dictionary of at least the features in `model.features`, as arrays.

        Returns:
            Dictionary of float32 arrays `(batch, time, time)` by signal, 0 for masked tokens.

        Raises:
            ValueError: if no head is supervised, or an id is out of range.
        """
        if not self.signals:
            raise ValueError("No head of this reader is supervised: give it `supervision`.")
        return self.predict_with(self._look, features)

    def views(self, examples):
        shown = super().views(examples)
        if not self.signals:
            return shown
        heads = views.head_views(examples, self.preprocessor, self.look)
        return [[*own, view] for own, view in zip(shown, heads, strict=True)]

    def tensorboard_callbacks(self, log_dir, examples):
        watching = super().tensorboard_callbacks(log_dir, examples)
        if self.signals:
            pictures = boards.HeadPictures(log_dir, examples, self.preprocessor, self.look)
            watching.append(pictures)
        return watching


def reads_jointly(joint, encoder, encoder_at):
    """Returns whether passage and question are one sequence, by default if structure is read."""
    if joint is not None:
        return joint
    return structure_read(encoder) is not None and encoder_at in (None, "contextual")
