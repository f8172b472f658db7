"""From passages that hold their own answers to the features of a reader."""

import collections
import dataclasses

import numpy as np

from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.datasets.passages.candidates import distinct_words, find_mentions, has_letters
from keras_corefmem.graphs.targets import check_signal
from keras_corefmem.preprocessing.attention_targets import (
    pad_pairs,
    sentence_numbers,
    target_name,
    targets_of,
)
from keras_corefmem.preprocessing.preprocessor import (
    FEATURES,
    Encoded,
    Preprocessor,
    check_ids,
    pad,
)
from keras_corefmem.text.tokenizers import SENTENCE_ENDS, get_tokenizer, lower
from keras_corefmem.text.vocabulary import Vocabulary


@dataclasses.dataclass(frozen=True)
class EncodedPassage(Encoded):
    """A question as ids; the answer is the number of a candidate of this passage.

    `entities` `(T + Q,)`, chain of each token of passage and question; `candidates` by number, from
    1, as strings; `mentions`, `(start, end, number)` of each in the passage, `(N, 3)`; `words`, the
    tokens of passage and question; `sentences` `(T,)`, number of the sentence of each token of the
    passage, from 1; `targets`, pairs `(N, 2)` by the name of their signal.
    """

    candidates: tuple = ()
    mentions: np.ndarray = None
    words: tuple = ()
    sentences: np.ndarray = None
    targets: dict = dataclasses.field(default_factory=dict)


class PassagePreprocessor(Preprocessor):
    """What a reader knows whose answers are words or candidates of the passage at hand.

    An answer is the number that it has among the candidates of its own passage: those that an
    example gives, or else all words of the passage in the order of their first occurrence, without
    punctuation. All is read in lower case. Chains are those of an `AnnotatedExample`; in any other
    text, words that were answers in training are linked where they are repeated.

    Args:
        words: words of the vocabulary without its two specials.
        entities: entity number of each word, 0 = no entity, for text without annotation.
        num_candidates: largest number of candidates; a passage with more loses the last ones.
        spans: whether candidates may have several words.
        characters: string of the characters that are known, `""` where words are not spelt.
        word_length: characters of a word that are read, the first ones.
        tokenizer: name of a tokenizer to lower case.
        signals: number of pairs for each token of a passage that there is room for, by the name of
            the signal, of those of `attention_pairs` that supervise attention.
        **kwargs: `joint`, `order`, `max_chains` and `unknown_types`, see `Preprocessor`.

    Raises:
        ValueError: if `num_candidates` or `word_length` is less than 1, the tokenizer keeps capital
            letters, or there is no such signal.
    """

    def __init__(
        self,
        words,
        entities,
        num_candidates,
        spans=False,
        characters="",
        word_length=15,
        tokenizer="spaces",
        signals=None,
        **kwargs,
    ):
        for name, value in (("num_candidates", num_candidates), ("word_length", word_length)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}.")
        if tokenizer == "penn":
            raise ValueError("tokenizer: penn keeps capital letters, take penn_lower.")
        answers = [f"candidate {n}" for n in range(1, num_candidates + 1)]
        super().__init__(words, answers, entities, [0] * len(words), tokenizer, **kwargs)
        self.spans, self.word_length = spans, word_length
        self.characters, self.spells = Vocabulary(characters), bool(characters)
        self._spelt, self.signals = {}, dict(signals or {})
        for signal in self.signals:
            check_signal(signal)

    @property
    def head(self):
        """Name of the head of a reader that points at its candidates."""
        return "span_sum" if self.spans else "pointer_sum"

    @property
    def num_characters(self):
        """Number of character ids, 0 where words are not spelt."""
        return len(self.characters) if self.spells else 0

    @classmethod
    def fit(
        cls,
        examples,
        max_words=None,
        min_count=1,
        characters=False,
        tokenizer="spaces",
        num_candidates=None,
        signals=(),
        **kwargs,
    ):
        """Learns vocabulary and sizes from training examples.

        Args:
            examples: training examples.
            max_words: how many words are known, the most frequent ones; `None` for all.
            min_count: how often a word has to occur to be known.
            characters: whether words are spelt.
            tokenizer: name of the tokenizer.
            num_candidates: largest number of candidates; `None` for that of the examples.
            signals: names of the signals that supervise attention.
            **kwargs: further arguments of the constructor.

        Raises:
            ValueError: if there is no such signal, or no example has a target of it.
        """
        for signal in signals:
            check_signal(signal)
        tokenize, counts, answers = get_tokenizer(tokenizer), collections.Counter(), set()
        spans, most, room = False, 1, dict.fromkeys(signals, 0)
        for example in examples:
            passage = tokens_of(example, example.passage, tokenize)
            counts.update(passage)
            counts.update(tokens_of(example, example.question, tokenize))
            answers.add(lower(example.answer))
            given = getattr(example, "candidates", ())
            spans = spans or any(len(tokenize(text)) > 1 for text in given)
            most = max(most, len(given or distinct_words(passage)))
            for signal, pairs in targets_of(example, signals).items():
                room[signal] = max(room[signal], -(-len(pairs) // len(passage)))
        missing = [signal for signal, pairs in room.items() if not pairs]
        if missing:
            raise ValueError(
                f"No training example has targets of {', '.join(missing)}: annotate them with a "
                "pipeline that finds such structure (corefmem annotate), or leave the signal out."
            )
        counts = {word: count for word, count in counts.items() if count >= min_count}
        max_size = None if max_words is None else max_words + 2
        words = Vocabulary.from_counts(counts, max_size).known
        numbers = {word: n for n, word in enumerate(sorted(answers), 1)}
        return cls(
            words,
            [numbers.get(word, 0) for word in words],
            most if num_candidates is None else num_candidates,
            spans,
            "".join(sorted({letter for word in words for letter in word})) if characters else "",
            tokenizer=tokenizer,
            signals=room,
            **kwargs,
        )

    def encode(self, example):
        """An `Example` as `EncodedPassage`.

        Raises:
            ValueError: if passage or question has no tokens.
        """
        passage, question = (
            tokens_of(example, text, self.tokenizer) for text in (example.passage, example.question)
        )
        given = getattr(example, "candidates", ())
        entities = getattr(example, "chain_ids", ())
        source = f" of {example.source or 'an example'}"
        sentences = None
        if isinstance(example, AnnotatedExample):
            lengths = [sentence.count(" ") + 1 for sentence in example.sentences]
            sentences = np.repeat(np.arange(1, len(lengths) + 1), lengths)
        encoded = self._encode(
            passage, question, given, entities, example.answer, source, sentences
        )
        targets = targets_of(example, self.signals)
        return dataclasses.replace(encoded, source=example.source, targets=targets)

    def encode_text(self, passage, question, answer=None, source=""):
        words = map(self.tokenizer, (passage, question))
        return self._encode(*words, (), (), answer, source)

    def _encode(self, passage, question, given, entities, answer, source, sentences=None):
        for name, tokens in (("passage", passage), ("question", question)):
            if not tokens:
                raise ValueError(f"The {name}{source} is empty. Give at least one word.")
        if not given and not any(map(has_letters, passage)):
            raise ValueError(f"The passage{source} has nothing but punctuation: give it a word.")
        if sentences is None:
            sentences = sentence_numbers(np.isin(passage, SENTENCE_ENDS))
        ids = self.vocabulary.encode([*passage, *question])
        if given:
            candidates = given[: len(self.answers) - 1]
            mentions = find_mentions(list(map(self.tokenizer, candidates)), passage)
        else:
            candidates = distinct_words(passage)[: len(self.answers) - 1]
            numbers = {word: number for number, word in enumerate(candidates, 1)}
            answer = answer and lower(answer)
            mentions = [(t, t + 1, numbers[w]) for t, w in enumerate(passage) if w in numbers]
        return EncodedPassage(
            ids[: len(passage)],
            ids[len(passage) :],
            candidates.index(answer) + 1 if answer in candidates else 0,
            entities=np.array(entities, "int32") if entities else self.entities[ids],
            candidates=tuple(candidates),
            mentions=np.array(mentions, "int32").reshape(-1, 3),
            words=(*passage, *question) if self.spells else (),
            sentences=sentences,
        )

    @property
    def names(self):
        """Names of all features that there are."""
        spelt = [f"{name}_characters" for name in ("passage", "question") if self.spells]
        targets = map(target_name, self.signals)
        return (*FEATURES, "passage_asked", "passage_sentences", *spelt, *targets)

    def collate(self, rows, count, length, question_length, names=None):
        """Features of a batch, by default all, see `Preprocessor`.

        With `spans`, `candidates` is a mask, bool `(batch, time, candidates + 1)`. There may also
        be `passage_asked` `(batch, time)`, 1 for tokens that the question has too and 2 for others;
        and where words are spelt `passage_characters` and `question_characters` `(batch, time,
        word_length)`.

        For attention, `passage_sentences` is the number of each token's sentence `(batch, time)`,
        and `passage_targets_` and the name of a signal has its pairs `(batch, room · time, 2)`;
        where a passage of the batch has more, there is twice the room, or four times.
        """
        names = self.names if names is None else names
        ends = [len(row.passage) for row in rows]
        parts = {"passage": [row.passage for row in rows], "question": [r.question for r in rows]}
        widths = {"passage": length, "question": question_length}
        result = {name: pad(arrays, widths[name], count) for name, arrays in parts.items()}
        for name, ids in result.items():
            check_ids(name, ids, len(self.vocabulary))
        result |= self.links(self.padded_entities(rows, widths, count), names)
        if "candidates" in names:
            result["candidates"] = self._candidates(rows, count, length)
        if "passage_asked" in names:
            asked = [2 - np.isin(row.passage, row.question) for row in rows]
            result["passage_asked"] = pad(asked, length, count)
        if "passage_sentences" in names:
            result["passage_sentences"] = pad([row.sentences for row in rows], length, count)
        for signal, room in self.signals.items():
            if target_name(signal) in names:
                pairs = [row.targets.get(signal, ()) for row in rows]
                result[target_name(signal)] = pad_pairs(pairs, room * length, count)
        for name, width in widths.items():
            if f"{name}_characters" in names:
                spelt = np.zeros((count, width, self.word_length), "int32")
                for row, end, characters in zip(rows, ends, spelt, strict=False):
                    words = row.words[:end] if name == "passage" else row.words[end:]
                    characters[: len(words)] = [self.spell(word) for word in words]
                result[f"{name}_characters"] = spelt
        return {name: result[name] for name in names}

    def _candidates(self, rows, count, length):
        if self.spans:
            result = np.zeros((count, length, len(self.answers)), "bool")
        else:
            result = np.zeros((count, length), "int32")
        for mask, row in zip(result, rows, strict=False):
            if self.spans:
                for start, end, number in row.mentions.tolist():
                    mask[start:end, number] = True
            else:
                mask[row.mentions[:, 0]] = row.mentions[:, 2]
        return result

    def spell(self, word):
        """Ids of the characters of a word that are read, `(word_length,)`."""
        if word not in self._spelt:
            letters = self.characters.encode(word[: self.word_length])
            self._spelt[word] = pad([letters], self.word_length)[0]
        return self._spelt[word]

    def get_config(self):
        config = super().get_config()
        del config["answers"], config["pointers"]
        return {
            **config,
            "num_candidates": len(self.answers) - 1,
            "spans": self.spans,
            "characters": "".join(self.characters.known),
            "word_length": self.word_length,
            "signals": self.signals,
        }


def tokens_of(example, text, tokenizer):
    """Lower-cased tokens of a text; those of an `AnnotatedExample` are between spaces."""
    if isinstance(example, AnnotatedExample):
        return lower(text).split(" ")
    return tokenizer(text)
