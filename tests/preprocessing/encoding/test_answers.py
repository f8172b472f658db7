import itertools

import numpy as np
import pytest

from keras_corefmem.preprocessing.encoding.answers import (
    END,
    answer_text,
    best_sequences,
    encode_answer,
)

ANSWERS = ["[unknown]", "apple", "milk", "nothing", END]
NUMBERS = {answer: number for number, answer in enumerate(ANSWERS)}


def every_answer(logits):
    """Probabilities by text of all answers of some steps."""
    odds = np.exp(logits.astype("float64"))[:, 1:]
    odds /= odds.sum(axis=-1, keepdims=True)
    steps, words = odds.shape
    found = {}
    for length in range(1, steps + 1):
        for chosen in itertools.product(range(words - 1), repeat=length):
            ends = [words - 1] if length < steps else []
            text = ",".join(ANSWERS[n + 1] for n in chosen)
            found[text] = np.prod([odds[k, n] for k, n in enumerate([*chosen, *ends])])
    return found


@pytest.mark.parametrize("top", [1, 3])
def test_the_best_sequences_are_the_most_probable_of_all(top):
    random = np.random.default_rng(top)
    logits = random.normal(0, 2, (40, 3, 5)).astype("float32")
    sequences, logs = best_sequences(logits, top)
    assert sequences.shape == (40, top, 3) and logs.shape == (40, top)
    lengths = set()
    for row, words, scores in zip(logits, sequences, logs, strict=True):
        expected = every_answer(row)
        ranked = sorted(expected, key=expected.get, reverse=True)[:top]
        assert [answer_text(numbers, ANSWERS) for numbers in words] == ranked
        np.testing.assert_allclose(np.exp(scores), [expected[text] for text in ranked], rtol=1e-4)
        lengths |= {text.count(",") for text in ranked}
    assert lengths == {0, 1, 2}


def test_a_class_is_a_sequence_of_one_word():
    logits = np.array([[9.0, 1.0, 3.0, 2.0], [9.0, 1.0, 1.0, 0.0]], "float32")
    sequences, logs = best_sequences(logits, 2)
    assert sequences.tolist() == [[[2], [3]], [[1], [2]]]
    odds = np.exp(logits[0, 1:]) / np.exp(logits[0, 1:]).sum()
    np.testing.assert_allclose(np.exp(logs[0]), [odds[1], odds[2]], rtol=1e-6)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("milk", [2, 4, 4]),
        ("apple,milk", [1, 2, 4]),
        ("apple,pear", [1, 0, 4]),
        ("apple,milk,apple", [0, 0, 0]),
        (None, [0, 0, 0]),
    ],
)
def test_answers_become_words_and_an_end(answer, expected):
    numbers = encode_answer(answer, NUMBERS, 3)
    assert numbers.tolist() == expected and numbers.dtype == np.int32
    if 0 not in expected:
        assert answer_text(numbers, ANSWERS) == answer
