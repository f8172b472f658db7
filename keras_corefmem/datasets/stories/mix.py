"""bAbI-Mix: two stories of two worlds, told at once.

From [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620): the entities of one world are
renamed, the sentences are interleaved, and the question is about either world.
"""

import dataclasses
import random

from keras_corefmem.datasets.example import Example, group_by_story
from keras_corefmem.text.tokenizers import WordTokenizer, lower

SUFFIX = "2"

_TOKENIZER = WordTokenizer()


def mix(examples, entities, seed=0):
    """Mixes every example with one of another story.

    Args:
        examples: List of `Example` of at least two stories.
        entities: Set of lower-cased tokens, the words that get the suffix `2` in one of the two
            worlds (`Mary` becomes `Mary2`), in the answer too.
        seed: Integer; the same seed mixes the same way.

    Returns:
        List of `Example`, as long as `examples`. The sentences of each story keep their order.

    Raises:
        ValueError: If all examples are of one story, or a new name is no new word.
    """
    groups = group_by_story(examples)
    if len(groups) < 2:
        raise ValueError("`examples` has fewer than two stories to mix, pass more.")
    _check_entities(examples, entities)
    rng = random.Random(seed)
    mixed, start = [], 0
    for group in groups:
        for example in group:
            other = rng.randrange(len(examples) - len(group))
            other += len(group) * (other >= start)
            mixed.append(_mix_pair([example, examples[other]], entities, rng))
        start += len(group)
    return mixed


def _check_entities(examples, entities):
    """Raises where the suffix would not make a new word."""
    texts = {text for e in examples for text in (*e.sentences, e.question, e.answer)}
    words = {token for text in texts for token in _TOKENIZER(text)}
    for entity in sorted(entities):
        name = entity + SUFFIX
        if _TOKENIZER(name) != [name] or name in words:
            raise ValueError(
                f"The entity {entity!r} cannot be renamed to {name!r}: the new name has to be one "
                "lower-cased word that the examples lack. Take it out of `entities`."
            )


def _mix_pair(pair, entities, rng):
    """Returns two examples as one, whose question is about either."""
    renamed, asked = rng.randrange(2), rng.randrange(2)
    pair[renamed] = _rename_example(pair[renamed], entities)
    order = [number for number in (0, 1) for _ in pair[number].sentences]
    rng.shuffle(order)
    tellers = [iter(example.sentences) for example in pair]
    positions = [position for position, number in enumerate(order, 1) if number == asked]
    example, other = pair[asked], pair[1 - asked]
    return dataclasses.replace(
        example,
        sentences=tuple(next(tellers[number]) for number in order),
        supporting_facts=tuple(positions[fact - 1] for fact in example.supporting_facts),
        source=" + ".join(filter(None, (example.source, other.source))),
    )


def _rename_example(example, entities):
    """Returns an example in the second world."""
    return Example(
        tuple(_rename(sentence, entities) for sentence in example.sentences),
        _rename(example.question, entities),
        _rename(example.answer, entities),
        example.supporting_facts,
        example.source,
    )


def _rename(text, entities):
    """Returns a text with the suffix behind every entity."""
    lowered, pieces, end = lower(text), [], 0
    for token in _TOKENIZER(text):
        start, end = end, lowered.index(token, end) + len(token)
        pieces.append(text[start:end] + SUFFIX * (token in entities))
    return "".join(pieces) + text[end:]
