"""What masked tokens, empty texts and empty batches change in layers: nothing."""

import keras
import numpy as np
import pytest

from tests.support.conformance.cases import CASES, KEPT
from tests.support.conformance.evaluation import JIT, stateless, with_gradients
from tests.support.conformance.layers import (
    BATCH,
    CLEARED,
    TIME,
    arrays_of,
    lengthened,
    main,
    make_both_ways,
    make_layer,
    masks_of,
    reference,
)
from tests.support.tiers import standing_for

all_layers = pytest.mark.parametrize("case", standing_for(CASES, KEPT), ids=str)


@all_layers
def test_masked_tokens_change_nothing_for_any_batch_and_time(case):
    expected, model = reference(case).output, reference(case).model
    arrays, mask = lengthened(case)
    if case.masked is not None:
        arrays[case.masked][~mask] = 0
    output = model.predict_on_batch([array[1:] for array in arrays])
    if output.ndim > 2:
        output = output[:, :TIME]
    np.testing.assert_allclose(output, expected[1:], atol=1e-6)


ALIKE = {"coref_gru", "mage_gru_mixed", "word_memory"}


@pytest.mark.parametrize(
    "case",
    standing_for(CLEARED, [c for c in KEPT if c.name not in ALIKE]),
    ids=str,
)
def test_neither_masked_numbers_nor_those_of_other_rows_matter(case):
    layer = make_both_ways(case)
    clean, (masks, by_input) = arrays_of(case), masks_of(case)
    floats = [n for n, array in enumerate(clean) if array.dtype.kind == "f"]
    dirty = [array.copy() for array in clean]
    for n, mask in by_input.items():
        if n in floats:
            for b, junk in enumerate((np.nan, np.inf, 1e38)):
                dirty[n][b, ~mask[b]] = junk
        else:
            clean[n][~mask] = dirty[n][~mask] = 0
    first = by_input.get(0, np.ones((BATCH, TIME), bool))
    first = first.reshape(BATCH, TIME, -1).any(axis=-1)

    def function(*values):
        inputs, weights = dict(zip(floats, values, strict=False)), values[len(floats) :]
        inputs = [inputs.get(n, array) for n, array in enumerate(clean)]
        output = main(stateless(layer, weights, *inputs, **masks))
        counted = first if output.shape[1] == TIME else np.ones((BATCH, 1), bool)
        counted = counted.reshape(*counted.shape, *[1] * (len(output.shape) - 2))
        return keras.ops.where(counted, output, 0)

    run = with_gradients(function)
    weights = [keras.ops.convert_to_numpy(weight) for weight in layer.trainable_variables]
    expected, others = run(*(clean[n] for n in floats), *weights)
    output, gradients = run(*(dirty[n] for n in floats), *weights)
    np.testing.assert_array_equal(output, expected)
    for gradient, other in zip(gradients, others, strict=True):
        np.testing.assert_array_equal(gradient, other)
    dirty[0][0] = np.nan
    output, gradients = run(*(dirty[n] for n in floats), *weights)
    np.testing.assert_array_equal(output[1:], expected[1:])
    np.testing.assert_array_equal(gradients[0][1:], others[0][1:])


@pytest.mark.parametrize("case", CLEARED, ids=str)
def test_masks_are_lists_and_numbers_too_and_fit(case):
    layer, arrays, (masks, _) = make_layer(case), arrays_of(case), masks_of(case)
    expected = main(layer(*arrays, **masks))
    for name, mask in masks.items():
        for other in (mask.tolist(), mask.astype(int), mask.astype("float32")):
            output = main(layer(*arrays, **{**masks, name: other}))
            np.testing.assert_array_equal(output, expected)
        ragged = [*mask[:-1].tolist(), mask[-1][:-1].tolist()]
        for wrong, message in ((mask[:1], "\\(batch"), (ragged, "one array"), ("a", "bool, got")):
            with pytest.raises(ValueError, match=f"{name} must be {message}"):
                layer(*arrays, **{**masks, name: wrong})


def run_with_gradients(case, layer, xla):
    """Outputs, and gradients of their sum by float inputs and weights, of texts of any length."""
    floats = [n for n, array in enumerate(arrays_of(case)) if array.dtype.kind == "f"]
    weights = layer.trainable_variables

    def function(arrays, values):
        values = dict(zip(floats, values, strict=False))
        return keras.tree.flatten(layer(*(values.get(n, array) for n, array in enumerate(arrays))))

    def total(outputs):
        return sum(keras.ops.sum(keras.ops.cast(output, "float32")) for output in outputs)

    if keras.backend.backend() == "jax":
        import jax

        def run(*arrays):
            values = [arrays[n] for n in floats]
            slopes = jax.grad(lambda *v: total(function(arrays, v)), tuple(range(len(values))))
            return function(arrays, values), slopes(*values) if floats else []

        return jax.jit(run)
    import tensorflow as tf

    def run(*arrays):
        with tf.GradientTape() as tape:
            values = [arrays[n] for n in floats]
            tape.watch(values)
            outputs = function(arrays, values)
            summed = total(outputs)
        return outputs, tape.gradient(summed, values + weights, unconnected_gradients="zero")

    specs = [
        tf.TensorSpec((None, None, *a.shape[2:]) if timed else (None, *a.shape[1:]), a.dtype)
        for a, timed in zip(arrays_of(case), case.timed, strict=True)
    ]
    return tf.function(run, specs, autograph=False, jit_compile=xla)


EMPTIED = {"coref_gru", "coref_gru_alone", "attention_sum", "candidate_answers", "character_cnn"}
EMPTIED |= {"query_reduction", "supervised_attention"}
EMPTIED = [case for case in CASES if case.name in EMPTIED]


@pytest.mark.parametrize("case", standing_for(CASES, EMPTIED), ids=str)
def test_batches_may_be_empty(case):
    layer, arrays = make_layer(case), arrays_of(case)
    outputs = keras.tree.flatten(layer(*(array[:0] for array in arrays)))
    for output, other in zip(outputs, keras.tree.flatten(layer(*arrays)), strict=True):
        assert output.shape == (0, *other.shape[1:])


@pytest.mark.parametrize("case", standing_for(CASES, EMPTIED), ids=str)
def test_texts_without_tokens_are_read_as_masked_ones(case):
    layer, arrays = make_both_ways(case), arrays_of(case)
    empty = [
        array[:, :0] if timed else array for array, timed in zip(arrays, case.timed, strict=True)
    ]
    expected = keras.tree.flatten(layer(*empty))
    for xla in (False, True)[JIT:]:
        outputs, gradients = run_with_gradients(case, layer, xla)(*empty)
        for output, other in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(output, other, atol=1e-6)
        for gradient in (*expected, *gradients):
            assert np.all(np.isfinite(keras.ops.convert_to_numpy(gradient)))
    if "mask" in CLEARED.get(case, {}):
        masked = layer(*arrays, **masks_of(case, (0, 0, 0))[0])
        for output, other in zip(expected, keras.tree.flatten(masked), strict=True):
            if 0 not in output.shape and "ending" not in case.name:
                np.testing.assert_allclose(output, other, atol=1e-6)
