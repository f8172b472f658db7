import collections

import numpy as np
import pytest

from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.preprocessing.batching.sentence_batches import SentenceBatches
from keras_corefmem.preprocessing.sentence_preprocessor import SentencePreprocessor

RANDOM = np.random.default_rng(8)
TAGGED = [
    Sentence(tuple(RANDOM.choice(list("abcd"), n)), tuple(RANDOM.choice(["X", "Y"], n)))
    for n in RANDOM.integers(1, 9, 23)
]
LABELLED = [
    Sentence(tuple("ab" * (1 + n % 4)), ("good", "bad")[n % 2], is_root=n % 5 == 0)
    for n in range(60)
]


def make(sentences, **options):
    preprocessor = SentencePreprocessor.fit(sentences)
    encoded = [preprocessor.encode(sentence) for sentence in sentences]
    return SentenceBatches(encoded, preprocessor, ("words",), batch_size=8, **options)


@pytest.mark.parametrize("buckets", [None, [3, 5, 8]])
def test_every_tag_is_there_once_and_in_its_place(buckets):
    batches = make(TAGGED, buckets=buckets, shuffle=True)
    tags = [tag for sentence in TAGGED for tag in sentence.answer]
    words = [word for sentence in TAGGED for word in sentence.words]
    vocabulary, names = batches.preprocessor.vocabulary.words, batches.preprocessor.answers
    seen = []
    for index in range(len(batches)):
        features, answers, weights = batches[index]
        numbers = batches.numbers(index)
        assert features["words"].shape == answers.shape == weights.shape == numbers.shape
        np.testing.assert_array_equal(weights > 0, features["words"] > 0)
        assert set(np.unique(weights)) <= {0, 1} and weights.dtype == np.float32
        assert not answers[weights == 0].any()
        counted = (array[weights > 0] for array in (numbers, features["words"], answers))
        for number, word, answer in zip(*counted, strict=True):
            seen.append(number)
            assert vocabulary[word] == words[number] and names[answer] == tags[number]
    assert sorted(seen) == list(range(batches.count)) == list(range(len(tags)))


def test_an_epoch_has_all_sentences_and_half_of_the_phrases():
    batches = make(LABELLED, shuffle=True, seed=4)
    assert batches.count == 60
    counts = collections.Counter()
    for epoch in range(12):
        batches.start_epoch(epoch)
        total = sum(int(batches[n][2].sum()) for n in range(len(batches)))
        assert total == 12 + 24 == len(batches.order) == len(batches.encoded)
        counts.update(id(sentence) for sentence in batches.encoded)
    roots = [id(sentence) for sentence in batches.all_encoded if sentence.is_root]
    assert all(counts[key] == 12 for key in roots)
    assert all(0 < counts[id(s)] < 12 for s in batches.all_encoded if not s.is_root)
    features, answers, _ = batches[0]
    again = make(LABELLED, shuffle=True, seed=4)
    again.start_epoch(11)
    np.testing.assert_array_equal(again[0][0]["words"], features["words"])
    np.testing.assert_array_equal(again[0][1], answers)
