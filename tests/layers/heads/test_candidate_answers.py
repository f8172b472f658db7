import re

import numpy as np
import pytest

from keras_corefmem.layers import CandidateAnswers
from tests.support.evaluation import evaluate


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


def test_rejects_bad_arguments():
    for tokens in ([2, 2], [0]):
        message = f"must be distinct ids from 1, or None; got {re.escape(str(tokens))}"
        with pytest.raises(ValueError, match=message):
            CandidateAnswers(tokens)
    with pytest.raises(ValueError, match="There are 3 logits, but 2 answer_tokens"):
        evaluate(CandidateAnswers([None, 1]), np.zeros((2, 3)), np.ones((2, 4), "int32"))
