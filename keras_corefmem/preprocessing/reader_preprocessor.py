"""Preprocessing of passages and questions as token sequences, with one set of answers."""

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import keras
import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.graphs.chains import antecedents, chain_ids
from keras_corefmem.graphs.edge_types import base_type
from keras_corefmem.graphs.edges import COREFERENCE
from keras_corefmem.graphs.entity_words import ENTITY_TYPES
from keras_corefmem.preprocessing.batching.batches import Batches
from keras_corefmem.preprocessing.encoding.edge_table import EdgeTable, warn_of_unread_edges
from keras_corefmem.preprocessing.encoding.encoded import Encoded, mark_overlap
from keras_corefmem.preprocessing.encoding.features import check_ids, overlapping_words, pad
from keras_corefmem.preprocessing.encoding.graph import GraphNumpy, padded
from keras_corefmem.preprocessing.encoding.layout import (
    ORDERS,
    PASSAGE_LEADS,
    RANDOM,
    Layout,
    layouts_of,
    passage_leads,
    sequences,
)
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.preprocessing.training_examples import check_examples, check_words, recut
from keras_corefmem.text.tokenizers import get_tokenizer, lower
from keras_corefmem.text.vocabulary import Vocabulary

# Number of examples from which `max_sources` is chosen.
SAMPLE = 1000
LINKS = ("antecedents", "chains", "sources")
FEATURES = (
    *("passage", "question", "candidates"),
    *(f"{part}_{link}" for part in ("passage", "question") for link in LINKS),
    "passage_asked",
)


@keras.saving.register_keras_serializable("keras_corefmem")
class ReaderPreprocessor(Preprocessor):
    """Preprocessing of a reader with one set of answers for all passages.

    Tokens corefer if their words have the same chain. Other edges are those of the examples.

    Features, int32: `passage` and `question`, and for both of them `_antecedents` and `_chains`
    `(batch, time)` and `_sources` `(batch, time, edge types, max_sources)`; `candidates` `(batch,
    time)`, the answer that each passage token mentions; `passage_asked` `(batch, time)`, 1 for
    tokens that the question has too, known or not, and 2 for others. Positions in a joint sequence
    include the padding of its first part.

    Args:
        words: words of the vocabulary without its two specials.
        answers: answers by number, from 1; number 0 is an unknown answer.
        word_chains: chain of each word, 0 = none.
        pointers: number of the answer that each word mentions, 0 = none.
        tokenizer: name of the tokenizer.
        joint: whether question and passage are one sequence, with chains that span both.
        order: order of a joint sequence, `"question_first"`, `"passage_first"` or `"random"`, which
            is fixed for each text and given by the feature `passage_leads` `(batch, 1)`.
        max_chains: highest chain id.
        unknown_types: number of types of unknown words, see `keras_corefmem.text.Vocabulary`.
        free_symbols: number of free symbols, see `Preprocessor`; each is a chain, and an answer
            that its tokens mention.
        edge_types: names of the edge types that a reader reads: `"coreference"`, those of
            `keras_corefmem.graphs.edges_of`, and any of the examples' own. An edge whose source is
            read after its target is reversed, and has the type `TYPE^-1` if that is among them.
        max_sources: maximum number of edges of one type into a token; the nearest ones are kept.
        word_types: number, from 1, of an edge type of each word's chain besides coreference.
        strict_edge_types: whether edges of other types are an error rather than ignored; unless
            `edge_types` is coreference alone, they always are.

    Raises:
        ValueError: if there is no such order, or an argument is not as described.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> Reader = keras_corefmem.preprocessing.ReaderPreprocessor
        >>> preprocessor = Reader.fit(examples, entity_words=("mary", "john"))
        >>> encoded = preprocessor.encode_text("Mary left. Mary slept.", "Where is Mary?")
        >>> preprocessor.collate([encoded], 1, 8, 4)["passage_antecedents"]
        array([[3, 0, 0, 5, 0, 0, 0, 0]], dtype=int32)
    """

    batches_class = Batches
    arguments: ClassVar[tuple[str, ...]] = (
        *("unknown_types", "free_symbols", "joint", "order", "max_chains"),
        *("edge_types", "max_sources", "strict_edge_types"),
    )
    reads_edges = True
    renamed = {"entities": "word_chains"}
    word_chains: np.ndarray

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
        edge_types: Sequence[str] = (COREFERENCE,),
        max_sources: int = 1,
        word_types: Sequence[int] = (),
        free_symbols: int = 0,
        strict_edge_types: bool = False,
    ) -> None:
        if order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}; got {order!r}.")
        super().__init__(words, answers, tokenizer, unknown_types, free_symbols)
        self.unknown_types, specials = unknown_types, [0] * (unknown_types - 1)
        chain = max([0, *word_chains])
        symbols = range(chain + 1, chain + 1 + free_symbols)
        self.word_chains = np.array([0, 0, *word_chains, *specials, *symbols], "int32")
        pointed = self.symbol_answers or [0] * free_symbols
        self.pointers = np.array([0, 0, *pointers, *specials, *pointed], "int32")
        self.joint, self.order, self.max_chains = joint, order, max_chains
        self.edge_table = EdgeTable(edge_types, max_sources, strict_edge_types)
        self.word_types = self._table_of_types(word_types) if word_types else None

    @classmethod
    def fit(
        cls,
        examples: Sequence[Example],
        *,
        entity_words: Iterable[str] | Mapping[str, str] = (),
        lemmatizer: Callable[[str], str] | None = None,
        tokenizer: str = "words",
        answers: Iterable[str] = (),
        max_words: int | None = None,
        min_count: int = 1,
        max_sources: int | None = None,
        **kwargs: Any,
    ) -> "ReaderPreprocessor":
        """Learns vocabulary and answers from training examples.

        Each of the lower-cased `entity_words` is a chain; a `lemmatizer` joins words of one lemma.
        If `entity_words` maps words to edge types, edges of these types join their mentions too.
        `answers` adds answers that no example has. The vocabulary has entities, answers and the
        `max_words` most frequent other words that occur at least `min_count` times. `max_sources`
        is by default the least of 1, 2 and 4 that keeps 99% of the edges. Further arguments are
        those of the constructor.
        """
        check_examples(examples)
        check_words(max_words, min_count)
        lemma, tokenize = lemmatizer or str, get_tokenizer(tokenizer)
        examples = recut(examples, tokenize)
        texts = [text for e in examples for text in (e.passage, e.question)]
        counts = collections.Counter(word for text in texts for word in tokenize(text))
        answers = sorted({*answers, *(example.answer for example in examples)})
        chains = {name: n for n, name in enumerate(sorted(set(map(lemma, entity_words))), 1)}
        answer_numbers = {lemma(lower(answer)): n for n, answer in enumerate(answers, 1)}
        words = Vocabulary.from_counts(counts).known
        lemmas = {word: lemma(word) for word in words}
        named = {*chains, *answer_numbers}
        own = {word for word in words if lemmas[word] in named}
        others = [word for word in words if counts[word] >= min_count and word not in own]
        kept = own.union(others[:max_words])
        words = [word for word in words if word in kept]
        kwargs.setdefault("strict_edge_types", "edge_types" in kwargs)
        preprocessor = cls(
            words,
            answers,
            [chains.get(lemmas[word], 0) for word in words],
            [answer_numbers.get(lemmas[word], 0) for word in words],
            tokenizer,
            **kwargs,
        )
        learned: set[str] = set()
        if isinstance(entity_words, Mapping):
            types = {lemma(word): name for word, name in entity_words.items()}
            preprocessor.type_words([types.get(lemmas[word]) for word in words])
            # The examples may lack entities of a type.
            learned = {*types.values(), *ENTITY_TYPES}
        return preprocessor.with_edges_of(examples, max_sources, learned)

    def type_words(self, names: Sequence[str | None]) -> None:
        """Sets the edge type of the chain of each word, besides coreference."""
        columns = map(self.edge_table.column, names)
        known = [0 if column is None else column + 1 for column in columns]
        if any(known):
            self.word_types = self._table_of_types(known)

    def _table_of_types(self, known: Sequence[int]) -> np.ndarray:
        others = len(self.vocabulary) - 2 - len(known)
        return np.array([0, 0, *known, *[0] * others], "int32")

    def with_edges_of(
        self,
        examples: Sequence[Example],
        max_sources: int | None,
        learned: Iterable[str] = (),
    ) -> Self:
        """Sets `max_sources`, or chooses it from training examples if it is `None`.

        Raises:
            ValueError: if no example has an edge of one of the types, unless it is a type of words
                that was `learned`; or if one has an edge of a type that was not chosen.
        """
        own = [base for base in self.edge_table.bases if base not in {COREFERENCE, *learned}]
        if not self.strict_edge_types:
            warn_of_unread_edges(examples, [COREFERENCE])
        if own or any(example.edges for example in examples):
            self.edge_table.check_known(own, examples)
            rows = self.encode_all(examples, step=-(-len(examples) // SAMPLE))
            if max_sources is None:
                max_sources = self.edge_table.room(self._edges_by_cell(rows))
        if max_sources is not None:
            self.edge_table.limit(max_sources)
        return self

    @property
    def edge_types(self) -> list[str]:
        return self.edge_table.types

    @property
    def max_sources(self) -> int:
        return self.edge_table.max_sources

    @property
    def strict_edge_types(self) -> bool:
        return self.edge_table.is_strict

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (*FEATURES, PASSAGE_LEADS) if self.has_random_order else FEATURES

    @property
    def has_random_order(self) -> bool:
        """Whether each text has an order of its own."""
        return self.joint and self.order == RANDOM

    def encode(self, example: Example) -> Encoded:
        example = example.recut(self.tokenizer.cased)
        encoded = self._encode(example.passage, example.question, example.answer, example.source)
        return self.with_edges(encoded, example)

    def with_edges(self, encoded: Any, example: Example) -> Any:
        count = len(encoded.passage) + len(encoded.question)
        example.check_chains(count)
        if example.chains:
            encoded = dataclasses.replace(encoded, chain_ids=np.array(example.chains, "int32"))
        edges = self.edge_table.encode(example, count)
        if not self.joint:
            self.edge_table.warn_of_edges_across(example, len(encoded.passage))
        return dataclasses.replace(encoded, edges=edges) if len(edges) else encoded

    def encode_text(self, passage: str, question: str) -> Any:
        return self._encode(passage, question)

    def _encode(
        self, passage: str, question: str, answer: str | None = None, source: str = ""
    ) -> Encoded:
        tokens = self.cut_texts([("passage", passage), ("question", question)], source)
        text, query = ids = self.vocabulary.encode_texts(tokens)
        symbols = self.spelled_symbols([passage, question], ids)
        number = self.number_of_answer(answer, symbols)
        same = mark_overlap(text, query, tokens, self.vocabulary.is_unknown)
        chains = self.word_chains[np.concatenate(ids)]
        return Encoded(text, query, number, source, chain_ids=chains, overlap=same, symbols=symbols)

    def typed_edges(self, encoded: Encoded) -> list[tuple[int, int, str]]:
        """Returns the edges of an encoded example that a reader reads besides coreference chains.

        Edges of typed words lead from each mention to the next one in reading order.
        """
        edges = {
            (source, target, self.edge_table.bases[number])
            for source, target, number in encoded.edges.tolist()
            if self.joint or len({end <= len(encoded.passage) for end in (source, target)}) == 1
        }
        return sorted(edges.union(self._edges_of_words(encoded)))

    def _edges_of_words(self, encoded: Encoded) -> Iterator[tuple[int, int, str]]:
        if self.word_types is None:
            return
        types = self.word_types[np.concatenate([encoded.passage, encoded.question])]
        tokens = np.stack([encoded.chain_ids, types, np.arange(1, len(types) + 1)], axis=1)
        parts = {name: encoded.part(name, tokens)[None] for name in ORDERS[self.order]}
        for layout in layouts_of([encoded], self.joint, self.order):
            chains, types, places = layout.join(parts)[0].T
            sources = antecedents(chains[None])[0]
            for token in np.flatnonzero(sources * types):
                name = base_type(self.edge_types[types[token] - 1])
                yield int(places[sources[token] - 1]), int(places[token]), name

    def length(self, encoded: Encoded) -> int:
        return len(encoded.passage)

    def _collate(self, rows: Sequence, count: int, lengths: tuple[int, int], names: Any) -> dict:
        ids, chains = dict[str, Any](), dict[str, Any]()
        for name, width in zip(("passage", "question"), lengths, strict=True):
            ids[name] = pad([getattr(row, name) for row in rows], width, count)
            check_ids(name, ids[name], len(self.vocabulary))
            chains[name] = pad([row.part(name, row.chain_ids) for row in rows], width, count)
        return self._features(**ids, names=names, chains=chains, rows=rows)

    def _features(
        self,
        passage: Any,
        question: Any,
        names: Any,
        xp: Any = np,
        chains: Any = None,
        rows: Sequence = (),
        words: Sequence = (),
    ) -> dict[str, Any]:
        ids = {"passage": passage, "question": question}
        if chains is None:
            chains = {name: xp.take(self.word_chains, array) for name, array in ids.items()}
        types, leads = None, None
        if self.word_types is not None:
            types = {name: xp.take(self.word_types, array) for name, array in ids.items()}
        if self.has_random_order:
            leads = passage_leads(sum(xp.sum(a, axis=1, keepdims=True) for a in ids.values()))
        result = {**ids, "candidates": xp.take(self.pointers, passage)}
        if "passage_asked" in names and rows:
            result["passage_asked"] = pad([row.overlap for row in rows], *passage.shape[::-1])
        elif "passage_asked" in names:
            first, second = words or (passage, question)
            result["passage_asked"] = overlapping_words(first, second, passage != 0, xp)
        if leads is not None:
            result[PASSAGE_LEADS] = xp.asarray(leads, dtype="int32")
        return result | self.links(chains, names, xp, rows, types, leads)

    def graph_features(self, tokens: Sequence, tables: Sequence, names: Sequence[str]) -> dict:
        passage, question = self.graph_ids(tokens, tables)
        both = list(map(padded, tokens))
        features = self._features(passage, question, names, GraphNumpy(), words=both)
        return {name: features[name] for name in names}

    def links(
        self,
        chains: dict[str, Any],
        names: Sequence[str],
        xp: Any = np,
        rows: Sequence = (),
        types: dict[str, Any] | None = None,
        leads: Any = None,
    ) -> dict[str, Any]:
        """Makes the features of chains, of `types` of words, and of the edges of encoded `rows`.

        The passage comes first in rows where it `leads`.
        """
        kinds = {name.rpartition("_")[2] for name in names}
        result: dict[str, Any] = {}
        # The shape is unknown inside a graph.
        widths = {name: xp.size(array[:1]) for name, array in chains.items()}
        for group in sequences(self.joint, self.order):
            layout = Layout(group, widths, leads, xp)
            joined, links = layout.join(chains), {}
            if kinds & {"antecedents", "sources"}:
                links["antecedents"] = antecedents(joined, xp)
                typed = None if types is None else layout.join(types)
                links["sources"] = self.edge_table.of_chains(links["antecedents"], typed, xp)
                if any(len(row.edges) for row in rows):
                    starts = layout.starts(len(rows))
                    edges = self.edge_table.oriented(rows, group, starts)
                    links |= self.edge_table.with_chains(edges, links["sources"])
            if "chains" in kinds:
                links["chains"] = chain_ids(joined, self.max_chains, xp)
            for kind, array in links.items():
                result |= {f"{name}_{kind}": part for name, part in layout.split(array).items()}
        return result

    def _edges_by_cell(self, rows: Sequence) -> np.ndarray:
        """Counts the edges of each token and type, chains included, where examples have edges."""
        names = [f"{part}_sources" for part in ORDERS[self.order]]
        counts = [np.zeros(0, "int64")]
        for row in rows:
            if len(row.edges):
                self.edge_table.limit(1 + np.bincount(row.edges[:, :2].ravel()).max())
                plain = dataclasses.replace(row, edges=row.edges[:0])
                lengths = len(row.passage), len(row.question)
                both, chained = (self.collate([r], 1, *lengths, names) for r in (row, plain))
                for name in names:
                    linked, own = (np.sum(each[name] > 0, axis=-1) for each in (both, chained))
                    counts.append(linked[linked > own])
        return np.concatenate(counts)

    def get_config(self) -> dict[str, Any]:
        config, known = super().get_config(), slice(2, 2 + len(self.vocabulary.known))
        tables = {"word_chains": self.word_chains, "pointers": self.pointers}
        if self.word_types is not None:
            tables["word_types"] = self.word_types
        return {**config, **{name: table[known].tolist() for name, table in tables.items()}}
