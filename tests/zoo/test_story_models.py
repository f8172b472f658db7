"""The memory networks: what every one of them promises."""

import functools

import cloze
import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from keras_corefmem.datasets.batches import Batches
from zoo.configurations import CLOZE_MODELS, MEMORY_MODELS, configuration

STORIES = simulator.simulate(1, 24)
CLOZE = cloze.simulate(24)
SMALL = {"units": 6}
STORY_TEXTS = {
    "passage": [STORIES[7].passage, "MARY went to the garden", STORIES[20].passage],
    "question": [STORIES[7].question, "Where is Mary?", "Where is Zoë"],
}
CLOZE_TEXTS = {
    "passage": [CLOZE[7].passage, "it was @ENTITY1", CLOZE[20].passage],
    "question": [CLOZE[7].question, "@placeholder was late", "Zoë and @placeholder took it"],
}
every_model = pytest.mark.parametrize("name", MEMORY_MODELS)


def examples_of(name):
    return CLOZE if name in CLOZE_MODELS else STORIES


def texts_of(name):
    return CLOZE_TEXTS if name in CLOZE_MODELS else STORY_TEXTS


def make(name, spread=0.4, **options):
    keras.utils.set_random_seed(3)
    kind, arguments = configuration(name)
    arguments |= SMALL | options
    model = getattr(zoo, kind).from_examples(examples_of(name), **arguments)
    if spread:
        random = np.random.default_rng(3)
        for variable in model.trainable_variables:
            variable.assign(random.normal(0, spread, variable.shape))
    return model


@functools.cache
def shared(name):
    return make(name)


def logits_of(model, examples, rows, length):
    encoded = [model.reader.encode(example) for example in examples]
    return model.predict_on_batch(model.reader.collate(encoded, rows, length))


@every_model
def test_padding_and_company_change_no_logit(name):
    model, examples = shared(name), examples_of(name)
    model.compile(jit_compile=False)
    together = logits_of(model, examples[:12], 16, 24)
    assert together.shape == (16, len(model.reader.answers)) and together.dtype == np.float32
    assert np.ptp(together[:12, 1:], axis=0).max() > 0.1
    assert (together[:, 0] < together[:, 1:].max(axis=1) - 50).all()
    for n in (0, 5, 11):
        length = len(model.reader.encode(examples[n]).sentences)
        alone = logits_of(model, examples[n : n + 1], 1, length)
        np.testing.assert_allclose(alone[0], together[n], rtol=1e-4, atol=1e-5)


@every_model
def test_fit_under_xla_learns_the_training_questions(name):
    options = {"dropout": 0.0} if "dropout" in shared(name).config else {}
    model = make(name, spread=0, **options, units=24)
    model.compile(optimizer=keras.optimizers.Adam(0.01))
    assert model.jit_compile
    encoded = [model.reader.encode(example) for example in examples_of(name)[:8]]
    batches = Batches(encoded, model.reader, model.features, [16], batch_size=8)
    history = model.fit(batches, epochs=120, verbose=0).history
    assert history["loss"][-1] < 0.5 * history["loss"][0]
    assert history["accuracy"][-1] == 1


@every_model
def test_attention_is_about_the_sentences(name):
    model = shared(name)
    encoded = [model.reader.encode(example) for example in examples_of(name)[:4]]
    attention = np.asarray(model.attend(model.reader.collate(encoded, 4, 16)))
    assert attention.shape[:2] == (4, 16) and attention.ndim == 3
    for row, example in zip(attention, encoded, strict=True):
        count = len(example.sentences)
        assert np.any(row[:count] != 0) and not np.any(row[count:])


@every_model
def test_a_saved_model_reads_the_same(name, tmp_path):
    model = shared(name)
    model.save(tmp_path / "model.keras")
    loaded = zoo.load(tmp_path / "model.keras")
    assert type(loaded) is type(model) and loaded.get_config() == model.get_config()
    texts = [[getattr(e, part) for e in examples_of(name)] for part in ("passage", "question")]
    expected = model.read(*texts)
    assert len({reading.probability for reading in expected}) > 5
    for reading, wanted in zip(loaded.read(*texts), expected, strict=True):
        assert reading.answers == wanted.answers
        np.testing.assert_allclose(reading.probabilities, wanted.probabilities, atol=1e-6)


@pytest.fixture(scope="module")
def exported(tmp_path_factory, run_python):
    """What the SavedModel of each model answers where nothing but TensorFlow is imported."""
    folder = tmp_path_factory.mktemp("saved_models")
    for name in MEMORY_MODELS:
        zoo.export(shared(name), folder / name, top=3)
    answer = """
import tensorflow as tf
result = {}
for name, texts in data.items():
    texts = {part: tf.constant(strings) for part, strings in texts.items()}
    outputs = tf.saved_model.load(name).signatures["serving_default"](**texts)
    outputs = {key: value.numpy().tolist() for key, value in outputs.items()}
    answers = [[answer.decode() for answer in row] for row in outputs["answers"]]
    result[name] = [answers, outputs["probabilities"]]
assert not {"zoo", "keras_corefmem"} & set(sys.modules)
"""
    return run_python(answer, {name: texts_of(name) for name in MEMORY_MODELS}, folder)


@every_model
def test_a_saved_model_for_tensorflow_answers_as_read_does(name, exported):
    with pytest.warns(UserWarning, match="zoë"):
        readings = shared(name).read(*texts_of(name).values(), top=3)
    answers, probabilities = exported[name]
    assert answers == [list(reading.answers) for reading in readings]
    np.testing.assert_allclose(probabilities, [r.probabilities for r in readings], atol=1e-5)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory, run_python):
    """What every model answers on the other backend."""
    other = "jax" if keras.backend.backend() == "tensorflow" else "tensorflow"
    pytest.importorskip(other)
    folder = tmp_path_factory.mktemp("models")
    for name in MEMORY_MODELS:
        shared(name).save(folder / f"{name}.keras")
    read = """
import warnings, zoo
warnings.simplefilter("ignore")
result = {}
for name, texts in data["texts"].items():
    model = zoo.load(f"{data['folder']}/{name}.keras")
    readings = model.read(texts["passage"], texts["question"], top=3)
    result[name] = [r.probabilities for r in readings]
"""
    data = {"folder": str(folder), "texts": {name: texts_of(name) for name in MEMORY_MODELS}}
    return run_python(read, data, KERAS_BACKEND=other)


@every_model
def test_backends_agree(name, elsewhere):
    with pytest.warns(UserWarning, match="zoë"):
        readings = shared(name).read(*texts_of(name).values(), top=3)
    np.testing.assert_allclose(elsewhere[name], [r.probabilities for r in readings], atol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
@every_model
def test_mixed_precision_stays_close(name, policy):
    expected = logits_of(shared(name), examples_of(name)[:8], 8, 16)
    before = keras.config.dtype_policy()
    try:
        keras.config.set_dtype_policy(policy)
        model = make(name)
    finally:
        keras.config.set_dtype_policy(before)
    model.set_weights(shared(name).get_weights())
    found = logits_of(model, examples_of(name)[:8], 8, 16)
    assert found.dtype == np.float32
    scale = np.max(np.abs(expected[:, 1:]))
    assert np.max(np.abs(found - expected)) < (0.25 if "b" in policy else 0.03) * scale


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="input_module must be words or fusion; got 'image'"):
        make("dmn", input_module="image")
    preprocessor = shared("ren").reader
    with pytest.raises(ValueError, match="sentence_length=7, the model 9; give both the same"):
        zoo.RecurrentEntityNetwork(20, 5, 9, preprocessor=preprocessor)
