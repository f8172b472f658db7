"""What the readers of the zoo share."""

import keras
from keras import ops

from keras_corefmem.datasets.passages.cnn import ClozeExample
from keras_corefmem.layers import AttentionSum, GatedAttention
from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from keras_corefmem.preprocessing.fitting import check_head, count_words, fit_preprocessor
from keras_corefmem.preprocessing.loading import get
from keras_corefmem.preprocessing.reader_preprocessor import ORDERS
from keras_corefmem.utils.checks import check_sizes
from zoo.architectures.passage.encoders import STRUCTURE, check_encoder
from zoo.architectures.passage.reader_features import ReadsStructure, check_preprocessor
from zoo.architectures.passage.reader_graph import (
    attend,
    embed,
    encode_apart,
    encode_joint,
    make_inputs,
    summary,
)
from zoo.architectures.text_model import TextModel, without_unknown

SIZES = ("vocabulary_size", "num_answers", "layers", "embedding_dim", "max_chains")
SIZES += ("word_length", "character_units")


class ReaderModel(ReadsStructure, TextModel):
    """A reader with `layers` recurrent layers, gated by the question between them.

    Args:
        vocabulary_size: number of token ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        encoder: `"gru"`, `"one_hot"`, `"dag_rnn"`, `"mage_gru"`, `"mage_gru_shared"` or
            `"coref_gru"`.
        head: `"pointer_sum"`, where the answer is a word of the passage; `"span_sum"`, where it is
            a candidate of several words; or `"classification"`.
        layers: number K of recurrent layers.
        units: width of the state per direction; even for a `coref_gru`.
        edge_units: of these, units that coreference edges carry in a `mage_gru`, less than all.
        carry: carry rule of a MAGE-GRU: `"gathered"`, `"previous"` or `"mixed"`.
        embedding_dim: width of the word vectors.
        dropout: dropout rate between layers and before the output, on the passage, one mask for
            all tokens of a sequence.
        joint: whether question and passage are one sequence, linked by coreference.
        order: which of the two comes first where joint: `"question_first"` or `"passage_first"`.
        max_chains: number of chains of the one-hot baseline.
        num_characters: number of character ids where words are spelt, 0 where they are not.
        word_length: characters of a word that are read.
        character_units: filters of width 5 over the characters of a word, of 10 units each.
        asked: whether each word of the passage has a feature that says if the question has it too.
        preprocessor: the `ReaderPreprocessor` or `CandidatePreprocessor` (or its configuration)
            that turns text into features.

    Input: a dictionary of int32 features, listed by `model.features`: `passage` `(batch, time)`,
    `question` `(batch, question time)`; for both, as the encoder needs, `_antecedents` or `_chains`
    of the same shape, or `_sources` `(batch, time, 1, 1)`; where words are spelt their
    `_characters` `(batch, time, word_length)`; `passage_asked` `(batch, time)`; and `candidates`
    `(batch, time)` for a pointer-sum, for a span-sum bool `(batch, time, num_answers)`.

    Output: logits `(batch, num_answers)`, float32. `attend` gives the attention over the passage
    `(batch, time)`, whose rows sum to 1; a pointer-sum attends to mentions of answers only, and a
    row without any is 0.

    Raises:
        ValueError: if an encoder, head, carry or order does not exist, a size is no integer of at
            least 1, `units` is odd for a `coref_gru` or does not exceed `edge_units` for a
            `mage_gru`, or the preprocessor does not fit the model.
    """

    def __init__(
        self,
        vocabulary_size,
        num_answers,
        encoder="coref_gru",
        head="pointer_sum",
        layers=1,
        units=64,
        edge_units=24,
        carry="mixed",
        embedding_dim=64,
        dropout=0.2,
        joint=True,
        order="question_first",
        max_chains=32,
        num_characters=0,
        word_length=15,
        character_units=50,
        asked=False,
        preprocessor=None,
        **kwargs,
    ):
        check_head(head)
        if order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}; got {order!r}.")
        check_encoder(encoder, units, edge_units, carry)
        config = {
            "vocabulary_size": vocabulary_size,
            "num_answers": num_answers,
            "encoder": encoder,
            "head": head,
            "layers": layers,
            "units": units,
            "edge_units": edge_units,
            "carry": carry,
            "embedding_dim": embedding_dim,
            "dropout": dropout,
            "joint": joint,
            "order": order,
            "max_chains": max_chains,
            "num_characters": num_characters,
            "word_length": word_length,
            "character_units": character_units,
            "asked": asked,
        }
        check_sizes(**{name: config[name] for name in SIZES})
        inputs = make_inputs(config)
        vectors = embed(inputs, config)
        masks = {name: ops.not_equal(inputs[name], 0) for name in vectors}
        reads = {name: inputs.get(f"{name}_{STRUCTURE[encoder]}") for name in vectors}
        gate = GatedAttention(name="gated_attention")
        # One mask for all tokens of a sequence: better for recurrences, and XLA on TensorFlow takes
        # half a microsecond for every random number on a CPU.
        drop = keras.layers.Dropout(dropout, noise_shape=(None, 1, None), name="dropout")
        for n in range(1, layers + 1):
            encoder_options = (encoder, units, edge_units, carry)
            encode = encode_joint if joint else encode_apart
            vectors = encode(encoder_options, n, ORDERS[order], vectors, reads, masks)
            if n < layers:
                question_mask = masks["question"]
                gated = gate(vectors["passage"], vectors["question"], question_mask=question_mask)
                vectors["passage"] = drop(gated)
        question = vectors["question"]
        # Padding carries the state, so that the last column holds the last token's.
        query = ops.concatenate([question[:, -1, :units], question[:, 0, units:]], axis=-1)
        passage = drop(vectors["passage"])
        readable = masks["passage"]
        if head == "pointer_sum":
            readable = ops.not_equal(inputs["candidates"], 0)
        elif head == "span_sum":
            readable = ops.any(inputs["candidates"], axis=-1)
        attention = attend(passage, query, readable)
        if head != "classification":
            logits = AttentionSum(num_answers, name="attention_sum")(
                passage, query, inputs["candidates"]
            )
        else:
            logits = keras.layers.Dense(num_answers, name="answer", dtype="float32")(
                summary(passage, attention)
            )
        preprocessor = get(preprocessor)
        if preprocessor is not None:
            check_preprocessor(preprocessor, config)
        super().__init__(inputs, without_unknown(logits), attention, config, preprocessor, **kwargs)

    @classmethod
    def from_examples(
        cls,
        examples,
        head="auto",
        language="en",
        lemmatizer=None,
        tokenizer="words",
        tagger=None,
        local=None,
        characters=False,
        max_words=None,
        min_count=1,
        unknown_types=1,
        num_candidates=None,
        word_vectors=None,
        **arguments,
    ):
        """An untrained reader for the words, entities and answers of training examples.

        Answers are those of all examples or, local ones, words or candidates of the passage at
        hand.

        Args:
            examples: training examples; its preprocessing is learned from them.
            head: name of the head, or `"auto"`: a pointer-sum where the passage mentions the answer
                of every question.
            language: code of the language whose lemmas link words where the words themselves do not
                make every answer a word of the passage; `None` for no such lemmas.
            lemmatizer: what gives lemmas in any case: a spaCy pipeline, or a function from a word
                to its lemma.
            tokenizer: name of the tokenizer.
            tagger: what tells entities, such as `keras_corefmem.graphs.spacy_tagger(nlp)`; `None`
                learns them from the examples.
            local: whether answers are local; `None` does so for annotated examples and those with
                candidates of their own. The next five arguments are for local answers.
            characters: whether words are spelt.
            max_words: how many words are known at most, the most frequent ones.
            min_count: how often a word has to occur to be known.
            unknown_types: number of types of unknown words, see `Vocabulary`.
            num_candidates: most candidates of a passage; `None` for the examples' largest number.
            word_vectors: path of a file of pretrained vectors, GloVe's or word2vec's, to start
                from: `coverage` says how many words it has.
            **arguments: further arguments of the constructor.

        Raises:
            ValueError: as `fit_preprocessor` does, or if the vectors have another width than an
                `embedding_dim` that is given.
        """
        shared = {k: arguments[k] for k in ("joint", "order", "max_chains") if k in arguments}
        if local is None:
            local = all(
                hasattr(e, "candidates") and not isinstance(e, ClozeExample) for e in examples
            )
        if local:
            shared |= {k: arguments[k] for k in ("word_length",) if k in arguments}
            shared["unknown_types"] = unknown_types
            preprocessor = CandidatePreprocessor.fit(
                examples,
                max_words=max_words,
                min_count=min_count,
                characters=characters,
                tokenizer=tokenizer,
                num_candidates=num_candidates,
                **shared,
            )
            arguments["num_characters"], head = preprocessor.num_characters, preprocessor.head
        else:
            preprocessor, head = fit_preprocessor(
                examples, head, language, lemmatizer, tokenizer, tagger, **shared
            )
        counts = None if word_vectors is None else count_words(examples, preprocessor.tokenizer)
        return cls.start(preprocessor, word_vectors, counts, head=head, **arguments)
