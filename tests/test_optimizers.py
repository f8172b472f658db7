import h5py
import keras
import numpy as np
import pytest

from keras_corefmem import optimizers

TOKENS = np.random.default_rng(0).integers(0, 9, (32, 5)).astype("int32")
LABELS = TOKENS[:, 0] % 3
KINDS = ("Adam", "RMSprop", "SGD", "Adagrad")
CHANGES = (
    {"global_clipnorm": 0.05},
    {"clipnorm": 0.02, "use_ema": True, "ema_momentum": 0.9},
    {"gradient_accumulation_steps": 2},
)


def make(optimizer, jit_compile=True):
    keras.utils.set_random_seed(0)
    tokens = keras.Input((5,), dtype="int32")
    x = keras.layers.Conv1D(3, 2)(keras.layers.Embedding(9, 4)(tokens))
    x = keras.layers.Flatten()(x)
    model = keras.Model(tokens, keras.layers.Dense(3)(x))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, jit_compile=jit_compile)
    return model


def fit(model, epochs=2, rows=16):
    return model.fit(TOKENS, LABELS, rows, epochs, verbose=0, shuffle=False).history


def values(variables):
    return [keras.ops.convert_to_numpy(variable) for variable in variables]


@pytest.mark.parametrize(
    "kind, changes",
    [*((kind, CHANGES[0]) for kind in KINDS), *(("Adam", changes) for changes in CHANGES[1:])],
)
def test_measuring_changes_nothing(kind, changes):
    jit_compile = changes is not CHANGES[0] or kind == "Adam"
    measuring, plain = (
        make(getattr(module, kind)(0.05, **changes), jit_compile)
        for module in (optimizers, keras.optimizers)
    )
    assert fit(measuring) == fit(plain)
    assert measuring.optimizer.gradient_norm > 0
    pairs = zip(measuring.get_weights(), plain.get_weights(), strict=True)
    # The measure is the last variable.
    own = values(measuring.optimizer.variables)[:-1]
    state = zip(own, values(plain.optimizer.variables), strict=True)
    for found, expected in (*pairs, *state):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("changes", [{"global_clipnorm": 0.05}, {"clipnorm": 0.02}])
def test_the_norm_is_that_of_all_gradients_before_clipping(changes):
    # A plain step of rate 1 leaves the gradient as the difference of the weights.
    model = make(keras.optimizers.SGD(1.0))
    before = model.get_weights()
    fit(model, epochs=1, rows=32)
    steps = zip(before, model.get_weights(), strict=True)
    expected = np.sqrt(sum(np.sum((old - new) ** 2) for old, new in steps))

    model = make(optimizers.SGD(0.0, **changes))
    assert model.optimizer.gradient_norm is None
    fit(model, epochs=3, rows=32)
    assert model.optimizer.gradient_norm == pytest.approx(expected, rel=1e-5)
    model.optimizer.reset_gradient_norm()
    assert model.optimizer.gradient_norm is None
    fit(model, epochs=1, rows=32)
    assert model.optimizer.gradient_norm == pytest.approx(expected, rel=1e-5)


@pytest.mark.filterwarnings("error:Skipping variable loading")
@pytest.mark.parametrize("saved", [keras.optimizers, optimizers], ids=["plain", "measuring"])
@pytest.mark.parametrize("kind", ["Adam", "SGD"])
def test_states_are_those_of_the_plain_optimizer(saved, kind, tmp_path):
    path = tmp_path / "state.weights.h5"
    model = make(getattr(saved, kind)(0.05), jit_compile=False)
    fit(model)
    model.save_weights(path)
    with h5py.File(path) as file:
        count = len(file["optimizer/vars"])
    expected = fit(model)
    for loading in (keras.optimizers, optimizers):
        twin = make(getattr(loading, kind)(0.05), jit_compile=False)
        twin.optimizer.build(twin.trainable_variables)
        assert count == len(twin.optimizer.variables) - (loading is optimizers)
        twin.load_weights(path)
        assert int(twin.optimizer.iterations) == 4
        assert fit(twin) == expected


def test_models_are_saved_with_the_optimizer_that_measures(tmp_path):
    model = make(optimizers.Adam(0.05, global_clipnorm=1.0))
    fit(model)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded.optimizer) is optimizers.Adam
    assert loaded.optimizer.get_config() == model.optimizer.get_config()
    assert loaded.optimizer.gradient_norm is None
    assert fit(loaded) == fit(model) and loaded.optimizer.gradient_norm > 0
