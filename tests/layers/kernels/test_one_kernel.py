"""The kernels of GPUs, interpreted on the CPU, against the loops."""

import keras
import numpy as np
import pytest

from keras_corefmem.layers import MAGEGRU, CorefGRU
from keras_corefmem.layers.kernels import one_kernel
from tests.support.conformance.evaluation import random_weights, stateless, value_and_gradients
from tests.support.conformance.fused import BATCH, TIME, draw, run
from tests.support.conformance.graphs import WIDTH, random_features, random_mask, random_sources
from tests.support.tiers import standing_for

FITTING = ["gru", "coref", "coref_chains", "mage_gathered", "mage_gathered_attention"]
FITTING += ["mage_previous", "mage_previous_attention"]
KEPT = {"coref", "mage_gathered_attention"}
CASES = [
    pytest.param(name, masked, marks=() if name in KEPT and masked else pytest.mark.thorough)
    for name in FITTING
    for masked in (True, False)
]

pytestmark = pytest.mark.skipif(
    keras.backend.backend() != "jax", reason="the kernels are written in Pallas, of JAX"
)


@pytest.fixture
def answers(monkeypatch):
    """Says that there is one GPU where this is what decides; keeps what was decided."""
    fits, answers = one_kernel.fits, []

    def fits_with_one_gpu(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(one_kernel, "has_one_gpu", lambda: True)
            answers.append(fits(*arguments))
        return answers[-1]

    monkeypatch.setattr(one_kernel, "fits", fits_with_one_gpu)
    return answers


def assert_close(results, expected):
    for result, loop in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, loop, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("name", "masked"), CASES)
def test_it_equals_the_loops(name, masked, answers):
    expected, result = run(name, masked), run.__wrapped__(name, masked)
    assert set(answers) == {True}
    assert_close([result.output], [expected.output])
    assert_close(result.gradients, expected.gradients)


@pytest.mark.parametrize(
    "name", standing_for(["dag", "mage_gathered_shared", "mage_mixed"], ["mage_mixed"])
)
def test_it_leaves_other_recurrences_to_the_loops(name, answers):
    _, mask, x, graph = draw(name, True)
    graph.layer(x, *graph.inputs, mask=mask)
    assert set(answers) == {False}


@pytest.mark.parametrize(
    ("kind", "bidirectional"),
    [pytest.param(CorefGRU, True, marks=pytest.mark.thorough), (MAGEGRU, False)],
)
def test_it_starts_where_a_state_was_left(kind, bidirectional, request):
    rng, mask = np.random.default_rng(1), random_mask(BATCH, TIME)
    layer = kind(6 if kind is CorefGRU else (4, 2), bidirectional=bidirectional)
    edges = random_sources(rng, BATCH, TIME, 1, 1, mask, False)
    edges = edges[..., 0, 0] if kind is CorefGRU else edges
    x = random_features(rng, BATCH, TIME)
    layer.build((BATCH, TIME, WIDTH), edges.shape)
    weights = random_weights(layer, rng)
    states = [rng.normal(size=(BATCH, 6)).astype("float32") for _ in range(1 + bidirectional)]
    upstream = rng.normal(size=(BATCH, TIME, layer.output_units)).astype("float32")

    def outcome():
        def function(x, *values):
            own, initial = values[: len(weights)], list(values[len(weights) :])
            return stateless(layer, own, x, edges, mask=mask, initial_state=initial)

        output, gradients = value_and_gradients(function, [x, *weights, *states], upstream)
        return [output, *gradients]

    expected, answers = outcome(), request.getfixturevalue("answers")
    assert_close(outcome(), expected)
    assert set(answers) == {True}


@pytest.mark.parametrize("units", [128, 130])
def test_it_takes_what_fits_into_registers(units, answers):
    CorefGRU(units)(np.ones((1, 2, 3), "float32"), np.zeros((1, 2), "int32"))
    assert answers == [units == 128]


def test_on_a_cpu_the_loops_run():
    assert not one_kernel.has_one_gpu()
