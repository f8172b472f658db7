"""Questions whose passages do not hold the answer."""

import dataclasses
from collections.abc import Iterable, Sequence
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

    Reference: unanswerable questions of [Rajpurkar et al., 2018](https://arxiv.org/abs/1806.03822).

    Example:
        >>> remove = keras_corefmem.preprocessing.RemoveEvidence(["mary", "john"])
        >>> sentences = "Mary is in the den.", "John left."
        >>> example = keras_corefmem.datasets.Example(sentences, "Where is Mary?", "den", (1,))
        >>> removed = remove(example)
        >>> removed.passage, removed.answer
        ('John left.', 'unknown')
    """

    def __init__(self, entities: Iterable[str], tokenizer: Any = "words") -> None:
        self.entities = frozenset(entities)
        self.tokenizer = as_tokenizer(tokenizer)

    @classmethod
    def fit(cls, examples: Sequence[Example], tokenizer: Any = "words") -> Self:
        """Learns from training examples which words name entities, see `learn_entity_words`."""
        made = cls((), tokenizer)
        made.entities = learn_entity_words(examples, made.tokenizer)
        return made

    def __call__(self, example: Example, random: np.random.Generator | None = None) -> Example:
        cuts = [example.tokens(text, self.tokenizer) for text in example.sentences]
        facts = {word for fact in example.supporting_facts for word in cuts[fact - 1]}
        asked = self.entities & facts & {*example.tokens(example.question, self.tokenizer)}
        kept, removed = [], False
        for sentence, words in zip(example.sentences, map(set, cuts), strict=True):
            removed = bool(asked & words or removed and words & PRONOUNS.keys())
            if not removed:
                kept.append(sentence)
        linked = example.edges or example.chains or hasattr(example, "chain_ids")
        if linked or not asked or not kept:
            return example
        return dataclasses.replace(
            example, sentences=tuple(kept), answer=NO_ANSWER, supporting_facts=()
        )
