"""The readers of passages as a whole against their equations, from features to logits."""

import keras
import numpy as np
import pytest

import zoo
from tests.support import model_cases
from tests.support.conformance.evaluation import JIT
from tests.support.model_cases import READERS, make
from tests.support.oracles import passages as passage_oracles
from tests.support.tiers import standing_for

BIDAF = zoo.models("bidaf")
CASES = {
    **{
        name: (name, {})
        for name, case in model_cases.CASES.items()
        if case.model in READERS or case.model in BIDAF
    },
    "tied": ("ga-mage-gru", {"layers": 3, "tied": True}),
    "random": ("ga-coref-gru", {"order": "random"}),
    "mixture-apart": ("as-one-hot", {"joint": False}),
    "shared-attention": ("ga-mage-gru-shared", {"edge_attention": True, "carry": "mixed"}),
    "bidaf-apart": ("bidaf-mage-gru", {"joint": False}),
    "bidaf-early": (
        "bidaf-supervised",
        {"self_attention": "early", "supervision": ("dependency", "coref_all"), "early_layers": 2},
    ),
    "bidaf-late": (
        "bidaf-supervised",
        {"self_attention": "late", "supervision": ("narrative",), "encoder_at": "contextual"},
    ),
}
# Mixture, typed edges and their attention, both places of self-attention.
KEPT = ["as-one-hot"] if JIT else ["as-one-hot", "ga-mage-gru-typed", "bidaf-supervised"]
# JAX has no float64 by default.
EXACT, TOLERANCE = (None, 1e-4) if JIT else ("float64", 1e-9)


@pytest.mark.parametrize("name", standing_for(CASES, KEPT))
def test_logits_and_attention_follow_the_equations(name):
    case, options = CASES[name]
    model = make(case, dtype=EXACT, **options)
    known = model.preprocessor
    encoded = sorted(map(known.encode, model_cases.CASES[case].examples), key=known.length)[::8]
    sizes = [3 + max(map(length, encoded)) for length in (known.length, known.question_length)]
    features = known.collate(encoded, len(encoded), *sizes, model.features)
    outputs = model.output, model.attention_output, *(model.heads_output or {}).values()
    found = [np.asarray(each) for each in keras.Model(model.input, outputs)(features)]
    assert np.ptp(found[0][:, 1:], axis=0).max() > (0.04 if "spans" in name else 0.1)
    for b, example in enumerate(encoded):
        count = known.length(example)
        alone = known.collate([example], 1, count, known.question_length(example), model.features)
        row = {feature: np.asarray(array)[0] for feature, array in alone.items()}
        logits, attention, *heads = passage_oracles.run(model, row)
        expected = [logits, attention, *(heads[0][signal] for signal in model.heads_output or ())]
        for array, wanted in zip(found, expected, strict=True):
            assert array.dtype == (EXACT or "float32")
            # Padding has no attention.
            widths = zip(array[b].shape, wanted.shape, strict=True)
            wanted = np.pad(wanted, [(0, padded - own) for padded, own in widths])
            np.testing.assert_allclose(array[b], wanted, rtol=0, atol=TOLERANCE)
