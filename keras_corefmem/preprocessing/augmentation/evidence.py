"""Augmentation that makes questions unanswerable."""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence, Set
from typing import Any, Self

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.preprocessing.encoding.answers import NO_ANSWER
from keras_corefmem.preprocessing.training_examples import learn_entity_words_by_kind
from keras_corefmem.text.lexicons import PRONOUNS
from keras_corefmem.text.tokenizers import as_tokenizer


class RemoveEvidence:
    """Removes what a question asks about from its passage, so that the answer is `"unknown"`.

    A question asks about the entities that occur in it and in its supporting facts. Every sentence
    that mentions one of them is removed: "Where is Mary?" is asked of a passage without Mary. So
    are English sentences with a personal pronoun that follow a removed one. An example stays as it
    is if it has no supporting facts, if no sentence would be left, or if it has edges, chains or
    candidates of its own.

    Args:
        entities: words that name entities, in lower case.
        tokenizer: the tokenizer of the texts, or its name.
        half: whether to keep the sentences that mention what is asked about, and to remove others
            about the entities that these mention: "Where is the milk?" is asked of a passage that
            tells that Mary took it, but not where she went. An example stays as it is unless some
            supporting facts do not mention what is asked about, and each of these names one of
            those entities without a pronoun. It also does if a sentence that is kept has the
            answer.

    Reference: unanswerable questions of [Rajpurkar et al., 2018](https://arxiv.org/abs/1806.03822).

    Example:
        >>> remove = keras_corefmem.preprocessing.RemoveEvidence(["mary", "john"])
        >>> sentences = "Mary is in the den.", "John left."
        >>> example = keras_corefmem.datasets.Example(sentences, "Where is Mary?", "den", (1,))
        >>> removed = remove(example)
        >>> removed.passage, removed.answer
        ('John left.', 'unknown')
    """

    def __init__(
        self, entities: Iterable[str], tokenizer: Any = "words", half: bool = False
    ) -> None:
        if isinstance(entities, str):
            raise ValueError(f"entities is one string, pass a list of words: [{entities!r:.80}].")
        self.entities, self.half = frozenset(entities), half
        self.tokenizer = as_tokenizer(tokenizer)

    @classmethod
    def fit(cls, examples: Sequence[Example], tokenizer: Any = "words", half: bool = False) -> Self:
        """Learns which words name entities, in each kind of questions, see `learn_entity_words`."""
        made = cls((), tokenizer, half)
        made.entities = learn_entity_words_by_kind(examples, made.tokenizer)
        return made

    def __call__(self, example: Example, random: np.random.Generator | None = None) -> Example:
        cuts = [set(example.tokens(text, self.tokenizer)) for text in example.sentences]
        facts = [cuts[fact - 1] for fact in example.supporting_facts]
        question = set(example.tokens(example.question, self.tokenizer))
        subjects = self.entities & question & set().union(*facts)
        if self.half:
            answer = set(example.tokens(example.answer, self.tokenizer))
            out = self._half(cuts, facts, subjects, answer)
        else:
            out = self._mention(cuts, subjects)
        kept = tuple(itertools.compress(example.sentences, (not each for each in out)))
        fixed = example.is_linked or bool(getattr(example, "candidates", ()))
        if fixed or not any(out) or not kept:
            return example
        return dataclasses.replace(example, sentences=kept, answer=NO_ANSWER, supporting_facts=())

    def _half(
        self, cuts: list[set[str]], facts: list[set[str]], subjects: Set[str], answer: Set[str]
    ) -> list[bool]:
        """Returns which sentences to remove if `half` is set, see the class."""
        told = [bool(words & subjects) for words in cuts]
        beside = set().union(*itertools.compress(cuts, told))
        others = self.entities & beside - subjects
        further = [words for words in facts if not words & subjects]
        is_named = all(words & others and not words & PRONOUNS.keys() for words in further)
        if not further or not is_named or beside & answer:
            return [False] * len(cuts)
        pairs = zip(self._mention(cuts, others), told, strict=True)
        return [mentions and not kept for mentions, kept in pairs]

    @staticmethod
    def _mention(cuts: list[set[str]], entities: Set[str]) -> list[bool]:
        """Returns which sentences mention an entity, or follow such a one and have a pronoun."""
        has_entity = [False]
        for words in cuts:
            has_entity.append(bool(entities & words or has_entity[-1] and words & PRONOUNS.keys()))
        return has_entity[1:]
