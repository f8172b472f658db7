"""Augmentation that exchanges the names of entities."""

import collections
import dataclasses
import functools
import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.graphs.entity_words import entity_classes, entity_types
from keras_corefmem.preprocessing.encoding.answers import SEPARATOR
from keras_corefmem.preprocessing.training_examples import learn_entity_words_by_kind
from keras_corefmem.text.tokenizers import as_tokenizer, has_letters, lower, spans

# Least share of a word's occurrences that an annotator has to label as one kind of name.
MOSTLY = 0.9
LISTS = "sentences", "candidates", "name_words"
# Maximum number of texts whose tokens are cached.
CACHED = 1 << 16
KINDS = {"PERSON": "person", "PER": "person", "GPE": "place", "LOC": "place", "LOCATION": "place"}
KINDS |= {label: "place" for label in ("FAC", "CITY", "COUNTRY", "STATE_OR_PROVINCE")}
# Groups within which entities are exchanged, unless all are exchanged with each other.
WITHIN = "classes", "types"
# What `prose` makes of characters in words, and of brackets.
_PLAIN, _BRACKETS = str.maketrans("’´‐‑", "''--"), ("-lrb-", "-rrb-")


class RenameEntities:
    """Permutes the names of entities, consistently in all texts of an example.

    Passage, question, answer and candidates are renamed token by token, so that lengths, chains and
    edges stay the same; an example that has some of these stays as it is if the tokenizer cuts the
    new names to more or fewer tokens. The word forms of an entity are renamed together: only
    entities whose forms have the same endings ("cat", "cats"; "dog", "dogs") are exchanged.

    Args:
        classes: lists of entities; those of one list are exchanged with each other. An entity is a
            word, as it is usually written, or the list of its forms.
        tokenizer: the tokenizer of the texts, or its name.
        is_answer: function that returns whether an answer can be learned. An example stays as it is
            if its new answer cannot.

    Raises:
        ValueError: if a word is in the classes twice, or a class is one string.

    Reference: entity anonymization of [Hermann et al., 2015](https://arxiv.org/abs/1506.03340).

    Example:
        >>> classes = [["Mary", "John"], ["hall", "den"]]
        >>> rename = keras_corefmem.preprocessing.RenameEntities(classes)
        >>> example = keras_corefmem.datasets.Example(("Mary is in the hall.",), "Where?", "hall")
        >>> renamed = rename(example, np.random.default_rng(0))
        >>> renamed.passage, renamed.answer
        ('John is in the den.', 'den')
    """

    def __init__(
        self,
        classes: Iterable[Iterable[str | Sequence[str]]],
        tokenizer: Any = "words",
        is_answer: Callable[[str], bool] = bool,
    ) -> None:
        self.tokenizer = as_tokenizer(tokenizer)
        self.is_answer = is_answer
        # Entities that may be exchanged, each the list of its forms in the order of the endings.
        self.groups: list[list[list[str]]] = []
        self.place: dict[str, tuple[int, int]] = {}
        for entities in classes:
            if isinstance(entities, str):
                raise ValueError(f"A class is a list of entities, got the string {entities!r:.80}.")
            alike = collections.defaultdict(list)
            for entity in entities:
                endings = _endings([entity] if isinstance(entity, str) else entity)
                alike[tuple(endings)].append(list(endings.values()))
            self.groups += alike.values()
        for number, group in enumerate(self.groups):
            for member, forms in enumerate(group):
                for form in map(lower, forms):
                    if form in self.place:
                        raise ValueError(f"{form!r} is in the classes twice, name it once.")
                    self.place[form] = number, member
        self._cuts: dict[tuple[str, type], tuple] = {}

    @classmethod
    def fit(
        cls, examples: Sequence[Example], preprocessor: Any, within: str | None = None
    ) -> "RenameEntities":
        """Learns which words to rename.

        If an annotator recognized named entities in the examples, these are the words that name
        persons or places. Otherwise they are the words of the preprocessor's chains or, if there
        are none, those that `keras_corefmem.graphs.learn_entity_words` finds in each kind of
        questions.

        Args:
            examples: training examples.
            preprocessor: the preprocessor of a model.
            within: `"classes"` exchanges entities that occur between the same neighbours, `"types"`
                persons, places and things (`entity_types`) each among themselves. With named
                entities, both exchange the persons and the places of the annotator. `None`
                exchanges all with each other.

        Raises:
            ValueError: if `within` is none of these, there is nothing to rename, or examples are
                annotated without named entities.
        """
        classes = learn_classes(examples, preprocessor, within).values()
        return cls(classes, preprocessor.tokenizer, functools.partial(_can_learn, preprocessor))

    def _cut(
        self, example: Example, text: str, is_cut: bool
    ) -> tuple[list[str], list[tuple[int, str]]]:
        """Returns the tokens of a text and what is between them, and the places of entities.

        Texts are cut as the example cuts them; those that are not cut before, by the tokenizer.
        """
        key = text, type(example) if is_cut else Example
        if key not in self._cuts:
            if len(self._cuts) >= CACHED:
                self._cuts.clear()
            cased, seen = self.tokenizer.cased, text
            tokens = example.cut(text, cased) if is_cut else cased(text)
            if not self.tokenizer.keeps_characters:
                seen, words = text.translate(_PLAIN), list(filter(_is_word, tokens))
                if _are_words(words, seen):
                    tokens = words
                else:
                    text = seen = " ".join(tokens)
            pieces, places, before = [], [], 0
            for token, (start, end) in zip(tokens, spans(seen, tokens), strict=True):
                pieces += [text[before:start], token]
                before = end
                if lower(token) in self.place:
                    places.append((len(pieces) - 1, lower(token)))
            self._cuts[key] = [*pieces, text[before:]], places
        return self._cuts[key]

    def new_names(
        self, words: Iterable[str], random: np.random.Generator
    ) -> dict[str, tuple[str, str]]:
        """Draws the new names of entities.

        Args:
            words: entity words of a text, in lower case, in the order of first occurrence.
            random: the random generator.

        Returns:
            Dictionary from a word to its usual spelling and its new name.
        """
        present: dict[int, dict[int, None]] = {}
        for number, member in map(self.place.__getitem__, words):
            present.setdefault(number, {})[member] = None
        names: dict[str, tuple[str, str]] = {}
        for number, members in present.items():
            group = self.groups[number]
            chosen = random.choice(len(group), len(members), replace=False).tolist()
            for member, other in zip(members, chosen, strict=True):
                pairs = zip(group[member], group[other], strict=True)
                names |= {lower(old): (old, new) for old, new in pairs}
        return names

    def __call__(self, example: Example, random: np.random.Generator) -> Example:
        lists = {name: getattr(example, name) for name in LISTS if getattr(example, name, ())}
        # A comma may be part of a candidate.
        several = "candidates" not in lists
        answers = example.answer.split(SEPARATOR) if several else [example.answer]
        # Readers cut candidates of annotated examples too.
        texts = [(example.question, True), *((text, several) for text in answers)]
        texts += [(text, name != "candidates") for name in lists for text in lists[name]]
        cuts = [self._cut(example, *text) for text in texts]
        words = dict.fromkeys(word for _, places in cuts for _, word in places)
        names = self.new_names(words, random)
        renamed = []
        for pieces, places in cuts:
            if places:
                pieces = list(pieces)
                for index, word in places:
                    if word in names:
                        pieces[index] = _spell(pieces[index], *names[word])
            renamed.append("".join(pieces))
        left = iter(renamed)
        question, answer = next(left), SEPARATOR.join(itertools.islice(left, len(answers)))
        if not self.is_answer(answer):
            return example
        values: dict[str, Any] = {
            name: tuple(itertools.islice(left, len(old))) for name, old in lists.items()
        }
        new = dataclasses.replace(example, question=question, answer=answer, **values)
        is_moved = (example.edges or example.chains) and self._sizes(new) != self._sizes(example)
        return example if is_moved else new

    def _sizes(self, example: Example) -> list[int]:
        texts = example.passage, example.question
        return [len(example.tokens(text, self.tokenizer)) for text in texts]


def learn_classes(
    examples: Sequence[Example], preprocessor: Any, within: str | None = None
) -> dict[str, list[list[str]]]:
    """Learns entities and returns them by the name of their class, see `RenameEntities.fit`."""
    if within not in (None, *WITHIN):
        raise ValueError(f"within must be classes, types or None; got {within!r}.")
    tokenizer = preprocessor.tokenizer
    texts = {(text, type(e)): e for e in examples for text in (*e.sentences, e.question)}
    written: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for (text, _), example in texts.items():
        for token in example.cut(text, tokenizer.cased):
            written[lower(token)][token] += 1
    labels = _names(examples)
    # Punctuation has no name: a word in its place would become part of its neighbour.
    known = set(filter(has_letters, preprocessor.vocabulary.known)) & written.keys()
    groups = [[word] for word in labels] if labels else _entities(examples, preprocessor)
    entities = [forms for each in groups if (forms := [w for w in each if w in known])]
    if len(entities) < 2:
        raise ValueError(
            "There are no entities to rename: leave renaming out, name the words yourself, "
            "RenameEntities(classes), or annotate with a pipeline that recognizes names."
        )
    if within and not labels:
        words = [form for forms in entities for form in forms]
        learn = entity_types if within == "types" else entity_classes
        labels = learn(examples, words, tokenizer)
    classes = collections.defaultdict(list)
    for forms in entities:
        usual = [max(written[word], key=written[word].__getitem__) for word in forms]
        classes[labels[forms[0]] if within else ""].append(usual)
    return dict(classes)


def _is_word(token: str) -> bool:
    return has_letters(token) and lower(token) not in _BRACKETS


def _are_words(tokens: Iterable[str], text: str) -> bool:
    """Returns whether tokens are all that has letters in a text, in order."""
    end = 0
    for token in tokens:
        start = text.find(token, end)
        if start < 0 or has_letters(text[end:start]):
            return False
        end = start + len(token)
    return not has_letters(text[end:])


def _endings(forms: Iterable[str]) -> dict[str, str]:
    """Returns forms by what follows their common stem, in lower case."""
    stem = len(os.path.commonprefix([lower(form) for form in forms]))
    return dict(sorted((lower(form)[stem:], form) for form in forms))


def _spell(token: str, old: str, new: str) -> str:
    """Writes a new name in the case of `token`, a name that is usually written `old`."""
    if lower(old) == lower(new):
        return token
    if token == old:
        return new
    return new[:1].upper() + new[1:] if token[:1].isupper() else lower(new)


def _can_learn(preprocessor: Any, answer: str) -> bool:
    several = preprocessor.answer_length > 1
    words = answer.split(SEPARATOR) if several else [answer]
    return preprocessor.local or all(word in preprocessor.answer_numbers for word in words)


def _names(examples: Sequence[Example]) -> dict[str, str]:
    """Returns the words that an annotator labels as names, each with its kind, person or place."""
    total: collections.Counter = collections.Counter()
    kinds: collections.Counter = collections.Counter()
    for example in examples:
        if labels := getattr(example, "named_entities", ()):
            words = lower(f"{example.passage} {example.question}").split(" ")
            total.update(words)
            pairs = zip(words, map(KINDS.get, labels), strict=True)
            kinds.update((word, kind) for word, kind in pairs if kind and has_letters(word))
    return {word: kind for (word, kind), n in sorted(kinds.items()) if n >= MOSTLY * total[word]}


def _entities(examples: Sequence[Example], preprocessor: Any) -> list[list[str]]:
    """Returns the forms of each entity, except those that answers write in yet another form."""
    if any(hasattr(example, "named_entities") for example in examples):
        return []
    forms: dict[int, list[str]] = collections.defaultdict(list)
    spelled: dict[int, set[str]] = collections.defaultdict(set)
    if preprocessor.word_chains is not None:
        numbers = preprocessor.word_chains[2:].tolist(), preprocessor.pointers[2:].tolist()
        for word, chain, answer in zip(preprocessor.vocabulary.known, *numbers, strict=False):
            if chain:
                forms[chain].append(word)
                spelled[chain].update([lower(preprocessor.answers[answer])] if answer else [])
    kept = [words for chain, words in forms.items() if spelled[chain] <= set(words)]
    learned = () if kept else learn_entity_words_by_kind(examples, preprocessor.tokenizer)
    return kept or [[word] for word in sorted(learned)]
