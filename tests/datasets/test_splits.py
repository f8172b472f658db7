import random

import pytest

from keras_corefmem.datasets import Splits, hold_out


def test_a_group_goes_into_one_part():
    examples, groups = list(range(60)), [n // 3 for n in range(60)]
    for seed in (0, random.Random(0)):
        train, held = hold_out(examples, 0.2, seed, groups)
        assert sorted(train + held) == examples and len(held) == 12
        assert held == sorted(held) and train == sorted(train)
        assert {n // 3 for n in held}.isdisjoint(n // 3 for n in train)


def test_a_seed_says_what_is_held_out():
    examples = list(range(100))
    assert hold_out(examples, 0.1, 3) == hold_out(examples, 0.1, 3) != hold_out(examples, 0.1, 4)
    # What studies were trained and chosen by.
    assert hold_out(examples, 5)[1] == [26, 30, 50, 61, 81]
    assert hold_out(examples, 5, random.Random(0))[1] == [5, 33, 49, 53, 97]


@pytest.mark.parametrize(
    "share, count", [(0, 9), (9, 9), (0.99, 9), (0.04, 9), (-0.5, 9), (0.5, 1), (1, 0)]
)
def test_neither_part_may_be_empty(share, count):
    with pytest.raises(ValueError, match=f"f.json: a share of {share} cannot .* out of {count}"):
        hold_out(range(count), share, source="f.json")


def test_a_function_is_applied_to_all_parts():
    assert Splits([1], [2, 3], []).map(str) == Splits(["1"], ["2", "3"], [])
