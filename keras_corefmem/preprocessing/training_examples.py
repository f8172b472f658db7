"""Checks of training examples and of limits of vocabularies, and learning of entity words."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from keras_corefmem.datasets.example import UNKNOWN_ANSWER, Example, group_by_kind
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.graphs.entity_words import learn_entity_words
from keras_corefmem.preprocessing.encoding.answers import check_kind
from keras_corefmem.text.tokenizers import Tokenizer
from keras_corefmem.utils.checks import check_sizes


def check_examples(
    examples: Sequence[Example | Sentence], strings: Sequence[str] = ("passage", "question")
) -> None:
    """Checks that there are training examples, of the right kind and each with an answer."""
    if not hasattr(examples, "__len__"):
        raise ValueError("Examples are read several times: give a list, not an iterator.")
    if not len(examples):
        raise ValueError("There is no example to learn from: pass some training examples.")
    check_kind(examples, strings)
    for example in examples:
        if example.answer == UNKNOWN_ANSWER:
            raise ValueError(
                f"{example.source or 'A training example'}: no answer to learn, give the example "
                "one or leave it out."
            )


def recut(examples: Sequence[Any], tokenizer: Tokenizer) -> list[Any]:
    """Returns examples in the tokens of a tokenizer, see `Example.recut`."""
    return [each.recut(tokenizer.cased) if isinstance(each, Example) else each for each in examples]


def check_words(max_words: int | None, min_count: int) -> None:
    """Checks the maximum number of known words, `None` for all, and their minimum count."""
    check_sizes(0, max_words=max_words or 0)
    check_sizes(0, min_count=min_count)


def learn_entity_words_by_kind(
    examples: Sequence[Example], tokenizer: Callable[[str], Iterable[str]]
) -> frozenset[str]:
    """Learns entity words from each kind of questions separately, and joins them."""
    alike = group_by_kind(examples).values()
    return frozenset().union(*(learn_entity_words(each, tokenizer) for each in alike))
