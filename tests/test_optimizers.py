import h5py
import keras
import numpy as np
import pytest

from keras_corefmem import optimizers
from tests.support.conformance.evaluation import QUICK
from tests.support.tiers import standing_for

TOKENS = np.random.default_rng(0).integers(0, 9, (32, 5)).astype("int32")
LABELS = TOKENS[:, 0] % 3
SCHEDULE = keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.5, staircase=True)
KINDS = ("Adam", "RMSprop", "SGD", "Adagrad")
CHANGES = (
    {"global_clipnorm": 0.05},
    {"clipnorm": 0.02, "use_ema": True, "ema_momentum": 0.9},
    {"gradient_accumulation_steps": 2},
)


def make(optimizer, jit_compile=True, run_eagerly=False, by_row=False):
    keras.utils.set_random_seed(0)
    tokens = keras.Input((5,), dtype="int32")
    if by_row:
        embedded = keras.layers.Embedding(9, 4)(tokens)
    else:
        embedded = keras.layers.Dense(4, use_bias=False)(keras.ops.one_hot(tokens, 9))
    x = keras.layers.Conv1D(3, 2)(embedded)
    x = keras.layers.Flatten()(x)
    model = keras.Model(tokens, keras.layers.Dense(3)(x))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, jit_compile=jit_compile, run_eagerly=run_eagerly)
    return model


def fit(model, epochs=2, rows=16):
    return model.fit(TOKENS, LABELS, rows, epochs, verbose=0, shuffle=False).history


def values(variables):
    return [keras.ops.convert_to_numpy(variable) for variable in variables]


@pytest.mark.parametrize(
    "kind, changes",
    [
        *(("SGD", changes) for changes in CHANGES),
        *(
            pytest.param(kind, changes, marks=pytest.mark.thorough)
            for kind, changes in (
                *((kind, CHANGES[0]) for kind in ("Adam", "RMSprop", "Adagrad")),
                *(("Adam", changes) for changes in CHANGES[1:]),
            )
        ),
    ],
)
def test_measuring_changes_nothing(kind, changes):
    jit_compile = changes is CHANGES[0] and kind == "Adam"
    measuring, plain = (
        make(getattr(module, kind)(0.05, **changes), jit_compile)
        for module in (optimizers, keras.optimizers)
    )
    assert fit(measuring) == fit(plain)
    assert measuring.optimizer.gradient_norm > 0
    pairs = zip(measuring.get_weights(), plain.get_weights(), strict=True)
    # The fixed rate and the measure are the last variables.
    own = values(measuring.optimizer.variables)[:-2]
    state = zip(own, values(plain.optimizer.variables), strict=True)
    for found, expected in (*pairs, *state):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "case",
    standing_for(
        [*(("SGD", changes) for changes in CHANGES), *((kind, {}) for kind in KINDS)],
        [("SGD", CHANGES[0]), ("Adam", {})],
    ),
)
def test_rows_of_a_word_add_up_before_they_are_clipped_or_squared(case):
    kind, changes = case
    by_row, whole = (
        make(getattr(optimizers, kind)(0.05, **changes), **QUICK, by_row=by_row)
        for by_row in (True, False)
    )
    by_row.set_weights(whole.get_weights())
    fit(by_row)
    fit(whole)
    assert by_row.optimizer.gradient_norm == pytest.approx(whole.optimizer.gradient_norm, rel=1e-5)
    for found, expected in zip(by_row.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_averaged_weights_can_be_used_and_trained_on(tmp_path):
    model = make(optimizers.SGD(0.05, use_ema=True), **QUICK)
    fit(model)
    model.evaluate(TOKENS, LABELS, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert fit(loaded) == fit(model)


@pytest.mark.parametrize(
    "changes", standing_for([{"global_clipnorm": 0.05}, {"clipnorm": 0.02}], [{"clipnorm": 0.02}])
)
def test_the_norm_is_that_of_all_gradients_before_clipping(changes):
    # A plain step of rate 1 leaves the gradient as the difference of the weights.
    model = make(keras.optimizers.SGD(1.0), **QUICK)
    before = model.get_weights()
    fit(model, epochs=1, rows=32)
    steps = zip(before, model.get_weights(), strict=True)
    expected = np.sqrt(sum(np.sum((old - new) ** 2) for old, new in steps))

    model = make(optimizers.SGD(0.0, **changes), **QUICK)
    assert model.optimizer.gradient_norm is None
    fit(model, epochs=3, rows=32)
    assert model.optimizer.gradient_norm == pytest.approx(expected, rel=1e-5)
    model.optimizer.reset_gradient_norm()
    assert model.optimizer.gradient_norm is None
    fit(model, epochs=1, rows=32)
    assert model.optimizer.gradient_norm == pytest.approx(expected, rel=1e-5)


@pytest.mark.filterwarnings("error:Skipping variable loading")
@pytest.mark.parametrize(
    "saved",
    [keras.optimizers, pytest.param(optimizers, marks=pytest.mark.thorough)],
    ids=["plain", "measuring"],
)
@pytest.mark.parametrize("kind", standing_for(["Adam", "SGD"], ["Adam"]))
def test_states_are_those_of_the_plain_optimizer(saved, kind, tmp_path):
    path = tmp_path / "state.weights.h5"
    model = make(getattr(saved, kind)(0.05), **QUICK)
    fit(model)
    model.save_weights(path)
    with h5py.File(path) as file:
        count = len(file["optimizer/vars"])
    expected = fit(model)
    for loading in (keras.optimizers, optimizers):
        twin = make(getattr(loading, kind)(0.05), **QUICK)
        twin.optimizer.build(twin.trainable_variables)
        assert count == len(twin.optimizer.variables) - 2 * (loading is optimizers)
        twin.load_weights(path)
        assert int(twin.optimizer.iterations) == 4
        assert fit(twin) == expected


def test_models_are_saved_with_the_optimizer_that_measures(tmp_path):
    model = make(optimizers.Adam(0.05, global_clipnorm=1.0), **QUICK)
    fit(model)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded.optimizer) is optimizers.Adam
    assert loaded.optimizer.get_config() == model.optimizer.get_config()
    assert loaded.optimizer.gradient_norm is None
    assert fit(loaded) == fit(model) and loaded.optimizer.gradient_norm > 0


@pytest.mark.parametrize("kind", standing_for(KINDS, ["Adam"]))
def test_a_learning_rate_that_is_set_takes_over_from_a_schedule(kind, tmp_path):
    model = make(getattr(optimizers, kind)(SCHEDULE), **QUICK)
    optimizer, seen = model.optimizer, []
    for rate in (None, 0.25, 0.125, SCHEDULE):
        if rate is not None:
            optimizer.learning_rate = rate
        fit(model, epochs=1)
        seen.append(float(optimizer.learning_rate))
        if rate == 0.125:
            model.save(tmp_path / "model.keras")
    assert seen == pytest.approx([0.025, 0.25, 0.125, 0.05 / 2**4])
    loaded = keras.saving.load_model(tmp_path / "model.keras").optimizer
    assert float(loaded.learning_rate) == 0.125 and loaded.iterations == 6
    before = getattr(optimizers, kind)(SCHEDULE)
    before.learning_rate = 0.5
    before.build(model.trainable_variables)
    assert float(before.learning_rate) == 0.5


def test_a_fixed_rate_is_that_of_a_plain_optimizer():
    made = optimizers.Adam(SCHEDULE), keras.optimizers.Adam(0.2)
    fixed, plain = (make(optimizer, **QUICK) for optimizer in made)
    fixed.optimizer.learning_rate = 0.2
    assert fit(fixed)["loss"] == pytest.approx(fit(plain)["loss"], rel=1e-6)
    callbacks = [
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2),
        keras.callbacks.ReduceLROnPlateau("loss", 0.1, patience=1, min_delta=100),
    ]
    fixed.fit(TOKENS, LABELS, 16, 4, verbose=0, callbacks=callbacks)
    # Four times half, and a tenth from the second epoch on.
    assert float(fixed.optimizer.learning_rate) == pytest.approx(0.2 / 2**4 / 10**3, rel=1e-5)
