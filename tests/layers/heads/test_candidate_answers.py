import numpy as np

from keras_corefmem.layers import CandidateAnswers
from tests.support.conformance.evaluation import evaluate


def test_only_answers_among_the_words_keep_their_logits():
    rng = np.random.default_rng(0)
    tokens = (None, 9, 2, None, 7, 400)
    words = rng.choice([0, 2, 3, 7, 9, 400, 401, 999], (20, 3, 4)).astype("int32")
    words[0] = 0
    logits = rng.normal(size=(20, len(tokens))).astype("float32")
    expected = logits.copy()
    for row, answer in np.ndindex(logits.shape):
        if tokens[answer] not in words[row]:
            expected[row, answer] -= 100
    assert 0.2 < np.mean(expected == logits) < 0.6
    np.testing.assert_allclose(evaluate(CandidateAnswers(tokens), logits, words), expected)
