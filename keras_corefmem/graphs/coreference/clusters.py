"""Clusters of coreferent mentions, and the agreement between clusters."""

from keras_corefmem.graphs.coreference.mentions import Phrase
from keras_corefmem.graphs.coreference.parse import Parse


class Clusters:
    """The mentions of a text, joined in clusters; any mention of a cluster identifies it."""

    def __init__(self, parse: Parse, phrases: list[Phrase]) -> None:
        self.parse, self.phrases = parse, phrases
        self.by_head = {phrase.head: index for index, phrase in reversed([*enumerate(phrases)])}
        self._parents = list(range(len(phrases)))
        self.members = [[index] for index in range(len(phrases))]
        self.genders = [phrase.gender for phrase in phrases]
        self.numbers = [phrase.number for phrase in phrases]
        self.persons = [phrase.person for phrase in phrases]

    def headed_by(self, token: int | None) -> int | None:
        """Returns the mention whose head is a token, or `None` if there is none."""
        return None if token is None else self.by_head.get(token)

    def find(self, index: int) -> int:
        """Returns the mention that represents the cluster of a mention."""
        parents = self._parents
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    def merge(self, one: int, other: int) -> int:
        """Joins the clusters of two mentions, and returns the representative of the result."""
        one, other = self.find(one), self.find(other)
        if one == other:
            return one
        if len(self.members[one]) < len(self.members[other]):
            one, other = other, one
        self._parents[other] = one
        self.members[one] += self.members[other]
        for values in (self.genders, self.numbers):
            values[one] = values[one] or values[other]
        if self.persons[one] is None:
            self.persons[one] = self.persons[other]
        return one

    def agree(self, one: int, other: int) -> bool:
        """Returns whether the clusters of two mentions agree in gender, number and animacy."""
        one, other = self.find(one), self.find(other)
        genders = {self.genders[one], self.genders[other]} - {""}
        numbers = {self.numbers[one], self.numbers[other]} - {""}
        persons = {self.persons[one], self.persons[other]} - {None}
        persons |= {gender != "thing" for gender in genders}
        return max(len(genders), len(numbers), len(persons)) < 2

    def link(self, one: int, other: int) -> bool:
        """Joins the clusters of two mentions if they agree, and returns whether they do."""
        agree = self.agree(one, other)
        if agree:
            self.merge(one, other)
        return agree

    def chains(self) -> list[list[Phrase]]:
        """Returns the mentions of each cluster, in the order of the text."""
        roots = (i for i in range(len(self.phrases)) if self._parents[i] == i)
        return [[self.phrases[index] for index in sorted(self.members[root])] for root in roots]
