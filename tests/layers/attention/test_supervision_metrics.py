"""The history of a model with supervised attention."""

import keras
import numpy as np
import pytest

from keras_corefmem.layers import (
    AttentionEncoder,
    ReportsSupervision,
    SupervisedMultiHeadAttention,
)
from tests.support.conformance.graphs import WIDTH, random_features
from tests.support.oracles import attention as attention_oracles

COUNT, TIME = 5, 4


@keras.saving.register_keras_serializable("test_supervision_metrics")
class Reader(ReportsSupervision, keras.Model):
    pass


def make_data():
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, TIME + 1, (COUNT, 3, 2)).astype("int32")
    pairs[1] = 0
    features = {"words": random_features(rng, COUNT, TIME), "pairs": pairs}
    return features, rng.normal(size=(COUNT, TIME, WIDTH)).astype("float32")


def make_inputs():
    return {
        "words": keras.Input((None, WIDTH), name="words"),
        "pairs": keras.Input((None, 2), dtype="int32", name="pairs"),
    }


def signals_of(model):
    """Names of the signals whose loss and attention mass a model reports."""
    model.compile("sgd", "mse")
    names = set(model.get_metrics_result()) - {"loss"}
    signals = {name.removesuffix("_loss").removesuffix("_attention_mass") for name in names}
    assert names == {f"{s}_{kind}" for s in signals for kind in ("loss", "attention_mass")}
    return signals


def test_training_and_evaluation_report_loss_and_attention_mass(tmp_path):
    keras.utils.set_random_seed(1)
    inputs, (features, y) = make_inputs(), make_data()
    layer = SupervisedMultiHeadAttention(
        2, 3, [(1, "coref_all")], loss_weight=0.5, return_supervised=True, name="attention"
    )
    outputs, attention = layer(inputs["words"], [inputs["pairs"]])
    model = Reader(inputs, outputs)
    # Weights stay, so that every epoch has the same numbers; the last batch is a partial one.
    model.compile(keras.optimizers.SGD(0.0), "mse", jit_compile=True)
    fitted = model.fit(
        features, y, batch_size=2, epochs=2, validation_data=(features, y), verbose=0
    ).history
    both = keras.Model(inputs, [outputs, attention])
    predicted, shown = map(keras.ops.convert_to_numpy, both(features))
    shown = shown[:, 0]
    measured = [
        attention_oracles.attention_loss(row, attention_oracles.targets_of(pairs, [True] * TIME))
        for row, pairs in zip(shown, features["pairs"], strict=True)
    ]
    loss, mass, rows = np.sum(measured, axis=0)
    expected = {"coref_all_loss": loss / COUNT, "coref_all_attention_mass": mass / rows}
    for name, value in expected.items():
        np.testing.assert_allclose(fitted[name], [value] * 2, rtol=1e-5)
        np.testing.assert_allclose(fitted[f"val_{name}"], [value] * 2, rtol=1e-5)
    error = np.mean((predicted - y) ** 2) + 0.5 * expected["coref_all_loss"]
    assert fitted["val_loss"][0] == pytest.approx(error, rel=1e-4)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert set(loaded.get_metrics_result()) == {"loss", *expected}
    assert int(loaded.optimizer.iterations) == int(model.optimizer.iterations) == 6


def test_a_layer_that_is_called_once_more_keeps_its_loss():
    keras.utils.set_random_seed(1)
    inputs, (features, y) = make_inputs(), make_data()
    layer = SupervisedMultiHeadAttention(2, 3, [(1, "coref_all")], loss_weight=0.5)
    states = layer(inputs["words"], [inputs["pairs"]])
    model = Reader(inputs, keras.layers.Add()([states, layer(states)]))
    model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=True)
    before = layer.get_weights()
    logs = model.train_on_batch(features, y, return_dict=True)
    again = Reader(inputs, model.output)
    again.compile("sgd", "mse", jit_compile=True)
    layer.set_weights(before)
    error = np.mean((again.predict_on_batch(features) - y) ** 2)
    np.testing.assert_allclose(logs["loss"], error + 0.5 * logs["coref_all_loss"], rtol=1e-5)
    tested = again.test_on_batch(features, y, return_dict=True)
    np.testing.assert_allclose(tested["loss"], logs["loss"], rtol=1e-5)


def test_layers_that_share_a_signal_are_told_apart():
    inputs = make_inputs()
    signals = [(1, 0, "a"), (2, 0, "a"), (2, 1, "b")]
    encoder = AttentionEncoder(2, 2, WIDTH, 3, signals=signals)
    model = Reader(inputs, encoder(inputs["words"], [inputs["pairs"]] * 3))
    model.compile("sgd", "mse")
    assert signals_of(model) == {"attention_1_a", "attention_2_a", "b"}


def test_no_two_signals_have_one_name():
    inputs = make_inputs()
    states = inputs["words"]
    for name in ("early", "late"):
        encoder = AttentionEncoder(1, 2, WIDTH, 3, signals=[(1, 0, "a")], name=name)
        states = encoder(states, [inputs["pairs"]])
    twice = SupervisedMultiHeadAttention(2, 2, [(0, "b"), (1, "b")], name="twice")
    model = Reader(inputs, twice(states, [inputs["pairs"]] * 2))
    labels = {"early_attention_1_a", "late_attention_1_a", "b_head_0", "b_head_1"}
    assert signals_of(model) == labels


def test_layers_that_are_not_built_have_names():
    class Late(ReportsSupervision, keras.Model):
        def __init__(self):
            super().__init__()
            self.layers_of_one_name = [
                SupervisedMultiHeadAttention(1, 2, [(0, "a")], name="attention") for _ in range(2)
            ]

    assert signals_of(Late()) == {"attention_1_a", "attention_2_a"}


def test_metrics_do_not_depend_on_rows_that_are_filled_up():
    inputs = make_inputs()
    attention = SupervisedMultiHeadAttention(1, 2, [(0, "a")])
    mask = keras.Input((None,), dtype="bool")
    output = attention(inputs["words"], [inputs["pairs"]], mask=mask)
    model = Reader({**inputs, "mask": mask}, output)
    model.compile("sgd", "mse", jit_compile=False)
    random = np.random.default_rng(0)
    words = random.normal(size=(3, 4, WIDTH)).astype("float32")
    pairs = np.array([[[1, 2]], [[3, 1]], [[2, 4]]], "int32")
    found = []
    for rows in (3, 8):
        features = {
            "words": np.resize(words, (rows, 4, WIDTH)),
            "pairs": np.resize(pairs, (rows, 1, 2)),
            "mask": np.repeat(np.arange(rows)[:, None] < 3, 4, axis=1),
        }
        given = features, np.zeros_like(features["words"])
        found.append(model.evaluate(*given, batch_size=rows, verbose=0, return_dict=True))
    for name in ("a_loss", "a_attention_mass"):
        assert found[0][name] == pytest.approx(found[1][name], rel=1e-5) != 0


def test_layers_made_behind_compiling_are_refused():
    class Late(ReportsSupervision, keras.Model):
        def build(self, shape):
            self.attention = SupervisedMultiHeadAttention(1, 2, [(0, "a")])
            self.attention.build(shape)

        def call(self, x):
            return self.attention(x)

    model = Late()
    model.compile("sgd", "mse", jit_compile=False)
    x = np.zeros((2, 3, WIDTH), "float32")
    with pytest.raises(ValueError, match="had 0 supervised layers when it was compiled, and has 1"):
        model.train_on_batch(x, x)


def test_a_model_without_supervision_reports_none():
    x = keras.Input((None, WIDTH))
    assert not signals_of(Reader(x, SupervisedMultiHeadAttention(1, 2)(x)))
