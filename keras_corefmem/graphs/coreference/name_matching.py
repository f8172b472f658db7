"""Name matching: full names, their parts and their titles."""

from collections import defaultdict
from itertools import islice

from keras_corefmem.graphs.coreference.clusters import Clusters
from keras_corefmem.graphs.coreference.mentions import NAME

# Maximum number of clusters to compare a name with, for each of its first and last words.
MAX_CLUSTERS = 8

_EXCLUSIVE = frozenset(("mr", "mrs", "miss", "sir", "lady", "lord"))


def link_names(clusters: Clusters) -> None:
    """Joins each name to the most recent cluster whose name contains it or is part of it.

    Two names match if the words of one are among those of the other ("Elizabeth", "Elizabeth
    Bennet"), if they share their first or last word, and if their titles, numbers and genders do
    not contradict each other.
    """
    # For each word of a name, the clusters that have it, the most recent one last.
    known: dict[str, dict[int, bool]] = defaultdict(dict)
    titles: dict[int, set[str]] = {}
    longest: dict[int, tuple[str, ...]] = {}
    for index, phrase in enumerate(clusters.phrases):
        if phrase.kind != NAME or not phrase.name:
            continue
        words = dict.fromkeys((phrase.name[0], phrase.name[-1]))
        titles[index] = {phrase.title.removesuffix(".")} & _EXCLUSIVE
        longest[index] = phrase.name
        recent = (c for word in words for c in islice(reversed(known[word]), MAX_CLUSTERS))
        for cluster in map(clusters.find, recent):
            if (
                len(titles[index] | titles[cluster]) < 2
                and _is_variant(phrase.name, longest[cluster])
                and clusters.agree(index, cluster)
            ):
                joined = clusters.merge(index, cluster)
                titles[joined] = titles[index] | titles[cluster]
                longest[joined] = max(longest[index], longest[cluster], key=len)
                break
        cluster = clusters.find(index)
        for word in dict.fromkeys(phrase.name):
            known[word].pop(cluster, None)
            known[word][cluster] = True


def _is_variant(one, other):
    """Returns whether the shorter name has only words of the longer, and its first or last one."""
    short, long = sorted((one, other), key=len)
    return set(short) <= set(long) and (short[0] == long[0] or short[-1] == long[-1])
