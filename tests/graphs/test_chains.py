import math

import numpy as np
import pytest

from keras_corefmem.graphs import antecedents, chain_ids
from tests.support.tiers import standing_for

RNG = np.random.default_rng(0)
CASES = [RNG.integers(0, 6, shape) for shape in [(11,), (4, 30), (2, 3, 9), (1, 1), (2, 0)]]


def loop_antecedents(row):
    last, result = {}, []
    for position, entity in enumerate(row.tolist(), start=1):
        result.append(last.get(entity, 0) if entity else 0)
        last[entity] = position
    return result


def loop_chain_ids(row):
    row, numbers = row.tolist(), {}
    repeated = [entity if entity and row.count(entity) > 1 else 0 for entity in row]
    return [numbers.setdefault(entity, len(numbers) + 1) if entity else 0 for entity in repeated]


@pytest.mark.parametrize("chains", CASES, ids=lambda case: str(case.shape))
@pytest.mark.parametrize(
    "function, loop", [(antecedents, loop_antecedents), (chain_ids, loop_chain_ids)]
)
def test_equals_a_loop_over_time(function, loop, chains):
    result = function(chains)
    assert result.dtype == np.int32
    rows = chains.reshape((math.prod(chains.shape[:-1]), chains.shape[-1]))
    expected = np.array([loop(row) for row in rows]).reshape(chains.shape)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("function", [antecedents, chain_ids])
def test_the_old_argument_warns(function):
    with pytest.warns(DeprecationWarning, match="entities is now called chains"):
        assert function(entities=[1, 0, 1]).shape == (3,)


def test_chains_beyond_the_maximum_are_dropped():
    np.testing.assert_array_equal(chain_ids([9, 3, 3, 9, 4, 4], max_chains=2), [1, 2, 2, 1, 0, 0])


@pytest.mark.parametrize("dtype", standing_for(["int32", "int64"], ["int64"]))
@pytest.mark.parametrize("function", [antecedents, chain_ids])
def test_tensorflow_gives_the_same(function, dtype):
    tf = pytest.importorskip("tensorflow")
    tnp = tf.experimental.numpy

    @tf.function(input_signature=[tf.TensorSpec((None, None), dtype)])
    def in_graph(chains):
        return function(chains, xp=tnp)

    for chains in (case.astype(dtype) for case in CASES if case.ndim == 2):
        for result in (function(chains, xp=tnp), in_graph(chains)):
            assert result.dtype == tf.int32
            np.testing.assert_array_equal(np.asarray(result), function(chains))
