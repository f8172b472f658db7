"""Questions whose passages do not hold the answer."""

import dataclasses
from collections.abc import Iterable, Sequence, Set
from typing import Any, Self

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.graphs.entity_words import learn_entity_words
from keras_corefmem.preprocessing.answers import NO_ANSWER
from keras_corefmem.text.lexicons import PRONOUNS
from keras_corefmem.text.tokenizers import as_tokenizer


class RemoveEvidence:
    """Takes what a question asks about out of its passage, and answers that it is unknown.

    What it asks about are the entities that are in the question and in its supporting facts. Every
    sentence with one of them is taken out ("Where is Mary?" of a passage that does not tell of
    Mary), and so are English sentences with a personal pronoun behind one that is. An example stays
    as it is without supporting facts, if nothing would be left of it, or if it has edges or chains
    of its own.

    Args:
        entities: words that name entities, in lower case.
        tokenizer: the tokenizer of the texts, or its name.
        half: whether to leave what mentions that, and take out what else is told of the entities
            mentioned with it: "Where is the milk?" of a passage that tells that Mary took it, but
            not where she went. An example whose supporting facts all mention it stays as it is.

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
        self.entities, self.half = frozenset(entities), half
        self.tokenizer = as_tokenizer(tokenizer)

    @classmethod
    def fit(cls, examples: Sequence[Example], tokenizer: Any = "words", half: bool = False) -> Self:
        """Learns from training examples which words name entities, see `learn_entity_words`."""
        made = cls((), tokenizer, half)
        made.entities = learn_entity_words(examples, made.tokenizer)
        return made

    def __call__(self, example: Example, random: np.random.Generator | None = None) -> Example:
        cuts = [set(example.tokens(text, self.tokenizer)) for text in example.sentences]
        facts = [cuts[fact - 1] for fact in example.supporting_facts]
        question = set(example.tokens(example.question, self.tokenizer))
        asked = self.entities & question & set().union(*facts)
        kept, removed = [], False
        gone = self._led_to(asked, cuts, facts) if self.half else asked
        for sentence, words in zip(example.sentences, cuts, strict=True):
            about = gone & words and not (self.half and asked & words)
            removed = bool(about or removed and words & PRONOUNS.keys())
            if not removed:
                kept.append(sentence)
        linked = example.edges or example.chains or hasattr(example, "chain_ids")
        if linked or not gone or not kept:
            return example
        return dataclasses.replace(
            example, sentences=tuple(kept), answer=NO_ANSWER, supporting_facts=()
        )

    def _led_to(self, asked: Set[str], cuts: list[set[str]], facts: list[set[str]]) -> Set[str]:
        """Returns the entities that sentences mention with those asked about.

        There are none where facts without either are left, or one says of whom by a pronoun.
        """
        beside = (words for words in cuts if words & asked)
        others = self.entities.intersection(set().union(*beside)) - asked
        further = [fact for fact in facts if not fact & asked]
        names = all(fact & others and not fact & PRONOUNS.keys() for fact in further)
        return others if further and names else frozenset()
