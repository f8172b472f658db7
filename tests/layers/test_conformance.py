"""The contract of all layers, over one list of cases."""

import inspect
import json

import keras
import numpy as np
import pytest

from keras_corefmem import layers
from keras_corefmem.layers import AttentionEncoder, SupervisedMultiHeadAttention, WordMemory
from tests.support.conformance.cases import CASES, KEPT, LOOPS, RECURRENT
from tests.support.conformance.evaluation import (
    JIT,
    alike,
    assert_gradients,
    compiled,
    evaluate,
    stateless,
    value_and_gradients,
)
from tests.support.conformance.layers import (
    BATCH,
    CLEARED,
    arrays_of,
    lengthened,
    main,
    make_both_ways,
    make_layer,
    make_model,
    reference,
)
from tests.support.tiers import standing_for

all_layers = pytest.mark.parametrize("case", standing_for(CASES, KEPT), ids=str)
recurrent_layers = pytest.mark.parametrize("case", standing_for(RECURRENT, KEPT), ids=str)


# Layers without a case, which have tests of their own.
OWN = {"ContextualVectors", "HashDropout", "RestoreSentences", "RetrieveSentences", "SentenceEnds"}
OWN |= {"SpelledWords", "SplitSequences", "WordPieces"}


def test_every_layer_is_here_but_cells():
    exported = {getattr(layers, name) for name in layers.__all__}
    kinds = {kind for kind in exported if inspect.isclass(kind) and issubclass(kind, keras.Layer)}
    others = {kind.__name__ for kind in kinds - {type(case.make()) for case in CASES}}
    assert {name for name in others if not name.endswith("Cell")} == OWN


@all_layers
def test_eager_equals_compiled_and_has_the_inferred_shape(case):
    expected, arrays = reference(case).output, arrays_of(case)
    layer = make_layer(case)
    output = keras.ops.convert_to_numpy(main(layer(*arrays)))
    symbols = [keras.KerasTensor(array.shape, array.dtype.name) for array in arrays]
    assert output.shape == main(layer(*symbols)).shape
    assert np.all(np.isfinite(output))
    found = layer.compute_output_shape(*(array.shape for array in arrays))
    shapes = [tuple(each.shape) for each in keras.tree.flatten(layer(*arrays))]
    assert (found if isinstance(found[0], tuple) else (found,)) == tuple(shapes)
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


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_frozen_layer_is_frozen_in_a_copy(case):
    layer, inputs = case.make(), [keras.Input(a.shape[1:], dtype=a.dtype) for a in arrays_of(case)]
    layer(*inputs)
    layer.trainable = False
    copy = type(layer).from_config(layer.get_config())
    assert not keras.Model(inputs, copy(*inputs)).trainable_weights


INTEGERS = {"layer_mix", "multiplicative_mask", "position_encoding", "sinusoidal_positions"}


@pytest.mark.parametrize("case", [case for case in CASES if case.name in INTEGERS], ids=str)
def test_integers_are_read_as_floats(case):
    layer, whole = make_layer(case), [np.round(3 * array) for array in arrays_of(case)]
    found = layer(*(array.astype("int32") for array in whole))
    np.testing.assert_array_equal(found, layer(*whole))


EXPORTED = [case for case in CASES if case.name in ("coref_gru", "entity_memory_asked")]


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


# Logits are float32.
EXACT = [case for case in CASES if case.output_dtype is None]


@pytest.mark.skipif(JIT, reason="JAX has no float64 by default")
@pytest.mark.parametrize("case", standing_for(EXACT, LOOPS), ids=str)
def test_gradients_in_float64_are_those_of_the_output(case):
    layer, arrays = make_both_ways(case, dtype="float64"), arrays_of(case)
    floats = [n for n, array in enumerate(arrays) if array.dtype.kind == "f"]
    values = [arrays[n] for n in floats] + [each.numpy() for each in layer.trainable_variables]
    values = [value.astype("float64") for value in values]

    def function(*values):
        inputs = dict(zip(floats, values, strict=False))
        inputs = [inputs.get(n, array) for n, array in enumerate(arrays)]
        return main(stateless(layer, values[len(floats) :], *inputs))

    output = compiled(function)(*values)
    upstream = np.random.default_rng(2).normal(size=output.shape)
    _, gradients = value_and_gradients(function, values, upstream)
    assert output.dtype == "float64" and {each.dtype.name for each in gradients} <= {"float64"}
    np.testing.assert_allclose(output, reference(case).output, atol=1e-5)
    total = compiled(lambda *values: keras.ops.sum(function(*values) * upstream))
    assert_gradients(total, values, gradients, step=1e-5, tolerance=1e-8)


# One returns its inputs, the other what Keras normalizes in float32 on JAX.
WIDE = [case for case in EXACT if str(case) not in ("scaled_gradient", "attention_encoder")]


@pytest.mark.skipif(not JIT, reason="only on JAX, functions of Keras may lose precision")
@pytest.mark.parametrize("case", standing_for(WIDE, LOOPS), ids=str)
def test_float64_is_not_narrowed_on_jax(case):
    import jax

    with jax.enable_x64(True):
        output = keras.ops.convert_to_numpy(
            main(make_both_ways(case, dtype="float64")(*arrays_of(case)))
        )
    assert output.dtype == "float64" and np.any(output != output.astype("float32"))
