"""A small world in which people move and carry objects, and all that they do is told."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
OBJECTS = ("apple", "football", "milk")
PRONOUNS = dict.fromkeys(("Mary", "Sandra"), "she")
PRONOUNS |= dict.fromkeys(("Daniel", "John", "Bill", "Fred", "Jeff"), "he")
MOVED = ("went", "went back", "moved", "journeyed", "travelled")
GOT = ("got", "took", "grabbed", "picked up")
DROPPED = ("dropped", "left", "discarded", "put down")
GAVE = ("gave", "handed", "passed")
OPENINGS = ("Then", "After that", "Afterwards", "Following that")

_TELL_THERE = 0.2


class Visit(NamedTuple):
    """A person's stay: the place, and the numbers of the sentences that tell it."""

    place: str
    facts: tuple[int, ...]


class Handling(NamedTuple):
    """The last handling of an object: its sentence, the person, and the place of a drop."""

    fact: int
    person: str
    dropped_at: Visit | None = None


class Gift(NamedTuple):
    """A gift: giver, object, receiver, and the number of the sentence that tells it."""

    giver: str
    object: str
    receiver: str
    fact: int


class World:
    """The state of the world, and the part of it that its sentences tell.

    The places where people and objects start are not told. `places` and `holders` are the true
    state, on which actions depend; the other attributes hold only what was told. `journeys` has,
    for an object, (fact of its getting, `Visit` before, `Visit` after) of the last time that
    somebody carried it from one told place to another. `handled` has, for a person and an object,
    the sentences in which the person gained or lost it.
    """

    def __init__(self, random: Random, people: tuple[str, ...]) -> None:
        self.random = random
        self.people = people
        self.sentences: list[str] = []
        self.places = {name: random.choice(PLACES) for name in (*people, *OBJECTS)}
        self.holders: dict[str, str] = {}
        self.visits: dict[str, list[Visit]] = {}
        self.handlings: dict[str, Handling] = {}
        self.journeys: dict[str, tuple[int, Visit, Visit] | None] = {}
        self.handled: dict[str, dict[str, list[int]]] = {}
        self.gifts: list[Gift] = []

    def carried_by(self, person: str) -> list[str]:
        """Returns the objects that a person carries, in the order in which they were touched."""
        touched = self.handled.get(person, ())
        return [thing for thing in touched if self.holders.get(thing) == person]

    def object_place(self, thing: str) -> tuple[str, tuple[int, ...]] | None:
        """Returns (place, facts) of an object as told, or None if no sentence tells it."""
        handling = self.handlings.get(thing)
        if handling is None:
            return None
        visit = handling.dropped_at
        if thing in self.holders:
            visit = self._last_visit(handling.person)
        return (visit.place, (handling.fact, *visit.facts)) if visit else None

    def act(self, weights: dict[str, int]) -> None:
        """Lets somebody perform a random action, by weights of `"move"`, `"get"` and so on."""
        possible = {action: getattr(self, f"_possible_{action}s")() for action in weights}
        actions = [action for action in weights if possible[action]]
        chosen = self.random.choices(actions, [weights[action] for action in actions])[0]
        getattr(self, chosen)(*self.random.choice(possible[chosen]))

    def move(
        self,
        people: Sequence[str],
        place: str | None = None,
        subject: str | None = None,
        facts: tuple[int, ...] = (),
    ) -> None:
        """Moves people to a place, by default a random one where none of them is.

        `facts` are numbers of earlier sentences that tell who the `subject` of the sentence is.
        """
        left = {self.places[person] for person in people}
        place = place or self.random.choice([other for other in PLACES if other not in left])
        verb = self.random.choice(MOVED)
        fact = self._tell(f"{subject or ' and '.join(people)} {verb} to the {place}.")
        for person in people:
            before, after = self._last_visit(person), Visit(place, (*facts, fact))
            self.places[person] = place
            self.visits.setdefault(person, []).append(after)
            for thing in self.carried_by(person):
                self.places[thing] = place
                self.journeys[thing] = before and (self.handlings[thing].fact, before, after)

    def get(self, person: str, thing: str) -> None:
        """Lets a person pick up an object that lies where the person is."""
        fact = self._tell(f"{person} {self.random.choice(GOT)} the {thing} there.")
        self.holders[thing] = person
        self._handle(thing, Handling(fact, person), person)

    def drop(self, person: str, thing: str) -> None:
        """Lets a person drop an object that the person carries."""
        there = " there" if self.random.random() < _TELL_THERE else ""
        fact = self._tell(f"{person} {self.random.choice(DROPPED)} the {thing}{there}.")
        del self.holders[thing]
        self._handle(thing, Handling(fact, person, self._last_visit(person)), person)

    def give(self, giver: str, thing: str, receiver: str) -> None:
        """Lets a person hand an object to somebody at the same place."""
        fact = self._tell(f"{giver} {self.random.choice(GAVE)} the {thing} to {receiver}.")
        self.holders[thing] = receiver
        self._handle(thing, Handling(fact, receiver), giver, receiver)
        self.gifts.append(Gift(giver, thing, receiver, fact))

    def _tell(self, sentence):
        self.sentences.append(sentence)
        return len(self.sentences)

    def _last_visit(self, person):
        return self.visits[person][-1] if person in self.visits else None

    def _handle(self, thing, handling, *people):
        self.handlings[thing] = handling
        for person in people:
            self.handled.setdefault(person, {}).setdefault(thing, []).append(handling.fact)

    def _possible_moves(self):
        return [
            ((person,), place)
            for person in self.people
            for place in PLACES
            if place != self.places[person]
        ]

    def _possible_gets(self):
        return [
            (person, thing)
            for thing in OBJECTS
            for person in self.people
            if thing not in self.holders and self.places[person] == self.places[thing]
        ]

    def _possible_drops(self):
        return [(person, thing) for thing, person in self.holders.items()]

    def _possible_gives(self):
        return [
            (giver, thing, receiver)
            for thing, giver in self.holders.items()
            for receiver in self.people
            if receiver != giver and self.places[receiver] == self.places[giver]
        ]
