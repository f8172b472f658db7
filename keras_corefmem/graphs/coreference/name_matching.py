"""Names: full names, their parts and their titles."""

from collections import defaultdict
from itertools import islice

from keras_corefmem.graphs.coreference.mentions import NAME

# How many entities of the same name are compared.
MAX_ENTITIES = 8

_EXCLUSIVE = frozenset(("mr", "mr.", "mrs", "mrs.", "miss", "sir", "lady", "lord"))


def link_names(entities):
    """Joins names to the most recent entity that one of its names contains, or is part of.

    Two names fit if the words of one are among those of the other ("Elizabeth", "Elizabeth
    Bennet") and begin or end alike, and their titles, numbers and genders do not contradict.

    Args:
        entities: `Entities`, of which none is joined to another yet.
    """
    # Of each first and last word, the entities that have it, the most recent one last.
    known, titles, longest = defaultdict(dict), {}, {}
    for index, phrase in enumerate(entities.phrases):
        if phrase.kind != NAME or not phrase.name:
            continue
        words = dict.fromkeys((phrase.name[0], phrase.name[-1]))
        titles[index] = {phrase.title} & _EXCLUSIVE
        longest[index] = phrase.name
        recent = (e for word in words for e in islice(reversed(known[word]), MAX_ENTITIES))
        for entity in map(entities.find, recent):
            if (
                len(titles[index] | titles[entity]) < 2
                and entities.can_corefer(index, entity)
                and _is_variant(phrase.name, longest[entity])
            ):
                joined = entities.merge(index, entity)
                titles[joined] = titles[index] | titles[entity]
                longest[joined] = max(longest[index], longest[entity], key=len)
                break
        entity = entities.find(index)
        for word in dict.fromkeys(phrase.name):
            known[word].pop(entity, None)
            known[word][entity] = True


def _is_variant(one, other):
    return _is_part(one, other) or _is_part(other, one)


def _is_part(short, long):
    """Whether a name is another without some of its words: its first or its last one stays."""
    if len(short) > len(long) or not short:
        return False
    return set(short) <= set(long) and (short[0] == long[0] or short[-1] == long[-1])
