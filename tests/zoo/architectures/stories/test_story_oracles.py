"""The memory networks as a whole against their equations, and what supervised gates learn."""

import functools

import numpy as np
import pytest

import zoo
from keras_corefmem.datasets.stories import simulator
from tests.support.conformance.evaluation import JIT
from tests.support.oracles import stories as story_oracles
from tests.support.oracles.stories import BATCH, SENTENCES, TIME
from tests.support.tiers import standing_for
from zoo.training import Settings, make_model

SUPERVISED = {"attention": "softmax", "end_of_passes": True, "gate_loss": 1.0}
PRINTED = {"end_of_passes": True, "gate_loss": 1.0, "gates_first": 2, "answer_length": 3}
PLUS = {
    "attention": "attention_gru",
    "compact": True,
    "update": "relu",
    "input_module": "fusion",
}
TOKENS = {"answer_tokens": [None, 3, None, 7, 4]}
CASES = {
    "ren": (zoo.RecurrentEntityNetwork, {"slots": 3}),
    "qdren": (zoo.RecurrentEntityNetwork, {"slots": 3, "question_dependent": True}),
    "dmn": (zoo.DynamicMemoryNetwork, {"passes": 2}),
    "dmn-supervised": (zoo.DynamicMemoryNetwork, {"passes": 3, **SUPERVISED}),
    "dmn-printed": (zoo.DynamicMemoryNetwork, {"passes": 3, **PRINTED}),
    "dmn-plus": (zoo.DynamicMemoryNetwork, PLUS),
    "dmn-words": (zoo.DynamicMemoryNetwork, {"passes": 2, "answer_length": 3}),
    "memn2n": (zoo.EndToEndMemoryNetwork, {"max_sentences": 3, "hops": 2, **TOKENS}),
    "qrn": (zoo.QueryReductionNetwork, {}),
    "lstm": (zoo.RecurrentReader, {"embedding_dim": 3}),
    "gru": (zoo.RecurrentReader, {"embedding_dim": 3, "cell": "gru"}),
}
# The thorough `test_story_switches` has those of the others; "dmn-printed" answers in words.
KEPT = ["qdren", "dmn-printed", "dmn-plus", "memn2n", "lstm"]
every_case = pytest.mark.parametrize("name", standing_for(CASES, KEPT))


@functools.cache
def model_of(name):
    model_class, options = CASES[name]
    return story_oracles.make(model_class, **options)


@functools.cache
def expected(name):
    """Logits and attention by the equations, which are those of the model."""
    return story_oracles.assert_equations(model_of(name))


@every_case
def test_logits_and_attention_follow_the_equations(name):
    logits, *attention = expected(name)
    # Stories differ in both by far more than rounding.
    assert all(np.ptp(each, axis=0).max() > 0.1 for each in (logits[..., 1:], *attention))
    model, features = model_of(name), story_oracles.stories()
    given = {feature: features[feature] for feature in model.features}
    np.testing.assert_allclose(model.predict_on_batch(given), logits, atol=1e-4, rtol=0)


@every_case
def test_every_weight_counts(name):
    model, rng = model_of(name), np.random.default_rng(0)
    values = story_oracles.values_of(model)
    for path, value in values.items():
        moved = {**values, path: value + rng.normal(0, 0.5, value.shape)}
        found = story_oracles.run(model, moved)[0]
        # A softmax cancels the bias of all its scores.
        without = path.endswith("gate_score/bias") and model.config["attention"] != "gated"
        assert without or np.abs(found - expected(name)[0]).max() > 1e-3, path


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("lstm", "gru")])
def test_padding_has_no_attention(name):
    attention = np.array(model_of(name).inspect(story_oracles.stories())[1])
    read = np.arange(TIME) < np.array(SENTENCES)[:, None]
    assert np.all(attention[:, :TIME][~read] == 0)
    if not model_of(name).config.get("end_of_passes"):
        assert np.all(attention[read] != 0)


def test_some_stories_are_read_to_the_end_of_passes_and_some_are_not():
    gates = expected("dmn-supervised")[1]
    assert gates.shape == (BATCH, TIME + 1, 3)
    made = np.count_nonzero(gates.any(axis=1), axis=1)
    assert set(made.tolist()) == {1, 2, 3}
    for row, count in zip(gates, made, strict=True):
        ends = row.argmax(axis=0)[:count] == TIME
        assert not ends[:-1].any() and (ends[-1] or count == 3)


# Their loss, its gradients and first steps of a fit have tests of their own.
@pytest.mark.thorough
def test_supervised_passes_learn_to_attend_to_their_facts():
    stories, held_out = (
        [e for e in simulator.simulate(11, count, seed) if len(e.sentences) <= 8]
        for seed, count in enumerate((375, 125))
    )
    arguments = {"units": 20, "dropout": 0.0}
    rates = {"learning_rate": 0.02, "halve_every": 120}
    settings = Settings.of("dmn-supervised", batch_size=16, arguments=arguments, **rates)
    model = make_model(stories, settings)
    model.jit_compile = JIT
    encoded = [model.preprocessor.encode(example) for example in held_out]
    features = model.preprocessor.collate(encoded, len(encoded), 8)
    # Two facts, the second one a pronoun's, and the end, the row behind the sentences.
    wanted = np.array([[*example.supporting_facts, 9] for example in encoded])
    assert wanted.shape == (len(encoded), 3) and model.config["passes"] == 3

    def shares():
        return np.mean(np.asarray(model.attend(features)).argmax(axis=1) + 1 == wanted, axis=0)

    assert shares().mean() < 0.5
    batches = model.batches(stories, batch_size=16, shuffle=True)
    model.fit(batches, epochs=14, verbose=0)
    assert shares().min() > 0.6
