"""Passages and questions as sequences of tokens, with one set of answers for all of them."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import keras
import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.graphs.chains import antecedents, chain_ids
from keras_corefmem.preprocessing.answers import check_examples
from keras_corefmem.preprocessing.batches import Batches
from keras_corefmem.preprocessing.features import check_ids, pad
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.text.tokenizers import get_tokenizer, lower
from keras_corefmem.text.vocabulary import Vocabulary

ORDERS = {"question_first": ("question", "passage"), "passage_first": ("passage", "question")}
LINKS = ("antecedents", "chains", "sources")
FEATURES = (
    *("passage", "question", "candidates"),
    *(f"{part}_{link}" for part in ("passage", "question") for link in LINKS),
)


@dataclasses.dataclass(frozen=True)
class Encoded:
    """An example as ids."""

    passage: np.ndarray  # int32 (T,)
    question: np.ndarray  # int32 (Q,)
    answer: int  # 0 = unknown.
    source: str = ""
    # int32 (T + Q,): chain of each token of passage and question, 0 = none.
    chain_ids: np.ndarray = dataclasses.field(kw_only=True)

    def part(self, name: str, values: Any) -> Any:
        """Returns the values of the tokens of `"passage"` or `"question"`, of those of both."""
        count = len(self.passage)
        return values[:count] if name == "passage" else values[count:]


def sequences(joint: bool, order: str) -> list[tuple[str, ...]]:
    """Names the parts of each sequence: passage and question, in order or apart."""
    return [ORDERS[order]] if joint else [(name,) for name in ORDERS[order]]


@keras.saving.register_keras_serializable("keras_corefmem")
class ReaderPreprocessor(Preprocessor):
    """Preprocessing of a reader whose answers are one set of words for all passages.

    Coreference is that of words: tokens whose words have the same chain form one.

    Features, int32: `passage`, `question`, and for each of the two its `_antecedents` and `_chains`
    `(batch, time)` and `_sources` `(batch, time, 1, 1)`; `candidates` `(batch, time)`, the answer
    that each passage token mentions. Joint positions count the padding of what comes first.

    Args:
        words: words of the vocabulary without its two specials.
        answers: answers by number, from 1; number 0 is an unknown answer.
        word_chains: chain of each word, 0 = none.
        pointers: number of the answer that a token of each word mentions, 0 = none.
        tokenizer: name of the tokenizer.
        joint: whether question and passage are one sequence, with chains across.
        order: `"question_first"` or `"passage_first"`, where joint.
        max_chains: highest chain id.
        unknown_types: number of types of unknown words, see `keras_corefmem.text.Vocabulary`.

    Raises:
        ValueError: if there is no such order.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> Reader = keras_corefmem.preprocessing.ReaderPreprocessor
        >>> preprocessor = Reader.fit(examples, entity_words=("mary", "john"))
        >>> encoded = preprocessor.encode_text("Mary left. Mary slept.", "Where is Mary?")
        >>> preprocessor.collate([encoded], 1, 8, 4)["passage_antecedents"]
        array([[3, 0, 0, 5, 0, 0, 0, 0]], dtype=int32)
    """

    batches_class = Batches
    arguments: ClassVar[tuple[str, ...]] = ("unknown_types", "joint", "order", "max_chains")
    renamed = {"entities": "word_chains"}

    def __init__(
        self,
        words: Sequence[str],
        answers: Sequence[str],
        word_chains: Sequence[int],
        pointers: Sequence[int],
        tokenizer: str = "words",
        joint: bool = True,
        order: str = "question_first",
        max_chains: int = 32,
        unknown_types: int = 1,
    ) -> None:
        if order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}; got {order!r}.")
        super().__init__(words, answers, tokenizer, unknown_types)
        self.unknown_types, specials = unknown_types, [0] * (unknown_types - 1)
        self.word_chains = np.array([0, 0, *word_chains, *specials], "int32")
        self.pointers = np.array([0, 0, *pointers, *specials], "int32")
        self.joint, self.order, self.max_chains = joint, order, max_chains

    @classmethod
    def fit(
        cls,
        examples: Sequence[Example],
        *,
        entity_words: Iterable[str] = (),
        lemmatizer: Callable[[str], str] | None = None,
        tokenizer: str = "words",
        **kwargs: Any,
    ) -> "ReaderPreprocessor":
        """Learns vocabulary and answers from training examples.

        Each of the lower-cased `entity_words` is a chain; a `lemmatizer` joins words of one lemma.
        Further arguments are those of the constructor.
        """
        check_examples(examples)
        lemma = lemmatizer or (lambda word: word)
        tokenize = get_tokenizer(tokenizer)
        texts = [text for e in examples for text in (e.passage, e.question)]
        words = Vocabulary.from_tokens(tokenize(text) for text in texts).known
        answers = sorted({example.answer for example in examples})
        names = sorted({lemma(word) for word in entity_words})
        chains = {name: n for n, name in enumerate(names, 1)}
        answer_numbers = {lemma(lower(answer)): n for n, answer in enumerate(answers, 1)}
        return cls(
            words,
            answers,
            [chains.get(lemma(word), 0) for word in words],
            [answer_numbers.get(lemma(word), 0) for word in words],
            tokenizer,
            **kwargs,
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        return FEATURES

    def encode(self, example: Example) -> Encoded:
        answer = self.answer_numbers.get(example.answer, 0)
        return self._encode(example.passage, example.question, answer, example.source)

    def encode_text(self, passage: str, question: str) -> Any:
        return self._encode(passage, question)

    def _encode(self, passage: str, question: str, answer: int = 0, source: str = "") -> Encoded:
        first = self.ids_of_text(passage, "passage", source)
        second = self.ids_of_text(question, "question", source)
        chain_ids = self.word_chains[np.concatenate([first, second])]
        return Encoded(first, second, answer, source, chain_ids=chain_ids)

    def length(self, encoded: Encoded) -> int:
        return len(encoded.passage)

    def _collate(self, rows: Sequence, count: int, lengths: tuple[int, int], names: Any) -> dict:
        ids, chains = {}, {}
        for name, width in zip(("passage", "question"), lengths, strict=True):
            ids[name] = pad([getattr(row, name) for row in rows], width, count)
            check_ids(name, ids[name], len(self.vocabulary))
            chains[name] = pad([row.part(name, row.chain_ids) for row in rows], width, count)
        return self._features(**ids, names=names, chains=chains)

    def _features(
        self, passage: Any, question: Any, names: Any, xp: Any = np, chains: Any = None
    ) -> dict[str, Any]:
        ids = {"passage": passage, "question": question}
        if chains is None:
            chains = {name: xp.take(self.word_chains, array) for name, array in ids.items()}
        candidates = xp.take(self.pointers, passage)
        return {**ids, "candidates": candidates, **self.links(chains, names, xp)}

    def links(self, chains: dict[str, Any], names: Sequence[str], xp: Any = np) -> dict[str, Any]:
        """Makes the features of coreference."""
        kinds, result = {name.rpartition("_")[2] for name in names}, {}
        for group in sequences(self.joint, self.order):
            joined = xp.concatenate([chains[name] for name in group], axis=-1)
            links = {}
            if kinds & {"antecedents", "sources"}:
                links["antecedents"] = antecedents(joined, xp)
                links["sources"] = links["antecedents"][..., None, None]
            if "chains" in kinds:
                links["chains"] = chain_ids(joined, self.max_chains, xp)
            start = 0
            for name in group:
                # The shape is unknown inside a graph.
                width = xp.size(chains[name][:1])
                for kind, array in links.items():
                    result[f"{name}_{kind}"] = array[:, start : start + width]
                start += width
        return result

    def get_config(self) -> dict[str, Any]:
        config, known = super().get_config(), slice(2, 2 + len(self.vocabulary.known))
        tables = {"word_chains": self.word_chains, "pointers": self.pointers}
        return {**config, **{name: table[known].tolist() for name, table in tables.items()}}
