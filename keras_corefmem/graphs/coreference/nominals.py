"""Noun phrases that refer back: repeated heads, appositions, predicates, roles."""

from collections import defaultdict

from keras_corefmem.graphs.coreference.mentions import NAME, NOMINAL, PRONOUN

_BE = frozenset("be is am are was were been being 's 're 'm become becomes became".split())


class NominalIndex:
    """Earlier mentions by the words that a later noun phrase can take up.

    Args:
        parse: `Parse`.
        entities: `Entities`.
        by_head: dictionary from the head of a mention to its number.
        max_distance: greatest number of sentences between a noun phrase and its antecedent.
    """

    def __init__(self, parse, entities, by_head, max_distance):
        self.parse = parse
        self.entities = entities
        self.by_head = by_head
        self.max_distance = max_distance
        self._mentions = defaultdict(list)

    def add(self, index):
        """Makes a mention known to later ones."""
        phrase = self.entities.phrases[index]
        if phrase.kind == NOMINAL:
            self._mentions[_singular(self.parse.lowers[phrase.head])].append(index)
        elif phrase.kind == NAME:
            for word in {*phrase.title.split(), *phrase.name[-1:]}:
                self._mentions[word].append(index)

    def antecedent(self, index):
        """The most recent mention that a definite noun phrase repeats, `None` without one."""
        entities, phrase = self.entities, self.entities.phrases[index]
        if phrase.kind != NOMINAL or not phrase.definite:
            return None
        entity = entities.find(index)
        for earlier in reversed(self._mentions[_singular(self.parse.lowers[phrase.head])]):
            other = entities.phrases[earlier]
            if phrase.sentence - other.sentence > self.max_distance:
                return None
            if phrase.number != other.number or not entities.can_corefer(
                entity, entities.find(earlier)
            ):
                continue
            if other.start <= phrase.start and phrase.end <= other.end:
                continue
            if phrase.modifiers <= other.modifiers and self._same_possessor(phrase, other):
                return earlier
        return None

    def _same_possessor(self, phrase, other):
        """Whether a possessed noun has its possessor in common with an earlier one."""
        if phrase.possessor is None:
            return True
        if other.possessor is None:
            return False
        one, two = (self.by_head.get(p.possessor) for p in (phrase, other))
        if one is None or two is None:
            return self.parse.lowers[phrase.possessor] == self.parse.lowers[other.possessor]
        return self.entities.find(one) == self.entities.find(two)


def link_appositions(parse, entities, by_head):
    """Joins a mention and its apposition: "my friend, Mr. Holmes"."""
    for head, index in by_head.items():
        other = by_head.get(parse.governors[head])
        if parse.labels[head] == "appos" and other is not None and other != index:
            _link(entities, index, other)


def link_predicates(parse, entities, by_head):
    """Joins a subject and its predicate noun: "He was a tall man"."""
    for head, index in by_head.items():
        phrase = entities.phrases[index]
        if phrase.kind == PRONOUN:
            continue
        copula = parse.dependent(head, "cop")
        if copula is not None:
            subject = parse.dependent(head, "nsubj")
        elif parse.labels[head] == "attr":
            copula = parse.governors[head]
            subject = parse.dependent(copula, "nsubj")
        else:
            continue
        negated = any(
            parse.lowers[child] in ("not", "n't", "never")
            for token in (head, copula)
            for child in parse.children[token]
        )
        if subject in by_head and parse.lowers[copula] in _BE and not negated:
            _link(entities, by_head[subject], index)


def _link(entities, one, other):
    if entities.can_corefer(entities.find(one), entities.find(other)):
        entities.merge(one, other)


def _singular(noun):
    """A noun without its plural ending, good enough to compare two."""
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith("s") and not noun.endswith("ss") and len(noun) > 3:
        return noun[:-1]
    return noun
