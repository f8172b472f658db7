import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.preprocessing.batching.batches import Batches
from tests.support.conformance.evaluation import JIT

READ = """
if data["explicit"]:
    import keras
    from zoo import GatedAttentionReader
    model = keras.saving.load_model(data["path"])
else:
    import zoo
    assert not {"keras", "tensorflow", "jax"} & set(sys.modules)
    model = zoo.load(data["path"])
readings = model.read(data["passages"], data["questions"])
result = [type(model).__name__, [[r.answer, r.probability] for r in readings]]
"""


def batches_of(model, examples):
    encoded = [model.preprocessor.encode(example) for example in examples]
    return Batches(encoded, model.preprocessor, model.features, batch_size=len(encoded))


@pytest.fixture(scope="session")
def trained(tmp_path_factory, make_reader, examples):
    """A reader that knows its five examples by heart, and its file."""
    model = make_reader("coref_gru", layers=2, dropout=0.0)
    model.compile(optimizer=keras.optimizers.Adam(0.05), jit_compile=JIT)
    model.fit(batches_of(model, examples), epochs=40, verbose=0)
    path = tmp_path_factory.mktemp("saved") / "reader.keras"
    model.save(path)
    return model, path


@pytest.mark.thorough
def test_a_trained_reader_is_the_same_after_loading(trained, examples):
    model, path = trained
    loaded = zoo.load(path)
    assert type(loaded) is zoo.GatedAttentionReader
    assert loaded.get_config() == model.get_config()
    for example in examples:
        reading = loaded.read(example.passage, example.question)
        assert reading.answer == example.answer
        assert reading == model.read(example.passage, example.question)
    assert int(loaded.optimizer.iterations) == 40
    assert loaded.jit_compile is JIT
    batches = batches_of(model, examples)
    loss, accuracy = loaded.evaluate(batches, verbose=0)
    assert accuracy == 1.0
    np.testing.assert_allclose(loss, model.evaluate(batches, verbose=0)[0], rtol=1e-6)


# `test_keras_manners` has Keras find the classes of files.
@pytest.mark.thorough
@pytest.mark.parametrize("explicit", [True, False], ids=["keras", "zoo"])
def test_loads_in_a_fresh_process(explicit, make_reader, examples, tmp_path, run_python):
    model, path = make_reader("mage_gru", layers=2), tmp_path / "reader.keras"
    model.save(path)
    passages = [example.passage for example in examples]
    questions = [example.question for example in examples]
    data = {"path": str(path), "explicit": explicit, "passages": passages, "questions": questions}
    name, readings = run_python(READ, data)
    assert name == "GatedAttentionReader"
    expected = model.read(passages, questions)
    assert [answer for answer, _ in readings] == [reading.answer for reading in expected]
    np.testing.assert_allclose(
        [probability for _, probability in readings],
        [reading.probability for reading in expected],
        atol=1e-6,
    )


def test_a_model_keeps_its_precision(make_reader, tmp_path):
    before = keras.config.dtype_policy()
    try:
        keras.config.set_dtype_policy("mixed_bfloat16")
        make_reader("coref_gru").save(tmp_path / "model.keras")
    finally:
        keras.config.set_dtype_policy(before)
    loaded = zoo.load(tmp_path / "model.keras")
    assert loaded.dtype_policy.name == "mixed_bfloat16"
    names = {layer.dtype_policy.name for layer in loaded.layers if layer.weights}
    assert "mixed_bfloat16" in names and keras.config.dtype_policy() == before
