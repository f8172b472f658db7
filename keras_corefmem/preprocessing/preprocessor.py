"""From examples and raw strings to the features of a reader."""

import dataclasses

import numpy as np

from keras_corefmem.graphs.chains import antecedents, chain_ids
from keras_corefmem.text.tokenizers import get_tokenizer, lower
from keras_corefmem.text.vocabulary import Vocabulary

UNKNOWN_ANSWER = "[unknown]"
ORDERS = {"question_first": ("question", "passage"), "passage_first": ("passage", "question")}
LINKS = ("antecedents", "chains", "sources")
FEATURES = (
    *("passage", "question", "candidates"),
    *(f"{part}_{link}" for part in ("passage", "question") for link in LINKS),
)


@dataclasses.dataclass(frozen=True)
class Encoded:
    """An example as ids: `passage` `(T,)`, `question` `(Q,)`, number of the answer, 0 = new.

    `source` is that of the example, for errors. `entities` `(T + Q,)` is the entity of each token
    of passage and question, `None` for those of the words.
    """

    passage: np.ndarray
    question: np.ndarray
    answer: int
    source: str = ""
    entities: np.ndarray | None = None


def pad(arrays, width, count=None):
    """Arrays as rows of one, zeros behind them, int32 `(count, width)`."""
    result = np.zeros((len(arrays) if count is None else count, width), "int32")
    for row, array in zip(result, arrays, strict=count is None):
        row[: len(array)] = array
    return result


def sequences(joint, order):
    """Names of what each sequence consists of: question and passage, in order or apart."""
    return [ORDERS[order]] if joint else [(name,) for name in ORDERS[order]]


def check_ids(name, ids, count):
    """Refuses numbers outside 0 to `count - 1`.

    Raises:
        ValueError: naming the feature, its row and the number.
    """
    outside = np.argwhere((ids < 0) | (ids >= count))
    if len(outside):
        raise ValueError(
            f"{name} of row {outside[0][0]} holds {ids[tuple(outside[0])]}, which the model does "
            f"not know: numbers go from 0 to {count - 1}. Encode with the model's own preprocessor."
        )


class Preprocessor:
    """Everything that a reader knows about its language and its answers.

    Training, prediction and export share it, so that they see the same features.

    Args:
        words: words of the vocabulary without its two specials.
        answers: answers by number, from 1; number 0 is an unknown answer.
        entities: entity number of each word, 0 = no entity. Tokens of one entity form a chain.
        pointers: number of the answer that a token of each word mentions, 0 = none.
        tokenizer: name of the tokenizer.
        joint: whether question and passage are one sequence, with chains across.
        order: `"question_first"` or `"passage_first"`, where joint.
        max_chains: highest chain id.
        unknown_types: number of types of unknown words, see `Vocabulary`.
    """

    # Compiling a reader for one more length takes as long as reading so many tokens for twenty
    # epochs.
    SAVING = 40_000
    # Passages that are asked about now and then are padded to a multiple of it.
    MULTIPLE = 128
    # What the lengths of buckets are multiples of.
    STEP = 8
    # Largest number of lengths that questions are padded to.
    QUESTION_BUCKETS = 3

    def __init__(
        self,
        words,
        answers,
        entities,
        pointers,
        tokenizer="words",
        joint=True,
        order="question_first",
        max_chains=32,
        unknown_types=1,
    ):
        if order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}; got {order!r}.")
        self.tokenizer = get_tokenizer(tokenizer)
        self.vocabulary = Vocabulary(words, unknown_types)
        self.answers = [UNKNOWN_ANSWER, *answers]
        self.answer_numbers = {answer: n for n, answer in enumerate(self.answers)}
        new = [0] * (unknown_types - 1)
        self.entities = np.array([0, 0, *entities, *new], "int32")
        self.pointers = np.array([0, 0, *pointers, *new], "int32")
        self.joint, self.order, self.max_chains = joint, order, max_chains

    @classmethod
    def fit(cls, examples, entities=(), lemmatizer=None, tokenizer="words", **kwargs):
        """Learns vocabulary and answers from training examples.

        Args:
            examples: training examples.
            entities: words that are entities, lower-cased.
            lemmatizer: function from a word to its lemma; words with one lemma are one entity and
                mention one answer. `None` keeps words apart.
            tokenizer: name of the tokenizer.
            **kwargs: further arguments of the constructor.
        """
        lemma = lemmatizer or (lambda word: word)
        tokenize = get_tokenizer(tokenizer)
        texts = [text for e in examples for text in (e.passage, e.question)]
        words = Vocabulary.from_tokens(tokenize(text) for text in texts).known
        answers = sorted({example.answer for example in examples})
        names = sorted({lemma(word) for word in entities})
        entity_numbers = {name: n for n, name in enumerate(names, 1)}
        answer_numbers = {lemma(lower(answer)): n for n, answer in enumerate(answers, 1)}
        return cls(
            words,
            answers,
            [entity_numbers.get(lemma(word), 0) for word in words],
            [answer_numbers.get(lemma(word), 0) for word in words],
            tokenizer,
            **kwargs,
        )

    def tokens(self, text, name="text"):
        """Ids of a text.

        Raises:
            ValueError: if the text has no tokens.
        """
        ids = self.vocabulary.encode(self.tokenizer(text))
        if not len(ids):
            raise ValueError(f"The {name} is empty: {text!r}. Give at least one word.")
        return ids

    def encode(self, example):
        """An `Example` as `Encoded`."""
        source = f" of {example.source or 'an example'}"
        encoded = self.encode_text(example.passage, example.question, example.answer, source)
        return dataclasses.replace(encoded, source=example.source)

    def encode_text(self, passage, question, answer=None, source=""):
        """Strings as `Encoded`; `source` says in errors where they come from."""
        return Encoded(
            self.tokens(passage, f"passage{source}"),
            self.tokens(question, f"question{source}"),
            self.answer_numbers.get(answer, 0),
        )

    def refused(self, passage, question, xp=np):
        """What cannot be read of padded ids.

        Args:
            passage: int32 `(batch, time)`.
            question: int32 `(batch, question time)`.
            xp: `numpy`, or `tensorflow.experimental.numpy` inside a SavedModel.

        Returns:
            Dictionary: for `passage` or `question` what is wrong, and bool `(batch,)`, with which;
            here nothing is.
        """
        return {}

    def length(self, encoded):
        """What `Batches` sorts into buckets: the tokens of the passage."""
        return len(encoded.passage)

    def collate(self, rows, count, length, question_length, names=FEATURES):
        """Features of a batch.

        Args:
            rows: list of `Encoded`.
            count: rows of the batch; those that are missing are padding.
            length: what passages are padded to.
            question_length: what questions are padded to.
            names: names of the features.

        Raises:
            ValueError: if an id lies beyond the vocabulary.
        """
        passage = pad([row.passage for row in rows], length, count)
        question = pad([row.question for row in rows], question_length, count)
        for name, ids in (("passage", passage), ("question", question)):
            check_ids(name, ids, len(self.vocabulary))
        result = self.features(passage, question, names)
        if any(row.entities is not None for row in rows):
            widths = {"passage": length, "question": question_length}
            result |= self.links(self.padded_entities(rows, widths, count), names)
        return {name: result[name] for name in names}

    def padded_entities(self, rows, widths, count):
        """The entity numbers of rows that have them, padded to the widths by name."""
        ends = [len(row.passage) for row in rows]
        parts = {
            "passage": [row.entities[:end] for row, end in zip(rows, ends, strict=True)],
            "question": [row.entities[end:] for row, end in zip(rows, ends, strict=True)],
        }
        return {name: pad(arrays, widths[name], count) for name, arrays in parts.items()}

    def features(self, passage, question, names=FEATURES, xp=np):
        """Features of padded ids.

        Args:
            passage: int32 `(batch, time)`.
            question: int32 `(batch, question time)`.
            names: names of the features, of `FEATURES`.
            xp: `numpy`, or `tensorflow.experimental.numpy` inside a SavedModel.

        Returns:
            Dictionary of int32 arrays: `passage`, `question`, and for each of the two its
            `_antecedents` and `_chains` `(batch, time)` and `_sources` `(batch, time, 1, 1)`;
            `candidates` `(batch, time)`, the answer that each passage token mentions. In a joint
            sequence, positions count the padded columns of what comes first.
        """
        ids = {"question": question, "passage": passage}
        result = {**ids, "candidates": xp.take(self.pointers, passage)}
        entities = {name: xp.take(self.entities, array) for name, array in ids.items()}
        result |= self.links(entities, names, xp)
        return {name: result[name] for name in names}

    def links(self, entities, names, xp=np):
        """The features of chains, see `features`.

        Args:
            entities: entity number of every token, 0 = none, int32 `(batch, time)` by the names
                `passage` and `question`.
            names: names of the features that are needed.
            xp: as for `features`.

        Returns:
            Dictionary of int32 arrays, all of each kind that a name asks for.
        """
        kinds, result = {name.rpartition("_")[2] for name in names}, {}
        for group in sequences(self.joint, self.order):
            joined = xp.concatenate([entities[name] for name in group], axis=-1)
            links = {}
            if kinds & {"antecedents", "sources"}:
                links["antecedents"] = antecedents(joined, xp)
                links["sources"] = links["antecedents"][..., None, None]
            if "chains" in kinds:
                links["chains"] = chain_ids(joined, self.max_chains, xp)
            start = 0
            for name in group:
                # The shape is unknown inside a graph.
                width = xp.size(entities[name][:1])
                for kind, array in links.items():
                    result[f"{name}_{kind}"] = array[:, start : start + width]
                start += width
        return result

    def get_config(self):
        known = 2 + len(self.vocabulary.known)
        return {
            **self.vocabulary.get_config(),
            "answers": self.answers[1:],
            "entities": self.entities[2:known].tolist(),
            "pointers": self.pointers[2:known].tolist(),
            "tokenizer": self.tokenizer.name,
            "joint": self.joint,
            "order": self.order,
            "max_chains": self.max_chains,
        }
