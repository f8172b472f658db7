"""Simulated stories with the tasks and words of bAbI, answered from the state of a small world."""

import random
import typing

from keras_corefmem.datasets.example import Example
from keras_corefmem.datasets.splits import Splits
from keras_corefmem.datasets.stories.world import OBJECTS, OPENINGS, PLACES, PRONOUNS, World

_QUESTIONS_PER_STORY = 5
_PEOPLE = ("Mary", "Sandra", "Daniel", "John")
_NUMBERS = ("none", "one", "two", "three")


def _tell_actions(**weights):
    """Returns a function that tells two actions, drawn by weight."""

    def tell(world):
        world.act(weights)
        world.act(weights)

    return tell


def _tell_moves(world):
    for _ in range(2):
        world.move(world.random.sample(world.people, 2))


def _tell_pronoun(count):
    """Returns a function that tells two moves of `count` people, the second with a pronoun."""

    def tell(world):
        people = world.random.sample(world.people, count)
        world.move(people)
        pronoun = "they" if count > 1 else PRONOUNS[people[0]]
        subject = f"{world.random.choice(OPENINGS)} {pronoun}"
        world.move(people, subject=subject, facts=(len(world.sentences),))

    return tell


def _choose(world, people):
    return world.random.choice(list(people)) if people else None


def _ask_place(world):
    person = _choose(world, world.visits)
    if person:
        visit = world.visits[person][-1]
        return f"Where is {person}?", visit.place, visit.facts


def _ask_whether(world):
    person = _choose(world, world.visits)
    if person:
        visit = world.visits[person][-1]
        place = visit.place
        if world.random.random() < 0.5:
            place = world.random.choice([other for other in PLACES if other != place])
        answer = "yes" if place == visit.place else "no"
        return f"Is {person} in the {place}?", answer, visit.facts


def _ask_object_place(world):
    thing = world.random.choice(OBJECTS)
    told = world.object_place(thing)
    if told:
        return f"Where is the {thing}?", *told


def _ask_place_before(world):
    thing = world.random.choice(OBJECTS)
    journey = world.journeys.get(thing)
    if journey:
        got, before, after = journey
        facts = (got, *after.facts, *before.facts)
        return f"Where was the {thing} before the {after.place}?", before.place, facts


def _ask_gift(world):
    if world.gifts:
        giver, thing, receiver, fact = world.gifts[-1]
        question, answer = world.random.choice(
            (
                (f"What did {giver} give to {receiver}?", thing),
                (f"Who did {giver} give the {thing} to?", receiver),
                (f"Who gave the {thing} to {receiver}?", giver),
                (f"Who gave the {thing}?", giver),
                (f"Who received the {thing}?", receiver),
            )
        )
        return question, answer, (fact,)


def _ask_count(world):
    person = _choose(world, world.handled)
    if person:
        count = len(world.carried_by(person))
        question = f"How many objects is {person} carrying?"
        return question, _NUMBERS[count], _handling_facts(world, person)


def _ask_list(world):
    person = _choose(world, world.handled)
    if person:
        answer = ",".join(world.carried_by(person)) or "nothing"
        return f"What is {person} carrying?", answer, _handling_facts(world, person)


def _handling_facts(world, person):
    """Returns the facts of all that a person gained and lost, object by object."""
    return tuple(fact for facts in world.handled[person].values() for fact in facts)


class _Task(typing.NamedTuple):
    """A task: `ask` returns (question, answer, facts), or None while too little is told."""

    tell: typing.Callable
    ask: typing.Callable
    people: tuple = _PEOPLE


_CARRYING = _tell_actions(move=4, get=3, drop=1)
_GIVING = _tell_actions(move=4, get=3, drop=1, give=3)
_TASKS = {
    1: _Task(_tell_actions(move=1), _ask_place),
    2: _Task(_CARRYING, _ask_object_place),
    3: _Task(_CARRYING, _ask_place_before),
    5: _Task(_GIVING, _ask_gift, ("Bill", "Fred", "Jeff", "Mary")),
    6: _Task(_CARRYING, _ask_whether),
    7: _Task(_GIVING, _ask_count),
    8: _Task(_CARRYING, _ask_list),
    11: _Task(_tell_pronoun(1), _ask_place),
    12: _Task(_tell_moves, _ask_place),
    13: _Task(_tell_pronoun(2), _ask_place),
}
TASKS = tuple(_TASKS)


def _story(task, rng):
    """Yields (sentences, question, answer, facts) for every question of one story."""
    world, count = World(rng, task.people), 0
    while count < _QUESTIONS_PER_STORY:
        task.tell(world)
        told = task.ask(world)
        if told:
            yield tuple(world.sentences), *told
            count += 1


def simulate(task: int, questions: int, seed: int = 0) -> list[Example]:
    """Simulates stories with five questions each.

    Args:
        task: number of a bAbI task, one of `TASKS`.
        questions: number of questions; a larger number only adds questions at the end.
        seed: the same seed gives the same stories on any machine.
    """
    if task not in _TASKS:
        raise ValueError(f"Task {task!r} cannot be simulated, `task` is one of {TASKS}.")
    if questions < 1:
        raise ValueError(f"`questions` is {questions}, ask for at least 1.")
    rng = random.Random(f"task {task}, seed {seed}")
    examples: list[Example] = []
    while len(examples) < questions:
        for sentences, question, answer, facts in _story(_TASKS[task], rng):
            source = f"simulated task {task}, seed {seed}:{len(examples) + 1}"
            examples.append(Example(sentences, question, answer, facts, source))
    return examples[:questions]


def load(task: int, seed: int = 0, train: int = 900, valid: int = 100, test: int = 1000) -> Splits:
    """Simulates the three parts of a data set, each with a seed of its own."""
    sizes = (train, valid, test)
    return Splits(*(simulate(task, size, 3 * seed + part) for part, size in enumerate(sizes)))
