"""Models of cloze questions: entity networks on sentences and windows, readers that point."""

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import Splits
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.preprocessing.window_preprocessor import WindowPreprocessor, fit_sentences
from tests.support.texts import cloze
from tests.support.tiers import standing_for
from zoo import training
from zoo.configs import configuration

EXAMPLES = cloze.simulate(24)
every_kind = pytest.mark.parametrize("passages", ["sentences", "windows"])


def make(passages, examples=EXAMPLES, **options):
    keras.utils.set_random_seed(3)
    options = {"units": 6, "slots": 3, "half_width": 2} | options
    return zoo.RecurrentEntityNetwork.from_examples(examples, passages=passages, **options)


# `test_model_conformance` and `test_studies_of_files` train such a model.
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("passages", "size", "batch_size", "learning_rate"),
    # With which these begin to learn in time on both backends.
    [("sentences", 2400, 32, 0.005), ("windows", 2400, 16, 0.005)],
)
def test_training_generalizes_to_new_questions(passages, size, batch_size, learning_rate, tmp_path):
    parts = (cloze.simulate(size, seed) for seed, size in enumerate((size, 60, 100)))
    settings = training.Settings.of(
        "qdren-wind" if passages == "windows" else "qdren-sent",
        batch_size=batch_size,
        learning_rate=learning_rate,
        epochs=30,
        buckets=1,
        arguments={"units": 24, "slots": 8, "l2": 0.0, "dropout": 0.0},
    )
    model, batches = training.prepare(Splits(*parts), settings)
    assert model.config["passages"] == passages
    training.fit(model, batches, tmp_path, settings)
    # One of four entities would be right by chance.
    assert training.evaluate(model, batches["test"])["accuracy"] > 0.7


@every_kind
def test_only_entities_of_the_passage_compete(passages):
    passage, question = "@entity2 took it . then @entity0 met @entity2 .", "it took @placeholder"
    models = [make(passages, candidates=candidates) for candidates in (True, False)]
    readings = [model.read(passage, question) for model in models]
    few, every = (dict(zip(r.answers, r.probabilities, strict=True)) for r in readings)
    assert set(few) == set(every) == {f"@entity{n}" for n in range(4)}
    assert min(every.values()) > 0.01
    inside = ("@entity0", "@entity2")
    scale = sum(every[name] for name in inside)
    expected = {name: every[name] / scale if name in inside else 0 for name in every}
    assert few == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("encoder", standing_for(["gru", "mage_gru", "coref_gru"], ["coref_gru"]))
def test_readers_point_at_entities_and_link_their_mentions(encoder):
    options = {"units": 6, "edge_units": 2, "layers": 1, "min_count": 30}
    options |= {"question_overlap": True, "unknown_types": 1000}
    model = zoo.GatedAttentionReader.from_examples(EXAMPLES, encoder=encoder, **options)
    preprocessor = model.preprocessor
    assert model.config["answer_head"] == "pointer_sum" and preprocessor.tokenizer.name == "spaces"
    assert preprocessor.answers[1:] == [f"@entity{n}" for n in range(4)]
    linked = np.array(preprocessor.vocabulary.words)[preprocessor.word_chains > 0]
    assert set(linked) == set(preprocessor.answers[1:])
    assert "took" in preprocessor.vocabulary.words and "late" not in preprocessor.vocabulary.words
    reading = model.read("@entity2 took it . then @entity0 met @entity2 .", "@placeholder took it")
    assert reading.answer in ("@entity2", "@entity0")
    assert sum(reading.probabilities) == pytest.approx(1, abs=1e-5)
    asked = model.batches(EXAMPLES[:1])[0][0]["passage_asked"][0]
    words = EXAMPLES[0].passage.split(), set(EXAMPLES[0].question.split())
    assert asked.tolist()[: len(words[0])] == [1 if word in words[1] else 2 for word in words[0]]


def test_entities_that_are_never_answers_are_answers_all_the_same():
    examples = [e for e in EXAMPLES if e.answer != "@entity3"]
    model = zoo.AttentionSumReader.from_examples(examples, units=4)
    assert model.preprocessor.answers[-1] == "@entity3"


def test_windows_beyond_the_limit_are_not_read():
    model = make("windows", max_windows=1)
    reading = model.read("@entity3 took the milk . @entity1 met it", "@placeholder")
    assert reading.answer == "@entity3" and reading.probability == pytest.approx(1)


# `test_raw_texts` has texts that a SavedModel gives no answer to.
@pytest.mark.thorough
def test_a_saved_model_has_no_answer_where_reading_refuses_a_text(tmp_path):
    tf = pytest.importorskip("tensorflow")
    model = make("windows")
    zoo.export(model, tmp_path / "model", jit_compile=False)
    serve = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    good = {"passage": "@entity1 met @entity2", "question": "@placeholder met @entity2"}
    for name, bad in (("passage", "nobody met nobody"), ("question", "who met @entity2")):
        texts = {key: tf.constant([value, value]) for key, value in good.items()}
        assert serve(**texts)["answer"].shape == (2,)
        texts[name] = tf.constant([good[name], bad])
        outputs = serve(**texts)
        assert (outputs["answer"].numpy() == b"").tolist() == [False, True]
        assert (outputs["probability"].numpy() == 0).tolist() == [False, True]
        with pytest.raises(ValueError, match=f"The {name} has no "):
            model.read(*(good | {name: bad}).values())


def test_texts_of_rows_are_windows():
    model, example = make("windows"), EXAMPLES[5]
    texts = model.preprocessor.row_texts(example, model.preprocessor.encode(example))
    tokens = example.passage.split()
    centres = [n for n, token in enumerate(tokens) if token.startswith("@")]
    assert texts == [" ".join(tokens[max(0, n - 2) : n + 3]) for n in centres]


# The settings table of Madotto and Attardi (2017); what is kept, and the width of windows.
@pytest.mark.parametrize(
    "name, question, slots, half_width, rate, optimizer, keep, batch, factor",
    [
        ("ren-sent", False, 20, None, 0.001, "adam", 0.7, 128, 1e-4),
        ("qdren-sent", True, 10, None, 0.001, "adam", 0.2, 64, 1e-3),
        ("ren-wind", False, 50, 5, 0.0001, "rmsprop", 0.5, 64, 1e-4),
        ("qdren-wind", True, 20, 4, 0.01, "rmsprop", 0.5, 64, 1e-4),
    ],
)
def test_published_settings(
    name, question, slots, half_width, rate, optimizer, keep, batch, factor
):
    settings, known = training.Settings.of(name, "cnn"), configuration(name)
    assert known.datasets["cnn"]["word_vectors"]
    assert (settings.epochs, settings.patience) == (300, 50)
    assert ("gate_bias" in settings.arguments) == question
    assert (settings.learning_rate, settings.halve_every) == (rate, None)
    assert (settings.optimizer, settings.batch_size) == (optimizer, batch)
    assert settings.clip_norm == 40
    arguments = known.arguments
    assert set(arguments) <= set(zoo.RecurrentEntityNetwork.arguments())
    model = zoo.RecurrentEntityNetwork.from_examples(EXAMPLES, **arguments)
    config = model.get_config()
    assert (config["question_dependent"], config["slots"]) == (question, slots)
    assert config["answer_tokens"] is None
    assert (1 - config["dropout"], 2 * config["l2"]) == pytest.approx((keep, factor))
    assert getattr(model.preprocessor, "half_width", None) == half_width
    assert (config["passages"] == "windows") == (half_width is not None)


def test_real_questions_are_read(real_cnn):
    examples = real_cnn[1]
    for passages in ("sentences", "windows"):
        model = make(passages, examples)
        readings = model.read([e.passage for e in examples], [e.question for e in examples])
        for reading, example in zip(readings, examples, strict=True):
            assert reading.unknown_words == ()
            assert set(reading.answers) <= set(example.candidates)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="task 1, .* is none of the 0 markers @entity0"):
        make("windows", simulator.simulate(1, 4))
    plain, windows = fit_sentences(EXAMPLES), WindowPreprocessor.fit(EXAMPLES)
    for kind, other, message in (
        ("windows", plain, "passages='windows' needs a WindowPreprocessor, got a StoryPreproc"),
        ("sentences", windows, "passages='sentences' needs a StoryPreprocessor, got a WindowPre"),
    ):
        with pytest.raises(ValueError, match=message):
            zoo.RecurrentEntityNetwork(9, 5, 9, passages=kind, preprocessor=other)
