"""Options of Keras' GRU on the layers over graphs, against the equations and Keras' own layers."""

import functools
import itertools

import keras
import numpy as np
import pytest
from keras import ops

from keras_corefmem.graphs import antecedents
from keras_corefmem.layers import DAGRNN, MAGEGRU, CorefGRU
from tests.support.conformance.evaluation import (
    JIT,
    QUICK,
    assert_gradients,
    evaluate,
    random_weights,
    randomize,
    value_and_gradients,
    with_gradients,
)
from tests.support.conformance.graphs import (
    WIDTH,
    random_antecedents,
    random_features,
    random_mask,
    random_sources,
)
from tests.support.oracles import recurrence as oracles
from tests.support.tiers import standing_for

BATCH, TIME, UNITS = 4, 6, 4
KINDS = {
    "coref": (CorefGRU, UNITS, oracles.coref_gru),
    "dag": (DAGRNN, UNITS, oracles.dag_rnn),
    "mage": (MAGEGRU, (3, 1), functools.partial(oracles.mage_gru, units=(3, 1), shared=False)),
}
CARRY = {"carry": "mixed", "edge_attention": True}
ACTIVATIONS = {
    "linear": lambda x: x,
    "tanh": np.tanh,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "hard_sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "relu": lambda x: np.maximum(x, 0),
}
# Options are those of the class that all share; the coreference GRU compiles in the least time.
every_kind = pytest.mark.parametrize("kind", standing_for(KINDS, ["coref"]))


def make(kind, **options):
    layer_class, units, _ = KINDS[kind]
    return layer_class(units, **(CARRY if kind == "mage" else {}), **options)


def make_edges(kind, rng, mask=None):
    if kind == "coref":
        return random_antecedents(rng, BATCH, TIME, mask)
    return random_sources(rng, BATCH, TIME, 1, 2, mask)


def oracle(kind, layer, x, edges, mask, states, weights, **options):
    """States of both directions; weights are those of the forward cell, then of the other."""
    run = functools.partial(KINDS[kind][2], **(CARRY if kind == "mage" else {}))
    names = [weight.name for weight in layer.cells[0].trainable_variables]
    rows = []
    for b in range(BATCH):
        both = []
        for n, reverse in enumerate((False, True)):
            own = dict(zip(names, weights[n * len(names) :], strict=False)) | options
            own["initial_state"] = states[n][b]
            both.append(run(x[b], edges[b], mask[b], weights=own, reverse=reverse))
        rows.append(np.concatenate(both, axis=-1))
    return np.stack(rows)


@pytest.mark.parametrize(
    ("kind", "activation", "recurrent_activation"),
    [
        pytest.param("coref", "softsign", "hard_sigmoid", marks=pytest.mark.thorough),
        pytest.param("coref", "relu", "tanh", marks=pytest.mark.thorough),
        pytest.param("dag", "softsign", "sigmoid", marks=pytest.mark.thorough),
        pytest.param("mage", "linear", "hard_sigmoid", marks=pytest.mark.thorough),
    ],
)
def test_states_and_gradients_follow_the_equations(kind, activation, recurrent_activation):
    rng = np.random.default_rng(0)
    gates = {"recurrent_activation": recurrent_activation}
    options = {"activation": activation, "use_bias": False, "recurrent_dropout": 0.5, **gates}
    layer = make(kind, bidirectional=True, return_state=True, **options)
    mask = random_mask(BATCH, TIME)
    edges, x = make_edges(kind, rng, mask), random_features(rng, BATCH, TIME)
    layer.build(x.shape, edges.shape)
    assert not any("bias" == weight.name for weight in layer.weights)
    weights = random_weights(layer, rng)
    states = [rng.normal(size=(BATCH, UNITS)).astype("float32") for _ in range(2)]
    upstream = rng.normal(size=(BATCH, TIME, 2 * UNITS)).astype("float32")
    # What the layer drops, the same for all tokens.
    factors = np.array([2.0, 0.0, 0.5, 1.0], "float32")[:UNITS]
    layer.recurrent_drop = lambda ones, training: ones * factors

    def run(x, forward, backward, *weights):
        outputs, *ends = layer.stateless_call(
            list(weights),
            list(layer.non_trainable_variables),
            x,
            edges,
            mask=mask,
            training=True,
            initial_state=[forward, backward],
        )[0]
        return ops.concatenate([outputs, *(ops.repeat(end[:, None], TIME, 1) for end in ends)], -1)

    names = {"activation": ACTIVATIONS[activation], "recurrent_mask": factors.astype("float64")}
    if recurrent_activation != "sigmoid":
        names["recurrent_activation"] = ACTIVATIONS[recurrent_activation]

    def expected(x, forward, backward, *weights):
        outputs = oracle(kind, layer, x, edges, mask, (forward, backward), weights, **names)
        ends = outputs[:, -1, :UNITS], outputs[:, 0, UNITS:]
        return np.concatenate([outputs, *(np.repeat(end[:, None], TIME, 1) for end in ends)], -1)

    arrays = [x, *states, *weights]
    upstream = np.concatenate([upstream, upstream], axis=-1)
    output, gradients = value_and_gradients(run, arrays, upstream)
    doubles = [array.astype("float64") for array in arrays]
    np.testing.assert_allclose(output, expected(*doubles), atol=1e-5)
    assert_gradients(lambda *arrays: np.sum(expected(*arrays) * upstream), doubles, gradients)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_without_edges_a_layer_is_sequential(kind):
    layer, x = make(kind, bidirectional=True), random_features(np.random.default_rng(1), 3, TIME)
    edges = np.zeros((3, TIME) if kind == "coref" else (3, TIME, 1, 2), "int32")
    expected = layer(x, edges)
    np.testing.assert_array_equal(layer(x), expected)
    symbol = layer(keras.Input((None, WIDTH)))
    assert symbol.shape == (None, None, 2 * UNITS)


@every_kind
def test_cells_have_the_options_of_their_layer(kind):
    options = {"activation": "relu", "bias_initializer": "ones", "kernel_regularizer": "l2"}
    options |= {} if kind == "dag" else {"recurrent_activation": "softsign"}
    layer, x = make(kind, **options), random_features(np.random.default_rng(11), BATCH, TIME)
    layer.build(x.shape)
    cell = layer.CELL.from_config(layer.cells[0].get_config())
    rnn = keras.layers.RNN(cell, return_sequences=True)
    rnn.build(x.shape)
    assert np.all(ops.convert_to_numpy(cell.bias) == 1)
    rnn.set_weights(layer.get_weights())
    np.testing.assert_allclose(evaluate(layer, x), evaluate(rnn, x), atol=1e-5)
    assert float(rnn.losses[0]) == pytest.approx(float(layer.losses[0]))


def test_half_of_a_coref_gru_without_antecedents_is_the_gru_of_keras():
    rng, half = np.random.default_rng(2), UNITS // 2
    layer, x = CorefGRU(UNITS), random_features(rng, BATCH, TIME)
    layer.build(x.shape)
    randomize(layer, rng)
    cell = layer.cells[0]
    columns = np.r_[:half, UNITS : UNITS + half, 2 * UNITS : 2 * UNITS + half]

    def reordered(weight):
        # Keras keeps the old state where its update gate is open, and puts that gate first.
        r, z, h = np.split(ops.convert_to_numpy(weight)[..., columns], 3, axis=-1)
        return np.concatenate([-z, r, h], axis=-1)

    gru = keras.layers.GRU(half, return_sequences=True)
    gru.build(x.shape)
    bias = np.stack([reordered(cell.bias), np.zeros(3 * half)])
    gru.set_weights([reordered(cell.kernel), reordered(cell.recurrent_kernel)[:half], bias])
    np.testing.assert_allclose(evaluate(layer, x)[..., :half], evaluate(gru, x), atol=1e-5)


@pytest.mark.thorough
@every_kind
def test_going_backwards_is_the_other_direction(kind):
    rng, mask = np.random.default_rng(3), random_mask(BATCH, TIME)
    x, edges = random_features(rng, BATCH, TIME), make_edges(kind, rng, mask)
    both, back = make(kind, bidirectional=True), make(kind, go_backwards=True, return_state=True)
    for layer in (both, back):
        layer.build(x.shape, edges.shape)
    randomize(both, rng)
    back.set_weights(both.get_weights()[len(both.weights) // 2 :])
    expected = evaluate(both, x, edges, mask=mask)[..., UNITS:]
    states, end = evaluate(back, x, edges, mask=mask)
    np.testing.assert_allclose(states, expected[:, ::-1], atol=1e-6)
    np.testing.assert_allclose(end, expected[:, 0], atol=1e-6)
    shown = back.compute_mask(x, ops.convert_to_tensor(mask))[0]
    np.testing.assert_array_equal(shown, mask[:, ::-1])


@every_kind
def test_bidirectional_of_keras_reads_both_ways_without_edges(kind):
    rng, mask = np.random.default_rng(4), random_mask(BATCH, TIME)
    x, states = random_features(rng, BATCH, TIME), list(rng.normal(size=(2, BATCH, UNITS)))
    ours = make(kind, bidirectional=True, return_state=True)
    theirs = keras.layers.Bidirectional(make(kind, return_state=True))
    for layer in (ours, theirs):
        layer.build(x.shape)
    randomize(ours, rng)
    theirs.set_weights(ours.get_weights())
    pairs = zip(
        ours(x, mask=mask, initial_state=states),
        theirs(x, mask=mask, initial_state=states),
        strict=True,
    )
    for own, other in pairs:
        np.testing.assert_allclose(own, other, atol=1e-5)
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(theirs))
    assert copy.backward_layer.go_backwards and not copy.forward_layer.go_backwards
    with pytest.raises(ValueError, match="use bidirectional=True"):
        theirs(x, make_edges(kind, rng))


@every_kind
def test_a_state_carries_on_where_it_was_left(kind):
    rng = np.random.default_rng(5)
    x, layer = random_features(rng, BATCH, TIME), make(kind, return_state=True)
    whole, end = layer(x)
    first, middle = layer(x[:, :2])
    second, last = layer(x[:, 2:], initial_state=middle)
    np.testing.assert_allclose(np.concatenate([first, second], axis=1), whole, atol=1e-5)
    np.testing.assert_allclose(last, end, atol=1e-5)


@pytest.mark.thorough
@every_kind
def test_time_distributed_reads_many_texts(kind):
    x = np.random.default_rng(6).normal(size=(2, 3, TIME, WIDTH)).astype("float32")
    layer = make(kind, return_sequences=False)
    many = keras.layers.TimeDistributed(layer)
    expected = np.stack([layer(text) for text in x])
    np.testing.assert_allclose(many(x), expected, atol=1e-5)
    inputs = keras.Input((None, TIME, WIDTH))
    model = keras.Model(inputs, many(inputs))
    model.compile(jit_compile=JIT)
    np.testing.assert_allclose(model.predict(x, verbose=0), expected, atol=1e-5)


@pytest.mark.parametrize("xla", standing_for([False, True], [False]))
@every_kind
def test_compiled_graphs_read_bad_edges_as_none(kind, xla):
    rng = np.random.default_rng(7)
    x, edges = random_features(rng, BATCH, TIME), make_edges(kind, rng)
    layer = make(kind, bidirectional=True)
    layer.build(x.shape, edges.shape)
    randomize(layer, rng)
    good, bad = edges.copy(), edges.copy()
    for b, wrong in enumerate((TIME, 10**6, -3)):
        good[b, 2], bad[b, 2] = 0, wrong
    good[3, 4], bad[3, 4] = 0, 5

    # Edges that are traced.
    run = with_gradients(lambda x, e: layer(x, ops.cast(e, "int32")), xla=xla)
    (states, gradients), (expected, others) = (run(x, e.astype("float32")) for e in (bad, good))
    np.testing.assert_allclose(states, expected, atol=1e-6)
    np.testing.assert_allclose(gradients[0], others[0], atol=1e-6)
    # Keras has XLA compile this one.
    inputs = keras.Input(x.shape[1:]), keras.Input(edges.shape[1:], dtype="int32")
    model = keras.Model(inputs, layer(*inputs))
    states, expected = (model.predict([x, e], verbose=0) for e in (bad, good))
    np.testing.assert_allclose(states, expected, atol=1e-6)


@every_kind
def test_recurrent_dropout_is_for_training_alone_and_repeats_with_its_seed(kind):
    x = random_features(np.random.default_rng(8), BATCH, TIME)
    layers = [make(kind, recurrent_dropout=0.5, dropout=0.2, seed=seed) for seed in (3, 3, 4)]
    weights = [layer(x) is None or layer.get_weights() for layer in layers][0]
    for layer in layers:
        layer.set_weights(weights)
    dropped = [ops.convert_to_numpy(layer(x, training=True)) for layer in layers]
    np.testing.assert_array_equal(dropped[0], dropped[1])
    assert np.max(np.abs(dropped[0] - dropped[2])) > 1e-3
    np.testing.assert_array_equal(layers[0](x), layers[2](x))
    assert np.max(np.abs(layers[0](x) - dropped[0])) > 1e-3


def test_dropout_has_the_precision_of_its_layer(halves):
    x = 10 * random_features(np.random.default_rng(8), BATCH, TIME)
    layers = [CorefGRU(UNITS, dtype="float32", dropout=rate) for rate in (0.0, 0.5)]
    weights = [layer.build(x.shape) or layer.get_weights() for layer in layers][0]
    layers[1].set_weights(weights)
    np.testing.assert_array_equal(*(layer(x) for layer in layers))


@pytest.mark.thorough
@every_kind
def test_weights_have_initializers_regularizers_and_constraints(kind):
    ones = {f"{name}_initializer": "ones" for name in ("kernel", "bias")}
    penalties = {"kernel_regularizer": keras.regularizers.L1(0.1), "bias_regularizer": "l2"}
    limits = {f"{name}_constraint": "non_neg" for name in ("kernel", "recurrent", "bias")}
    random = keras.initializers.RandomUniform(0.1, 0.2)
    options = {**ones, **penalties, **limits, "recurrent_initializer": random}
    layer = make(
        kind, bidirectional=True, recurrent_regularizer=keras.regularizers.L2(1.0), **options
    )
    x = random_features(np.random.default_rng(9), BATCH, TIME)
    layer(x)
    kernels = [ops.convert_to_numpy(cell.recurrent_kernel) for cell in layer.cells]
    assert all(np.all((kernel >= 0.1) & (kernel <= 0.2)) for kernel in kernels)
    # The directions do not share random numbers.
    assert not np.array_equal(*kernels)
    width = layer.cells[0].bias.shape[0]
    expected = 2 * (0.1 * WIDTH * width + 0.01 * width) + sum(np.sum(k**2) for k in kernels)
    assert float(sum(layer.losses)) == pytest.approx(expected, rel=1e-5)
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert copy.get_config() == layer.get_config()
    model = keras.Sequential([layer])
    model.compile(keras.optimizers.SGD(10.0), "mse", **QUICK)
    model.fit(x, np.zeros((BATCH, TIME, 2 * UNITS)), verbose=0)
    for name in ("kernel", "recurrent_kernel", "bias"):
        values = np.stack([ops.convert_to_numpy(getattr(cell, name)) for cell in layer.cells])
        assert np.all(values >= 0) and (name == "bias" or np.any(values == 0))


# `test_graph_gru` has gradients in float64.
@pytest.mark.thorough
def test_float64_stays_float64():
    if keras.backend.standardize_dtype(ops.zeros(1, "float64").dtype) != "float64":
        pytest.skip("JAX was started without 64 bits")
    rng, mask = np.random.default_rng(10), random_mask(BATCH, TIME)
    for kind in KINDS:
        layer = make(kind, bidirectional=True, dtype="float64")
        x, edges = rng.normal(size=(BATCH, TIME, WIDTH)), make_edges(kind, rng, mask)
        layer.build(x.shape, edges.shape)
        randomize(layer, rng)
        weights = [ops.convert_to_numpy(weight) for weight in layer.trainable_variables]
        states = np.zeros((2, BATCH, UNITS))
        expected = oracle(kind, layer, x, edges, mask, states, weights)
        output = evaluate(layer, x, edges, mask=mask)
        assert output.dtype == "float64"
        np.testing.assert_allclose(output, expected, atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("structure", [True, False])
def test_a_classifier_of_ones_own_trains_with_the_defaults_of_keras(structure):
    chains = np.array([[1, 0, 2, 0, 1, 2], [0, 1, 0, 1, 0, 1]] * 8)
    words, labels = np.arange(96).reshape(16, 6) % 7, np.arange(16) % 2
    embed = keras.layers.Embedding(7, 8, mask_zero=True)
    read = CorefGRU(8, bidirectional=True, return_sequences=False)
    keras.utils.set_random_seed(0)
    if structure:
        tokens, last = keras.Input((None,)), keras.Input((None,), dtype="int32")
        outputs = keras.layers.Dense(2, "softmax")(read(embed(tokens), last))
        model, x = keras.Model([tokens, last], outputs), [words, antecedents(chains)]
    else:
        model, x = keras.Sequential([embed, read, keras.layers.Dense(2, "softmax")]), words
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    losses = model.fit(x, labels, batch_size=4, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_edge_weights_are_those_of_the_equations():
    rng = np.random.default_rng(3)
    layer, mask = make("mage", bidirectional=True), random_mask(BATCH, TIME)
    x, edges = random_features(rng, BATCH, TIME), make_edges("mage", rng, mask)
    layer.build(x.shape, edges.shape)
    randomize(layer, rng, 1.0)
    weights = ops.convert_to_numpy(layer.edge_weights(x, edges, mask))
    assert weights.shape == (BATCH, 2, TIME, 1, 2)
    for b, (reverse, cell) in itertools.product(range(BATCH), enumerate(layer.cells)):
        values = {w.name: ops.convert_to_numpy(w) for w in cell.weights}
        clear = np.where(mask[b, :, None], x[b], 0)
        for t, read in enumerate(oracles.incoming(edges[b], reverse)):
            _, shares = oracles.edge_shares(clear, t, read, values)
            for (kind, other), share in zip(read, shares, strict=True):
                source, target = (t, other) if reverse else (other, t)
                place = edges[b, target, kind] == source + 1
                found = weights[b, reverse, target, kind][place]
                np.testing.assert_allclose(found, share, rtol=1e-4)
    assert not weights[np.stack([edges == 0] * 2, axis=1)].any()
    with pytest.raises(ValueError, match="sources: position"):
        layer.edge_weights(x, np.full_like(edges, TIME + 1))
    with pytest.raises(ValueError, match="sources has 2 edge types, but units"):
        layer.edge_weights(x, np.concatenate([edges] * 2, axis=2))
    with pytest.raises(ValueError, match="sums its edges: give it edge_attention=True"):
        MAGEGRU((3, 1)).edge_weights(x, edges)
