"""Supervised self-attention against its equations and against Keras' own."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.layers import AttentionEncoder, SupervisedMultiHeadAttention, attention_mass
from tests.support.conformance import supervised
from tests.support.conformance.evaluation import (
    assert_agree,
    assert_gradients,
    compiled,
    random_weights,
    randomize,
    stateless,
    value_and_gradients,
)
from tests.support.conformance.graphs import WIDTH, random_features, random_mask
from tests.support.conformance.supervised import BATCH, HEADS, KEY_DIM, MASK, SENTENCES, TIME
from tests.support.tiers import standing_for


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def new_layer(rng, **options):
    layer = supervised.make_layer(**options)
    randomize(layer, rng)
    return layer


def losses_of(layer, *args, **kwargs):
    """Outputs, sum of the losses and what is measured of a layer that is compiled."""

    def function(*tensors):
        outputs, _, losses = layer.stateless_call(
            layer.trainable_variables,
            layer.non_trainable_variables,
            *tensors,
            return_losses=True,
            **kwargs,
        )
        return outputs, sum(losses), layer.measured

    return compiled(function)(*args)


@pytest.mark.parametrize("row_weight", ["count", "mean"])
def test_output_loss_and_gradients_follow_the_equations(row_weight):
    result = supervised.run(row_weight, xla=row_weight == "mean")
    arrays = [array.astype("float64") for array in result.arrays]
    outputs, _, found = supervised.oracle(*arrays, row_weight=row_weight)
    np.testing.assert_allclose(result.output, outputs, atol=1e-5)
    # The mean over texts that are more than padding.
    weight = 0.3 / MASK.any(axis=1).sum()
    assert result.loss == pytest.approx(weight * found[..., 0].sum(), rel=1e-5)

    def total(*arrays):
        outputs, _, found = supervised.oracle(*arrays, row_weight=row_weight)
        return np.sum(outputs * result.upstream) + weight * found[..., 0].sum()

    assert_gradients(total, arrays, result.gradients)
    assert not np.any(result.output[~MASK]) and not np.any(result.gradients[0][~MASK])


def test_attention_and_attention_mass_are_those_of_the_equations(rng):
    layer = new_layer(rng, return_supervised=True)
    x, targets = random_features(rng, BATCH, TIME), supervised.make_targets()
    (_, attention), _, measured = losses_of(
        layer, x, targets=targets, sentences=SENTENCES, mask=MASK
    )
    weights = [ops.convert_to_numpy(w).astype("float64") for w in layer.trainable_variables]
    _, expected, found = supervised.oracle(x.astype("float64"), *weights)
    assert attention.dtype == "float32"
    np.testing.assert_allclose(attention, expected, atol=1e-6)
    np.testing.assert_allclose(measured[:, [0, 2, 3]], found.sum(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(measured[:, 1], MASK.any(axis=1).sum())
    rate, rows = attention_mass(attention[:, 1], targets[1], MASK)
    np.testing.assert_array_equal(rows, found[1, :, 2])
    np.testing.assert_allclose(rate, found[1, :, 1] / np.maximum(found[1, :, 2], 1), rtol=1e-5)


@pytest.mark.parametrize(
    ("signals", "masked"), [((), True), (((1, "head"),), False)], ids=["fused", "partly"]
)
def test_weights_outputs_and_gradients_are_those_of_keras(rng, signals, masked):
    ours = SupervisedMultiHeadAttention(HEADS, KEY_DIM, signals)
    theirs = keras.layers.MultiHeadAttention(HEADS, KEY_DIM)
    ours.build((None, None, WIDTH))
    theirs.build((None, None, WIDTH), (None, None, WIDTH))
    theirs.set_weights(random_weights(theirs, rng))
    ours.set_weights(theirs.get_weights())
    theirs.set_weights(ours.get_weights())
    pairs = zip(
        (ours.query, ours.key, ours.value, ours.output_projection),
        (theirs.query_dense, theirs.key_dense, theirs.value_dense, theirs.output_dense),
        strict=True,
    )
    for own, other in pairs:
        assert type(own.kernel_initializer) is type(other.kernel_initializer)
        assert own.kernel.shape == other.kernel.shape
    x = random_features(rng, BATCH, TIME)
    mask = random_mask(BATCH, TIME) if masked else np.ones((BATCH, TIME), bool)
    arrays, upstream = [x, *theirs.get_weights()], rng.normal(size=x.shape) * mask[..., None]

    def run(layer, count, **kwargs):
        return lambda x, *weights: stateless(layer, weights, *[x] * count, **kwargs)

    assert_agree(
        run(ours, 1, mask=mask if masked else None),
        run(theirs, 2, attention_mask=mask[:, None] if masked else None),
        arrays,
        upstream.astype("float32"),
    )


def test_neither_padding_nor_compiling_changes_anything(rng):
    layer, x = new_layer(rng), random_features(rng, BATCH, TIME)
    given = {"targets": supervised.make_targets(), "sentences": SENTENCES, "mask": MASK}
    # Pairs that lie outside of 5 tokens must not reach the padding either.
    given["targets"][1][0, 4:] = 0
    output, loss, measured = losses_of(layer, x, **given)
    eager = layer(x, **given)
    np.testing.assert_allclose(ops.convert_to_numpy(eager), output, atol=1e-6)
    np.testing.assert_allclose(ops.convert_to_numpy(layer.losses[0]), loss, rtol=1e-6)
    wider = {
        "targets": [np.pad(pairs, ((0, 2), (2, 3), (0, 0))) for pairs in given["targets"]],
        "sentences": np.pad(SENTENCES, ((0, 2), (0, 3))),
        "mask": np.pad(MASK, ((0, 2), (0, 3))),
    }
    longer = 9 * random_features(rng, BATCH + 2, TIME + 3)
    longer[:BATCH, :TIME] = x
    found, wide_loss, wide_measured = losses_of(layer, longer, **wider)
    np.testing.assert_allclose(found[:BATCH, :TIME], output, atol=1e-6)
    assert not np.any(found[:, TIME:]) and not np.any(found[BATCH:])
    np.testing.assert_allclose(wide_loss, loss, rtol=1e-5)
    np.testing.assert_allclose(wide_measured, measured, rtol=1e-5)


@pytest.mark.parametrize("time", [1, 4])
def test_loss_and_gradients_stay_finite(rng, time):
    """One token, which can only attend to itself; and targets that get next to no attention."""
    layer = new_layer(rng, signals=((0, "a"),), windows=())
    x = 100 * random_features(rng, 2, time)
    pairs = np.array([[[1, t + 1] for t in range(time)[:1]], [[0, 0]]], "int32")

    def loss(x, *weights):
        result = layer.stateless_call(list(weights), [], x, [pairs], return_losses=True)
        return result[2][0]

    value, gradients = value_and_gradients(loss, [x, *map(np.array, layer.get_weights())])
    assert np.isfinite(value) and all(np.all(np.isfinite(g)) for g in gradients)
    assert (value == 0) == (time == 1)


def test_the_loss_sees_attention_before_dropout_in_float32(rng):
    given = {"targets": supervised.make_targets(), "sentences": SENTENCES, "mask": MASK}
    layer, x = new_layer(rng, dropout=0.5), random_features(rng, BATCH, TIME)
    output, loss, _ = losses_of(layer, x, **given)
    dropped, same, _ = losses_of(layer, x, **given, training=True)
    assert loss > 0 and same == pytest.approx(loss, rel=1e-6)
    assert np.max(np.abs(dropped - output)) > 0.01
    low = new_layer(np.random.default_rng(0), dtype="mixed_float16")
    output, lower, measured = losses_of(low, x, **given)
    assert output.dtype == "float16" and lower.dtype == measured.dtype == "float32"
    assert lower == pytest.approx(loss, rel=0.01)


def test_float64_stays_float64(rng, doubles):
    layer, x = new_layer(rng, return_supervised=True), random_features(rng, BATCH, TIME)
    x, targets = x.astype("float64"), supervised.make_targets()
    given = {"targets": targets, "sentences": SENTENCES, "mask": MASK}
    (output, attention), loss, measured = losses_of(layer, x, **given)
    weights = [ops.convert_to_numpy(weight) for weight in layer.trainable_variables]
    outputs, shown, found = supervised.oracle(x, *weights)
    np.testing.assert_allclose(output, outputs, atol=1e-12)
    np.testing.assert_allclose(attention, shown, atol=1e-12)
    expected = 0.3 / MASK.any(axis=1).sum() * found[..., 0].sum()
    assert loss == pytest.approx(expected, rel=1e-12) and measured.dtype == "float32"
    symbols = layer(keras.KerasTensor(x.shape, "float64"), targets, SENTENCES)
    assert [symbol.dtype for symbol in symbols] == ["float64", "float64"]


def test_fused_attention_has_a_mask_for_every_query(rng, monkeypatch):
    attend, shapes = ops.dot_product_attention, []

    def note(*args, mask, **options):
        shapes.append(tuple(mask.shape))
        return attend(*args, mask=mask, **options)

    monkeypatch.setattr(ops, "dot_product_attention", note)
    new_layer(rng)(random_features(rng, BATCH, TIME), sentences=SENTENCES, mask=MASK)
    # Kernels of cuDNN take no other.
    assert shapes == [(BATCH, 1, TIME, TIME)]


def test_without_targets_or_weight_there_is_no_loss(rng):
    x, targets = random_features(rng, BATCH, TIME), supervised.make_targets()
    _, loss, measured = losses_of(
        new_layer(rng, loss_weight=0), x, targets=targets, sentences=SENTENCES
    )
    assert loss == 0 and np.all(measured[:, 0] > 0)
    layer = new_layer(rng)
    _, loss, _ = losses_of(layer, x, sentences=SENTENCES)
    assert loss == 0 and layer.measured is None


def test_bad_calls_are_refused():
    layer, x = supervised.make_layer(), np.zeros((1, 2, WIDTH), "float32")
    symbol = keras.KerasTensor(x.shape)
    for inputs in (x, symbol):
        with pytest.raises(ValueError, match="windows need sentences"):
            layer(inputs)
        pairs, sentences = np.zeros((1, 1, 2), "int32"), np.ones((1, 2), "int32")
        with pytest.raises(ValueError, match="Got 1 targets for 2 signals"):
            layer(inputs, [pairs], sentences)
        with pytest.raises(ValueError, match="Got one array of targets for 2 signals"):
            layer(inputs, np.zeros((2, 1, 2), "int32"), sentences)
        with pytest.raises(ValueError, match=r"must be pairs, \(batch, n, 2\); got \(1, 2\)"):
            layer(inputs, [pairs, pairs[0]], sentences)


def test_targets_that_are_no_integers_do_not_count(rng):
    layer, x = SupervisedMultiHeadAttention(2, 4, [(0, "a")]), random_features(rng, 1, TIME)
    for wrong in (2.7, np.nan, np.inf, -1, 3e9):
        layer(x, [np.array([[[wrong, 1], [1, wrong]]], "float32")])
        assert ops.convert_to_numpy(layer.measured).tolist() == [[0, 1, 0, 0]]
    layer(x, [np.array([[[2, 1]]], "float32")])
    assert layer.measured[0, 3] == 1


@pytest.mark.parametrize(
    "make",
    standing_for([SupervisedMultiHeadAttention, AttentionEncoder], [SupervisedMultiHeadAttention]),
)
def test_time_distributed_reads_many_texts(rng, make):
    options = (
        {"layers": 1, "units": 4, "inner_units": 3} if make is AttentionEncoder else {"key_dim": 2}
    )
    layer = make(num_heads=2, **options)
    x = rng.normal(size=(2, 3, TIME, 4)).astype("float32")
    expected = np.stack([layer(text) for text in x])
    inputs = keras.Input((3, TIME, 4))
    model = keras.Model(inputs, keras.layers.TimeDistributed(layer)(inputs))
    np.testing.assert_allclose(model(x), expected, atol=1e-5)
