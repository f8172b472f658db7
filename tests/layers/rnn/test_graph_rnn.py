"""Arguments of the layers over graphs."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_corefmem.layers import DAGRNN, MAGEGRU, CorefGRU
from tests.support.conformance.evaluation import JIT, compiled, evaluate
from tests.support.conformance.graphs import WIDTH

X = np.ones((2, 3, WIDTH), "float32")
KINDS = [(CorefGRU, 4), (MAGEGRU, (3, 1)), (DAGRNN, 4)]
every_kind = pytest.mark.parametrize("kind, units", KINDS)
one_kind = pytest.mark.parametrize(
    "kind, units",
    [
        pytest.param(*kind, marks=() if kind[0] is MAGEGRU else pytest.mark.thorough)
        for kind in KINDS
    ],
)


def test_dropout_drops_the_same_features_at_every_token():
    sources = np.zeros((2, 3, 1, 1), "int32")
    keras.utils.set_random_seed(0)
    layer = DAGRNN(WIDTH, dropout=0.5)
    layer.build(X.shape, sources.shape)
    layer.set_weights([np.eye(WIDTH), np.zeros((WIDTH, WIDTH)), np.zeros(WIDTH)])
    np.testing.assert_allclose(evaluate(layer, X, sources), np.tanh(X), rtol=1e-6)
    states = ops.convert_to_numpy(layer(X, sources, training=True))
    np.testing.assert_array_equal(states, np.stack([states[:, 0]] * 3, axis=1))
    kept = np.isclose(states, np.tanh(2.0))
    assert np.all(kept | (states == 0)) and not np.all(kept)


@pytest.mark.parametrize("make", [np.array, ops.convert_to_tensor], ids=["array", "tensor"])
@every_kind
def test_rejects_edges_that_do_not_fit(kind, units, make):
    layer = kind(units)
    x = np.zeros((2, 5, 3), "float32")
    shape = (2, 5) if isinstance(layer, CorefGRU) else (2, 5, 1, 2)
    edges = np.zeros(shape, "int32")
    for position, message in ((5, "points forward"), (9, "out of range"), (-3, "out of range")):
        edges[1, 3, ...] = position
        with pytest.raises(ValueError, match=f"{position} of example 1 at position 4 .*{message}"):
            layer(x, make(edges))
        with pytest.raises(ValueError, match=message):
            layer(x, **{layer.EDGES[0]: make(edges)})
    # The first call builds the layer.
    for _ in range(2):
        for wrong in ((2, 4, *shape[2:]), (1, 5, *shape[2:]), (2, 5, 1)):
            with pytest.raises(ValueError, match=r"must be \(batch, time"):
                layer(x, make(np.zeros(wrong, "int32")))
        edges[1, 3, ...] = 3
        assert layer(x, make(edges)).shape == (2, 5, 4)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([["0", "1", "0"]] * 2, "antecedents must be integers, .*; got str"),
        (np.array([[False, True, False]] * 2), "antecedents must be integers, .*; got bool"),
        (np.zeros((2, 3), "float16"), "antecedents must be integers, .*; got float16"),
        ([[0, 1, 0], [0]], "antecedents must be one array; fill shorter rows up with 0"),
        *(
            (
                np.array([[0, 0, 0], [0, value, 0]]),
                f"antecedents: position {value} of example 1 at .*",
            )
            for value in (0.5, np.nan, np.inf, -np.inf)
        ),
        (keras.KerasTensor((None, 3), "bool"), "antecedents must be integers, .*; got bool"),
        (keras.KerasTensor((None, 4), "int32"), r"antecedents must be \(batch, time"),
    ],
)
def test_edges_are_integers_of_one_array(edges, message):
    features = keras.Input((3, WIDTH)) if isinstance(edges, keras.KerasTensor) else X
    with pytest.raises(ValueError, match=message):
        CorefGRU(4)(features, edges)


def test_ragged_tensors_are_refused():
    ragged = tf.ragged.constant([[0, 1, 0], [0]])
    with pytest.raises(ValueError, match=r"antecedents is a RaggedTensor: give its to_tensor\(\)"):
        CorefGRU(4)(X, antecedents=ragged)
    with pytest.raises(ValueError, match=r"x is a RaggedTensor: .* mask=tf.sequence_mask"):
        CorefGRU(4)(tf.RaggedTensor.from_tensor(X, lengths=[3, 1]), np.zeros((2, 3), int))


@one_kind
def test_edges_are_lists_or_whole_floats_too_and_come_in_a_list_with_the_features(kind, units):
    layer = kind(units)
    edges = np.array([[0, 1, 1], [0, 0, 2]], "int32")
    edges = edges if kind is CorefGRU else edges[..., None, None]
    expected = layer(X, edges)
    for other in (edges.tolist(), edges.astype("float32"), edges.astype("int64")):
        np.testing.assert_array_equal(layer(X, other), expected)
    np.testing.assert_array_equal(layer([X, edges]), expected)
    inputs = keras.Input((None, WIDTH)), keras.Input(edges.shape[1:], dtype="int32")
    model = keras.models.clone_model(keras.Model(inputs, kind(units)(list(inputs))))
    model.set_weights(layer.get_weights())
    model.compile(jit_compile=JIT)
    np.testing.assert_allclose(model.predict([X, edges], verbose=0), expected, atol=1e-6)


def test_compiled_graphs_read_what_is_no_integer_as_none():
    values = [np.nan, 0.5, 1.5, np.inf, -np.inf, 3e9]
    rng, time = np.random.default_rng(0), len(values) + 2
    x = rng.normal(size=(1, time, WIDTH)).astype("float32")
    layer, edges = CorefGRU(4, bidirectional=True), np.zeros((1, time), "float32")
    expected = layer(x, edges)
    edges[0, 2:] = values
    read = compiled(layer)
    np.testing.assert_allclose(read(x, edges), expected, atol=1e-6)
    edges[0, -1] = 1
    assert np.max(np.abs(read(x, edges) - expected)) > 1e-3


@pytest.mark.parametrize("xla", [False, pytest.param(True, marks=pytest.mark.thorough)])
@one_kind
def test_states_of_texts_with_invalid_edges_are_nan_on_request(kind, units, xla):
    x = np.random.default_rng(0).normal(size=(4, 5, WIDTH)).astype("float32")
    layer = kind(units, bidirectional=True, return_state=True, invalid_edges="nan")
    read = compiled(layer, xla)
    edges = np.zeros((4, 5) if kind is CorefGRU else (4, 5, 1, 2), "float32")
    edges[:, 2] = 1
    expected = layer(x, edges)
    for wrong in (-1, 4, 5, 6, 0.5, np.nan, np.inf, 3e9):
        other = edges.copy()
        other[1, 3, ...], other[2, 0, ...] = wrong, 1
        for output, right in zip(read(x, other), expected, strict=True):
            assert np.all(np.isnan(output[1:3]))
            np.testing.assert_allclose(output[::3], right[::3], atol=1e-6)
        with pytest.raises(ValueError, match="must lie before their token"):
            layer(x, other)
    for output, right in zip(read(x, edges), expected, strict=True):
        np.testing.assert_allclose(output, right, atol=1e-6)


def test_positions_of_long_texts_keep_their_numbers_in_half_precision():
    x = np.random.default_rng(0).normal(size=(1, 300, 2)).astype("float32")
    layer, edges = CorefGRU(4, dtype="mixed_bfloat16", return_sequences=False), np.zeros((1, 300))
    layer.build(x.shape)
    # bfloat16 has no 259.
    edges[0, 299] = 259
    expected = evaluate(layer, x, edges.astype("int32"))
    np.testing.assert_array_equal(evaluate(layer, x, edges.astype("float32")), expected)
    edges[0, 299] = 260
    assert np.any(evaluate(layer, x, edges.astype("int32")) != expected)


@every_kind
def test_a_batch_may_be_empty(kind, units):
    edges = np.zeros((0, 3) if kind is CorefGRU else (0, 3, 1, 2), "int32")
    assert kind(units)(X[:0], edges).shape == (0, 3, 4)


@pytest.mark.filterwarnings("error")
@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="of TensorFlow alone")
@one_kind
def test_autograph_warns_of_nothing(kind, units, caplog):
    import tensorflow as tf

    layer, edges = kind(units), np.zeros((2, 3) if kind is CorefGRU else (2, 3, 1, 2), "int32")
    layer.build(X.shape)
    tf.get_logger().addHandler(caplog.handler)
    try:
        tf.function(lambda x, edges: layer(x, edges))(X, edges)
    finally:
        tf.get_logger().removeHandler(caplog.handler)
    assert not [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("shape", [(0, 4, WIDTH), (2, 0, WIDTH)])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_nothing_is_attended_to_in_empty_arrays(shape, bidirectional):
    layer = MAGEGRU((3, 1), edge_attention=True, bidirectional=bidirectional)
    outputs = layer(np.ones(shape, "float32"), np.zeros((*shape[:2], 1, 2), "int32"))
    assert outputs.shape == (*shape[:2], 8 if bidirectional else 4)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX knows all shapes before")
@pytest.mark.parametrize(
    ("layer", "edges"),
    [
        pytest.param(CorefGRU(4), (), id="coref", marks=pytest.mark.thorough),
        pytest.param(MAGEGRU((2, 2)), (1, 2), id="mage"),
        pytest.param(DAGRNN(4), (1, 2), id="dag", marks=pytest.mark.thorough),
    ],
)
def test_edges_of_other_rows_or_lengths_fail_where_shapes_are_unknown_before(layer, edges):
    import tensorflow as tf

    x, sources = np.ones((4, 8, 6), "float32"), np.zeros((4, 8, *edges), "int32")
    exchanged, repeated = sources.reshape(8, 4, *edges), np.repeat(sources, 2, axis=1)
    others = {(None, None): (sources[:1], sources[:, :6], repeated, exchanged)}
    others |= {(None, 8): (sources[:1],), (4, None): (sources[:, :6], repeated)}
    for (lengths, wrong), xla in itertools.product(others.items(), (False, True)):
        specs = [tf.TensorSpec((*lengths, *a.shape[2:]), a.dtype) for a in (x, sources)]
        function = tf.function(layer, specs, autograph=False, jit_compile=xla)
        assert function(x, sources).shape == (4, 8, 4)
        for each in wrong:
            with pytest.raises(tf.errors.InvalidArgumentError):
                function(x, each)
