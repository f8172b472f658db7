import dataclasses
import itertools

import numpy as np
import pytest

from keras_corefmem.datasets.stories import simulator
from keras_corefmem.preprocessing import ReaderPreprocessor
from keras_corefmem.preprocessing.batching.batches import Batches, length_buckets

ENTITIES = ("mary", "sandra", "daniel", "john", "kitchen", "garden", "apple", "football", "milk")
NAMES = ("passage", "question", "passage_antecedents", "candidates")


@pytest.fixture(scope="module")
def preprocessor():
    return ReaderPreprocessor.fit(simulator.simulate(2, 60), entity_words=ENTITIES)


@pytest.fixture(scope="module")
def encoded(preprocessor):
    return [preprocessor.encode(example) for example in simulator.simulate(2, 43, seed=1)]


@pytest.fixture(scope="module")
def buckets(encoded):
    """Several lengths, for passages this few."""
    found = length_buckets([len(example.passage) for example in encoded], saving=0)
    assert 1 < len(found) <= 6
    return found


def padded_size(lengths, buckets):
    return sum(min(b for b in buckets if b >= length) for length in lengths)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_length_buckets_pad_least(count):
    random = np.random.default_rng(count)
    for _ in range(20):
        lengths = random.integers(1, 60, random.integers(1, 12))
        options = sorted({-(-int(length) // 8) * 8 for length in lengths})
        choices = [
            (*some, options[-1])
            for n in range(count)
            for some in itertools.combinations(options[:-1], n)
        ]
        found = length_buckets(lengths, count, saving=0)
        assert found == sorted(found) and len(found) <= count
        assert padded_size(lengths, found) == min(padded_size(lengths, b) for b in choices)


def test_one_more_bucket_must_save_enough():
    lengths = [8] * 50 + [16] * 50
    assert length_buckets(lengths, saving=401) == [16]
    assert length_buckets(lengths, saving=400) == [8, 16]
    assert length_buckets([8] * 5 + [160] * 5) == [160]


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_epoch_has_every_example_once(encoded, preprocessor, buckets, shuffle):
    batches = Batches(encoded, preprocessor, NAMES, buckets, batch_size=8, shuffle=shuffle)
    for _ in range(20):
        rows, shapes = [], []
        for n in range(len(batches)):
            features, answers, weights = batches[n]
            shapes.append(features["passage"].shape)
            assert set(features) == set(NAMES)
            assert not features["passage"][weights == 0].any()
            assert not answers[weights == 0].any()
            parts = features["passage"], features["question"], answers
            counted = (part[weights > 0] for part in parts)
            for passage, question, answer in zip(*counted, strict=True):
                rows.append((*passage[passage > 0], -1, *question[question > 0], -1, answer))
        members = [encoded[i] for i in batches.order]
        assert rows == [(*e.passage, -1, *e.question, -1, e.answer) for e in members]
        assert sorted(batches.order) == list(range(len(encoded)))
        assert len(batches) == -(-len(encoded) // 8)
        assert set(shapes) == {(8, length) for length in buckets}
        assert shapes[0] != shapes[1] or not shuffle
        batches.on_epoch_end()


def test_the_seed_and_the_epoch_decide_the_order(encoded, preprocessor):
    def orders(seed, epochs=3):
        batches = Batches(encoded, preprocessor, NAMES, batch_size=8, shuffle=True, seed=seed)
        found = []
        for _ in range(epochs):
            found.append(batches.order.tolist())
            batches.on_epoch_end()
        return found

    first = orders(0)
    assert first == orders(0)
    assert first[0] != first[1] != first[2]
    assert first[0] != orders(1)[0]
    resumed = Batches(encoded, preprocessor, NAMES, batch_size=8, shuffle=True)
    resumed.start_epoch(2)
    assert resumed.order.tolist() == first[2]


@pytest.fixture
def long_questions(encoded):
    """Every fifth question twice as long, every seventh three times."""
    return [
        dataclasses.replace(e, question=np.tile(e.question, 3 if n % 7 == 0 else 1 + (n % 5 == 0)))
        for n, e in enumerate(encoded)
    ]


def test_questions_have_lengths_of_their_own(long_questions, preprocessor, buckets):
    lengths = sorted({len(e.question) for e in long_questions})
    batches = Batches(long_questions, preprocessor, NAMES, buckets, lengths, 4, shuffle=True)
    for epoch in range(20):
        batches.start_epoch(epoch)
        assert sorted(batches.order) == list(range(len(long_questions)))
        shapes = [tuple(batches[n][0][name].shape[1] for name in NAMES[:2]) for n in range(2)]
        assert all(a != b for a, b in zip(*shapes, strict=True))
        for n, (members, length, question_length) in enumerate(batches.batches):
            features = batches[n][0]
            assert features["question"].shape == (4, question_length)
            assert max(len(long_questions[i].passage) for i in members) <= length
    tight = [sum(len(m) < 4 for m, *_ in batches.batches), len(batches)]
    assert tight[0] <= 1 and tight[1] == -(-len(long_questions) // 4)


def test_weights_make_the_mean_over_rows_that_over_examples(encoded, preprocessor):
    batches = Batches(encoded, preprocessor, NAMES, batch_size=16)
    losses = np.random.default_rng(0).random(len(encoded))
    total = rows = 0
    for n in range(len(batches)):
        _, _, weights = batches[n]
        members = batches.batches[n][0]
        total, rows = total + np.sum(weights[: len(members)] * losses[members]), rows + len(weights)
        assert not weights[len(members) :].any()
    assert rows > len(encoded)
    np.testing.assert_allclose(total / rows, losses.mean())


def test_what_does_not_fit_is_refused(encoded, preprocessor):
    with pytest.raises(ValueError, match="no examples"):
        Batches([], preprocessor, NAMES)
    with pytest.raises(ValueError, match="does not fit into buckets \\[8\\]"):
        Batches(encoded, preprocessor, NAMES, buckets=[8])
    with pytest.raises(ValueError, match="question_length 2"):
        Batches(encoded, preprocessor, NAMES, question_length=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": -1}, "batch_size must be an integer of at least 1, got -1"),
        ({"batch_size": 2.5}, "batch_size must be an integer of at least 1, got 2.5"),
        ({"seed": -1, "shuffle": True}, "seed must be an integer of at least 0, got -1"),
        ({"buckets": []}, r"buckets must be ascending lengths, got \[\]"),
        ({"buckets": [96, 8, 96]}, r"buckets must be ascending lengths, got \[96, 8, 96\]"),
        ({"question_length": [9, 3, 9]}, r"question_length must be ascending lengths, got \[9"),
    ],
)
def test_sizes_and_lengths_that_are_none_are_refused(encoded, preprocessor, options, message):
    with pytest.raises(ValueError, match=message):
        Batches(encoded, preprocessor, NAMES, **options)


def test_features_that_there_are_not_are_named(encoded, preprocessor):
    batches = Batches(encoded, preprocessor, ("passage", "passage_letters"))
    with pytest.raises(ValueError, match="no feature 'passage_letters': the .* makes passage, "):
        batches[0]
    with pytest.raises(ValueError, match="numbers do not fit into 2: pad to a longer one"):
        preprocessor.collate(encoded[:1], 1, 2, 9)


@pytest.mark.parametrize("answer", [0, -1, 99, np.array([1, 0])], ids=str)
def test_training_refuses_answers_that_are_not_known(encoded, preprocessor, answer):
    new = dataclasses.replace(encoded[7], answer=answer, source="qa2_train.txt:12")
    rows = [*encoded[:7], new, *encoded[8:]]
    message = f"answer of qa2_train.txt:12 is none of the {len(preprocessor.answers) - 1} that"
    with pytest.raises(ValueError, match=message):
        Batches(rows, preprocessor, NAMES, shuffle=True)
    rows[7] = dataclasses.replace(new, source="")
    with pytest.raises(ValueError, match=f"answer of example 8 of {len(rows)} is none"):
        Batches(rows, preprocessor, NAMES, shuffle=True)


def test_evaluation_takes_an_unknown_answer_but_no_impossible_one(encoded, preprocessor):
    unknown, impossible = (dataclasses.replace(encoded[0], answer=n) for n in (0, 99))
    batches = Batches([unknown], preprocessor, NAMES, batch_size=1)
    assert batches[0][1].tolist() == [0] and batches[0][2].tolist() == [1]
    with pytest.raises(ValueError, match="none of the"):
        Batches([impossible], preprocessor, NAMES)
