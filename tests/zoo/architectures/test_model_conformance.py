"""What every model of the zoo promises."""

import concurrent.futures
import functools
import inspect
import re

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.preprocessing.encoding.layout import ORDERS
from keras_corefmem.preprocessing.fitting import HEADS
from tests.support.conformance.evaluation import JIT, alike, assert_same_weights
from tests.support.model_cases import (
    ALONE,
    CASES,
    DISTINCT,
    OF_EVERY_KIND,
    READERS,
    STORIES,
    WITHOUT_TWINS,
    losses_of,
    make,
    shared,
)
from tests.support.tiers import standing_for
from zoo import training
from zoo.architectures.config import COMMON, STRUCTURE
from zoo.configs import configuration

KINDS = ["as-coref-gru", "qdren", "dmn-lists", "dmn-plus-retrieving", "dmn-tagger"]
ONE_EACH = [*KINDS, "bidaf-supervised"]
OF_EVERY_CLASS = [*ONE_EACH, "memn2n", "qrn", "lstm", "ngram", "character-lm"]
# Padding is masked alike by readers with other edges, and by models with other outputs.
PADDED = {"ga-mage-gru", "ga-coref-gru-words", "ga-mage-gru-typed", "bidaf-mage-gru", "as-gru"}
PADDED |= {"as-one-hot", "dmn-printed", "dmn-sentiment", "dmn-supervised", "dmn-plus-retrieving"}
PADDED |= {"as-coref-gru", "bidaf-supervised", "character-lm", "dmn-lists", "dmn-tagger"}
PADDED |= {"qdren-wind"}
PADDED = [name for name in OF_EVERY_KIND if name not in PADDED]
# What is alike compiles to the same on JAX; `test_backends_agree`, mostly thorough, reads it there.
every_model = pytest.mark.parametrize(
    "name",
    standing_for(DISTINCT, KINDS) if JIT else standing_for(WITHOUT_TWINS, PADDED),
)
# What hardly depends on the backend is tested on TensorFlow, and for one of each kind on JAX.
ATTENDING = ["as-coref-gru", "qdren-wind", "dmn-lists"]
ATTENDING += ["dmn-tagger", "memn2n", "qrn", "lstm", "ngram"]
most_models = pytest.mark.parametrize(
    "name", standing_for(ONE_EACH, KINDS) if JIT else standing_for(OF_EVERY_KIND, ATTENDING)
)
# What layers have no part in: most classes and heads. `test_bidaf_reader` saves its readers,
# `test_free_symbols` others, and thorough tests the rest.
SAVED = [
    "as-mage-gru-spans",
    "ga-mage-gru-typed",
    "dmn-lists",
    "qdren",
    "memn2n",
    "qrn",
    "lstm",
    "ngram",
]
# `test_trainer` has the numbers of `qrn`: here, other answers and losses.
COUNTED = ["dmn-tagger", "ngram"]
# Readers learn in `test_reader_model`, query reduction in `test_trainer`, lists on JAX; thorough
# tests train entity networks, recurrent readers, taggers, labels and the language model.
TRAINED = ["memn2n", "ngram"]
PRECISE = ["as-coref-gru", "memn2n", "qrn"]
HALF = ["qdren"]
if JIT:
    SAVED, TRAINED, HALF = ["as-coref-gru", "dmn-tagger"], ["as-coref-gru", "dmn-lists"], []
    COUNTED, PRECISE = ["dmn-tagger"], ["as-coref-gru"]
# From JAX, a model takes ten times as long to export.
EXPORTED = KINDS[::2] if JIT else [*DISTINCT, "dmn-plus-retrieving", "dmn-sentiment-spelt"]


def encoded_of(name, count):
    return [shared(name).preprocessor.encode(example) for example in CASES[name].examples[:count]]


def features_of(model, encoded, rows, extra):
    """Features of examples, with more padding than the longest passage and question need."""
    length = max(map(model.preprocessor.length, encoded)) + extra
    question = max(map(model.preprocessor.question_length, encoded)) + extra
    return model.preprocessor.collate(encoded, rows, length, question, model.features)


def logits_of(model, encoded, rows, extra):
    """Logits of the answers that count, `(answers, classes)`, of each example."""
    logits = model.predict_on_batch(features_of(model, encoded, rows, extra))
    classes = len(model.preprocessor.answers)
    assert logits.dtype == np.float32 and logits.shape[-1] == classes
    by_example = logits.reshape(rows, -1, classes)
    return [row[: np.size(e.answer)] for row, e in zip(by_example, encoded, strict=False)]


def test_every_model_of_the_zoo_is_here():
    # Two BiDAF readers have all that the others have; those as printed, other sizes; a case of
    # `ga-mage-gru` attends to edges, and `flagship` is one trained in another way.
    known = {case.model for case in CASES.values()}
    printed = {
        name for name in zoo.models() if name.endswith(("-printed", "-attention", "flagship"))
    }
    assert known | printed | set(zoo.models("bidaf")) == set(zoo.models())
    assert len(known & set(zoo.models("bidaf"))) == 2
    distinct = [shared(name).config for name in DISTINCT if CASES[name].model in READERS]
    for argument, ways in {
        "encoder": STRUCTURE,
        "answer_head": HEADS,
        "order": ORDERS,
        "joint": (True, False),
    }.items():
        assert {config[argument] for config in distinct} == set(ways)


@pytest.mark.parametrize("name", standing_for(DISTINCT, KINDS if JIT else OF_EVERY_CLASS))
def test_no_two_weights_start_alike(name):
    assert not alike(make(name, spread=0).trainable_variables)


@pytest.mark.parametrize("name", standing_for(CASES, OF_EVERY_CLASS if JIT else OF_EVERY_KIND))
def test_all_layers_are_built_and_the_output_has_a_name(name):
    # Where one is not, Keras runs the model operation by operation first, on JAX.
    assert not [layer for layer in shared(name)._flatten_layers() if not layer.built]
    assert shared(name).output_names == ["logits"]


@every_model
def test_padding_and_company_change_no_logit(name):
    model, encoded = shared(name), encoded_of(name, 12)
    together = logits_of(model, encoded, 16, 3)
    every = np.concatenate(together)
    assert np.ptp(every[:, 1:], axis=0).max() > 0.1
    assert (every[:, 0] < every[:, 1:].max(axis=1) - 50).all()
    for n in (0, 11):
        alone = logits_of(model, encoded[n : n + 1], 1, 0)
        np.testing.assert_allclose(alone[0], together[n], rtol=1e-4, atol=1e-5)


def test_threads_share_a_model():
    model = shared("as-coref-gru")
    texts = [(story.passage, story.question) for story in STORIES[:2]]
    expected = [model.read(*text) for text in texts]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: model.read(*texts[n % 2]), range(160)))
    assert found == expected * 80


def test_models_are_read_while_keras_evaluates_or_say_that_they_cannot():
    model, text = shared("as-coref-gru"), (STORIES[0].passage, STORIES[0].question)
    expected, found, reader = model.read(*text), [], keras.callbacks.Callback()
    if keras.backend.backend() == "jax":
        refused = functools.partial(pytest.raises, RuntimeError, model.read, *text)
        reader.on_test_batch_end = lambda batch, logs: found.append(refused().match("afterwards"))
    else:
        reader.on_test_batch_end = lambda batch, logs: found.append(model.read(*text) == expected)
    model.evaluate(STORIES[:4], batch_size=4, verbose=0, callbacks=[reader])
    assert found == [True] and model.read(*text) == expected


@pytest.mark.filterwarnings("ignore:The model does not know")
@pytest.mark.parametrize("name", standing_for(OF_EVERY_KIND, COUNTED))
def test_numbers_of_keras_are_ours(name):
    model, examples = shared(name), CASES[name].examples[:12]
    ours = training.evaluate(model, model.batches(examples, 12))
    found = model.evaluate(examples, batch_size=5, verbose=0, return_dict=True)
    assert found["accuracy"] == pytest.approx(ours["accuracy"], abs=1e-6)
    if "supervised" in name or model.config.get("gate_loss"):
        # The losses of what is supervised are in it.
        assert found["loss"] > ours["loss"]
    else:
        penalties = sum(map(float, model.losses))
        assert found["loss"] == pytest.approx(ours["loss"] + penalties, rel=1e-5)
    rows = model.predict(model.batches(examples, 5, shuffle=True), verbose=0)
    expected = logits_of(model, encoded_of(name, 12), 12, 0)
    for row, logits in zip(rows, expected, strict=True):
        row = row.reshape(-1, row.shape[-1])[: len(logits)]
        np.testing.assert_allclose(row, logits, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", standing_for(DISTINCT, TRAINED))
def test_fit_learns_the_training_examples(name):
    options = {"dropout": 0.0, "units": 24, "passes": 2}.items()
    model = make(name, spread=0, **{k: v for k, v in options if k in shared(name).config})
    rate = 0.03 if CASES[name].model in READERS else 0.01
    model.compile(optimizer=keras.optimizers.Adam(rate))
    assert model.jit_compile
    # XLA compiles long: on TensorFlow, one of each kind, and readers in `test_reader_model`.
    model.jit_compile = JIT or name in KINDS and name not in READERS
    encoded = encoded_of(name, 8)
    batches = model.preprocessor.batches(encoded, model.features, batch_size=8)
    learned = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: setattr(model, "stop_training", logs["accuracy"] == 1)
    )
    history = model.fit(batches, epochs=300, verbose=0, callbacks=[learned]).history
    assert history["loss"][-1] < history["loss"][0] and history["accuracy"][-1] == 1


@most_models
def test_attention_is_about_the_sentences_or_words(name):
    model, encoded = shared(name), encoded_of(name, 4)
    features = features_of(model, encoded, 4, 3)
    if not model.has_attention:
        with pytest.raises(ValueError, match="has no attention to look at; `inspect` gives its"):
            model.attend(features)
        return
    attention = np.asarray(model.attend(features))
    counts = list(map(model.preprocessor.length, encoded))
    padded = max(counts) + 3
    # One more row ends the reading.
    rows = padded + bool(model.config.get("end_of_passes"))
    words = {*READERS, *zoo.models("bidaf")}
    dimensions = (2,) if CASES[name].model in words else (3, 4)
    assert attention.shape[:2] == (4, rows) and attention.ndim in dimensions
    for row, count in zip(attention, counts, strict=True):
        assert np.any(row[:count] != 0) and not np.any(row[count:padded])


def told(reading):
    """What a reading says: its answers, and how probable they are."""
    answers = reading.tags if isinstance(reading, zoo.Tagging) else reading.answers
    return list(answers), list(reading.probabilities)


@pytest.mark.parametrize("name", standing_for(OF_EVERY_KIND, SAVED))
def test_a_saved_model_reads_the_same(name, tmp_path):
    model, examples = shared(name), CASES[name].examples
    model.save(tmp_path / "model.keras")
    loaded = zoo.load(tmp_path / "model.keras")
    assert type(loaded) is type(model) and loaded.get_config() == model.get_config()
    assert_same_weights(loaded, model)
    if CASES[name].texts is ALONE:
        texts = [[" ".join(e.words) for e in examples]]
    else:
        texts = [[e.passage for e in examples], [e.question for e in examples]]
    expected = model.read(*texts)
    assert len({reading.probabilities for reading in expected}) > 5
    for reading, wanted in zip(loaded.read(*texts), expected, strict=True):
        assert told(reading)[0] == told(wanted)[0]
        np.testing.assert_allclose(
            reading.probabilities, wanted.probabilities, rtol=1e-4, atol=1e-5
        )


def read_texts(name):
    """Answers and probabilities that a model gives to its texts."""
    with pytest.warns(UserWarning, match="zoë"):
        readings = shared(name).read(*CASES[name].texts.values(), top=3)
    return [told(reading) for reading in readings]


def parts(names, kept):
    """Names of kept models and, for the thorough tests, of the others."""
    kept, others = (
        [name for name in names if (name in kept) == wanted] for wanted in (True, False)
    )
    return [
        pytest.param(kept, marks=pytest.mark.slow, id="kept"),
        pytest.param(others, marks=pytest.mark.thorough, id="others"),
    ]


@pytest.mark.parametrize("names", parts(EXPORTED, ["as-coref-gru"]))
def test_saved_models_for_tensorflow_answer_as_read_does(names, tmp_path, run_python):
    for name in names:
        # XLA compiles long.
        zoo.export(shared(name), tmp_path / name, top=3, jit_compile=name == "as-coref-gru")
    answer = """
sys.modules.update(dict.fromkeys(("zoo", "keras_corefmem", "keras", "tensorflow_text")))
import tensorflow as tf
result = {}
for name, texts in data.items():
    texts = {key: tf.constant(value) for key, value in texts.items()}
    outputs = tf.saved_model.load(name).signatures["serving_default"](**texts)
    outputs = {key: value.numpy().tolist() for key, value in outputs.items()}
    rows = outputs["tags" if "tags" in outputs else "answers"]
    answers = [[answer.decode() for answer in row if answer] for row in rows]
    pairs = zip(answers, outputs["probabilities"])
    result[name] = [(row, values[: len(row)], sum(values[len(row) :])) for row, values in pairs]
"""
    exported = run_python(answer, {name: CASES[name].texts for name in names}, tmp_path)
    for name in names:
        for (answers, probabilities), found in zip(read_texts(name), exported[name], strict=True):
            assert found[0] == answers and found[2] == 0, name
            np.testing.assert_allclose(found[1], probabilities, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("names", parts(WITHOUT_TWINS, ["as-coref-gru", "bidaf-supervised"]))
@pytest.mark.skipif(JIT, reason="the run on TensorFlow compares both")
def test_backends_agree(names, tmp_path, run_python):
    pytest.importorskip("jax")
    files = {name: str(tmp_path / f"{name}.keras") for name in names}
    for name, path in files.items():
        shared(name).save(path)
    use = """
import zoo
from tests.support.model_cases import CASES, losses_of
result = {}
for name, path in data.items():
    model, case = zoo.load(path), CASES[name]
    read = [reading.probabilities for reading in model.read(*case.texts.values(), top=3)]
    result[name] = read, losses_of(model, case.examples)
"""
    quick = {"KERAS_BACKEND": "jax", "XLA_FLAGS": "--xla_backend_optimization_level=0"}
    elsewhere = run_python(use, files, **quick)
    for name, path in files.items():
        read, losses = elsewhere[name]
        for (_, probabilities), found in zip(read_texts(name), read, strict=True):
            np.testing.assert_allclose(found, probabilities, atol=1e-5, err_msg=name)
        expected = losses_of(zoo.load(path), CASES[name].examples)
        np.testing.assert_allclose(losses, expected, rtol=1e-4, err_msg=name)


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        pytest.param(name, policy, marks=() if name in kept else pytest.mark.thorough)
        for policy, names, kept in (
            ("mixed_bfloat16", OF_EVERY_KIND, PRECISE),
            ("mixed_float16", KINDS, HALF),
        )
        for name in names
    ],
)
def test_mixed_precision_stays_close(name, policy):
    encoded = encoded_of(name, 8)
    expected = np.concatenate(logits_of(shared(name), encoded, 8, 3))
    before = keras.config.dtype_policy()
    try:
        keras.config.set_dtype_policy(policy)
        model = make(name)
    finally:
        keras.config.set_dtype_policy(before)
    model.set_weights(shared(name).get_weights())
    found = np.concatenate(logits_of(model, encoded, 8, 3))
    possible = expected > expected.max(axis=1, keepdims=True) - 50
    assert np.all(found[~possible] < np.max(found) - 50)
    scale, error = np.abs(expected[possible]), np.abs(found - expected)[possible]
    assert error.max() < (0.25 if "b" in policy else 0.03) * scale.max()


# Whole numbers that may be 0, and others that may exceed 1 or be anything.
COUNTS = {"passes", "linear_start", "gates_first", "num_characters"}
FACTORS = {"l2", "gate_loss", "loss_weight"}
FREE = {
    "update_bias",
    "activation",
    "character_activation",
    "initializer",
    "mask_initializer",
    "question_mask_initializer",
}


@pytest.mark.parametrize("class_name", sorted({configuration(n).class_name for n in zoo.models()}))
def test_arguments_of_another_kind_or_out_of_range_are_refused(class_name):
    model_class = getattr(zoo, class_name)
    defaults = model_class.defaults()
    required = inspect.signature(model_class).parameters.keys() - defaults.keys() - {*COMMON}
    sizes = dict.fromkeys(required, 9)
    refused = {name: [0, "9", 1.5] for name in sizes} | {"retrieve": [0]}
    for name, default in defaults.items():
        if name not in FREE:
            refused.setdefault(name, []).extend(
                {
                    bool: ["yes", 1],
                    int: ["4", -1, *([] if name in COUNTS else [0])],
                    float: ["0.5", -0.1, *([] if name in FACTORS else [1.5])],
                    str: ["other", 1],
                }.get(type(default), [])
            )
    for name, values in refused.items():
        for value in values if name in {**sizes, **defaults} else ():
            message = f"{class_name}: {name}: Input should be .*got {value!r}"
            with pytest.raises(ValueError, match=message):
                model_class(**{**sizes, name: value})


@pytest.mark.parametrize("class_name", sorted({configuration(n).class_name for n in zoo.models()}))
def test_docstrings_name_all_arguments(class_name):
    model_class = getattr(zoo, class_name)
    documented = set(re.findall(r"^ +(\w+): ", inspect.getdoc(model_class), re.M))
    assert set(inspect.signature(model_class).parameters) <= documented


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="GatedAttentionReader: units: .* equal to 1 .got 0"):
        make("ga-gru", units=0)
    with pytest.raises(ValueError, match="gate_loss and retrieve exclude each other"):
        make("dmn-supervised", retrieve=3)
    with pytest.raises(ValueError, match="gates_first needs a gate_loss"):
        make("dmn", gates_first=3)
    preprocessor = shared("ren").preprocessor
    with pytest.raises(ValueError, match="sentence_length=7, the model 9; give both the same"):
        zoo.RecurrentEntityNetwork(20, 5, 9, preprocessor=preprocessor)
    with pytest.raises(ValueError, match="units must be even where bidirectional, got 5"):
        make("dmn-sentiment", units=5)
    preprocessor = shared("dmn-tagger").preprocessor
    with pytest.raises(ValueError, match="output='tags', the model 'class'; give both the same"):
        zoo.SentenceDynamicMemoryNetwork(20, 5, preprocessor=preprocessor)
    with pytest.raises(ValueError, match="The sentence is empty: ' '"):
        shared("dmn-tagger").read(["The film", " "])
