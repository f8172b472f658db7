"""The contract of all layers, over one list of cases."""

import functools
import inspect
import json
from collections import namedtuple

import keras
import numpy as np
import pytest

from keras_corefmem.layers import AttentionEncoder, SupervisedMultiHeadAttention, WordMemory
from tests.support.conformance_cases import CASES, KEPT, LOOPS, RECURRENT
from tests.support.evaluation import (
    JIT,
    alike,
    compiled,
    evaluate,
    randomize,
    stateless,
    value_and_gradients,
    with_gradients,
)
from tests.support.tiers import standing_for

BATCH, TIME, EXTRA = 3, 5, 3
Reference = namedtuple("Reference", "layer run output model")
all_layers = pytest.mark.parametrize("case", standing_for(CASES, KEPT), ids=str)
recurrent_layers = pytest.mark.parametrize("case", standing_for(RECURRENT, KEPT), ids=str)


def main(outputs):
    """The output that counts: the first of several."""
    return outputs[0] if isinstance(outputs, tuple | list) else outputs


def arrays_of(case, seed=0, time=TIME):
    return case.arrays(np.random.default_rng(seed), BATCH, time)


def make_layer(case, **options):
    """A built layer; one with a single direction has the first weights of one with two."""
    layer = case.make(**options)
    layer.build(*(array.shape for array in arrays_of(case)))
    randomize(layer, np.random.default_rng(7))
    return layer


def make_both_ways(case):
    """A built layer that reads in both directions if it has two."""
    return make_layer(case, **({"bidirectional": True} if case.recurrent else {}))


def make_model(case, layer, head=None):
    """A functional model with free batch and time that masks all-zero tokens."""
    inputs = [
        keras.Input((None, *array.shape[2:]) if timed else array.shape[1:], dtype=array.dtype.name)
        for array, timed in zip(arrays_of(case), case.timed, strict=True)
    ]
    tensors = list(inputs)
    if case.masked is not None:
        tensors[case.masked] = keras.layers.Masking()(tensors[case.masked])
    outputs = main(layer(*tensors))
    return keras.Model(inputs, outputs if head is None else head(outputs))


@functools.cache
def reference(case):
    """A layer, in both directions if it has two, compiled, and its output."""
    layer = make_both_ways(case)
    run = compiled(lambda *arrays: main(layer(*arrays)))
    return Reference(layer, run, run(*arrays_of(case)), make_model(case, layer))


def lengthened(case):
    """The inputs with masked tokens at the end of the axes that the mask covers, and the mask.

    Integers at masked tokens are 0, floats are anything.
    """
    arrays = arrays_of(case)
    others = arrays_of(case, seed=1, time=TIME + EXTRA)
    for n, timed in enumerate(case.timed):
        if timed and n not in case.apart:
            array, other = arrays[n], others[n]
            other[:, array.shape[1] :] *= other.dtype.kind == "f"
            other[:, : array.shape[1]] = array
            arrays[n] = other
    mask = np.ones(arrays[case.masked or 0].shape[:2], bool)
    mask[:, -EXTRA:] = False
    return arrays, mask


@all_layers
def test_eager_equals_compiled_and_has_the_inferred_shape(case):
    expected, arrays = reference(case).output, arrays_of(case)
    layer = make_layer(case)
    output = keras.ops.convert_to_numpy(main(layer(*arrays)))
    symbols = [keras.KerasTensor(array.shape, array.dtype.name) for array in arrays]
    assert output.shape == main(layer(*symbols)).shape
    assert np.all(np.isfinite(output))
    # The second half is the other direction's.
    np.testing.assert_allclose(output, expected[..., : output.shape[-1]], atol=1e-6)


@pytest.mark.parametrize("case", standing_for(CASES, LOOPS), ids=str)
def test_training_with_jit_compile_lowers_the_loss(case):
    keras.utils.set_random_seed(0)
    layer = make_both_ways(case)
    model = make_model(case, layer, lambda outputs: keras.layers.Dense(1)(keras.ops.tanh(outputs)))
    model.compile(keras.optimizers.SGD(0.02), "mse", jit_compile=True)
    target = np.ones((*reference(case).output.shape[:-1], 1), "float32")
    arrays = arrays_of(case)
    losses = model.fit(arrays, target, batch_size=BATCH, epochs=4, verbose=0).history["loss"]
    assert np.all(np.isfinite(losses)) and losses[-1] < losses[0]


@all_layers
def test_a_saved_model_predicts_the_same(case, tmp_path):
    model, arrays = reference(case).model, arrays_of(case)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    loaded.compile(jit_compile=JIT)
    for weight, expected in zip(loaded.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, expected)
    np.testing.assert_allclose(loaded.predict_on_batch(arrays), reference(case).output, atol=1e-6)


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


def parameters_of(case):
    return inspect.signature(case.make().call).parameters


# Arguments that are masks, and the number of the input that each is for, `None` for all.
MASKS = {"mask": None, "context_mask": 0, "question_mask": 1, "query_mask": 1}
CLEARED = {
    case: {name: MASKS[name] for name in MASKS if name in parameters_of(case)} for case in CASES
}
CLEARED = {case: names for case, names in CLEARED.items() if names}
ALIKE = {"coref_gru", "mage_gru_mixed", "word_memory"}


def masks_of(case, lengths=(2, 4, 3)):
    """Masks of the case, by argument and by input, of texts of these lengths."""
    arrays, by_name, by_input = arrays_of(case), {}, {}
    for name, number in CLEARED[case].items():
        timed = [n for n, timed in enumerate(case.timed) if timed and n not in case.apart]
        for n in timed if number is None else [number]:
            # Characters have masks of their own.
            shape = arrays[n].shape[: 3 if case.inputs == "characters" else 2]
            read = np.arange(shape[1]) < np.array(lengths)[:, None]
            mask = np.broadcast_to(read.reshape(*read.shape, *[1] * (len(shape) - 2)), shape)
            by_input[n] = by_name[name] = mask
    return by_name, by_input


@pytest.mark.parametrize(
    "case",
    standing_for(CLEARED, [c for c in KEPT if c.name not in ALIKE]),
    ids=str,
)
def test_neither_masked_numbers_nor_those_of_other_rows_matter(case):
    layer = make_layer(case, **({"bidirectional": True} if case.recurrent else {}))
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
EXPORTED = [case for case in CASES if case.name in ("coref_gru", "entity_memory_asked")]


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


@pytest.mark.skipif(not JIT, reason="JAX exports it")
@pytest.mark.parametrize("case", EXPORTED, ids=str)
def test_jax_exports_lengths_that_vary(case):
    jax = pytest.importorskip("jax")
    layer, arrays = make_both_ways(case), arrays_of(case)
    constraints = ["batch*time >= batch"]
    lengths = jax.export.symbolic_shape("batch, time", constraints=constraints)
    specs = [
        jax.ShapeDtypeStruct((*lengths[: 1 + timed], *array.shape[1 + timed :]), array.dtype)
        for array, timed in zip(arrays, case.timed, strict=True)
    ]
    exported = jax.export.export(jax.jit(lambda *arrays: main(layer(*arrays))))(*specs)
    np.testing.assert_allclose(exported.call(*arrays), reference(case).output, atol=1e-6)


@recurrent_layers
def test_directions_are_independent(case):
    layer, run, expected, _ = reference(case)
    units, arrays = layer.output_units // 2, arrays_of(case)
    arrays[0][:, -1] += 1
    changed = np.any(np.abs(run(*arrays) - expected) > 1e-6, axis=0)
    assert not np.any(changed[:-1, :units]) and np.any(changed[-1, :units])
    assert np.all(np.any(changed[:, units:], axis=-1))


@pytest.mark.parametrize(
    "case", standing_for(RECURRENT, [c for c in KEPT if c.name == "mage_gru_mixed"]), ids=str
)
def test_the_last_state_of_each_direction(case):
    layer, _, expected, _ = reference(case)
    last = make_layer(case, bidirectional=True, return_sequences=False)
    arrays, mask = lengthened(case)
    units = layer.output_units // 2
    ends = np.concatenate([expected[:, -1, :units], expected[:, 0, units:]], axis=-1)
    output = evaluate(last, *arrays, mask=mask)
    assert output.shape == last.compute_output_shape(*(array.shape for array in arrays))
    np.testing.assert_allclose(output, ends, atol=1e-6)


@all_layers
def test_no_two_weights_start_alike(case):
    layer = case.make()
    layer.build(*(array.shape for array in arrays_of(case)))
    assert not alike(layer.trainable_variables)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_config_round_trip(case):
    options = {"bidirectional": True, "return_sequences": False} if case.recurrent else {}
    layer = case.make(**options, name="layer", dtype="mixed_bfloat16")
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(layer)))
    copy = keras.saving.deserialize_keras_object(config)
    assert type(copy) is type(layer)
    assert copy.get_config() == layer.get_config()
    arguments = getattr(case.make, "keywords", {}) | options
    config = layer.get_config()
    objects = {name for name, value in config.items() if isinstance(value, dict)}
    assert {k: v for k, v in arguments.items() if k not in objects}.items() <= config.items()
    assert set(inspect.getfullargspec(type(layer).__init__).args[1:]) <= set(config)


HEADS = {"loss_weight": 1.0, "row_weight": "mean", "dropout": 0.1, "return_supervised": True}
OPTIONS = [
    (SupervisedMultiHeadAttention, (3, 2, ((2, "a"),), (1,)), {"use_bias": False, **HEADS}),
    (AttentionEncoder, (2, 2, 4), {"signals": ((2, 0, "a"),), "windows": ((1, 0),), **HEADS}),
    (
        WordMemory,
        (3, 2),
        {"attention": "softmax", "compact": True, "update": "relu", "dropout": 0.1},
    ),
]


@pytest.mark.parametrize(("kind", "arguments", "options"), OPTIONS)
def test_the_configuration_holds_all_arguments(kind, arguments, options):
    config = kind(*arguments, **options).get_config()
    assert kind.from_config(config).get_config() == config
    names = inspect.getfullargspec(kind).args[1:]
    assert dict(zip(names, arguments, strict=False)).items() <= config.items()
    assert options.items() <= config.items()


# Half the range is for what loops and masks.
HALF = [case for case in CASES if case.recurrent or case in CLEARED]
PRECISIONS = [(case, "bfloat16", 0.1) for case in CASES]
PRECISIONS += [(case, "float16", 0.01) for case in HALF]


@pytest.mark.parametrize(
    ("case", "policy", "tolerance"),
    [
        pytest.param(case, policy, *rest, marks=() if kept else pytest.mark.thorough)
        for case, policy, *rest in PRECISIONS
        for kept in [case in KEPT and (policy == "float16" or case not in HALF)]
    ],
    ids=str,
)
def test_mixed_precision_stays_close(case, policy, tolerance):
    layer, arrays = make_layer(case, dtype=f"mixed_{policy}"), arrays_of(case)
    floats = [n for n, array in enumerate(arrays) if array.dtype.kind == "f"]

    def function(*values):
        inputs = dict(zip(floats, values, strict=True))
        return main(layer(*(inputs.get(n, array) for n, array in enumerate(arrays))))

    if floats:
        output, gradients = value_and_gradients(function, [arrays[n] for n in floats])
    else:
        output, gradients = compiled(function)(), []
    assert output.dtype.name == (case.output_dtype or policy)
    expected = reference(case).output[..., : output.shape[-1]]
    error = np.abs(output.astype("float32") - expected)
    assert np.max(error) < tolerance * np.max(np.abs(expected))
    for gradient in gradients:
        assert np.all(np.isfinite(gradient)) and np.any(gradient != 0)
