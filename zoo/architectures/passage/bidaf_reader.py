"""BiDAF with supervised self-attention."""

import copy
import functools

import keras
from keras import ops

from keras_corefmem.layers import AttentionSum, ReportsSupervision, WordPieces
from keras_corefmem.layers.attention.attention_supervision import ROW_WEIGHTS
from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from keras_corefmem.preprocessing.fitting import count_words
from keras_corefmem.preprocessing.loading import get
from keras_corefmem.utils.checks import check_sizes
from zoo.architectures.devices import answered_once
from zoo.architectures.passage.bidaf_graph import bidaf_inputs, build_bidaf
from zoo.architectures.passage.encoders import check_encoder
from zoo.architectures.passage.reader_features import ReadsStructure, check_preprocessor
from zoo.architectures.passage.reader_graph import attend
from zoo.architectures.passage.supervision import (
    SELF_ATTENTION,
    as_sequences,
    check_signals,
    plan_supervision,
)
from zoo.architectures.text_model import TextModel, without_unknown

OPTIONS = {
    "head": ("pointer_sum", "span_sum"),
    "encoder_at": ("contextual", "modeling"),
    "self_attention": tuple(SELF_ATTENTION),
    "row_weight": ROW_WEIGHTS,
}
SIZES = ("vocabulary_size", "num_answers", "embedding_dim", "max_chains", "word_length")
SIZES += ("character_units", "early_layers", "late_layers", "heads", "inner_units")


@keras.saving.register_keras_serializable("keras_corefmem")
class BiDAFReader(ReportsSupervision, ReadsStructure, TextModel):
    """Attends from passage to question and back, with self-attention that knows the structure.

    ```
    X = Highway(words ‖ CharacterCNN(characters)),  of passage and question
    H, U = encoder(X),  or with early self-attention AttentionEncoder(X)
    G = LayerNorm(BidirectionalAttention(H, U)),  with late self-attention AttentionEncoder(G)
    M = LayerNorm(two bidirectional encoders(G))
    P(c) ∝ Σ_{t mentions c} exp(w · [G_t ; M_t])
    ```

    The loss of each supervised head is that of a `SupervisedMultiHeadAttention`; its loss and hit
    rate are in the logs of `fit` and `evaluate`, as `<signal>_loss` and `<signal>_attention_mass`.

    Args:
        vocabulary_size: number of token ids.
        num_answers: largest number of candidates of a passage, and one.
        head: `"pointer_sum"`, where candidates are words, or `"span_sum"`, where they may be
            longer.
        encoder: recurrent encoder in the contextual or the modeling layer, where the other one has
            GRUs: `"gru"`, `"coref_gru"`, `"mage_gru"` or another one of `ENCODERS`.
        encoder_at: `"contextual"` or `"modeling"`.
        self_attention: `"none"`; `"early"`, in place of the contextual encoder; `"late"`, behind
            the bidirectional attention; or `"both"`.
        supervision: names of the signals that supervise a head each, see `attention_pairs`; or
            sequences of signal, `"early"` or `"late"`, layer from 1 and head from 0, of which the
            last ones may be left out. By default layer 3 of the first place, and the next head.
        loss_weight: λ, the weight of the loss of supervision.
        row_weight: `"count"` or `"mean"`, see `SupervisedMultiHeadAttention`.
        units: width of the state per direction; attention is twice as wide.
        early_layers: layers of early self-attention.
        late_layers: layers of late self-attention.
        heads: heads of each of these layers.
        inner_units: width inside of their feed-forward networks.
        edge_units: units that coreference edges carry in a `mage_gru`, less than `units`.
        carry: carry rule of a MAGE-GRU: `"gathered"`, `"previous"` or `"mixed"`.
        embedding_dim: width of the word vectors.
        dropout: dropout rate of every layer, one mask for all tokens of a sequence.
        joint: whether the contextual encoder reads the question behind the passage, with chains
            across, rather than apart; `None` does so where it reads structure.
        max_chains: number of chains of a `"one_hot"` encoder.
        num_characters: number of character ids, 0 where words are not spelt.
        word_length: characters of a word that are read.
        character_units: filters of width 5 over the characters of a word.
        word_encoder: in place of word vectors, a Keras layer or registered function from ids of
            words to contextual vectors, see `ContextualVectors`.
        freeze_word_encoder: whether it stays as it is in training.
        preprocessor: the `CandidatePreprocessor` (or its configuration) that turns text into
            features.

    Input: a dictionary of int32 features, listed by `model.features`: those of a `ReaderModel`,
    `passage_targets_<signal>` `(batch, pairs, 2)` and, where a head attends within sentences,
    `passage_sentences` `(batch, time)`. Targets matter to the loss alone.

    Output: logits `(batch, num_answers)`, float32. `attend` gives the attention over the passage
    `(batch, time)`, `look` that of supervised heads.

    Raises:
        ValueError: if an argument is not as described.

    References: Cheng and Erk, "Attending to Entities for Better Text Understanding",
    [AAAI 2020](https://arxiv.org/abs/1911.04361); [Seo et al., ICLR
    2017](https://arxiv.org/abs/1611.01603).
    """

    def __init__(
        self,
        vocabulary_size,
        num_answers,
        head="pointer_sum",
        encoder="gru",
        encoder_at="contextual",
        self_attention="none",
        supervision=(),
        loss_weight=0.3,
        row_weight="count",
        units=100,
        early_layers=4,
        late_layers=1,
        heads=4,
        inner_units=512,
        edge_units=24,
        carry="mixed",
        embedding_dim=100,
        dropout=0.2,
        joint=None,
        max_chains=32,
        num_characters=0,
        word_length=15,
        character_units=100,
        word_encoder=None,
        freeze_word_encoder=True,
        preprocessor=None,
        **kwargs,
    ):
        config = {
            "vocabulary_size": vocabulary_size,
            "num_answers": num_answers,
            "head": head,
            "encoder": encoder,
            "encoder_at": encoder_at,
            "self_attention": self_attention,
            "loss_weight": loss_weight,
            "row_weight": row_weight,
            "units": units,
            "early_layers": early_layers,
            "late_layers": late_layers,
            "heads": heads,
            "inner_units": inner_units,
            "edge_units": edge_units,
            "carry": carry,
            "embedding_dim": embedding_dim,
            "dropout": dropout,
            "joint": reads_jointly(joint, encoder, encoder_at),
            "max_chains": max_chains,
            "num_characters": num_characters,
            "word_length": word_length,
            "character_units": character_units,
            "freeze_word_encoder": freeze_word_encoder,
        }
        check_config(config)
        layers = {"early": early_layers, "late": late_layers}
        planned = plan_supervision(supervision, self_attention, layers, heads)
        if isinstance(word_encoder, dict):
            # Layers may take their configuration apart, which stays that of this reader.
            word_encoder = keras.saving.deserialize_keras_object(copy.deepcopy(word_encoder))
        check_pieces(word_encoder, vocabulary_size)
        inputs = bidaf_inputs(config, planned)
        scores, shown = build_bidaf(inputs, config, planned, word_encoder)
        candidates, readable = inputs["candidates"], ops.not_equal(inputs["candidates"], 0)
        if head == "span_sum":
            readable = ops.any(candidates, axis=-1)
        column, one = scores[..., None], ops.ones_like(scores[:, :1])
        attention = attend(column, one, readable)
        logits = AttentionSum(num_answers, name="attention_sum")(column, one, candidates)
        preprocessor = get(preprocessor)
        config["supervision"] = [list(each) for each in planned]
        if word_encoder is not None:
            config["word_encoder"] = keras.saving.serialize_keras_object(word_encoder)
        if preprocessor is not None:
            check_preprocessor(preprocessor, {**config, "order": "passage_first"})
            check_signals(preprocessor, planned)
        super().__init__(inputs, without_unknown(logits), attention, config, preprocessor, **kwargs)
        self.heads_output = shown

    @classmethod
    def from_examples(
        cls,
        examples,
        tokenizer="words",
        characters=True,
        max_words=None,
        min_count=1,
        unknown_types=1,
        num_candidates=None,
        word_vectors=None,
        make_word_encoder=None,
        **arguments,
    ):
        """An untrained reader for the words of training examples.

        Answers are words, or the candidates that examples give, of the passage at hand. Targets
        come from the `structure` of annotated examples.

        Args:
            examples: training examples; its preprocessing is learned from them.
            tokenizer: name of the tokenizer.
            characters: whether words are spelt.
            max_words: how many words are known at most, the most frequent ones.
            min_count: how often a word has to occur to be known.
            unknown_types: number of types of unknown words, see `Vocabulary`.
            num_candidates: most candidates of a passage; `None` for the examples' largest number.
            word_vectors: path of a file of pretrained vectors, GloVe's or word2vec's, to start
                from: `coverage` says how many words it has.
            make_word_encoder: function from the list of words, by id, to a `word_encoder`.
            **arguments: further arguments of the constructor.

        Raises:
            ValueError: if the vectors have another width than an `embedding_dim` that is given, or
                there are both files of vectors and an encoder of words, or no training example has
                a target of one of the signals.
        """
        encoded = make_word_encoder is not None or arguments.get("word_encoder") is not None
        if encoded and word_vectors is not None:
            raise ValueError("word_vectors are not read where there is a word encoder: leave one.")
        shared = {k: arguments[k] for k in ("max_chains", "word_length") if k in arguments}
        preprocessor = CandidatePreprocessor.fit(
            examples,
            max_words=max_words,
            min_count=min_count,
            characters=characters,
            tokenizer=tokenizer,
            num_candidates=num_candidates,
            signals=[signal for signal, *_ in as_sequences(arguments.get("supervision", ()))],
            unknown_types=unknown_types,
            joint=reads_jointly(*map(arguments.get, ("joint", "encoder", "encoder_at"))),
            order="passage_first",
            **shared,
        )
        counts = None if word_vectors is None else count_words(examples, preprocessor.tokenizer)
        arguments |= {"num_characters": preprocessor.num_characters, "head": preprocessor.head}
        if make_word_encoder is not None:
            arguments["word_encoder"] = make_word_encoder(preprocessor.vocabulary.words)
        return cls.start(preprocessor, word_vectors, counts, **arguments)

    @property
    def signals(self):
        """Names of the signals that supervise heads."""
        return tuple(self.heads_output)

    @functools.cached_property
    def _look(self):
        inputs = {tensor.name: tensor for tensor in self.inputs}
        return keras.Model(inputs, self.heads_output).predict_on_batch

    def look(self, features):
        """The attention of supervised heads, before dropout.

        Args:
            features: dictionary of at least the features in `model.features`, as arrays.

        Returns:
            Dictionary of float32 arrays `(batch, time, time)` by signal, 0 where masked.

        Raises:
            ValueError: if no head is supervised, or there is an id that the model does not know.
        """
        if not self.signals:
            raise ValueError("No head of this reader is supervised: give it `supervision`.")
        self.check_features(features)
        given = {name: features[name] for name in self.features}
        return answered_once(self._look(given), len(given[self.features[0]]))


def reads_jointly(joint, encoder, encoder_at):
    """Whether passage and question are one sequence; by default where structure is read there."""
    if joint is not None:
        return joint
    return encoder not in (None, "gru") and encoder_at in (None, "contextual")


def check_pieces(word_encoder, vocabulary_size):
    """Refuses pieces of words that are not those of the vocabulary.

    Raises:
        ValueError: if there are fewer or more of them than words.
    """
    if isinstance(word_encoder, WordPieces) and len(word_encoder.table) != vocabulary_size:
        raise ValueError(
            f"word_encoder has pieces of {len(word_encoder.table)} words, the vocabulary has "
            f"{vocabulary_size}: give those of each word, by id."
        )


def check_config(config):
    """Refuses arguments that make no reader.

    Raises:
        ValueError: naming the argument.
    """
    check_encoder(config["encoder"], config["units"], config["edge_units"], config["carry"])
    for name, options in OPTIONS.items():
        if config[name] not in options:
            raise ValueError(f"{name} must be one of {', '.join(options)}; got {config[name]!r}.")
    check_sizes(**{name: config[name] for name in SIZES})
    attends = config["self_attention"] != "none"
    if attends and 2 * config["units"] % config["heads"]:
        raise ValueError(
            f"heads must divide both directions of the units: {config['units']} units are no "
            f"multiple of half of {config['heads']} heads."
        )
    if config["encoder"] == "one_hot" and config["encoder_at"] == "modeling":
        raise ValueError(
            "one_hot is no encoder of the modeling layer: take coref_gru or mage_gru there."
        )
    early = config["self_attention"] in ("early", "both")
    if early and config["encoder"] != "gru" and config["encoder_at"] == "contextual":
        raise ValueError(
            f"Early self-attention is in place of the contextual encoder, so that "
            f'{config["encoder"]} has no place there; take encoder_at="modeling".'
        )
    if not isinstance(config["joint"], bool):
        raise ValueError(f"joint must be true or false, got {config['joint']!r}.")
