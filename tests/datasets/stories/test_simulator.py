import re

import pytest

from keras_corefmem.datasets import group_by_story
from keras_corefmem.datasets.stories import simulator

MOVE = r"(.+) (?:went|went back|moved|journeyed|travelled) to the (\w+)\."
GET = r"(\w+) (?:got|took|grabbed|picked up) the (\w+)(?: there)?\."
DROP = r"(\w+) (?:dropped|left|discarded|put down) the (\w+)(?: there)?\."
GIVE = r"(\w+) (?:gave|handed|passed) the (\w+) to (\w+)\."


def read_people(subject, before):
    """Whom a subject names; a pronoun names the subject of the sentence before."""
    if re.search(r" (he|she|they)$", subject):
        return before
    return subject.split(" and ")


def read(sentences, strict=False):
    """Reads a story anew: person -> places, object -> holder, object -> places, gifts.

    Strict reading checks that every deed is possible where it is told.
    """
    places, holders, objects, gifts, before = {}, {}, {}, [], []

    def meet(first, second):
        assert not strict or len({trail[-1] for trail in (first, second) if trail}) < 2

    for sentence in sentences:
        if match := re.fullmatch(MOVE, sentence):
            before = read_people(match[1], before)
            for person in before:
                assert not strict or places.get(person, [])[-1:] != [match[2]]
                places.setdefault(person, []).append(match[2])
                for thing in [t for t, holder in holders.items() if holder == person]:
                    objects[thing].append(match[2])
        elif match := re.fullmatch(GET, sentence):
            person, thing = match.groups()
            assert not strict or thing not in holders
            holders[thing] = person
            trail, place = objects.setdefault(thing, []), places.get(person, [])[-1:]
            meet(trail, place)
            trail += place if trail[-1:] != place else []
        elif match := re.fullmatch(DROP, sentence):
            assert not strict or holders[match[2]] == match[1]
            if holders.pop(match[2], match[1]) == match[1]:
                objects[match[2]] = objects.get(match[2]) or places.get(match[1], [])[-1:]
        elif match := re.fullmatch(GIVE, sentence):
            giver, thing, receiver = match.groups()
            assert not strict or holders[thing] == giver != receiver
            meet(places.get(giver), places.get(receiver))
            holders[thing] = receiver
            gifts.append(match.groups())
        else:
            raise AssertionError(sentence)
    return places, holders, objects, gifts


def reread_answer(sentences, question):
    """Answers a question from sentences alone."""
    places, holders, objects, gifts = read(sentences)
    numbers = ("none", "one", "two", "three")
    if match := re.fullmatch(r"Where is the (\w+)\?", question):
        thing = match[1]
        return places[holders[thing]][-1] if thing in holders else objects[thing][-1]
    if match := re.fullmatch(r"Where was the (\w+) before the (\w+)\?", question):
        trail = objects[match[1]]
        assert trail[-1] == match[2]
        return trail[-2]
    if match := re.fullmatch(r"Where is (\w+)\?", question):
        return places[match[1]][-1]
    if match := re.fullmatch(r"Is (\w+) in the (\w+)\?", question):
        return "yes" if places[match[1]][-1] == match[2] else "no"
    if match := re.fullmatch(r"How many objects is (\w+) carrying\?", question):
        return numbers[list(holders.values()).count(match[1])]
    if match := re.fullmatch(r"What is (\w+) carrying\?", question):
        return {thing for thing, holder in holders.items() if holder == match[1]}
    for giver, thing, receiver in reversed(gifts):
        for told, answer in (
            (f"What did {giver} give to {receiver}?", thing),
            (f"Who did {giver} give the {thing} to?", receiver),
            (f"Who gave the {thing} to {receiver}?", giver),
            (f"Who gave the {thing}?", giver),
            (f"Who received the {thing}?", receiver),
        ):
            if told == question:
                return answer
    raise AssertionError(question)


def as_set(answer):
    return {thing for thing in answer.split(",") if thing != "nothing"}


@pytest.mark.parametrize("task", simulator.TASKS)
@pytest.mark.parametrize("supporting", [False, True])
def test_an_independent_reader_finds_the_answers(task, supporting):
    for example in simulator.simulate(task, 300):
        facts = sorted(set(example.supporting_facts))
        assert len(facts) == len(example.supporting_facts) > 0
        told = [example.sentences[fact - 1] for fact in facts] if supporting else example.sentences
        expected = as_set(example.answer) if task == 8 else example.answer
        assert reread_answer(told, example.question) == expected


@pytest.mark.parametrize("task", [1, 2, 3, 5, 6, 7, 8, 12])
def test_deeds_are_possible_where_they_are_told(task):
    for group in group_by_story(simulator.simulate(task, 300)):
        places, *_ = read(group[-1].sentences, strict=True)
        assert places


@pytest.mark.parametrize("task, count", [(1, 1), (2, 2), (3, 3), (5, 1), (6, 1), (11, 2), (13, 2)])
def test_numbers_of_supporting_facts_are_those_of_the_task(task, count):
    assert {len(e.supporting_facts) for e in simulator.simulate(task, 100)} == {count}


@pytest.mark.parametrize("task", simulator.TASKS)
def test_stories_are_as_long_as_official_ones(task):
    groups = group_by_story(simulator.simulate(task, 500))
    assert [len(group) for group in groups] == [5] * 100
    gaps = [
        len(later.sentences) - len(earlier.sentences)
        for group in groups
        for earlier, later in zip(group, group[1:], strict=False)
    ]
    assert min(gaps) == 2 and sum(gap <= 6 for gap in gaps) > 0.9 * len(gaps)
    assert max(len(group[-1].sentences) for group in groups) <= 100


def test_both_answers_of_a_yes_no_question_are_as_likely():
    answers = [example.answer for example in simulator.simulate(6, 1000)]
    assert 430 < answers.count("yes") < 570


@pytest.mark.parametrize("task", [1, 2, 3, 12])
def test_no_answer_stands_out(task):
    answers = [example.answer for example in simulator.simulate(task, 1000)]
    assert len(set(answers)) == 6
    assert all(100 < answers.count(answer) < 250 for answer in answers)


def test_words_are_those_of_official_tasks(babi_dir):
    from keras_corefmem.datasets.stories import babi

    for task in simulator.TASKS:
        texts = [
            {word for e in part for text in (*e.sentences, e.question) for word in text.split()}
            for part in (simulator.simulate(task, 200), babi.load(babi_dir, task).train)
        ]
        assert texts[0] <= texts[1]


@pytest.mark.parametrize("task", simulator.TASKS)
def test_seeds_name_stories(task):
    examples = simulator.simulate(task, 40, seed=3)
    assert examples == simulator.simulate(task, 40, seed=3)
    assert examples[:13] == simulator.simulate(task, 13, seed=3)
    assert examples != simulator.simulate(task, 40, seed=4)


def test_the_same_stories_on_every_machine():
    example = simulator.simulate(2, 7)[6]
    assert example.source == "simulated task 2, seed 0:7"
    assert (example.question, example.answer) == ("Where is the milk?", "hallway")


@pytest.mark.parametrize("task", simulator.TASKS)
def test_splits_are_other_stories(task):
    both = [simulator.load(task, seed, train=90, valid=20, test=50) for seed in (0, 1)]
    runs = [part for splits in both for part in (splits.train, splits.valid, splits.test)]
    assert [len(run) for run in runs] == 2 * [90, 20, 50]
    told = [{group[-1].passage for group in group_by_story(run)} for run in runs]
    assert len(set().union(*told)) == sum(map(len, told))


@pytest.mark.parametrize(
    "arguments, message",
    [((4, 5), "Task 4 cannot be simulated, `task` is one of"), ((1, 0), "`questions` is 0")],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulator.simulate(*arguments)
