import warnings

import keras
import numpy as np
import pytest

from keras_corefmem.datasets import Example, annotate_examples
from keras_corefmem.preprocessing import pad
from tests.support.conformance.evaluation import JIT
from tests.support.model_cases import TYPED, features_of, make
from tests.support.texts.annotated import PASSAGE, QUESTION, annotated_reader
from zoo import export

# What is not asked for cannot be imported.
ANSWER = """
hidden = {"zoo", "keras_corefmem", "keras", "tensorflow_text"} - set(data["imports"])
sys.modules.update(dict.fromkeys(hidden))
import tensorflow as tf
for name in data["imports"]:
    __import__(name)
texts = {name: tf.constant(data["texts"][name]) for name in ("passage", "question")}
outputs = tf.saved_model.load(data["path"]).signatures["serving_default"](**texts)
result = {name: value.numpy().tolist() for name, value in outputs.items()}
result["answer"] = [answer.decode() for answer in result["answer"]]
result["answers"] = [[answer.decode() for answer in answers] for answers in result["answers"]]
"""


def assert_answers_as_read_does(outputs, model, texts, top):
    with pytest.warns(UserWarning, match="istanbul"):
        readings = model.read(texts["passage"], texts["question"], top)
    assert outputs["answer"] == [reading.answer for reading in readings]
    assert outputs["answers"] == [list(reading.answers) for reading in readings]
    for name in ("probability", "probabilities"):
        expected = np.array([getattr(reading, name) for reading in readings])
        np.testing.assert_allclose(np.array(outputs[name]), expected, atol=1e-5)


@pytest.fixture
def answers(run_python, texts, tmp_path):
    """Function that gives what a SavedModel answers where nothing but TensorFlow is imported."""

    def answer(path, *imports):
        data = {"path": str(path), "texts": texts, "imports": imports}
        return run_python(ANSWER, data, tmp_path)

    return answer


def test_texts_have_coreference_between_question_and_passage(make_reader, texts):
    reader = make_reader("mage_gru").preprocessor
    passage, question = (
        reader.ids_of_text(texts[name][0])[None] for name in ("passage", "question")
    )
    first = reader.features(passage, question)["passage_antecedents"][0]
    assert first[0] == 3, "MARY begins the passage; the third token of the question is Mary"
    assert np.count_nonzero(first > question.shape[1]) >= 2


@pytest.mark.thorough
@pytest.mark.skipif(JIT, reason="the run on TensorFlow exports it")
def test_unicode_script_tokenizer(tmp_path, make_reader, answers, texts):
    pytest.importorskip("tensorflow_text")
    model = make_reader(tokenizer="unicode_script")
    export(model, tmp_path / "model", jit_compile=False)
    # Which needs Keras itself.
    outputs = answers(tmp_path / "model", "tensorflow_text", "keras")
    assert_answers_as_read_does(outputs, model, texts, top=5)


@pytest.mark.thorough
@pytest.mark.skipif(JIT, reason="the run on TensorFlow exports from JAX too")
def test_export_from_jax(tmp_path, make_reader, run_python, answers, texts):
    pytest.importorskip("jax")
    model = make_reader("mage_gru")
    files = [str(tmp_path / "model.keras"), str(tmp_path / "model")]
    model.save(files[0])
    convert = """
import keras, zoo
assert keras.config.backend() == "jax"
zoo.export(zoo.load(data[0]), data[1])
import tensorflow as tf
result = [*tf.saved_model.load(data[1]).signatures["logits"].structured_outputs]
"""
    assert run_python(convert, files, KERAS_BACKEND="jax") == ["logits"]
    assert_answers_as_read_does(answers(files[1]), model, texts, top=5)


@pytest.mark.thorough
def test_replaces_a_saved_model_and_refuses_bad_input(tmp_path, make_reader):
    tf = pytest.importorskip("tensorflow")
    path = tmp_path / "new folder" / "model"
    path.mkdir(parents=True)
    (path / "saved_model.pb").touch()
    (path / "left_over").touch()
    model = make_reader("gru", answer_head="classification")
    export(model, str(path), top=99)
    assert [entry.name for entry in path.parent.iterdir()] == ["model"]
    assert not (path / "left_over").exists()

    serve = tf.saved_model.load(str(path)).signatures["serving_default"]
    outputs = serve(passage=tf.constant(["Mary"]), question=tf.constant(["Where?"]))
    shapes = {name: tuple(value.shape) for name, value in outputs.items()}
    assert shapes["answer"] == shapes["probability"] == (1,) and len(shapes) == 4
    assert shapes["answers"] == shapes["probabilities"] == (1, 5)
    assert b"[unknown]" not in outputs["answers"].numpy()
    np.testing.assert_allclose(outputs["probabilities"].numpy().sum(), 1.0, rtol=1e-5)
    words = tf.constant(["Mary", "Zoë"])
    for passage, question, message in (
        (words, words[:1], "as many questions as passages"),
        (words[:0], words[:0], "as many questions as passages"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            serve(passage=passage, question=question)


# The number of an edge among all pairs of so many tokens overflows an int32.
@pytest.mark.thorough
def test_a_text_of_tens_of_thousands_of_tokens_is_answered_as_read_does(tmp_path, make_reader):
    tf = pytest.importorskip("tensorflow")
    model = make_reader("coref_gru")
    export(model, tmp_path / "model")
    serve = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    passage = "Mary went to the kitchen. John moved to the garden. " * 3500
    reading = model.read(passage, "Where is John?")
    outputs = serve(passage=tf.constant([passage]), question=tf.constant(["Where is John?"]))
    assert outputs["answer"].numpy()[0].decode() == reading.answer
    assert outputs["probability"].numpy()[0] == pytest.approx(reading.probability, abs=1e-5)


# `test_raw_texts` has texts of some lengths, and empty ones.
@pytest.mark.thorough
@pytest.mark.parametrize("jit_compile", [True, False])
def test_an_empty_text_is_the_matter_of_its_row(tmp_path, make_reader, jit_compile):
    tf = pytest.importorskip("tensorflow")
    export(make_reader("coref_gru"), tmp_path / "model", jit_compile=jit_compile)
    serve = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    passages = tf.constant(["Mary slept.", " \n", "John left.", "Mary left."])
    questions = tf.constant(["Who slept?", "Who?", "Who left?", ""])
    outputs = serve(passage=passages, question=questions)
    others = serve(passage=passages[::2], question=questions[::2])
    for name, values in outputs.items():
        np.testing.assert_array_equal(values[::2], others[name])
        nothing = b"" if values.dtype == tf.string else 0
        assert np.all(values[1::2] == nothing), name
    alone = serve(passage=passages[1:2], question=questions[1:2])
    assert alone["answer"] == b"" and alone["probability"] == 0


@pytest.mark.thorough
@pytest.mark.parametrize("jit_compile", [True, False])
def test_any_number_of_texts_of_any_length(tmp_path, make_reader, texts, jit_compile):
    tf = pytest.importorskip("tensorflow")
    model = make_reader("coref_gru", answer_head="classification")
    model.temperature = 2.0
    passages = [" ".join(texts["passage"][n % 2 : n % 2 + 1] * (1 + n % 5)) for n in range(41)]
    questions = [texts["question"][n % 2] for n in range(41)]
    export(model, tmp_path / "model", jit_compile=jit_compile)
    serve = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    outputs = serve(passage=tf.constant(passages), question=tf.constant(questions))
    with pytest.warns(UserWarning, match="does not know"):
        readings = model.read(passages, questions)
    assert [text.decode() for text in outputs["answer"].numpy()] == [r.answer for r in readings]
    odds = [reading.probabilities for reading in readings]
    np.testing.assert_allclose(outputs["probabilities"], odds, atol=1e-5)


@pytest.mark.thorough
def test_structure_is_an_input_of_readers_of_annotated_text(tmp_path):
    tf = pytest.importorskip("tensorflow")
    model, texts = annotated_reader(), ([PASSAGE, "Then Mary met Mary."], [QUESTION, "So Rome"])
    export(model, tmp_path / "model", top=3, jit_compile=False)
    signatures = tf.saved_model.load(str(tmp_path / "model")).signatures
    examples = [Example((p,), q, "?") for p, q in zip(*texts, strict=True)]
    annotated = annotate_examples(examples, tokenizer=model.preprocessor.tokenizer.cased)
    rows = [(e.passage.split(), e.question.split(), e.chain_ids) for e in annotated]
    chains = [pad([c[: len(p)] for p, _, c in rows], 12), pad([c[len(p) :] for p, _, c in rows], 3)]
    names = "passage", "question", "passage_chains", "question_chains"
    inputs = [[e.passage for e in annotated], [e.question for e in annotated], *chains]
    inputs = dict(zip(names, map(tf.constant, inputs), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_words, by_chains = (model.read(*texts, 3, annotator=a) for a in (None, "exact"))
    linked = signatures["annotated"](**inputs)
    raw = signatures["serving_default"](passage=texts[0], question=texts[1])
    for outputs, readings in ((linked, by_chains), (raw, by_words)):
        for answers, odds, reading in zip(
            outputs["answers"].numpy(), outputs["probabilities"].numpy(), readings, strict=True
        ):
            known = [answer.decode() for answer in answers if answer]
            assert known == list(reading.answers)
            np.testing.assert_allclose(odds[: len(known)], reading.probabilities, atol=1e-5)
    assert not np.allclose(linked["probability"], raw["probability"], atol=1e-6)
    wrong = {**inputs, "question_chains": inputs["question_chains"][:, :2]}
    with pytest.raises(tf.errors.InvalidArgumentError, match="Give question_chains a row for each"):
        signatures["annotated"](**wrong)


def test_failure_leaves_nothing_behind(tmp_path, make_reader, monkeypatch):
    tf = pytest.importorskip("tensorflow")

    def save(module, path, *args):
        (tmp_path / path / "saved_model.pb").touch()
        message = "model/variables/part-00000; No space left on device [Op:SaveV2]"
        raise tf.errors.ResourceExhaustedError(None, None, message)

    monkeypatch.setattr(tf.saved_model, "save", save)
    with pytest.raises(
        OSError, match=r"model cannot be written \(No space left on device\): is it"
    ):
        export(make_reader("gru"), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_tilde_is_the_home(tmp_path, make_reader, monkeypatch):
    tf = pytest.importorskip("tensorflow")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(tf.saved_model, "save", lambda module, path, *_: open(f"{path}/a", "w"))
    export(make_reader("gru"), "~/model")
    assert (tmp_path / "model" / "a").exists()


def test_refuses_to_overwrite_something_else(tmp_path, make_reader):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").touch()
    (tmp_path / "file").touch()
    for name in ("folder", "file"):
        with pytest.raises(ValueError, match=f"{name} is not a SavedModel"):
            export(make_reader("gru"), tmp_path / name)
    assert (tmp_path / "folder" / "thesis.tex").exists()


def test_refuses_models_that_cannot_read_text(tmp_path, make_reader):
    reader = make_reader("gru")
    with pytest.raises(ValueError, match="top must be an integer of at least 1, got 0"):
        export(reader, tmp_path / "model", top=0)
    reader.preprocessor = None
    with pytest.raises(ValueError, match="has no preprocessor"):
        export(reader, tmp_path / "model")
    with pytest.raises(ValueError, match="Sequential is not a reader"):
        export(keras.Sequential([keras.Input((1,))]), tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(JIT, reason="the run on TensorFlow exports it")
def test_features_with_typed_edges_are_answered(tmp_path):
    tf = pytest.importorskip("tensorflow")
    model = make("ga-mage-gru-typed", layers=1)
    export(model, tmp_path / "model", jit_compile=False)
    features = features_of(model, TYPED[:4], 24)
    assert features["passage_sources"].shape == (4, 24, 3, 2)
    logits = tf.saved_model.load(tmp_path / "model").signatures["logits"]
    found = logits(**{name: tf.constant(array) for name, array in features.items()})["logits"]
    np.testing.assert_allclose(found, model.predict_on_batch(features), rtol=1e-4, atol=1e-5)
    features["passage_sources"][:, :, 1:] = 0
    without = logits(**{name: tf.constant(array) for name, array in features.items()})["logits"]
    assert np.abs(without - found).max() > 1e-3
