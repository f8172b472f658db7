"""Preprocessing of questions whose answer is a candidate of their own passage."""

import collections
import copy
import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import keras
import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.datasets.passages.candidates import (
    as_in_passage,
    distinct_words,
    find_mentions,
)
from keras_corefmem.graphs.targets import check_signal
from keras_corefmem.preprocessing.encoding import features
from keras_corefmem.preprocessing.encoding.answers import best_sequences
from keras_corefmem.preprocessing.encoding.encoded import Encoded, mark_overlap
from keras_corefmem.preprocessing.encoding.features import Spelling, pad, target_name
from keras_corefmem.preprocessing.encoding.graph import (
    GraphNumpy,
    look_up_letters,
    number_words,
    padded,
)
from keras_corefmem.preprocessing.preprocessor import of_source, ranked
from keras_corefmem.preprocessing.reader_preprocessor import ReaderPreprocessor
from keras_corefmem.preprocessing.training_examples import (
    check_examples,
    check_words,
    learn_entity_words_by_kind,
    recut,
)
from keras_corefmem.text.tokenizers import SENTENCE_ENDS, get_tokenizer, has_letters, lower
from keras_corefmem.text.vocabulary import Vocabulary
from keras_corefmem.utils.checks import check_sizes


@dataclasses.dataclass(frozen=True, kw_only=True)
class EncodedCandidates(Encoded):
    """An encoded question whose answer is the number of a candidate of its passage."""

    candidates: tuple[str, ...]  # By number, from 1.
    mentions: np.ndarray  # int32 (N, 3): start, end and number of each in the passage.
    words: tuple[str, ...]  # Of passage and question; empty if words are not spelled.
    sentences: np.ndarray  # int32 (T,): sentence of each token of the passage, from 1.
    targets: dict = dataclasses.field(default_factory=dict)  # Pairs (N, 2) by signal.
    is_cut: bool = False  # Whether there are more candidates than the maximum.


@keras.saving.register_keras_serializable("keras_corefmem")
class CandidatePreprocessor(ReaderPreprocessor):
    """Preprocessing of a reader whose answers are words or candidates of the passage at hand.

    An answer is encoded as its number among the candidates of its own passage. These are the
    candidates of the example or, if it has none, all words of the passage except punctuation, in
    the order of their first occurrence. Text is read in lower case. Chains are those of an
    `AnnotatedExample`; in other text, repeated entity words and training answers form chains.

    Features are those of a `ReaderPreprocessor`; with `spans`, `candidates` is a bool mask
    `(batch, time, candidates + 1)`. If words are spelled, there are also `passage_characters` and
    `question_characters` `(batch, time, word_length)`. For attention, `passage_sentences`
    `(batch, time)` is the number of each token's sentence, and `passage_targets_SIGNAL`
    `(batch, room · time, 2)` has the pairs of a signal. The room is doubled until the pairs of
    every passage of the batch fit.

    Args:
        words: words of the vocabulary without its two specials.
        word_chains: chain of each word, 0 = none, for text without annotation.
        num_candidates: maximum number of candidates; further ones of a passage are dropped.
        spans: whether candidates may have several words.
        characters: string of the known characters, `""` if words are not spelled.
        word_length: number of characters read of each word, from its start.
        tokenizer: name of a tokenizer that lower-cases.
        signals: dictionary from the name of a signal to the room for its `attention_pairs`, in
            pairs per token.
        annotator: name of the annotator of the training examples, or `None`.
        truecase: name of the truecaser that was applied before, or `None`.
        **kwargs: `joint`, `order`, `max_chains`, `unknown_types`, `free_symbols`, `edge_types`,
            `max_sources` and `strict_edge_types`, see `ReaderPreprocessor`.

    Raises:
        ValueError: if `num_candidates` or `word_length` is less than 1, the tokenizer keeps capital
            letters, or there is no such signal.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> preprocessor = keras_corefmem.preprocessing.CandidatePreprocessor.fit(examples)
        >>> encoded = preprocessor.encode_text("mary met john .", "who met john ?")
        >>> preprocessor.answers_of(encoded)
        ['[unknown]', 'mary', 'met', 'john']
    """

    local = True
    arguments = (
        *(*ReaderPreprocessor.arguments, "spans", "characters", "word_length", "signals"),
        *("annotator", "truecase"),
    )

    def __init__(
        self,
        words: Sequence[str],
        word_chains: Sequence[int],
        num_candidates: int,
        spans: bool = False,
        characters: str = "",
        word_length: int = 15,
        tokenizer: str = "spaces",
        signals: dict[str, int] | None = None,
        annotator: str | None = None,
        truecase: str | None = None,
        **kwargs: Any,
    ) -> None:
        check_sizes(num_candidates=num_candidates)
        if tokenizer == "penn":
            raise ValueError("tokenizer: penn keeps capital letters, take penn_lower.")
        answers = [f"candidate {n}" for n in range(1, num_candidates + 1)]
        super().__init__(words, answers, word_chains, [0] * len(words), tokenizer, **kwargs)
        self.spans, self.word_length = spans, word_length
        self.annotator, self.truecase = annotator, truecase
        self.spelling = Spelling(characters, word_length)
        self.signals = dict(signals or {})
        for signal in self.signals:
            check_signal(signal)

    @property
    def head(self) -> str:
        """Name of the answer head of a reader that points at its candidates."""
        return "span_sum" if self.spans else "pointer_sum"

    @classmethod
    def fit(
        cls,
        examples: Sequence[Example],
        *,
        max_words: int | None = None,
        min_count: int = 1,
        characters: bool = False,
        tokenizer: str = "spaces",
        num_candidates: int | None = None,
        signals: Sequence[str] = (),
        entity_words: Iterable[str] | None = None,
        max_sources: int | None = None,
        **kwargs: Any,
    ) -> "CandidatePreprocessor":
        """Learns vocabulary and sizes from training examples.

        The vocabulary has the `max_words` most frequent words that occur at least `min_count`
        times; with `characters`, words are spelled too. Annotator and truecaser of the examples are
        recorded if they are the same for all. In text without annotation, repeated answers and
        lower-cased `entity_words` form chains; by default, entity words are learned if no example
        has annotation or candidates. `max_sources` is by default the least of 1, 2 and 4 that keeps
        99% of the edges. Further arguments are those of the constructor.
        """
        check_examples(examples)
        check_words(max_words, min_count)
        for signal in signals:
            check_signal(signal)
        tokenize, made_by = get_tokenizer(tokenizer), set()
        examples = recut(examples, tokenize)
        linked = {lower(example.answer) for example in examples}
        if isinstance(entity_words, Mapping):
            raise ValueError("Readers of local answers link entity_words alone: give no types.")
        if entity_words is None and all(type(example) is Example for example in examples):
            entity_words = filter(has_letters, learn_entity_words_by_kind(examples, tokenize))
        chains = {word: n for n, word in enumerate(sorted(linked.union(entity_words or ())), 1)}
        counts: collections.Counter = collections.Counter()
        spans, most, room = False, 1, dict.fromkeys(signals, 0)
        for example in examples:
            passage = example.tokens(example.passage, tokenize)
            counts.update(passage + example.tokens(example.question, tokenize))
            made_by.add(tuple(getattr(example, k, "") for k in ("annotator", "truecaser")))
            candidates = getattr(example, "candidates", ())
            spans = spans or any(len(tokenize(text)) > 1 for text in candidates)
            most = max(most, len(candidates or distinct_words(passage)))
            if signals:
                ids = example.chains or getattr(example, "chain_ids", ())
                ids = ids[: len(passage)] or [chains.get(word, 0) for word in passage]
                targets = features.targets_of(example, signals, ids)
                room = features.room_for(room, targets, len(passage))
        if missing := [signal for signal, pairs in room.items() if not pairs]:
            raise ValueError(
                f"No training example has targets of {', '.join(missing)}: annotate them with a "
                "pipeline that finds such structure (corefmem annotate), give examples `chains` if "
                "it is coreference, or leave the signal out."
            )
        known = {word: count for word, count in counts.items() if count >= min_count}
        words = Vocabulary.from_counts(known).known[:max_words]
        annotator, truecase = made_by.pop() if len(made_by) == 1 else ("", "")
        kwargs = {"annotator": annotator or None, "truecase": truecase or None, **kwargs}
        kwargs.setdefault("strict_edge_types", "edge_types" in kwargs)
        preprocessor = cls(
            words,
            [chains.get(word, 0) for word in words],
            most if num_candidates is None else num_candidates,
            spans,
            "".join(sorted({letter for word in words for letter in word})) if characters else "",
            tokenizer=tokenizer,
            signals=room,
            **kwargs,
        )
        return preprocessor.with_edges_of(examples, max_sources)

    def encode(self, example: Example) -> EncodedCandidates:
        example = example.recut(self.tokenizer.cased)
        sentences = example.cut_sentences(self.tokenizer, example.tokens)
        words = list(itertools.chain.from_iterable(sentences))
        numbers = np.repeat(np.arange(1, len(sentences) + 1), list(map(len, sentences)))
        named = getattr(example, "candidates", ())
        cut = as_in_passage(list(map(self.tokenizer, named)), words)
        candidates = dict(zip(named, cut, strict=True))
        encoded = self._encode_words(
            words,
            example.tokens(example.question, self.tokenizer),
            self._sentences_of_text(words) if example.is_raw else numbers,
            candidates,
            getattr(example, "chain_ids", ()),
            example.source,
        )
        known, answer = encoded.candidates, example.answer if candidates else lower(example.answer)
        number = known.index(answer) + 1 if answer in known else 0
        if number and candidates:
            # If candidates have the same tokens, the first one has the mentions.
            number = 1 + list(candidates.values()).index(candidates[answer])
        encoded = self.with_edges(dataclasses.replace(encoded, answer=number), example)
        if example.is_raw:
            # The structure of raw text is unknown.
            return encoded
        chains = encoded.chain_ids[: len(encoded.passage)]
        targets = features.targets_of(example, self.signals, chains)
        return dataclasses.replace(encoded, targets=targets)

    def encode_text(self, passage: str, question: str) -> EncodedCandidates:
        words = self.tokenizer(passage)
        return self._encode_words(words, self.tokenizer(question), self._sentences_of_text(words))

    @staticmethod
    def _sentences_of_text(words: Sequence[str]) -> np.ndarray:
        return features.sentence_numbers(np.isin(words, SENTENCE_ENDS))

    def _encode_words(
        self,
        passage: list[str],
        question: list[str],
        sentences: np.ndarray,
        candidates: Mapping[str, list[str]] = MappingProxyType({}),
        chains: Sequence[int] = (),
        source: str = "",
    ) -> EncodedCandidates:
        for name, tokens in (("passage", passage), ("question", question)):
            if not tokens:
                raise ValueError(f"The {name}{of_source(source)} is empty. Give at least one word.")
        if not candidates and not any(map(has_letters, passage)):
            raise ValueError(
                f"The passage{of_source(source)} has nothing but punctuation: give it a word."
            )
        text, query = parts = self.vocabulary.encode_texts([passage, question])
        ids = np.concatenate(parts)
        named = tuple(candidates) or distinct_words(passage)
        known = named[: len(self.answers) - 1]
        mentions = self._mentions(passage, known, candidates, source)
        return EncodedCandidates(
            text,
            query,
            0,
            source,
            chain_ids=np.array(chains, "int32") if chains else self.word_chains[ids],
            candidates=known,
            mentions=np.array(mentions, "int32").reshape(-1, 3),
            overlap=mark_overlap(text, query, [passage, question], self.vocabulary.is_unknown),
            words=(*passage, *question) if self.spelling else (),
            sentences=sentences,
            is_cut=len(known) < len(named),
        )

    def _mentions(
        self,
        passage: list[str],
        known: tuple[str, ...],
        candidates: Mapping[str, list[str]],
        source: str,
    ) -> list[tuple[int, int, int]]:
        """Returns the mentions of the candidates that are read, see `find_mentions`."""
        if not candidates:
            numbers = {word: number for number, word in enumerate(known, 1)}
            return [(t, t + 1, numbers[w]) for t, w in enumerate(passage) if w in numbers]
        # Of candidates with the same tokens, the first one alone has the mentions.
        first = {tuple(candidates[each]): each for each in reversed(known)}
        spans = [candidates[n] if first[tuple(candidates[n])] == n else [] for n in known]
        mentions = find_mentions(spans, passage)
        if not self.spans and (long := [n for start, end, n in mentions if end - start > 1]):
            raise ValueError(
                f"{source or 'An example'}: the candidate {known[long[0] - 1]!r:.80} has several "
                "words, and the reader points at single ones: leave it out, or fit the reader on "
                "examples that have such candidates."
            )
        return mentions

    @property
    def feature_names(self) -> tuple[str, ...]:
        spelled = [f"{name}_characters" for name in ("passage", "question") if self.spelling]
        targets = map(target_name, self.signals)
        own = "passage_sentences", *spelled, *targets
        return (*super().feature_names, *own)

    def _collate(self, rows: Sequence, count: int, lengths: tuple[int, int], names: Any) -> dict:
        result, length = super()._collate(rows, count, lengths, names), lengths[0]
        result["candidates"] = np.zeros((count, length), "int32")
        if self.spans:
            result["candidates"] = np.zeros((count, length, len(self.answers)), "bool")
        for mask, row in zip(result["candidates"], rows, strict=False):
            if self.spans:
                for start, end, number in row.mentions.tolist():
                    mask[start:end, number] = True
            else:
                order = np.argsort(-row.mentions[:, 2], kind="stable")
                mask[row.mentions[order, 0]] = row.mentions[order, 2]
        result["passage_sentences"] = pad([row.sentences for row in rows], length, count)
        for signal, room in self.signals.items():
            if target_name(signal) in names:
                pairs = [row.targets.get(signal, ()) for row in rows]
                result[target_name(signal)] = features.pad_pairs(pairs, room * length, count)
        for name, width in zip(("passage", "question"), lengths, strict=True):
            if f"{name}_characters" in names:
                letters = [self.spelling(row.part(name, row.words)) for row in rows]
                result[f"{name}_characters"] = pad(letters, width, count, (self.word_length,))
        return result

    def with_target_room(self, rows: Sequence[Any]) -> "CandidatePreprocessor":
        room = self.signals
        for row in rows:
            room = features.room_for(room, row.targets, len(row.passage))
        if room == self.signals:
            return self
        other = copy.copy(self)
        other.signals = room
        return other

    def answers_of(self, encoded: EncodedCandidates) -> list[str]:
        return [self.answers[0], *encoded.candidates]

    def graph_features(
        self, tokens: Sequence, tables: Sequence, names: Sequence[str], chains: Any = None
    ) -> dict:
        """Makes the features inside a TensorFlow graph, with `chains` by text if they are known."""
        import tensorflow as tf

        xp, both = GraphNumpy(), list(map(padded, tokens))
        (passage, question), words = self.graph_ids(tokens, tables), both[0]
        result = self._features(passage, question, names, xp, chains, words=both)
        numbers = result["candidates"] = number_words(words, len(self.answers) - 1)
        if self.spans:
            one_hot = tf.one_hot(numbers, len(self.answers), on_value=True, off_value=False)
            result["candidates"] = one_hot & (numbers > 0)[..., None]
        ends = tf.reduce_any(words[..., None] == tf.constant(SENTENCE_ENDS), axis=-1)
        sentences = features.sentence_numbers(ends, xp)
        result["passage_sentences"] = tf.where(words == "", 0, sentences)
        batch, time = tf.unstack(tf.shape(words))
        # The structure of raw text is unknown, and no answer depends on targets.
        for signal, room in self.signals.items():
            result[target_name(signal)] = tf.zeros([batch, room * time, 2], "int32")
        if self.spelling:
            for name, each in zip(self.strings, tokens, strict=True):
                result[f"{name}_characters"] = look_up_letters(tables[1], each, self.word_length)
        return {name: result[name] for name in names}

    def graph_answers(
        self, logits: Any, tokens: Sequence, top: int, symbols: Any = None
    ) -> dict[str, Any]:
        import tensorflow as tf

        sequences, logs = best_sequences(logits, top, GraphNumpy())
        words = padded(tokens[0])
        numbers = number_words(words, len(self.answers) - 1)[:, None]
        mentions = (numbers == tf.range(len(self.answers))[:, None]) & (numbers > 0)
        first = tf.gather(words, tf.argmax(mentions, axis=-1), batch_dims=1)
        known = tf.where(tf.reduce_any(mentions, axis=-1), first, "")
        answers = tf.gather(known, sequences[..., 0], batch_dims=1)
        return ranked(answers, tf.where(answers == "", 0.0, tf.exp(logs)))

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "num_candidates": len(self.answers) - 1}
        for name in ("answers", "pointers", "word_types"):
            config.pop(name, None)
        return config
