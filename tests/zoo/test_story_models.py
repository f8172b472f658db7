"""The memory networks: what every one of them promises."""

import functools

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from keras_corefmem.datasets.batches import Batches
from zoo.configurations import MEMORY_MODELS, configuration

EXAMPLES = simulator.simulate(1, 24)
SMALL = {"units": 6}
TEXTS = {
    "passage": [EXAMPLES[7].passage, "MARY went to the garden", EXAMPLES[20].passage],
    "question": [EXAMPLES[7].question, "Where is Mary?", "Where is Zoë"],
}
# Any of them may have a retrieval in front.
RETRIEVE = {"retrieve": 4, "retrieve_hops": 2}
VARIANTS = {f"{name} retrieving": (name, RETRIEVE) for name in ("dmn-plus", "memn2n")}
NAMES = [*MEMORY_MODELS, *VARIANTS]
every_model = pytest.mark.parametrize("name", NAMES)


def make(name, spread=0.4, **options):
    keras.utils.set_random_seed(3)
    name, variant = VARIANTS.get(name, (name, {}))
    kind, arguments = configuration(name)
    arguments = {**arguments, **SMALL, **variant, **options}
    model = getattr(zoo, kind).from_examples(EXAMPLES, **arguments)
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
    model = shared(name)
    model.compile(jit_compile=False)
    together = logits_of(model, EXAMPLES[:12], 16, 24)
    assert together.shape == (16, len(model.reader.answers)) and together.dtype == np.float32
    assert np.ptp(together[:12, 1:], axis=0).max() > 0.1
    assert (together[:, 0] < together[:, 1:].max(axis=1) - 50).all()
    for n in (0, 5, 11):
        length = len(EXAMPLES[n].sentences)
        alone = logits_of(model, EXAMPLES[n : n + 1], 1, length)
        np.testing.assert_allclose(alone[0], together[n], rtol=1e-4, atol=1e-5)


@every_model
def test_fit_under_xla_learns_the_training_questions(name):
    options = {"dropout": 0.0} if "dropout" in shared(name).config else {}
    model = make(name, spread=0, **options, units=24)
    model.compile(optimizer=keras.optimizers.Adam(0.01))
    assert model.jit_compile
    encoded = [model.reader.encode(example) for example in EXAMPLES[:8]]
    batches = Batches(encoded, model.reader, model.features, [16], batch_size=8)
    history = model.fit(batches, epochs=120, verbose=0).history
    assert history["loss"][-1] < 0.5 * history["loss"][0]
    assert history["accuracy"][-1] == 1


@every_model
def test_attention_is_about_the_sentences(name):
    model = shared(name)
    features = model.reader.collate([model.reader.encode(e) for e in EXAMPLES[:4]], 4, 16)
    attention = np.asarray(model.attend(features))
    assert attention.shape[:2] == (4, 16) and attention.ndim == 3
    for row, example in zip(attention, EXAMPLES, strict=False):
        count = len(example.sentences)
        assert np.any(row[:count] != 0) and not np.any(row[count:])


@every_model
def test_a_saved_model_reads_the_same(name, tmp_path):
    model = shared(name)
    model.save(tmp_path / "model.keras")
    loaded = zoo.load(tmp_path / "model.keras")
    assert type(loaded) is type(model) and loaded.get_config() == model.get_config()
    expected = model.read([e.passage for e in EXAMPLES], [e.question for e in EXAMPLES])
    assert len({reading.probability for reading in expected}) > 5
    found = loaded.read([e.passage for e in EXAMPLES], [e.question for e in EXAMPLES])
    for reading, wanted in zip(found, expected, strict=True):
        assert reading.answers == wanted.answers
        np.testing.assert_allclose(reading.probabilities, wanted.probabilities, atol=1e-6)


@pytest.fixture(scope="module")
def exported(tmp_path_factory, run_python):
    """What the SavedModel of each model answers where nothing but TensorFlow is imported."""
    folder = tmp_path_factory.mktemp("saved_models")
    for name in NAMES:
        zoo.export(shared(name), folder / name, top=3)
    return run_python(ANSWER, {"names": NAMES, "texts": TEXTS}, folder)


ANSWER = """
import tensorflow as tf
result = {}
texts = {name: tf.constant(data["texts"][name]) for name in ("passage", "question")}
for name in data["names"]:
    outputs = tf.saved_model.load(name).signatures["serving_default"](**texts)
    outputs = {key: value.numpy().tolist() for key, value in outputs.items()}
    answers = [[answer.decode() for answer in row] for row in outputs["answers"]]
    result[name] = [answers, outputs["probabilities"]]
assert not {"zoo", "keras_corefmem"} & set(sys.modules)
"""


def assert_answers_as_read_does(name, outputs):
    answers, probabilities = outputs
    with pytest.warns(UserWarning, match="zoë"):
        readings = shared(name).read(TEXTS["passage"], TEXTS["question"], top=3)
    assert answers == [list(reading.answers) for reading in readings]
    np.testing.assert_allclose(probabilities, [r.probabilities for r in readings], atol=1e-5)


@every_model
def test_a_saved_model_for_tensorflow_answers_as_read_does(name, exported):
    assert_answers_as_read_does(name, exported[name])


def test_jax_exports_a_retrieval(tmp_path, run_python):
    pytest.importorskip("jax")
    name = "memn2n retrieving"
    shared(name).save(tmp_path / "model.keras")
    export = "import zoo; zoo.export(zoo.load(data[0]), data[1], top=3); result = True"
    files = [str(tmp_path / "model.keras"), str(tmp_path / name)]
    run_python(export, files, KERAS_BACKEND="jax")
    outputs = run_python(ANSWER, {"names": [name], "texts": TEXTS}, tmp_path)
    assert_answers_as_read_does(name, outputs[name])


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory, run_python):
    """What every model answers on the other backend."""
    other = "jax" if keras.backend.backend() == "tensorflow" else "tensorflow"
    pytest.importorskip(other)
    folder = tmp_path_factory.mktemp("models")
    for name in NAMES:
        shared(name).save(folder / f"{name}.keras")
    read = """
import warnings, zoo
warnings.simplefilter("ignore")
result = {}
for name in data["names"]:
    model = zoo.load(f"{data['folder']}/{name}.keras")
    readings = model.read(data["texts"]["passage"], data["texts"]["question"], top=3)
    result[name] = [r.probabilities for r in readings]
"""
    data = {"names": NAMES, "folder": str(folder), "texts": TEXTS}
    return run_python(read, data, KERAS_BACKEND=other)


@every_model
def test_backends_agree(name, elsewhere):
    with pytest.warns(UserWarning, match="zoë"):
        readings = shared(name).read(TEXTS["passage"], TEXTS["question"], top=3)
    np.testing.assert_allclose(elsewhere[name], [r.probabilities for r in readings], atol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
@every_model
def test_mixed_precision_stays_close(name, policy):
    expected = logits_of(shared(name), EXAMPLES[:8], 8, 16)
    before = keras.config.dtype_policy()
    try:
        keras.config.set_dtype_policy(policy)
        model = make(name)
    finally:
        keras.config.set_dtype_policy(before)
    model.set_weights(shared(name).get_weights())
    found = logits_of(model, EXAMPLES[:8], 8, 16)
    assert found.dtype == np.float32
    scale = np.max(np.abs(expected[:, 1:]))
    assert np.max(np.abs(found - expected)) < (0.25 if "b" in policy else 0.03) * scale


def test_retrieval_reads_the_sentences_about_the_question():
    assert RETRIEVE.keys() <= set(zoo.EndToEndMemoryNetwork.arguments())
    model = make("memn2n", **RETRIEVE)
    encoded = [model.reader.encode(example) for example in EXAMPLES]
    attention = np.asarray(model.attend(model.reader.collate(encoded, len(encoded), 16)))
    kept = np.count_nonzero(np.any(attention != 0, axis=-1), axis=-1)
    counts = [len(example.sentences) for example in EXAMPLES]
    np.testing.assert_array_equal(kept, np.minimum(counts, 4))
    for row, example in zip(attention, EXAMPLES, strict=True):
        assert np.all(row[[fact - 1 for fact in example.supporting_facts]] != 0)
    rows = np.concatenate([example.sentences for example in encoded])
    words = model.reader.vocabulary.words
    idf = np.asarray(model.get_layer("retrieve").idf)
    for word in ("mary", "went", "the"):
        count = np.sum(np.any(rows == words.index(word), axis=-1))
        expected = np.log((1 + len(rows)) / (1 + count))
        assert idf[words.index(word)] == pytest.approx(expected, abs=1 / 256)


def test_retrieval_of_the_whole_passage_changes_nothing():
    wide = make("qdren", retrieve=40)
    expected = logits_of(shared("qdren"), EXAMPLES[:8], 8, 16)
    np.testing.assert_allclose(logits_of(wide, EXAMPLES[:8], 8, 16), expected, atol=1e-5)
    features = wide.reader.collate([wide.reader.encode(e) for e in EXAMPLES[:8]], 8, 16)
    np.testing.assert_allclose(wide.attend(features), shared("qdren").attend(features), atol=1e-5)


def test_the_end_of_passes_stays_behind_the_sentences():
    options = {"end_of_passes": True, "attention": "softmax"}
    for retrieve in (None, 40):
        model = make("dmn", retrieve=retrieve, **options)
        features = model.reader.collate([model.reader.encode(e) for e in EXAMPLES[:4]], 4, 16)
        attention = np.asarray(model.attend(features))
        assert attention.shape == (4, 17, 3) and np.all(attention[:, 16] > 0)
        np.testing.assert_allclose(attention.sum(axis=1), 1, rtol=1e-5)


def test_columns_are_named():
    assert shared("dmn").columns() == ["pass 1", "pass 2", "pass 3"]
    assert shared("memn2n").columns()[0] == "hop 1"
    model = make("ren", slots=4, units=100)
    keys = model.get_layer("entity_memory").cell.keys
    assert model.columns() == ["slot 1", "slot 2", "slot 3", "slot 4"]
    words = ["mary", "kitchen", "mary"]
    rows = [model.reader.vocabulary.words.index(word) for word in words]
    table = np.asarray(model.get_layer("word_embedding").embeddings)
    keys.assign(np.concatenate([3 * table[rows] + 0.1, -table[:1]]))
    assert model.columns() == ["slot 1 mary", "slot 2 kitchen", "slot 3 mary", "slot 4"]


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="k must be at least 1"):
        make("qrn", retrieve=0)
    with pytest.raises(ValueError, match="input_module must be words or fusion; got 'image'"):
        make("dmn", input_module="image")
    preprocessor = shared("ren").reader
    with pytest.raises(ValueError, match="sentence_length=7, the model 9; give both the same"):
        zoo.RecurrentEntityNetwork(20, 5, 9, preprocessor=preprocessor)
