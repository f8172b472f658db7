"""Dropout by hashing: what is dropped is as random as Keras' own."""

import keras
import numpy as np
import pytest

from keras_corefmem.layers import HashDropout
from tests.support.conformance.evaluation import compiled

ONES = np.ones((50, 40, 30), "float32")


def masks(layer, x=ONES, calls=1):
    run = compiled(lambda x: [layer(x, training=True) for _ in range(calls)], xla=True)
    return run(x)


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_a_fraction_is_dropped_and_the_rest_is_scaled(rate):
    (kept,) = masks(HashDropout(rate, seed=1))
    np.testing.assert_allclose(np.unique(kept), [0, 1 / (1 - rate)], rtol=1e-6)
    dropped = kept == 0
    deviation = np.sqrt(rate * (1 - rate))
    assert abs(dropped.mean() - rate) < 4 * deviation / np.sqrt(kept.size)
    for axis, size in enumerate(kept.shape):
        others = tuple({0, 1, 2} - {axis})
        bound = 5 * deviation / np.sqrt(kept.size / size)
        assert np.all(np.abs(dropped.mean(axis=others) - rate) < bound)


def test_elements_and_calls_are_independent():
    first, second = (mask > 0 for mask in masks(HashDropout(0.5, seed=2), calls=2))
    flat, bound = first.ravel(), 4 / np.sqrt(first.size)
    pairs = [(flat, second.ravel())]
    pairs += [(flat[lag:], flat[:-lag]) for lag in (1, 2, 7, 30, 1200, 4096)]
    pairs += [(second.ravel()[lag:], flat[:-lag]) for lag in (1, 2, 30)]
    for one, other in pairs:
        assert abs(np.corrcoef(one, other)[0, 1]) < bound


def test_the_seed_decides():
    outputs = [masks(HashDropout(0.5, seed=seed))[0] for seed in (3, 3, 4)]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert np.mean(outputs[0] == outputs[2]) == pytest.approx(0.5, abs=0.02)


def test_axes_may_share_what_is_dropped():
    (kept,) = masks(HashDropout(0.5, noise_shape=(None, 1, None), seed=5))
    np.testing.assert_array_equal(kept, kept[:, :1] + 0 * kept)
    assert 0.4 < (kept[:, 0] == 0).mean() < 0.6


def test_nothing_is_dropped_in_prediction_and_all_of_it_at_rate_1():
    layer = HashDropout(0.5)
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(layer(ONES)), ONES)
    for rate in (1.0, 1 - 1e-12):
        assert not masks(HashDropout(rate))[0].any()
    np.testing.assert_array_equal(masks(HashDropout(0.0))[0], ONES)


def test_a_model_of_any_batch_trains_with_it():
    x = keras.Input((None, 30))
    model = keras.Model(x, keras.layers.Dense(1)(HashDropout(0.3, seed=0)(x)))
    model.compile("sgd", "mse", jit_compile=True)
    targets = np.ones((50, 40, 1), "float32")
    losses = model.fit(ONES, targets, batch_size=20, epochs=3, verbose=0).history["loss"]
    assert np.all(np.isfinite(losses)) and losses[-1] < losses[0]
