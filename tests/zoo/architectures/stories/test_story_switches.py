"""What the arguments of the memory networks do to their weights and to what they compute."""

import functools
import typing

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

import zoo
from keras_corefmem.layers import EntityMemory
from tests.support.oracles import stories as story_oracles
from tests.support.oracles.stories import (
    BATCH,
    TIME,
    UNITS,
    VOCABULARY,
    WORDS,
    assert_equations,
    memory_oracles,
    paths,
    stories,
    values_of,
)

SLOTS = 3
KINDS = {
    "ren": (zoo.RecurrentEntityNetwork, {"slots": SLOTS}),
    "dmn": (zoo.DynamicMemoryNetwork, {"passes": 2}),
    "qrn": (zoo.QueryReductionNetwork, {}),
    "memn2n": (zoo.EndToEndMemoryNetwork, {}),
    "lstm": (zoo.RecurrentReader, {"embedding_dim": 3}),
    "gru": (zoo.RecurrentReader, {"embedding_dim": 3, "cell": "gru"}),
}


def under(folder, **shapes):
    return {f"{folder}/{name}": shape for name, shape in shapes.items()}


def gru(folder, gates=3):
    width, square = gates * UNITS, (UNITS, gates * UNITS)
    return under(folder, kernel=square, recurrent_kernel=square, bias=(width,))


def dense(folder, width):
    return under(folder, kernel=(width, UNITS), bias=(UNITS,))


KEYS, TABLE = "entity_memory/cell/keys", "word_embedding/embeddings"
GATE_BIAS, SLOPES = "entity_memory/cell/gates_bias", "entity_memory/cell/activation/alpha"
OWN_SLOPES = {"output_module/activation/alpha": (1, UNITS)}
SLOT_SLOPES = {SLOPES: (SLOTS, UNITS)}
SIGMOID = {"output_activation": "sigmoid"}
SCORES, SIMILARITY = "episodic_memory/gate_hidden/kernel", "episodic_memory/similarity"
EPISODE, MEMORY = "episodic_memory/episode", "episodic_memory/memory"
UNTIED = dense(f"{MEMORY}_1", 3 * UNITS) | dense(f"{MEMORY}_2", 3 * UNITS)
FUSION = gru("fusion/forward") | gru("fusion/backward")
LAYER = "query_reduction_2/cell"
OWN_LAYER = dense(LAYER, 2 * UNITS) | under(LAYER, gate_kernel=(UNITS, 2), gate_bias=(2,))


class Switch(typing.NamedTuple):
    """Arguments, the paths of the weights that go with them, the shapes of those that come."""

    kind: str
    options: dict
    gone: typing.Collection = ()
    new: dict = {}


SWITCHES = {
    "no_gate_bias": Switch("ren", {"gate_bias": False}, {GATE_BIAS}),
    "slot_slopes": Switch("ren", {"slot_slopes": True}, {SLOPES}, SLOT_SLOPES | OWN_SLOPES),
    "sigmoid_output": Switch("ren", SIGMOID),
    "own_slopes": Switch("ren", {"output_activation": "prelu"}, (), OWN_SLOPES),
    "cloze": Switch("ren", {**SIGMOID, "slot_slopes": True}, {SLOPES}, SLOT_SLOPES),
    **{
        name: Switch("ren", {"activation": name}, {SLOPES})
        for name in ("relu", "sigmoid", "tanh", "linear")
    },
    "no_slopes": Switch("ren", {"activation": "tanh", "slot_slopes": True}, {SLOPES}),
    "entity_tokens": Switch("ren", {"entity_tokens": [2, 5, 9]}, {KEYS}),
    "no_passes": Switch("dmn", {"passes": 0}),
    "softmax": Switch("dmn", {"attention": "softmax"}, gru(EPISODE)),
    "attention_gru": Switch("dmn", {"attention": "attention_gru"}, gru(EPISODE), gru(EPISODE, 2)),
    "compact": Switch("dmn", {"compact": True}, {SIMILARITY, SCORES}, {SCORES: (4 * UNITS, UNITS)}),
    "relu_update": Switch("dmn", {"update": "relu"}, gru(MEMORY), UNTIED),
    "fusion": Switch("dmn", {"input_module": "fusion"}, gru("input_gru/forward"), FUSION),
    "one_layer": Switch("qrn", {"layers": 1}),
    "three_layers": Switch("qrn", {"layers": 3}),
    "untied": Switch("qrn", {"tied": False}, (), OWN_LAYER),
}


def build(kind, **options):
    model_class, sizes = KINDS[kind]
    return story_oracles.make(model_class, **{**sizes, **options})


@functools.cache
def plain(kind):
    """A model without switches, and what it computes."""
    model = build(kind)
    return model, assert_equations(model)


def shapes(model):
    return {path: tuple(variable.shape) for path, variable in paths(model).items()}


def features_of(model, **changes):
    features = {**stories(), **changes}
    return {name: features[name] for name in model.features}


def far(found, expected):
    return np.abs(np.subtract(found, expected)).max() > 1e-2


@pytest.mark.thorough
@pytest.mark.parametrize("name", SWITCHES)
def test_switches_change_weights_and_results_as_described(name):
    switch = SWITCHES[name]
    model, (default, expected) = build(switch.kind, **switch.options), plain(switch.kind)
    kept = {path: shape for path, shape in shapes(default).items() if path not in switch.gone}
    assert set(switch.gone) <= set(shapes(default))
    assert shapes(model) == {**kept, **switch.new}
    assert far(assert_equations(model)[0], expected[0])


def test_memory_and_output_share_a_prelu_but_for_slopes_by_slot():
    for slot_slopes in (False, True):
        model = build("ren", spread=0, slot_slopes=slot_slopes)
        memory, output = (model.get_layer(name) for name in ("entity_memory", "output_module"))
        assert (memory.cell.activation is output.activation) != slot_slopes
        slopes = [value for path, value in values_of(model).items() if path.endswith("alpha")]
        assert len(slopes) == 1 + slot_slopes and all(np.all(alpha == 1) for alpha in slopes)


@pytest.mark.parametrize("name", ["mask_initializer", "question_mask_initializer"])
def test_entity_networks_start_from_their_initializers(name):
    model = build("ren", spread=0, initializer="ones", **{name: "zeros"})
    mask = {"mask_initializer": "sentence_mask", "question_mask_initializer": "question_mask"}[name]
    empty = {f"{mask}/factors", "entity_memory/cell/bias", GATE_BIAS}
    values = values_of(model)
    assert empty < set(values)
    for path, value in values.items():
        assert np.all(value == (path not in empty)), path
    assert np.all(values_of(build("ren", spread=0))[f"{mask}/factors"] == 1)


@pytest.mark.parametrize("question_dependent", [False, True])
def test_the_question_opens_gates_where_they_depend_on_it(question_dependent):
    model = build("ren", question_dependent=question_dependent)
    features = stories()
    logits, gates = model.inspect(features)
    others, moved = model.inspect({**features, "question": features["question"][::-1]})
    assert far(logits, others) and far(gates, moved) == question_dependent


def test_a_memory_without_a_candidate_bias_has_one_of_zeros():
    options = {"candidate_bias": False, "return_sequences": True, "return_gates": True}
    layer = EntityMemory(SLOTS, UNITS, **options)
    layer.build((1, TIME, UNITS))
    rng = np.random.default_rng(0)
    weights = {w.name: rng.normal(0, 0.8, w.shape) for w in layer.trainable_variables}
    layer.set_weights(list(weights.values()))
    sentences = rng.normal(size=(TIME, UNITS))
    found = [convert_to_numpy(x)[0] for x in layer(sentences[None].astype("float32"))]
    read, keys = np.ones(TIME, bool), weights["keys"]
    for bias in (0.0, 0.5):
        weights["bias"] = bias
        expected = memory_oracles.entity_memory(sentences, None, keys, read, weights, "prelu")
        for array, wanted in zip(found, expected, strict=True):
            assert np.allclose(array, wanted, atol=1e-5) == (bias == 0)


SENTENCE_MATRICES = ("memory_kernel", "key_kernel", "sentence_kernel")
MATRICES = {f"entity_memory/cell/{name}" for name in SENTENCE_MATRICES}
MASKS = {f"{name}_mask/factors" for name in ("sentence", "question")}
REN_PENALTY = {TABLE, KEYS, "answer/kernel", "output_module/kernel", *MATRICES, *MASKS}
QRN_PENALTY = {f"query_reduction_1/cell/{name}" for name in ("gate_kernel", "kernel")}
GRUS = ("input_gru/forward", "question_gru/forward", EPISODE, MEMORY)
DMN_PENALTY = {TABLE, SIMILARITY, SCORES, "episodic_memory/gate_score/kernel"}
DMN_PENALTY |= {f"{gru}/{name}" for gru in GRUS for name in ("kernel", "recurrent_kernel")}
RNN_PENALTY = {
    kind: [f"{cell}/{name}" for name in ("kernel", "recurrent_kernel")]
    for kind, cell in {"lstm": "lstm/lstm_cell", "gru": "gru/forward"}.items()
}
SPOKEN = {f"answer/{name}" for name in ("gru/kernel", "gru/recurrent_kernel", "output/kernel")}


@pytest.mark.parametrize(
    "kind, options, listed",
    [
        ("ren", {}, REN_PENALTY),
        ("ren", {"slot_slopes": True, "question_dependent": True}, REN_PENALTY),
        ("dmn", {}, {*DMN_PENALTY, "answer/kernel"}),
        ("dmn", {"answer_length": 3}, DMN_PENALTY | SPOKEN),
        ("qrn", {}, {TABLE, "answer/kernel", *QRN_PENALTY}),
        *((kind, {}, {TABLE, "answer/kernel", *RNN_PENALTY[kind]}) for kind in RNN_PENALTY),
    ],
)
def test_the_penalty_is_that_of_the_squares_of_the_listed_weights(kind, options, listed):
    model = build(kind, l2=0.03, **options)
    values = values_of(model)
    expected = 0.03 * sum(np.sum(values[path].astype("float64") ** 2) for path in listed)
    assert sum(map(float, model.losses)) == pytest.approx(expected, rel=1e-5)
    assert plain(kind)[0].losses == []


def test_entity_networks_drop_parts_of_the_words_of_the_story_alone():
    model = build("ren", dropout=0.5)
    masks = [model.get_layer(f"{name}_mask") for name in ("sentence", "question")]
    encoder = keras.Model(model.inputs, [mask.output for mask in masks])
    # Of two words each.
    tokens = np.random.default_rng(0).integers(1, VOCABULARY, (BATCH, TIME + 1, WORDS))
    tokens = (tokens * (np.arange(WORDS) < 2)).astype("int32")
    features = {"sentences": tokens[:, :TIME], "question": tokens[:, TIME]}
    story, question = map(convert_to_numpy, encoder(features, training=True))
    quiet = convert_to_numpy(encoder(features, training=False)[1])
    np.testing.assert_allclose(question, quiet, atol=1e-6)
    values = values_of(model)
    factors, words = values["sentence_mask/factors"], values[TABLE][tokens[:, :TIME]]
    first, second = (2 * factors[n] * words[:, :, n] for n in range(2))
    near = np.abs(np.stack([0 * first, first, second, first + second]) - story)
    assert near.min(axis=0).max() < 1e-5
    # Either word may lose a unit without the other.
    assert np.bincount(near.argmin(axis=0).ravel(), minlength=4).min() > story.size / 10
    both = (each.inspect(features) for each in (model, build("ren")))
    for found, expected in zip(*both, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("module", ["words", "fusion"])
def test_dynamic_memory_networks_drop_stories_and_answers_in_training_alone(module):
    model = build("dmn", dropout=1.0, input_module=module)
    training = keras.Model(model.inputs, [model.output, model.attention_output])

    def trained(**changes):
        return [convert_to_numpy(x) for x in training(features_of(model, **changes), training=True)]

    story = stories()
    logits, gates = trained()
    # Nothing is left of an answer but its bias, of a story but its length; the question is whole.
    bias = values_of(model)["answer/bias"]
    np.testing.assert_allclose(logits[:, 1:] - bias[1:], 0, atol=1e-5)
    same = trained(sentences=np.minimum(story["sentences"], 1))[1]
    np.testing.assert_allclose(gates, same, atol=1e-6)
    assert far(gates, trained(question=story["question"][::-1].copy())[1])
    assert_equations(model)


def test_word_vectors_of_dynamic_memory_networks_start_with_unit_variance():
    table = values_of(zoo.DynamicMemoryNetwork(200, 3, WORDS, units=40))[TABLE]
    assert abs(table.mean()) < 0.05 and np.var(table) == pytest.approx(1, abs=0.05)
    assert 1.7 < np.abs(table).max() <= 3**0.5
    assert np.all(values_of(build("dmn", spread=0, embeddings_initializer="ones"))[TABLE] == 1)


@pytest.mark.parametrize("layers, used", [(1, False), (2, True)])
def test_the_last_layer_has_no_use_for_the_reset_gate(layers, used):
    model = build("qrn", layers=layers)
    before = model.inspect(stories())[0]
    kernel = paths(model)["query_reduction_1/cell/gate_kernel"]
    kernel.assign(convert_to_numpy(kernel) + np.array([0, 1]))
    assert far(model.inspect(stories())[0], before) == used


def test_the_update_bias_is_added_to_the_scores_of_gates():
    shut, model = plain("qrn")[1][1][..., 0], build("qrn", update_bias=0.5)
    opened = np.asarray(model.attend(stories()), "float64")[..., 0]
    read = shut > 0
    scores = [np.log(gates[read] / (1 - gates[read])) for gates in (opened, shut)]
    np.testing.assert_allclose(scores[0] - scores[1], 3.0, atol=1e-2)


def test_adjacent_hops_share_tables_and_the_last_one_scores_answers():
    model = build("memn2n", answer_tokens=[None, 3, None, 7, 4], hops=2, max_sentences=7)
    sizes = {"embedding": VOCABULARY + 2, "time": 7}
    assert shapes(model) == {
        f"memory/{kind}_{n}": (rows, UNITS) for kind, rows in sizes.items() for n in range(3)
    }
    table = paths(model)["memory/embedding_2"]
    # Answer 1 is word 3, answer 2 the second one that is no word.
    kept = ~np.isin(np.arange(VOCABULARY + 2), [3, VOCABULARY + 1])
    table.assign(convert_to_numpy(table) * kept[:, None])
    logits = np.asarray(model.inspect(stories())[0])
    assert np.all(logits[:, 1:3] == 0) and np.all(logits[:, 3:] != 0)


def test_time_noise_is_for_training_alone():
    noisy, quiet = (build("memn2n", time_noise=share, max_sentences=9) for share in (1.0, 0.0))
    features = features_of(quiet)
    expected = quiet.inspect(features)[0]
    np.testing.assert_allclose(noisy.inspect(features)[0], expected, atol=1e-6)
    trained = [convert_to_numpy(model(features, training=True)) for model in (noisy, quiet)]
    np.testing.assert_allclose(trained[1], expected, atol=1e-5)
    assert far(trained[0], expected)
