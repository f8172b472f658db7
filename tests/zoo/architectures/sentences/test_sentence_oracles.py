"""The models of sentences as a whole against their equations, from features to logits."""

import dataclasses

import numpy as np
import pytest

from tests.support.conformance.evaluation import JIT
from tests.support.model_cases import CASES, make
from tests.support.oracles import sentences as sentence_oracles
from tests.support.tiers import standing_for

OPTIONS = {
    "dmn-sentiment": ("dmn-sentiment", {}),
    "dmn-sentiment-spelt": ("dmn-sentiment-spelt", {}),
    "dmn-sentiment-plus": ("dmn-sentiment", {"attention": "attention_gru", "update": "relu"}),
    "dmn-sentiment-without-passes": ("dmn-sentiment", {"passes": 0}),
    "dmn-tagger": ("dmn-tagger", {}),
    "dmn-tagger-gated": ("dmn-tagger-gated", {}),
    "dmn-tagger-plus": (
        "dmn-tagger",
        {"attention": "attention_gru", "update": "relu", "bidirectional": False},
    ),
    "dmn-tagger-without-passes": ("dmn-tagger", {"passes": 0}),
    "character-lm": ("character-lm", {}),
}
KEPT = ["dmn-tagger"] if JIT else ["dmn-sentiment", "dmn-tagger-gated", "character-lm"]
# JAX has no float64 by default.
EXACT, TOLERANCE = (None, 1e-4) if JIT else ("float64", 1e-9)


@pytest.mark.parametrize("name", standing_for(OPTIONS, KEPT))
def test_logits_and_attention_follow_the_equations(name):
    case, options = OPTIONS[name]
    model, examples = make(case, dtype=EXACT, **options), CASES[case].examples
    known, whole = model.preprocessor, examples[0]
    answer = whole.answer if isinstance(whole.answer, str) else whole.answer[-1:]
    one_word = dataclasses.replace(whole, words=whole.words[-1:], answer=answer)
    encoded = [known.encode(example) for example in (one_word, *examples[1:9:3])]
    size = 3 + max(map(known.length, encoded))
    features = known.collate(encoded, len(encoded), size, 0, model.features)
    found = [np.asarray(array) for array in model.inspect(features) if array is not None]
    assert len(found) == 1 + model.has_attention and found[0].dtype == (EXACT or "float32")
    assert np.ptp(found[0][..., 1:], axis=0).max() > 0.1
    for b, example in enumerate(encoded):
        count = known.length(example)
        alone = known.collate([example], 1, count, 0, model.features)
        row = {feature: np.asarray(array)[0] for feature, array in alone.items()}
        logits, *attention = sentence_oracles.run(model, row)
        # Logits of padded words are anything.
        np.testing.assert_allclose(found[0][b][: len(logits)], logits, rtol=0, atol=TOLERANCE)
        for array, wanted in zip(found[1:], attention, strict=False):
            assert array.dtype == (EXACT or "float32")
            # Padding has no attention.
            widths = zip(array[b].shape, wanted.shape, strict=True)
            wanted = np.pad(wanted, [(0, padded - own) for padded, own in widths])
            np.testing.assert_allclose(array[b], wanted, rtol=0, atol=TOLERANCE)
