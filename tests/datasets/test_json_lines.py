import itertools
import json
import pathlib
import random

import pytest

from keras_corefmem import datasets
from keras_corefmem.datasets import Sentence, group_by_story, json_lines, simulator
from keras_corefmem.datasets.registry import find


@pytest.fixture
def write(tmp_path):
    def save(rows, name="my.jsonl"):
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return str(path)

    return save


def rows_of(count, seed=0):
    return [vars(example) for example in simulator.simulate(1, count, seed)]


def test_whole_stories_are_held_out(write):
    path = write(rows_of(100))
    splits = datasets.load(path)
    assert [len(part) for part in (splits.train, splits.valid, splits.test)] == [80, 10, 10]
    examples = [*splits.train, *splits.valid, *splits.test]
    assert sorted(examples, key=str) == sorted(simulator.simulate(1, 100), key=str)
    for part in (splits.train, splits.valid, splits.test):
        assert all(len(story) == 5 for story in group_by_story(part))
    assert datasets.load(path) == datasets.load(pathlib.Path(path)) == splits
    assert find(path).reads == "questions" and not find(path).tasks


def test_questions_about_one_passage_stay_together(write):
    rows = [
        {"passage": f"Mary has {n % 20}.", "question": q, "answer": "a"}
        for q in ("How many?", "Who?")
        for n in range(20)
    ]
    splits = datasets.load(write(rows))
    parts = [{e.passage for e in part} for part in (splits.train, splits.valid, splits.test)]
    assert list(map(len, parts)) == [16, 2, 2] and len(set.union(*parts)) == 20


def beginning(example):
    return example.sentences[:2]


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_stories_stay_together(write, seed):
    rows = rows_of(200, seed)
    random.Random(seed).shuffle(rows)
    splits = datasets.load(write(rows))
    parts = [set(map(beginning, part)) for part in (splits.train, splits.valid, splits.test)]
    assert all(parts) and sum(map(len, parts)) == len(set.union(*parts))


def test_a_story_that_is_asked_about_again_later_stays_together(write):
    stories = [[f"Mary met {n}.", f"John met {n}.", "She left."] for n in range(40)]
    rows = [
        {"sentences": story[:count], "question": "Who?", "answer": "a"}
        for count in (2, 3, 1)
        for story in stories
    ]
    # The first story went on in another way.
    rows.append({"sentences": ["Mary met 0.", "She ran."], "question": "Who?", "answer": "a"})
    splits = datasets.load(write(rows))
    parts = [{e.sentences[0] for e in part} for part in (splits.train, splits.valid, splits.test)]
    assert list(map(len, parts)) == [32, 4, 4] and len(set.union(*parts)) == 40


def test_a_passage_that_rows_cut_in_several_ways_stays_together(write):
    story = [[f"Mary met {n} .", "She left ."] for n in range(40)]
    cuts = (
        lambda sentences: sentences,
        lambda sentences: [" ".join(sentences)],
        lambda sentences: [f"{' '.join(sentences)} It rained ."],
        lambda sentences: "\n ".join(sentences).replace(" met ", "  met "),
    )
    rows = [{"passage": cut(s), "question": "Who?", "answer": "a"} for cut in cuts for s in story]
    splits = datasets.load(write(rows))
    parts = [
        {e.passage.split()[2] for e in part} for part in (splits.train, splits.valid, splits.test)
    ]
    assert list(map(len, parts)) == [32, 4, 4] and len(set.union(*parts)) == 40


def test_a_passage_that_begins_like_another_is_none_of_its_story(write):
    rows = [
        {"passage": passage, "question": "Who?", "answer": "a"}
        for passage in ("The", *(f"The cat {n}" for n in range(9)), "The cat 1 left ")
    ]
    splits = datasets.load(write(rows))
    assert [len(part) for part in (splits.train, splits.valid, splits.test)] == [9, 1, 1]


def test_sentences(write):
    path = write({"words": ["w", str(n)], "tags": ["A", "B"]} for n in range(30))
    splits = datasets.load(path)
    assert [len(part) for part in (splits.train, splits.valid, splits.test)] == [24, 3, 3]
    assert isinstance(splits.test[0], Sentence)
    known = find(path)
    assert (known.reads, known.counted, known.reported) == ("sentences", "labels", "test")


def test_what_cannot_be_loaded(write):
    with pytest.raises(ValueError, match="my.jsonl: a share of 1 cannot be held out of 1: give"):
        datasets.load(write(rows_of(5)))
    with pytest.raises(ValueError, match="my.jsonl:3: no JSON"):
        path = write(rows_of(100))
        lines = open(path).read().split("\n")
        open(path, "w").write("\n".join([*lines[:2], "{", *lines[2:]]))
        datasets.load(path)
    with pytest.raises(FileNotFoundError, match="none.jsonl: no such file"):
        find("none.jsonl")
    kinds = {
        "a question": {"passage": "Mary left.", "question": "Who left?", "answer": "Mary"},
        "a sentence with a label": {"sentence": "Mary left.", "answer": "good"},
        "a sentence with tags": {"words": ["Mary"], "tags": ["NNP"]},
    }
    for (first, row), (kind, other) in itertools.permutations(kinds.items(), 2):
        message = f"{kind}, but .*my.jsonl:1 is {first}: give files"
        with pytest.raises(ValueError, match=f"my.jsonl:3 is {message}"):
            datasets.load(write([row, row, other]))
        with pytest.raises(ValueError, match=f"valid.jsonl:1 is {message}"):
            json_lines.load(write([row] * 9), write([other], "valid.jsonl"))
