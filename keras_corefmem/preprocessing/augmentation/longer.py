"""Passages that are longer than those of a data set."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.preprocessing.encoding.answers import NO_ANSWER
from keras_corefmem.text.tokenizers import as_tokenizer
from keras_corefmem.utils.checks import check_shares, check_sizes


class LengthenStories:
    """Prepends other stories to the one that a question is about.

    Answers stay the same, since what is told last holds; supporting facts and edges are shifted.
    From short stories, readers may learn to count mentions; from longer ones, to find the last one.
    Examples with annotation or chains of their own stay as they are, since the chains of the other
    stories are unknown. So do questions without an answer, since another story may tell it.

    Args:
        stories: passages of other examples, as tuples of sentences.
        times: maximum length of a passage, as a multiple of the example's own.
        share: share of the examples that are lengthened.
        exact: whether all of these get the maximum length, rather than a random one up to it.
        tokenizer: the tokenizer that edges of examples were made with, or its name.

    Attributes:
        once: always `True`: examples change once rather than in every epoch, since the lengths of
            batches depend on them.

    Raises:
        ValueError: if there is no other story, one is a string, or a number is too small.

    Example:
        >>> lengthen = keras_corefmem.preprocessing.LengthenStories([("It fell.",)], 2, share=1.0)
        >>> example = keras_corefmem.datasets.Example(("He ran.",), "Who ran?", "he", (1,))
        >>> longer = lengthen(example, np.random.default_rng(0))
        >>> longer.passage, longer.supporting_facts
        ('It fell. He ran.', (2,))
    """

    once = True

    def __init__(
        self,
        stories: Iterable[tuple[str, ...]],
        times: int = 4,
        share: float = 0.5,
        exact: bool = False,
        tokenizer: Any = "words",
    ) -> None:
        stories = list(stories)
        if text := next((story for story in stories if isinstance(story, str)), ""):
            raise ValueError(f"A story is a tuple of sentences, got the string {text!r:.80}.")
        self.stories = list(filter(None, dict.fromkeys(map(tuple, stories))))
        if not self.stories:
            raise ValueError("There is no other story to tell: give at least one.")
        check_sizes(2, times=times)
        check_shares(share=share)
        self.times, self.share, self.exact = times, share, exact
        self.tokenizer = as_tokenizer(tokenizer)

    def __call__(self, example: Example, random: np.random.Generator) -> Example:
        linked = example.chains or hasattr(example, "chain_ids")
        if random.random() >= self.share or linked or example.answer == NO_ANSWER:
            return example
        most = len(example.sentences) * (self.times - 1)
        count = most if self.exact else int(random.integers(1, most + 1))
        others: tuple[str, ...] = ()
        while len(others) < count:
            others = (*self.stories[random.integers(len(self.stories))], *others)
        longer = dataclasses.replace(
            example,
            sentences=(*others[-count:], *example.sentences),
            supporting_facts=tuple(count + fact for fact in example.supporting_facts),
        )
        if not example.edges:
            return longer
        # Together, since the last word of a story may be split differently before another one.
        own, told = (len(e.tokens(e.passage, self.tokenizer)) for e in (example, longer))
        edges = tuple((a + told - own, b + told - own, kind) for a, b, kind in example.edges)
        return dataclasses.replace(longer, edges=edges)
