"""What the readers of the zoo share."""

import keras
import numpy as np
from keras import ops

from keras_corefmem.datasets.preprocessor import ORDERS, Preprocessor, sequences
from keras_corefmem.layers import AttentionSum, GatedAttention, SplitSequences
from keras_corefmem.positions import check_positions
from zoo.encoders import STRUCTURE, check_encoder, check_size, embed, make_encoder
from zoo.reader_preprocessing import check_head, fit_preprocessor
from zoo.text_model import TextModel, without_unknown


class ReaderModel(TextModel):
    """A reader with `layers` recurrent layers, gated by the question between them.

    Args:
        vocabulary_size: number of token ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        encoder: `"gru"`, `"one_hot"`, `"dag_rnn"`, `"mage_gru"`, `"mage_gru_shared"` or
            `"coref_gru"`.
        head: `"pointer_sum"`, where the answer is a word of the passage, or `"classification"`.
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
        preprocessor: the `Preprocessor` (or its configuration) that turns text into features.

    Input: a dictionary of int32 features, listed by `model.features`: `passage` `(batch, time)`,
    `question` `(batch, question time)`; for both, as the encoder needs, `_antecedents` or `_chains`
    of the same shape, or `_sources` `(batch, time, 1, 1)`; and `candidates` `(batch, time)` for a
    pointer-sum.

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
        }
        for name in ("vocabulary_size", "num_answers", "layers", "embedding_dim", "max_chains"):
            check_size(name, config[name])
        inputs = make_inputs(encoder, head)
        vectors = embed(
            {name: inputs[name] for name in ("question", "passage")},
            {name: inputs.get(f"{name}_chains") for name in ("question", "passage")},
            vocabulary_size,
            embedding_dim,
            encoder,
            max_chains,
        )
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
        pointer_sum = head == "pointer_sum"
        readable = ops.not_equal(inputs["candidates"], 0) if pointer_sum else masks["passage"]
        attention = attend(passage, query, readable)
        if pointer_sum:
            logits = AttentionSum(num_answers, name="attention_sum")(
                passage, query, inputs["candidates"]
            )
        else:
            logits = keras.layers.Dense(num_answers, name="answer", dtype="float32")(
                summary(passage, attention)
            )
        if isinstance(preprocessor, dict):
            preprocessor = Preprocessor(**preprocessor)
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
        **arguments,
    ):
        """An untrained reader for the words, entities and answers of training examples.

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
            **arguments: further arguments of the constructor.
        """
        shared = {k: arguments[k] for k in ("joint", "order", "max_chains") if k in arguments}
        preprocessor, head = fit_preprocessor(
            examples, head, language, lemmatizer, tokenizer, tagger, **shared
        )
        return cls(
            len(preprocessor.vocabulary),
            len(preprocessor.answers),
            head=head,
            preprocessor=preprocessor,
            **arguments,
        )

    def id_counts(self):
        counts, config = super().id_counts(), self.config
        chains = config["max_chains"] + 1
        counts |= {"passage_chains": chains, "question_chains": chains}
        counts["candidates"] = config["num_answers"]
        return {name: count for name, count in counts.items() if name in self.features}

    def check_features(self, features):
        """Refuses, besides ids, edges that point forward or out of range."""
        super().check_features(features)
        edges = STRUCTURE[self.config["encoder"]]
        if not edges:
            return
        # Joint positions count from the start of what comes first.
        for parts in sequences(self.config["joint"], self.config["order"]):
            names = [f"{part}_{edges}" for part in parts]
            joined = np.concatenate([features[name] for name in names], axis=1)
            check_positions(joined, f"{' and '.join(names)}: position")


def check_preprocessor(preprocessor, config):
    """Refuses a preprocessor that lays out features differently from the model.

    Raises:
        ValueError: naming the argument that differs.
    """
    for name in ("joint", "order", "max_chains"):
        if getattr(preprocessor, name) != config[name]:
            raise ValueError(
                f"The preprocessor has {name}={getattr(preprocessor, name)!r}, the model "
                f"{config[name]!r}; give both the same."
            )


def make_inputs(encoder, head):
    """Symbolic inputs by name."""
    shapes = {"passage": (None,), "question": (None,)}
    structure = "chains" if encoder == "one_hot" else STRUCTURE[encoder]
    for name in ("passage", "question"):
        if structure:
            extra = (1, 1) if structure == "sources" else ()
            shapes[f"{name}_{structure}"] = (None, *extra)
    if head == "pointer_sum":
        shapes["candidates"] = (None,)
    return {name: keras.Input(shape, dtype="int32", name=name) for name, shape in shapes.items()}


def call(encoder, vectors, reads, mask):
    if reads is None:
        return encoder(vectors, mask=mask)
    return encoder(vectors, reads, mask=mask)


def encode_joint(options, n, names, vectors, reads, masks):
    """Encodes two sequences as one, and parts them again."""

    def joined(parts):
        return ops.concatenate([parts[name] for name in names], axis=1)

    encoder = make_encoder(*options, name=f"encoder_{n}")
    structure = None if reads[names[0]] is None else joined(reads)
    states = call(encoder, joined(vectors), structure, joined(masks))
    parts = SplitSequences(name=f"split_{n}")(states, vectors[names[0]])
    return dict(zip(names, parts, strict=True))


def encode_apart(options, n, names, vectors, reads, masks):
    """Encodes two sequences with an encoder each."""
    return {
        name: call(
            make_encoder(*options, name=f"{name}_encoder_{n}"),
            vectors[name],
            reads[name],
            masks[name],
        )
        for name in names
    }


def attend(passage, query, readable):
    """Softmax of `passage · query` over the tokens that are readable, 0 elsewhere."""
    scores = ops.cast(ops.einsum("btd,bd->bt", passage, query), "float32")
    attention = ops.softmax(ops.where(readable, scores, -1e9), axis=-1)
    return ops.where(readable, attention, 0.0)


def summary(passage, attention):
    """The passage as the question sees it."""
    return ops.einsum("bt,btd->bd", ops.cast(attention, passage.dtype), passage)
