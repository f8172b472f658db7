"""Coreference of noun phrases: repeated heads and titles, appositions, predicate nouns."""

from collections import defaultdict

from keras_corefmem.graphs.coreference.clusters import Clusters
from keras_corefmem.graphs.coreference.mentions import NAME, NOMINAL, PRONOUN, Phrase

_BE = frozenset("be is am are was were been being 's 're 'm become becomes became".split())


class NominalIndex:
    """Earlier mentions, indexed by the words that a later noun phrase can repeat."""

    def __init__(self, clusters: Clusters, max_distance: int) -> None:
        self.clusters, self.max_distance = clusters, max_distance
        self._mentions: dict[str, list[int]] = defaultdict(list)

    def add(self, index: int) -> None:
        """Adds a mention as a possible antecedent of later ones."""
        phrase = self.clusters.phrases[index]
        if phrase.kind == NOMINAL:
            self._mentions[self._noun(phrase)].append(index)
        elif phrase.kind == NAME:
            for word in {*phrase.title.split(), *phrase.name[-1:]}:
                self._mentions[word].append(index)

    def antecedent(self, index: int) -> int | None:
        """Returns the most recent mention that a definite noun phrase repeats, or `None`."""
        phrase = self.clusters.phrases[index]
        if phrase.kind != NOMINAL or not phrase.definite:
            return None
        for earlier in reversed(self._mentions[self._noun(phrase)]):
            other = self.clusters.phrases[earlier]
            if phrase.sentence - other.sentence > self.max_distance:
                return None
            if (
                phrase.number == other.number
                and self.clusters.agree(index, earlier)
                and not (other.start <= phrase.start and phrase.end <= other.end)
                and phrase.modifiers <= other.modifiers
                and self._same_possessor(phrase, other)
            ):
                return earlier
        return None

    def _noun(self, phrase):
        """Returns the head without its plural ending, for comparisons only."""
        noun = self.clusters.parse.lowers[phrase.head]
        if noun.endswith("ies") and len(noun) > 4:
            return noun[:-3] + "y"
        if noun.endswith("s") and not noun.endswith("ss") and len(noun) > 3:
            return noun[:-1]
        return noun

    def _same_possessor(self, phrase: Phrase, other: Phrase) -> bool:
        if phrase.possessor is None:
            return True
        if other.possessor is None:
            return False
        clusters = self.clusters
        one, two = (clusters.by_head.get(token) for token in (phrase.possessor, other.possessor))
        if one is None or two is None:
            lowers = clusters.parse.lowers
            return lowers[phrase.possessor] == lowers[other.possessor]
        return clusters.find(one) == clusters.find(two)


def link_appositions(clusters: Clusters) -> None:
    """Joins a mention and its apposition: "my friend, Mr. Holmes"."""
    for head, index in clusters.by_head.items():
        other = clusters.by_head.get(clusters.parse.governors[head])
        if clusters.parse.labels[head] == "appos" and other is not None and other != index:
            clusters.link(index, other)


def link_predicates(clusters: Clusters) -> None:
    """Joins a subject and its predicate noun: "He was a tall man"."""
    parse = clusters.parse
    for head, index in clusters.by_head.items():
        if clusters.phrases[index].kind == PRONOUN:
            continue
        copula, governed = parse.dependent(head, "cop"), head
        if copula is None and parse.labels[head] == "attr":
            copula = governed = parse.governors[head]
        if copula is None:
            continue
        subject = clusters.headed_by(parse.dependent(governed, "nsubj"))
        negated = any(
            parse.lowers[child] in ("not", "n't", "never")
            for token in (head, copula)
            for child in parse.children[token]
        )
        if subject is not None and parse.lowers[copula] in _BE and not negated:
            clusters.link(subject, index)
