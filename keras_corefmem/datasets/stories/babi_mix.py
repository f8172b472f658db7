"""bAbI-Mix, two stories told at once: [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620)."""

import dataclasses
import random
from collections.abc import Collection, Sequence

from keras_corefmem.datasets.example import Example, group_by_story
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.datasets.stories import babi
from keras_corefmem.graphs.entity_words import learn_entity_words
from keras_corefmem.text.tokenizers import WordTokenizer, lower
from keras_corefmem.utils.files import Path

SUFFIX = "2"

_TOKENIZER = WordTokenizer()


def load(data_dir: Path | None, task: int | str, language: str | None = None) -> Splits:
    """Loads a task of bAbI, see `babi.load`, and mixes each part."""
    if task == babi.ALL:
        return babi.load_all(lambda number: load(data_dir, number, language))
    splits = babi.load(data_dir, task, language)
    words = learn_entity_words(splits.train, _TOKENIZER)
    parts = (splits.train, splits.valid, splits.test)
    return Splits(*(mix_stories(part, words, seed) for seed, part in enumerate(parts)))


def mix_stories(
    examples: Sequence[Example], entity_words: Collection[str], seed: int = 0
) -> list[Example]:
    """Mixes every example with one of another story; the sentences of each keep their order.

    Args:
        examples: examples of at least two stories.
        entity_words: lower-cased tokens, the words that get the suffix `2` in one of the two
            worlds (`Mary` becomes `Mary2`), in the answer too.
        seed: the same seed mixes the same way.

    Raises:
        ValueError: if there are too few stories, a word cannot be renamed, or an example has edges
            or chains.
    """
    groups = group_by_story(examples)
    if len(groups) < 2:
        raise ValueError("`examples` has fewer than two stories to mix, pass more.")
    _check_words(examples, entity_words)
    for example in examples:
        example.check_unlinked("mixing")
    rng = random.Random(seed)
    mixed, start = [], 0
    for group in groups:
        for example in group:
            other = rng.randrange(len(examples) - len(group))
            other += len(group) * (other >= start)
            mixed.append(_mix_pair([example, examples[other]], entity_words, rng))
        start += len(group)
    return mixed


def _check_words(examples, entity_words):
    texts = {text for e in examples for text in (*e.sentences, e.question, e.answer)}
    words = {token for text in texts for token in _TOKENIZER(text)}
    for word in sorted(entity_words):
        name = word + SUFFIX
        if _TOKENIZER(name) != [name] or name in words:
            raise ValueError(
                f"The entity {word!r} cannot be renamed to {name!r}: the new name has to be one "
                "lower-cased word that the examples lack. Take it out of `entity_words`."
            )


def _mix_pair(pair, entity_words, rng):
    """Interleaves two stories, with the question of one of them."""
    renamed, owner = rng.randrange(2), rng.randrange(2)
    pair[renamed] = _rename_example(pair[renamed], entity_words)
    order = [number for number in (0, 1) for _ in pair[number].sentences]
    rng.shuffle(order)
    tellers = [iter(example.sentences) for example in pair]
    positions = [position for position, number in enumerate(order, 1) if number == owner]
    example, other = pair[owner], pair[1 - owner]
    return dataclasses.replace(
        example,
        sentences=tuple(next(tellers[number]) for number in order),
        supporting_facts=tuple(positions[fact - 1] for fact in example.supporting_facts),
        source=" + ".join(filter(None, (example.source, other.source))),
    )


def _rename_example(example, entity_words):
    sentences = tuple(_rename(sentence, entity_words) for sentence in example.sentences)
    question, answer = (_rename(text, entity_words) for text in (example.question, example.answer))
    return dataclasses.replace(example, sentences=sentences, question=question, answer=answer)


def _rename(text, entity_words):
    lowered, pieces, end = lower(text), [], 0
    for token in _TOKENIZER(text):
        start, end = end, lowered.index(token, end) + len(token)
        pieces.append(text[start:end] + SUFFIX * (token in entity_words))
    return "".join(pieces) + text[end:]
