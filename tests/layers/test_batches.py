"""All inputs and masks of a layer are of as many texts: none is repeated for the others."""

import pytest

from tests.support.conformance.cases import CASES
from tests.support.conformance.evaluation import JIT
from tests.support.conformance.layers import CLEARED, arrays_of, make_layer, masks_of
from tests.support.tiers import standing_for

SEVERAL = [case for case in CASES if len(case.inputs.split()) > 1]
BROADCAST = {"gated_attention", "bidirectional_attention", "supervised_attention", "attention_sum"}
BROADCAST = [case for case in CASES if case.name in BROADCAST]
ALL = [case for case in CASES if case in SEVERAL or case in CLEARED]


@pytest.mark.parametrize("case", SEVERAL, ids=str)
def test_inputs_of_fewer_texts_are_refused(case):
    layer, arrays = make_layer(case), arrays_of(case)
    for n, array in enumerate(arrays):
        with pytest.raises(ValueError, match=r"must be (\(batch|of as many texts)"):
            layer(*arrays[:n], array[:1], *arrays[n + 1 :])


@pytest.mark.skipif(JIT, reason="JAX knows all shapes before")
@pytest.mark.parametrize("case", standing_for(ALL, BROADCAST), ids=str)
def test_inputs_and_masks_of_fewer_texts_fail_where_shapes_are_unknown_before(case):
    import tensorflow as tf

    layer, arrays = make_layer(case), arrays_of(case)
    masks = masks_of(case)[0] if case in CLEARED else {}
    values = [*arrays, *masks.values()]
    free = [*(1 + timed for timed in case.timed), *[2] * len(masks)]
    specs = [
        tf.TensorSpec((*[None] * count, *value.shape[count:]), value.dtype)
        for count, value in zip(free, values, strict=True)
    ]

    def run(*values):
        named = dict(zip(masks, values[len(arrays) :], strict=True))
        return layer(*values[: len(arrays)], **named)

    graph = tf.function(run, specs, autograph=False)
    graph(*values)
    for n, value in enumerate(values):
        with pytest.raises(tf.errors.InvalidArgumentError):
            graph(*values[:n], value[:1], *values[n + 1 :])
