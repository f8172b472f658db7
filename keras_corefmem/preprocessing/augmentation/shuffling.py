"""Augmentation that shuffles the sentences or documents of passages."""

import dataclasses
from typing import Any

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.text.tokenizers import as_tokenizer


class ShuffleSentences:
    """Shuffles the sentences of a passage, or its documents if it consists of these.

    Supporting facts, chains, edges and the structure of an annotation move with their sentences. An
    example that has some of these stays as it is if the order would change its tokens: `prose`
    splits the full stop of "plan B." from the letter only at the end.

    Args:
        tokenizer: the tokenizer that edges of examples were made with, or its name.

    Example:
        >>> shuffle = keras_corefmem.preprocessing.ShuffleSentences()
        >>> sentences = "He ran.", "It fell."
        >>> example = keras_corefmem.datasets.Example(sentences, "Who ran?", "he", (1,))
        >>> shuffled = shuffle(example, np.random.default_rng(3))
        >>> shuffled.passage, shuffled.supporting_facts
        ('It fell. He ran.', (2,))
    """

    def __init__(self, tokenizer: Any = "words") -> None:
        self.tokenizer = as_tokenizer(tokenizer)

    def __call__(self, example: Example, random: np.random.Generator) -> Example:
        documents = getattr(example, "documents", ())
        starts = documents or range(1, len(example.sentences) + 1)
        parts = np.split(np.arange(len(example.sentences)), np.array(starts[1:], int) - 1)
        moved = [parts[n] for n in random.permutation(len(parts))]
        order = np.concatenate(moved)
        place = np.argsort(order)
        values: dict[str, Any] = {
            "sentences": tuple(example.sentences[n] for n in order),
            "supporting_facts": tuple(int(place[n - 1]) + 1 for n in example.supporting_facts),
        }
        chains, structure = getattr(example, "chain_ids", ()), getattr(example, "structure", None)
        if documents:
            values["documents"] = tuple(np.cumsum([1, *map(len, moved[:-1])]).tolist())
        if not (example.edges or example.chains or chains or structure):
            return dataclasses.replace(example, **values)
        words = example.cut_sentences(self.tokenizer, example.tokens)
        counts = [*map(len, words), len(example.tokens(example.question, self.tokenizer))]
        tokens = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])
        old = np.concatenate([*(tokens[n] for n in order), tokens[-1]])
        new = np.argsort(old)
        example.check_chains(len(old))
        values["edges"] = tuple(
            (int(new[a - 1]) + 1, int(new[b - 1]) + 1, t) for a, b, t in example.edges
        )
        for name in ("chains", "chain_ids", "named_entities"):
            if labels := getattr(example, name, ()):
                values[name] = tuple(labels[n] for n in old)
        if structure is not None:
            values["structure"] = structure.reordered(old, new)
        shuffled = dataclasses.replace(example, **values)
        same = shuffled.cut_sentences(self.tokenizer, example.tokens) == [words[n] for n in order]
        return shuffled if same else example
